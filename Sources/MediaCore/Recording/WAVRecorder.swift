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

  /// Where a leg is heard: the near leg on the left, and whoever takes the place of another where that one was.
  public enum Channel: Sendable { case left, right }

  /// Seconds recorded at most: four hours.
  public static let maximumSeconds = 14_400
  /// Milliseconds that one leg may be ahead of the other before the other counts as silent.
  public static let alignment = 1_000
  /// Bytes of the head.
  public static let headSize = 44

  /// What is made of the sound.
  public enum Form: Sendable {
    /// A WAV file at 8 kHz, with its head.
    case file
    /// The frames alone, at ``RecordingEncoder/samplingRate``: 16-bit samples, little-endian, left and right by turns.
    case sound

    /// Hz, of what a bridge records.
    public var samplingRate: Int { self == .file ? 8_000 : RecordingEncoder.samplingRate }
  }

  /// When a packet's sound was made, in ticks of its sender.
  struct Stamp {
    let timestamp: UInt32
    let clockRate: Int
  }

  private struct Track {
    /// Behind its latest frame.
    var end = 0
    /// Where the sound of one packet lies, by which those behind find their places.
    var anchor: (stamp: Stamp, place: Int)?
  }

  /// Hz.
  public let samplingRate: Int
  /// Nothing that comes is recorded: there is silence in its place.
  public var isPaused = false
  private let form: Form
  private let start: MonotonicInstant
  /// Frames that wait, as a ring of left and right samples by turns.
  private var ring: [Int16]
  private let window: Int
  /// The first frame of the ring, counted from the start of the file.
  private var written = 0
  private var left = Track()
  private var right = Track()
  /// The time of the latest sound, as a frame.
  private var latest = 0
  private var ready = RecordedRuns(frameSize: 4)

  /// Sound at `samplingRate` Hz, both legs alike. The file begins at `start`.
  public init(samplingRate: Int, at start: MonotonicInstant, form: Form = .file) {
    self.samplingRate = samplingRate
    self.form = form
    self.start = start
    window = samplingRate * WAVRecorder.alignment / 1_000
    ring = Array(repeating: 0, count: 2 * window)
    if form == .file {
      ready.append(
        WAVRecorder.head(samplingRate, channels: 2, dataSize: WAVRecorder.maximumSeconds * samplingRate * 4))
    }
  }

  /// Sound of one channel, whose first sample was heard at `now`. Sound that follows the last within half a packet is
  /// joined to it, so that the jitter of arrival is not heard.
  public func record(_ samples: SampleBuffer, on channel: Channel, at now: MonotonicInstant) {
    record(samples, on: channel, at: now, stamp: nil)
  }

  /// `stamp`: what came late in a row, or in another order, finds its place by it.
  func record(_ samples: SampleBuffer, on channel: Channel, at now: MonotonicInstant, stamp: Stamp?) {
    guard !isPaused, let heard = frame(at: now) else { return }
    latest = max(latest, heard)
    let track = channel == .left ? left : right
    var place: Int
    var from = 0
    if let known = stamp.flatMap({ stamped($0, track, heard: heard) }) {
      place = max(known, written)
      from = place - known
    } else {
      // Early sound is never laid over what is there; late sound leaves a gap of silence.
      let isJoined = abs(heard - track.end) <= WAVRecorder.joining * samplingRate / 1_000
      place = max(isJoined ? track.end : max(heard, track.end), written)
    }
    var end = track.end
    let limit = WAVRecorder.maximumSeconds * samplingRate
    // Whoever sends more than the time has room for is not heard with all of it.
    guard place <= latest + window / 2 else { return }
    let anchor = stamp.map { (stamp: $0, place: place - from) }
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
      end = max(end, place)
      if channel == .left { left.end = end } else { right.end = end }
    }
    if channel == .left { left.anchor = anchor } else { right.anchor = anchor }
    flush(upTo: min(left.end, right.end, latest) - WAVRecorder.reordering * samplingRate / 1_000)
  }

  /// Where sound lies by its sender's time; `nil`: that does not go on as it did.
  private func stamped(_ stamp: Stamp, _ track: Track, heard: Int) -> Int? {
    guard let anchor = track.anchor, anchor.stamp.clockRate == stamp.clockRate else { return nil }
    let ticks = Int(Int32(bitPattern: stamp.timestamp &- anchor.stamp.timestamp))
    let place = anchor.place + ticks * samplingRate / stamp.clockRate
    return abs(place - heard) <= window / 2 ? place : nil
  }

  /// The frame of a time; `nil` where that is out of all bounds.
  private func frame(at now: MonotonicInstant) -> Int? {
    let (elapsed, isOut) = now.microseconds.subtractingReportingOverflow(start.microseconds)
    let (product, tooLate) = max(elapsed, 0).multipliedReportingOverflow(by: Int64(samplingRate))
    return isOut || tooLate ? nil : Int(product / 1_000_000)
  }

  /// Milliseconds by which sound may come early or late and still be joined.
  static let joining = 40
  /// Milliseconds that wait although both legs were heard, for packets that come in another order.
  static let reordering = 100

  /// Bytes of one ``nextChunk()`` at most.
  public static let maximumChunk = RecordedRuns.maximumChunk

  /// Time went by: where nothing came for longer than ``alignment``, silence is ready.
  public func advance(to now: MonotonicInstant) {
    guard let heard = frame(at: now) else { return }
    flush(upTo: min(heard - window, WAVRecorder.maximumSeconds * samplingRate))
  }

  /// The bytes to append to the file next, none when nothing is ready. There may be more.
  public func nextChunk() -> [UInt8] { ready.nextChunk() }

  /// No more sound comes. The last bytes are ready for ``nextChunk()``; then the head is to be patched.
  public func finish() -> [Patch] {
    flush(upTo: max(left.end, right.end, written))
    return patches
  }

  /// The same, with silence up to `now`, and without what would be heard after it: the file is as long as the time was.
  public func finish(at now: MonotonicInstant) -> [Patch] {
    flush(upTo: min(frame(at: now) ?? latest, WAVRecorder.maximumSeconds * samplingRate))
    return patches
  }

  /// None where there is no head.
  private var patches: [Patch] {
    guard form == .file else { return [] }
    let size = written * 4
    return [
      Patch(offset: 4, bytes: WAVRecorder.bytes(UInt32(size + WAVRecorder.headSize - 8))),
      Patch(offset: 40, bytes: WAVRecorder.bytes(UInt32(size))),
    ]
  }

  /// The recording is as long as one may be: nothing more comes.
  public func isOver(at now: MonotonicInstant) -> Bool {
    let limit = WAVRecorder.maximumSeconds * samplingRate
    return frame(at: now) ?? limit >= limit
  }

  /// Milliseconds that were handed out.
  public var milliseconds: Int { written * 1_000 / samplingRate }

  /// Frames up to `end` are ready. Behind the ring's window there is nothing but silence.
  private func flush(upTo end: Int) {
    guard end > written else { return }
    let sounding = min(end, max(left.end, right.end, written))
    if sounding > written {
      ready.append { bytes in
        for frame in written..<sounding {
          for slot in [2 * (frame % window), 2 * (frame % window) + 1] {
            bytes.append(UInt8(truncatingIfNeeded: ring[slot]))
            bytes.append(UInt8(truncatingIfNeeded: ring[slot] >> 8))
            ring[slot] = 0
          }
        }
      }
    }
    ready.append(silence: end - sounding)
    written = end
  }

  static func head(_ rate: Int, channels: Int, dataSize: Int) -> [UInt8] {
    let frameSize = channels * 2
    // maximumSeconds bounds every sound below four gigabytes; a size from elsewhere is as large as it can be said.
    return Array("RIFF".utf8) + bytes(UInt32(clamping: dataSize + headSize - 8)) + Array("WAVEfmt ".utf8)
      + bytes(UInt32(16)) + bytes(UInt16(1)) + bytes(UInt16(clamping: channels)) + bytes(UInt32(rate))
      + bytes(UInt32(clamping: rate * frameSize)) + bytes(UInt16(clamping: frameSize)) + bytes(UInt16(16))
      + Array("data".utf8) + bytes(UInt32(clamping: dataSize))
  }

  private static func bytes<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
    (0..<(Value.bitWidth / 8)).map { UInt8(truncatingIfNeeded: value >> Value($0 * 8)) }
  }
}
