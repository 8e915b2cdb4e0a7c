import Foundation
import MediaCore
import SecureTransport
import Testing

@Suite struct ToneTests {
  @Test(arguments: [8_000, 16_000, 48_000]) func theMilliwattIsAMilliwatt(_ rate: Int) {
    let sound = play(.milliwatt, rate: rate, milliseconds: 900)
    let middle = sound[(rate / 10)..<(rate / 10 + rate / 2)]
    #expect(abs(Sound.strength(1_004, in: middle, rate: rate) - Tone.reference) < 30)
    #expect(abs(Sound.level(middle) - Tone.reference / 2.0.squareRoot()) < 50)
  }

  /// The test tone goes on over its own repetition without a gap or a step.
  @Test func theMilliwattHasNoSeam() {
    let sound = play(.milliwatt, rate: 8_000, milliseconds: 3_000)
    let steps = zip(sound, sound.dropFirst()).map { abs(Int($0) - Int($1)) }
    #expect((steps.max() ?? 0) < 18_000)
    for start in stride(from: 80, to: 23_900, by: 80) {
      #expect(Sound.level(sound[start..<(start + 80)]) > 15_000, "at \(start)")
    }
  }

  @Test(arguments: [
    (Tone.ringback(.europe), [425.0], -13.0, 1_000, 4_000), (.ringback(.northAmerica), [440, 480], -19, 2_000, 4_000),
    (.busy(.europe), [425], -13, 500, 500), (.busy(.northAmerica), [480, 620], -24, 500, 500),
    (.congestion(.europe), [425], -13, 250, 250), (.congestion(.northAmerica), [480, 620], -24, 250, 250),
  ])
  func cadencesAreKept(_ tone: Tone, _ frequencies: [Double], _ level: Double, _ on: Int, _ off: Int) {
    let sound = play(tone, rate: 8_000, milliseconds: 3 * (on + off))
    for round in 0..<3 {
      let start = round * (on + off) * 8
      let heard = sound[(start + 200)..<(start + on * 8 - 200)]
      for frequency in frequencies {
        let strength = 20 * log10(Sound.strength(frequency, in: heard, rate: 8_000) / Tone.reference)
        #expect(abs(strength - level) < 0.5, "\(frequency) Hz")
      }
      #expect(sound[(start + on * 8)..<(start + (on + off) * 8)].allSatisfy { $0 == 0 })
    }
  }

  @Test func everyKeyHasItsTwoTones() throws {
    let rows = [697.0, 770, 852, 941]
    let columns = [1_209.0, 1_336, 1_477, 1_633]
    let layout = ["123A", "456B", "789C", "*0#D"].map(Array.init)
    let keys = Array("0123456789*#ABCD")
    for code in 0...15 {
      var generator = ToneGenerator(try #require(Tone.key(code)), samplingRate: 8_000)
      let samples = SampleBuffer()
      generator.fill(samples, count: 800)
      #expect(!generator.isFinished)
      func strongest(_ tones: [Double]) -> Int? {
        tones.indices.max {
          Sound.strength(tones[$0], in: samples.samples, rate: 8_000)
            < Sound.strength(tones[$1], in: samples.samples, rate: 8_000)
        }
      }
      let row = try #require(strongest(rows))
      let column = try #require(strongest(columns))
      #expect(layout[row][column] == keys[code])
      let twist =
        Sound.strength(columns[column], in: samples.samples, rate: 8_000)
        / Sound.strength(rows[row], in: samples.samples, rate: 8_000)
      #expect(abs(20 * log10(twist) - 2) < 1)
      generator.fill(samples, count: 801)
      #expect(samples.samples.allSatisfy { $0 == 0 } && generator.isFinished)
    }
    #expect(Tone.key(16) == nil && Tone.key(-1) == nil && Tone.key(1, milliseconds: 0) == nil)
  }

  @Test func emptyTonesAreSilent() {
    for tone in [Tone([], repeats: true), Tone([.init([], milliseconds: 0)], repeats: true), Tone([], repeats: false)] {
      #expect(play(tone, rate: 8_000, milliseconds: 50).allSatisfy { $0 == 0 })
    }
  }

  /// How it was cut makes no difference.
  @Test func itGoesOnFromCallToCall() {
    var one = ToneGenerator(.busy(.northAmerica), samplingRate: 8_000)
    var other = one
    let whole = SampleBuffer()
    one.fill(whole, count: 5_600)
    let part = SampleBuffer()
    var parts: [Int16] = []
    for _ in 0..<800 {
      other.fill(part, count: 7)
      parts += part.samples
    }
    #expect(parts == whole.samples)
  }

  private func play(_ tone: Tone, rate: Int, milliseconds: Int) -> [Int16] {
    var generator = ToneGenerator(tone, samplingRate: rate)
    let samples = SampleBuffer()
    return (0..<(milliseconds / 10)).flatMap { _ -> [Int16] in
      generator.fill(samples, count: rate / 100)
      return samples.samples
    }
  }
}
