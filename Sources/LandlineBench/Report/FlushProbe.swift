import Foundation

/// How fast a place makes 4 KiB durable: what bounds every ledger there, whatever it is written in.
public struct FlushProbe: Hashable, Sendable, Encodable {
  static let blockBytes = 4096
  /// Blocks after which the file is written from its start again.
  static let fileBlocks = 256

  /// Write and fdatasync(2) of one block, in milliseconds.
  public let milliseconds: Spread
  /// Blocks that were written and flushed.
  public let count: Int

  /// Writes and flushes blocks of a new file in `folder` for `seconds`.
  static func measure(in folder: String, seconds: Double) throws(BenchProblem) -> FlushProbe {
    let path = "\(folder)/flush-probe"
    let file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0o600)
    guard file >= 0 else { throw BenchProblem("\(path) cannot be made: \(String(cString: strerror(errno)))") }
    defer {
      close(file)
      unlink(path)
    }
    let block = [UInt8](repeating: 0x5A, count: blockBytes)
    var samples: [Double] = []
    let start = ProcessClock.monotonicSeconds()
    var last = start
    repeat {
      let written = pwrite(file, block, blockBytes, off_t(samples.count % fileBlocks * blockBytes))
      guard written == blockBytes, fdatasync(file) == 0 else {
        throw BenchProblem("\(path) cannot be flushed: \(String(cString: strerror(errno)))")
      }
      let now = ProcessClock.monotonicSeconds()
      samples.append((now - last) * 1000)
      last = now
    } while last - start < seconds
    return FlushProbe(milliseconds: Spread(samples), count: samples.count)
  }
}
