public import CallModel
import LandlineDigest

/// Reads a sealed file from anywhere: where its segments lie is found once, and what is asked for is opened then. Total on any
/// bytes.
public struct SealedReader: Sendable {
  /// Bytes of the file from an offset on: as many as asked for, or fewer at its end.
  public typealias Source = @Sendable (_ offset: Int64, _ count: Int) throws(SealedFault) -> [UInt8]

  private struct Segment {
    /// Where its sealed bytes lie in the file.
    var place: Int64
    /// Where its sound lies in all of it.
    var start: Int64
    var count: Int
    var end: Int64 { start + Int64(count) }
  }

  private let head: SealedHead
  private let key: [UInt8]
  private let source: Source
  private var segments: [Segment] = []
  /// Of sound, in whole segments.
  public private(set) var byteCount: Int64 = 0
  /// Whether the file was closed: nothing is missing at its end. Where not, it may have been cut off.
  public private(set) var isComplete = false

  public var format: RecordingFormat { head.format }
  public var channels: Int { head.channels }

  /// Finds the segments; opens none, but for the last one.
  /// - Parameters:
  ///   - size: of the file.
  ///   - keys: of the environment.
  /// - Throws: ``SealedFault`` for a head that is none, a key that is unknown, and lengths that no writer wrote.
  public init(size: Int64, keys: [RecordingKey], source: @escaping Source) throws(SealedFault) {
    head = try SealedHead(try source(0, SealedFile.headBytes))
    let mark = head.mark
    guard let key = keys.first(where: { $0.mark == mark }) else { throw .unknownKey }
    self.key = key.fileKey(salt: head.salt)
    self.source = source
    try findSegments(size: size)
    // Whoever asks whether it is complete believes the file's last segment.
    if isComplete { _ = try sound(of: segments.count - 1) }
  }

  /// A file that is all in memory.
  public init(_ bytes: [UInt8], keys: [RecordingKey]) throws(SealedFault) {
    try self.init(size: Int64(bytes.count), keys: keys) { offset, count in
      guard offset >= 0, offset < Int64(bytes.count), count > 0 else { return [] }
      return Array(bytes[Int(offset)...].prefix(count))
    }
  }

  private mutating func findSegments(size: Int64) throws(SealedFault) {
    var place = Int64(SealedFile.headBytes)
    // A file that is not closed may end in any place.
    while !isComplete, size - place >= Int64(SealedFile.segmentOverhead) {
      let number = segments.count
      let bytes = try source(place, SealedFile.segmentHeadBytes)
      guard bytes.count == SealedFile.segmentHeadBytes else { return }
      let count = bytes[..<4].reversed().reduce(0) { $0 << 8 | Int($1) }
      guard bytes[4] <= 1, count <= SealedFile.maximumSegmentBytes, count > 0 || bytes[4] == 1 else {
        throw .segment(number)
      }
      let next = place + Int64(SealedFile.segmentOverhead + count)
      guard next <= size else { return }
      guard number < SealedFile.maximumSegments, byteCount + Int64(count) <= SealedFile.maximumBytes else {
        throw .tooLarge
      }
      segments.append(
        Segment(place: place + Int64(SealedFile.segmentHeadBytes), start: byteCount, count: count))
      byteCount += Int64(count)
      isComplete = bytes[4] == 1
      place = next
    }
    if isComplete, place < size { throw .behindLast(segments.count - 1) }
  }

  /// Sound from an offset on, as many bytes as asked for; fewer at the end.
  /// - Throws: ``SealedFault/segment(_:)`` for the first one that is not as it was written.
  public func read(from offset: Int64, count: Int) throws(SealedFault) -> [UInt8] {
    guard offset >= 0, offset < byteCount, count > 0 else { return [] }
    let end = offset + min(Int64(count), byteCount - offset)
    var sound: [UInt8] = []
    sound.reserveCapacity(Int(end - offset))
    var number = segment(at: offset)
    while number < segments.count, segments[number].start < end {
      let segment = segments[number]
      let opened = try self.sound(of: number)
      let from = Int(max(offset, segment.start) - segment.start)
      let to = Int(min(end, segment.end) - segment.start)
      if from < to { sound += opened[from..<to] }
      number += 1
    }
    return sound
  }

  /// The number of the segment that an offset lies in.
  private func segment(at offset: Int64) -> Int {
    var (low, high) = (0, segments.count)
    while low < high {
      let middle = low + (high - low) / 2
      if segments[middle].end <= offset { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func sound(of number: Int) throws(SealedFault) -> [UInt8] {
    guard segments.indices.contains(number) else { throw .segment(number) }
    let segment = segments[number]
    let sealed = try source(segment.place, segment.count + SealedFile.tagBytes)
    let isLast = isComplete && number == segments.count - 1
    guard sealed.count == segment.count + SealedFile.tagBytes,
      let sound = AES256GCM.open(
        sealed, key: key, nonce: SealedHead.nonce(number),
        authenticating: head.authenticated(number, isLast: isLast))
    else { throw .segment(number) }
    return sound
  }
}
