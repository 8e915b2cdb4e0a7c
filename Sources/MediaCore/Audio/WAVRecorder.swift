public import CallModel

/// A call as a WAV file of two channels, one of each leg, as they were heard at one time.
///
/// Sans-IO: it hands out bytes, which the shell appends to a file. Where nothing came there is silence. The first head
/// claims the longest file there may be, so a file that was cut off still plays; ``finish()`` says what the sizes are.
public final class WAVRecorder {
  /// Bytes that replace others at a place of the file.
  public struct Patch: Hashable, Sendable {
    /// Bytes from the start of the file.
    public let offset: Int
    /// Overwrite as many of the file.
    public let bytes: [UInt8]
  }

  /// Where a leg is heard; of two legs the one with the lower ``LegID`` is on the left.
  public enum Channel: Sendable { case left, right }

  /// Seconds recorded at most: four hours.
  public static let maximumSeconds = 14_400
  /// Milliseconds that one leg may be ahead of the other before the other counts as silent.
  public static let alignment = 1_000
  /// Bytes of the head.
  public static let headSize = 44

  /// Hz.
  public let samplingRate: Int
  private let start: MonotonicInstant
  /// Frames that wait, as a ring of left and right samples by turns.
  private var ring: [Int16]
  private let window: Int
  /// The first frame of the ring, counted from the start of the file.
  private var written = 0
  /// Behind the latest frame of each leg.
  private var ends: (left: Int, right: Int) = (0, 0)
  /// What is ready. Long silence is only counted, so that it takes no memory.
  private var ready: [Run]

  private enum Run {
    case bytes([UInt8])
    case silence(frames: Int)
  }

  /// Sound at `samplingRate` Hz, both legs alike. The file begins at `start`.
  public init(samplingRate: Int, at start: MonotonicInstant) {
    self.samplingRate = samplingRate
    self.start = start
    window = samplingRate * WAVRecorder.alignment / 1_000
    ring = Array(repeating: 0, count: 2 * window)
    ready = [.bytes(WAVRecorder.head(samplingRate, dataSize: WAVRecorder.maximumSeconds * samplingRate * 4))]
  }

  /// Sound of one channel, whose first sample was heard at `now`. Sound that follows the last within half a packet is
  /// joined to it, so that the jitter of arrival is not heard.
  public func record(_ samples: SampleBuffer, on channel: Channel, at now: MonotonicInstant) {
    let limit = WAVRecorder.maximumSeconds * samplingRate
    let elapsed = max(now.microseconds - start.microseconds, 0)
    let (product, tooLate) = elapsed.multipliedReportingOverflow(by: Int64(samplingRate))
    guard !tooLate else { return }
    let heard = Int(product / 1_000_000)
    let end = channel == .left ? ends.left : ends.right
    // Early sound is never laid over what is there; late sound leaves a gap of silence.
    var place = abs(heard - end) <= WAVRecorder.joining * samplingRate / 1_000 ? end : max(heard, end)
    place = max(place, written)
    var from = 0
    while from < samples.count, place < limit {
      let room = written + window - place
      guard room > 0 else {
        // The other leg has been silent for the whole window.
        flush(upTo: place + min(samples.count - from, window) - window)
        continue
      }
      let count = min(room, samples.count - from, limit - place)
      for index in 0..<count {
        ring[2 * ((place + index) % window) + (channel == .left ? 0 : 1)] = samples[from + index]
      }
      from += count
      place += count
      if channel == .left { ends.left = place } else { ends.right = place }
    }
    flush(upTo: min(ends.left, ends.right))
  }

  /// Milliseconds by which sound may come early or late and still be joined.
  static let joining = 40

  /// Bytes of one ``nextChunk()`` at most.
  public static let maximumChunk = 1 << 16

  /// The bytes to append to the file next, none when nothing is ready. There may be more.
  public func nextChunk() -> [UInt8] {
    guard let run = ready.first else { return [] }
    switch run {
    case .bytes(let bytes):
      ready.removeFirst()
      guard bytes.count > WAVRecorder.maximumChunk else { return bytes }
      ready.insert(.bytes(Array(bytes[WAVRecorder.maximumChunk...])), at: 0)
      return Array(bytes[..<WAVRecorder.maximumChunk])
    case .silence(let frames):
      let taken = min(frames, WAVRecorder.maximumChunk / 4)
      if taken == frames { ready.removeFirst() } else { ready[0] = .silence(frames: frames - taken) }
      return Array(repeating: 0, count: 4 * taken)
    }
  }

  /// No more sound comes. The last bytes are ready for ``nextChunk()``; then the head is to be patched.
  public func finish() -> [Patch] {
    flush(upTo: max(ends.left, ends.right, written))
    let size = written * 4
    return [
      Patch(offset: 4, bytes: WAVRecorder.bytes(UInt32(size + WAVRecorder.headSize - 8))),
      Patch(offset: 40, bytes: WAVRecorder.bytes(UInt32(size))),
    ]
  }

  /// Milliseconds that were handed out.
  public var milliseconds: Int { written * 1_000 / samplingRate }

  /// Frames up to `end` are ready. Behind the ring's window there is nothing but silence.
  private func flush(upTo end: Int) {
    guard end > written else { return }
    let sounding = min(end, max(ends.left, ends.right, written))
    if sounding > written {
      var bytes: [UInt8] = []
      if case .bytes(let waiting)? = ready.last {
        bytes = waiting
        ready.removeLast()
      }
      for frame in written..<sounding {
        for slot in [2 * (frame % window), 2 * (frame % window) + 1] {
          bytes.append(UInt8(truncatingIfNeeded: ring[slot]))
          bytes.append(UInt8(truncatingIfNeeded: ring[slot] >> 8))
          ring[slot] = 0
        }
      }
      ready.append(.bytes(bytes))
    }
    if end > sounding {
      var frames = end - sounding
      if case .silence(let waiting)? = ready.last {
        frames += waiting
        ready.removeLast()
      }
      ready.append(.silence(frames: frames))
    }
    written = end
  }

  private static func head(_ rate: Int, dataSize: Int) -> [UInt8] {
    // Four hours at 48 kHz are below four gigabytes, and maximumSeconds bounds every sound.
    Array("RIFF".utf8) + bytes(UInt32(dataSize + headSize - 8)) + Array("WAVEfmt ".utf8) + bytes(UInt32(16))
      + bytes(UInt16(1)) + bytes(UInt16(2)) + bytes(UInt32(rate)) + bytes(UInt32(rate * 4)) + bytes(UInt16(4))
      + bytes(UInt16(16)) + Array("data".utf8) + bytes(UInt32(dataSize))
  }

  private static func bytes<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
    (0..<(Value.bitWidth / 8)).map { UInt8(truncatingIfNeeded: value >> Value($0 * 8)) }
  }
}
