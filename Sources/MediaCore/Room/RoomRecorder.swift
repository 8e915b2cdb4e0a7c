import SecureTransport

/// What is heard in a room, or comes from one seat of it, as frames of one channel at 16 kHz, one of 20 ms for each of the room's.
final class RoomRecorder {
  /// Nothing that is said is recorded: there is silence in its place.
  var isPaused = false
  /// The room has ended, or the recording is as long as one may be: nothing more comes.
  private(set) var isOver = false

  private var ready = RecordedRuns(frameSize: 2)
  private var converter: RateConverter?
  private let converted = SampleBuffer()
  /// The number of the room's next frame.
  private var next: Int64?
  /// Frames of 20 ms since the beginning.
  private var count: Int64 = 0

  private static let frameSamples = RecordingEncoder.samplingRate * RoomSum.frameMilliseconds / 1_000
  private static let maximumFrames = Int64(WAVRecorder.maximumSeconds * 1_000 / RoomSum.frameMilliseconds)

  /// The room's frame of this number; `nil` is silence. Those before it that the room left out are silence.
  func record(_ sound: SampleBuffer?, samplingRate: Int, frame: Int64) {
    let missing = min(max(frame - (next ?? frame), 0), RoomRecorder.maximumFrames - count)
    ready.append(silence: Int(missing) * RoomRecorder.frameSamples)
    count += missing
    next = frame + 1
    guard count < RoomRecorder.maximumFrames else {
      isOver = true
      return
    }
    count += 1
    if count == RoomRecorder.maximumFrames { isOver = true }
    guard !isPaused, let sound = sound.flatMap({ wide($0, samplingRate) }) else {
      return ready.append(silence: RoomRecorder.frameSamples)
    }
    ready.append { bytes in
      for index in 0..<sound.count {
        bytes.append(UInt8(truncatingIfNeeded: sound[index]))
        bytes.append(UInt8(truncatingIfNeeded: sound[index] >> 8))
      }
    }
  }

  private func wide(_ sound: SampleBuffer, _ samplingRate: Int) -> SampleBuffer? {
    guard samplingRate != RecordingEncoder.samplingRate else { return sound }
    if converter?.source != samplingRate {
      converter = RateConverter(from: samplingRate, to: RecordingEncoder.samplingRate)
    }
    guard let converter, converter.convert(sound, into: converted), converted.count == RoomRecorder.frameSamples
    else { return nil }
    return converted
  }

  /// The room ended.
  func end() { isOver = true }

  /// The bytes to append to the file next, none when nothing is ready. There may be more.
  func nextChunk() -> [UInt8] { ready.nextChunk() }
}
