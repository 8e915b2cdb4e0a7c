import CallModel
import Foundation

/// A file descriptor that text or bytes are written to, whole.
struct TextStream: Sendable {
  let descriptor: Int32

  static let standardOutput = TextStream(descriptor: STDOUT_FILENO)
  static let standardError = TextStream(descriptor: STDERR_FILENO)

  /// Bytes that a caller gathers before it writes.
  static let chunk = 65_536

  /// On a terminal, marks that turn the direction of writing are written out, whatever they came with.
  func write(_ text: String) throws {
    var text = isatty(descriptor) == 1 ? VisibleText.marks(text) : text
    try text.withUTF8 { try write(UnsafeRawBufferPointer($0)) }
  }

  func write(_ bytes: [UInt8]) throws {
    try bytes.withUnsafeBytes { try write($0) }
  }

  private func write(_ bytes: UnsafeRawBufferPointer) throws {
    var rest = bytes
    while !rest.isEmpty {
      let written = Foundation.write(descriptor, rest.baseAddress, rest.count)
      if written < 0 {
        if errno == EINTR { continue }
        if errno == EPIPE {
          throw ConsoleError(.outputClosed, code: "output.closed", "nobody reads the output any more")
        }
        throw ConsoleError(
          .failed, code: "output", "the output cannot be written: \(String(cString: strerror(errno)))")
      }
      rest = UnsafeRawBufferPointer(rebasing: rest[written...])
    }
  }
}
