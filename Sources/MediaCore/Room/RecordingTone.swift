import SecureTransport

/// The short tone by which those who talk hear every 15 seconds that they are recorded: 1,400 Hz for 200 ms, as 47 CFR
/// 64.501 asks for where nobody says it.
struct RecordingTone {
  /// Frames from the beginning of one to that of the next.
  static let pauseFrames: Int64 = 15_000 / Int64(RoomSum.frameMilliseconds)

  private static let tone = Tone(
    [Tone.Segment([Tone.Component(frequency: 1_400, level: -24)], milliseconds: 200)], repeats: false)

  private var began: Int64?
  private var generator: ToneGenerator?

  /// Makes its part of a frame.
  /// - Returns: `false` where it is silent.
  mutating func fill(_ samples: SampleBuffer, count: Int, samplingRate: Int, at frame: Int64) -> Bool {
    if began.map({ frame - $0 >= RecordingTone.pauseFrames }) ?? true {
      began = frame
      generator = ToneGenerator(RecordingTone.tone, samplingRate: samplingRate)
    }
    // With the room's rate, a tone that sounds just then ends.
    guard let generator, !generator.isFinished, generator.samplingRate == samplingRate else { return false }
    self.generator?.fill(samples, count: count)
    return true
  }
}
