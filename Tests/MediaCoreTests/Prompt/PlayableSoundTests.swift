import CallModel
import MediaCore
import SDPCore
import Testing

/// Sounds that are read from files and played to legs and rooms.
@Suite struct PlayableSoundTests {
  static func tone(_ frequency: Double, milliseconds: Int, rate: Int = 16_000) -> [Int16] {
    TestSound.sine(frequency, samples: rate * milliseconds / 1000, from: 0, rate: Double(rate))
  }

  @Test(arguments: [8_000, 16_000, 44_100, 48_000])
  func aSoundOfAnyRateIsAsLongAsItWas(_ rate: Int) throws {
    let sound = try PlayableSound(Self.tone(440, milliseconds: 1_000, rate: rate), samplingRate: rate)
    #expect((999...1_000).contains(sound.milliseconds))
  }

  @Test func filesAreReadByTheirFirstBytes() throws {
    let wav =
      RecordingEncoder.wavHead(channels: 1, dataSize: 32_000)
      + Self.tone(440, milliseconds: 1_000).flatMap {
        [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)]
      }
    #expect(try PlayableSound(file: wav).milliseconds == 1_000)
    let opus = Array(PromptLibrary.opusFile(.goodbye))
    #expect(try (500...2_000).contains(PlayableSound(file: opus).milliseconds))
    for wrong in [[], Array("RIFF".utf8), Array("OggS".utf8), Array(opus.dropLast(10)), Array(wav.prefix(50))] {
      #expect(throws: PlayableSound.Failure.self) { try PlayableSound(file: wrong) }
    }
  }

  @Test func whatIsTooLongIsRefused() throws {
    let long = [Int16](repeating: 0, count: 8_000 * (PlayableSound.maximumMilliseconds / 1000 + 1))
    #expect(throws: PlayableSound.Failure.length(121_000)) { try PlayableSound(long, samplingRate: 8_000) }
  }

  @Test(arguments: [AudioCodec.pcmu, .g722, .opus])
  func aLegHearsItInPlaceOfTheOther(_ codec: AudioCodec) throws {
    let harness = try BridgeHarness(codec, .pcmu)
    let sound = try PlayableSound(Self.tone(440, milliseconds: 1_000), samplingRate: 16_000)
    harness.command(.playSound(.near, sound))
    for _ in 0..<60 { harness.advance(milliseconds: 20) }
    #expect(harness.heard(.near).count == 50)
    let ended = harness.events.contains { if case .promptEnded(.near, finished: true) = $0 { true } else { false } }
    #expect(ended)
  }
}
