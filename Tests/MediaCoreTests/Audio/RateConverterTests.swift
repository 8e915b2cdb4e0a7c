import Foundation
import MediaCore
import Testing

@Suite struct RateConverterTests {
  private static let pairs = [
    (8_000, 16_000), (16_000, 8_000), (48_000, 8_000), (48_000, 16_000), (32_000, 16_000), (32_000, 8_000),
    (8_000, 48_000), (16_000, 48_000),
  ]

  @Test(arguments: pairs) func theBandPasses(_ source: Int, _ target: Int) throws {
    for frequency in [100.0, 300, 1_004, 2_000, 3_100, 3_400] {
      let heard = try convert(Sound.sine(frequency, rate: source, samples: source), source, target, frame: source / 50)
      #expect(heard.count == target)
      let strength = Sound.strength(frequency, in: heard[(target / 5)...], rate: target)
      #expect(abs(20 * log10(strength / 8_000)) < 0.3, "\(frequency) Hz")
      // Nothing else: no image, no alias.
      let rest = Sound.level(heard[(target / 5)...])
      #expect(abs(20 * log10(rest / (8_000 / 2.0.squareRoot()))) < 0.3, "\(frequency) Hz")
    }
  }

  @Test(arguments: pairs.filter { $0.0 > $0.1 }) func whatDoesNotFitIsTakenAway(_ source: Int, _ target: Int) throws {
    for part in [1.15, 1.3, 1.6] where Double(target) / 2 * part < Double(source) / 2 {
      let tone = Sound.sine(Double(target) / 2 * part, rate: source, samples: source)
      let heard = try convert(tone, source, target, frame: source / 50)
      #expect(20 * log10(Sound.level(heard[(target / 5)...]) / 8_000) < -55, "\(part)")
    }
  }

  /// How the sound was cut makes no difference.
  @Test(arguments: pairs) func itGoesOnFromCallToCall(_ source: Int, _ target: Int) throws {
    let sound = Sound.voice(rate: source, samples: source / 2)
    let whole = try convert(sound, source, target, frame: source / 50)
    for frame in [13, source / 100, 500, 481] {
      let parts = try convert(sound, source, target, frame: frame)
      #expect(abs(parts.count - whole.count) <= 1)
      #expect(zip(parts, whole).allSatisfy { $0 == $1 }, "in parts of \(frame)")
    }
  }

  @Test func upAndDownAgainIsTheSame() throws {
    let sound = Sound.voice(rate: 8_000, samples: 16_000)
    let wide = try convert(sound, 8_000, 16_000, frame: 160)
    let back = try convert(wide, 16_000, 8_000, frame: 320)
    #expect(Sound.clarity(of: back, like: sound, delay: 40) > 30)
    // The delay is known: 32 samples at 16 kHz, then 16 at 8 kHz.
    #expect(RateConverter(from: 8_000, to: 16_000)?.delay == 32)
    #expect(RateConverter(from: 16_000, to: 8_000)?.delay == 16)
    #expect(Sound.clarity(of: Array(back[32...]), like: sound) > 30)
  }

  @Test func loudSoundIsLimited() throws {
    let square: [Int16] = (0..<8_000).map { $0 / 20 % 2 == 0 ? .max : .min }
    let heard = try convert(square, 8_000, 16_000, frame: 160)
    #expect(heard.max() == .max && heard.min() == .min)
  }

  @Test func otherRatesAreRefused() {
    for (source, target) in [
      (8_000, 8_000), (44_100, 8_000), (16_000, 24_000), (0, 8_000), (96_000, 8_000), (8_000, -8_000),
    ] {
      #expect(RateConverter(from: source, to: target) == nil)
    }
  }

  @Test func tooMuchIsRefused() throws {
    let converter = try #require(RateConverter(from: 8_000, to: 48_000))
    let output = SampleBuffer([5])
    #expect(!converter.convert(SampleBuffer(Array(repeating: 1, count: 961)), into: output))
    #expect(output.samples == [5])
    #expect(converter.convert(SampleBuffer(Array(repeating: 1, count: 960)), into: output))
    #expect(output.count == 5_760)
  }

  private func convert(_ sound: [Int16], _ source: Int, _ target: Int, frame: Int) throws -> [Int16] {
    let converter = try #require(RateConverter(from: source, to: target))
    let output = SampleBuffer()
    return stride(from: 0, to: sound.count, by: frame).flatMap { start -> [Int16] in
      let input = SampleBuffer(sound[start..<min(start + frame, sound.count)])
      return converter.convert(input, into: output) ? output.samples : []
    }
  }
}
