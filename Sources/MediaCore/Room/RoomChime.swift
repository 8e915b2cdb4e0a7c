import SecureTransport

/// The short tone by which all who are in a room hear that somebody came in or left.
struct RoomChime {
  /// Frames from the beginning of one to that of the next: at most one in two seconds.
  static let pauseFrames: Int64 = 2_000 / Int64(RoomSum.frameMilliseconds)
  /// Seats above which none is heard: in a large room somebody always comes and goes.
  static let mostSeats = 20

  enum Kind { case joined, left }

  private static func tone(_ frequencies: [Double]) -> Tone {
    Tone(
      frequencies.map { Tone.Segment([Tone.Component(frequency: $0, level: -20)], milliseconds: 100) }, repeats: false)
  }
  private static let joined = tone([523, 784])
  private static let left = tone([784, 523])

  private var wanted: Kind?
  private var began: Int64?
  private var generator: ToneGenerator?

  /// Somebody came in or left; the next frame says whether it is heard.
  mutating func ring(_ kind: Kind, seats: Int) {
    // Nobody rings for oneself alone.
    if seats > (kind == .joined ? 1 : 0), seats <= RoomChime.mostSeats { wanted = kind }
  }

  /// Makes its part of a frame.
  /// - Returns: `false` where it is silent.
  mutating func fill(_ samples: SampleBuffer, count: Int, samplingRate: Int, at frame: Int64) -> Bool {
    if let kind = wanted {
      wanted = nil
      if began.map({ frame - $0 >= RoomChime.pauseFrames }) ?? true {
        began = frame
        generator = ToneGenerator(kind == .joined ? RoomChime.joined : RoomChime.left, samplingRate: samplingRate)
      }
    }
    // With the room's rate, a tone that sounds just then ends.
    guard let generator, !generator.isFinished, generator.samplingRate == samplingRate else { return false }
    self.generator?.fill(samples, count: count)
    return true
  }
}
