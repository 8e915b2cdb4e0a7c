import CallModel
import MediaCore

/// A recording as it is handed out: a whole WAV or Ogg file, of which any part can be read. Its length is that of the moment
/// at which the reader was made.
public struct RecordingReader: Sendable {
  private let file: SealedReader
  private let before: [UInt8]
  private let sound: Int64
  private let behind: [UInt8]

  /// Of the file as it is handed out, with the head of WAV or the page that ends an Ogg stream.
  public var byteCount: Int64 { Int64(before.count) + sound + Int64(behind.count) }
  /// Whether the file was closed. Where not, it is being written, or the process that wrote it was killed.
  public var isComplete: Bool { file.isComplete }

  /// - Throws: ``SealedFault`` where the end of a file cannot be read that was not closed.
  init(_ file: SealedReader) throws(SealedFault) {
    self.file = file
    switch file.format {
    case .wav:
      // Of a frame that is cut in two, nothing.
      sound = file.byteCount - file.byteCount % Int64(2 * file.channels)
      before = RecordingEncoder.wavHead(channels: file.channels, dataSize: Int(sound))
      behind = []
    case .opus:
      before = []
      guard !file.isComplete else {
        sound = file.byteCount
        behind = []
        return
      }
      let tail = try file.opusTail()
      let end = RecordingEncoder.endOfLastPage(in: tail) ?? 0
      sound = file.byteCount - Int64(tail.count - end)
      behind = RecordingEncoder.closingPage(after: Array(tail.prefix(end))) ?? []
    }
  }

  /// Bytes from an offset on, as many as asked for; fewer at the end.
  /// - Throws: ``SealedFault`` for a part that is not as it was written.
  public func read(from offset: Int64, count: Int) throws -> [UInt8] {
    guard offset >= 0, offset < byteCount, count > 0 else { return [] }
    let end = offset + min(Int64(count), byteCount - offset)
    var bytes: [UInt8] = []
    func add(_ part: [UInt8], at start: Int64) {
      let from = max(offset - start, 0)
      let to = min(end - start, Int64(part.count))
      if from < to { bytes += part[Int(from)..<Int(to)] }
    }
    add(before, at: 0)
    let start = Int64(before.count)
    let from = max(offset - start, 0)
    let to = min(end - start, sound)
    if from < to { bytes += try file.read(from: from, count: Int(to - from)) }
    add(behind, at: start + sound)
    return bytes
  }
}

extension SealedReader {
  /// Of a recording in Opus: its last bytes, with a whole page of Ogg among them where there is one.
  fileprivate func opusTail() throws(SealedFault) -> [UInt8] {
    let count = min(byteCount, Int64(2 * RecordingEncoder.maximumPage))
    return try read(from: byteCount - count, count: Int(count))
  }

  /// Milliseconds of sound.
  /// - Throws: ``SealedFault`` where the end of the file cannot be read.
  func milliseconds() throws(SealedFault) -> Int64 {
    switch format {
    case .wav: byteCount / Int64(2 * channels) * 1000 / Int64(RecordingEncoder.samplingRate)
    case .opus: RecordingEncoder.milliseconds(ofOpusTail: try opusTail()) ?? 0
    }
  }

  /// - Throws: ``SealedFault``.
  init(_ file: OpenFile, keys: [RecordingKey]) throws(SealedFault) {
    try self.init(size: file.size, keys: keys) { offset, count throws(SealedFault) in try file.read(offset, count) }
  }
}
