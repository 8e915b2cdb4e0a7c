import MediaCore

/// A signal of the telephone for the app's own user, see ``AudioController/startPlayingTone(_:loops:)``.
public enum CallTone: String, Hashable, Sendable, CaseIterable {
  /// Somebody calls this user: two quick pairs of tones, then a pause; 3 s.
  case ringtone
  /// The called side rings: 425 Hz, 1 s in 5 s, as in most of Europe.
  case ringback
  /// The called side is busy: 425 Hz, half of every second.
  case busy
  /// There is no way: 425 Hz, half of every half second.
  case congestion

  /// One turn of the tone at 16 kHz; played again and again it has no seam.
  public var file: SoundFile {
    SoundFile(samples: CallTone.samples(of: tone), samplingRate: CallTone.samplingRate)
  }

  /// Hz.
  private static let samplingRate = 16_000
  /// Samples made at a time.
  private static let step = 320

  private var tone: Tone {
    switch self {
    case .ringtone:
      Tone(
        (0..<2).flatMap { _ in
          [
            Tone.Segment([.init(frequency: 660, level: -16), .init(frequency: 880, level: -16)], milliseconds: 400),
            Tone.Segment([], milliseconds: 200),
          ]
        } + [Tone.Segment([], milliseconds: 1_800)], repeats: true)
    case .ringback: .ringback(.europe)
    case .busy: .busy(.europe)
    case .congestion: .congestion(.europe)
    }
  }

  private static func samples(of tone: Tone) -> [Int16] {
    var generator = ToneGenerator(tone, samplingRate: samplingRate)
    let room = SampleBuffer()
    var missing = tone.segments.reduce(0) { $0 + $1.milliseconds } * samplingRate / 1_000
    var samples: [Int16] = []
    while missing > 0 {
      generator.fill(room, count: min(missing, step))
      samples += room.samples
      missing -= room.count
    }
    return samples
  }
}
