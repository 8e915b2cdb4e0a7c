import MediaCore
import Testing

@Suite struct SpeechTests {
  /// Whether each frame of a tone, or of silence, began or ended speech.
  private static func changes(_ speech: inout SpeechLevel, level: Double, frames: Int) -> [Bool] {
    let sound = Sound.sine(400, rate: 8_000, samples: 160, amplitude: level)
    return (0..<frames).map { _ in
      level == 0 ? speech.heard(nil) : sound.withUnsafeBufferPointer { speech.heard($0) }
    }
  }

  @Test func speechBeginsAtOnceAndEndsAfterAPause() {
    var speech = SpeechLevel()
    #expect(Self.changes(&speech, level: 8_000, frames: 3) == [false, false, true], "60 ms")
    #expect(speech.isSpeaking)
    #expect(abs(speech.level + 15.3) < 0.2)
    #expect(!Self.changes(&speech, level: 0, frames: 19).contains(true))
    #expect(Self.changes(&speech, level: 8_000, frames: 1) == [false], "a word more begins the pause anew")
    #expect(!Self.changes(&speech, level: 0, frames: 19).contains(true))
    #expect(Self.changes(&speech, level: 0, frames: 1) == [true], "400 ms")
    #expect(!speech.isSpeaking)
    #expect(speech.level == SpeechLevel.floor)
  }

  @Test func noiseOfARoomIsNoSpeech() {
    var speech = SpeechLevel()
    // -49 dBov.
    #expect(!Self.changes(&speech, level: 160, frames: 100).contains(true))
    #expect(abs(speech.smoothed + 49.2) < 0.3)
  }

  @Test func whoeverIsClearlyLouderForAWhileLeads() {
    var speaker = ActiveSpeaker<Int>()
    /// Who leads after each frame with a change.
    func leaders(_ levels: [(Int, Float)], frames: Int = 1) -> [Int?] {
      (0..<frames).compactMap { _ in
        speaker.heard(levels.map { (participant: $0.0, level: $0.1) }) ? .some(speaker.current) : nil
      }
    }
    #expect(leaders([(1, -20), (2, -30)]) == [1])
    // A little louder is not enough, nor is a short time.
    #expect(leaders([(1, -20), (2, -18)], frames: 50) == [])
    #expect(leaders([(1, -20), (2, -10)], frames: 9) == [])
    #expect(leaders([(1, -20), (2, -20)]) == [])
    #expect(leaders([(1, -20), (2, -10)], frames: 9) == [])
    #expect(leaders([(1, -20), (2, -10)]) == [2])
    // Who is silent leads on until another speaks.
    #expect(leaders([]) == [])
    #expect(speaker.current == 2)
    #expect(leaders([(3, -40)]) == [3])
    speaker.left(3)
    #expect(speaker.current == nil)
    #expect(leaders([(1, -40)]) == [1])
  }
}
