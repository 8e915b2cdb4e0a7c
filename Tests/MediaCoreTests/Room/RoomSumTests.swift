import Foundation
import MediaCore
import Testing

@Suite struct RoomSumTests {
  private static let rate = 16_000

  private static func tone(_ hertz: Double, frame: Int, count: Int, level: Double = 32_767) -> SampleBuffer {
    SampleBuffer(
      (0..<count).map { Int16(level * sin(2 * .pi * hertz * Double(frame * count + $0) / Double(rate))) })
  }

  @Test func twoFullScaleVoicesNeverWrap() {
    let sum = RoomSum(samplingRate: Self.rate)
    var limiter = RoomLimiter()
    let output = SampleBuffer()
    var last = 0
    var (wraps, step, peak) = (0, 0, 0)
    for frame in 0..<3_000 {
      let voices = [440.0, 441].map { Self.tone($0, frame: frame, count: sum.count) }
      sum.begin()
      for voice in voices { sum.add(voice, frame == 0 ? .fadesIn : .whole) }
      sum.write(&limiter, into: output)
      for index in 0..<sum.count {
        let truth = Int(voices[0][index]) + Int(voices[1][index])
        let value = Int(output[index])
        if abs(truth) > 100, value.signum() != truth.signum() { wraps += 1 }
        step = max(step, abs(value - last))
        peak = max(peak, abs(value))
        last = value
      }
    }
    #expect(wraps == 0)
    #expect(peak > 28_000)
    // What two such tones do of themselves, turned down to half, is 5,700 and less; a wrap would be a step of 60,000.
    #expect(step < 8_000)
  }

  @Test func nothingThatComesInWraps() {
    let sum = RoomSum(samplingRate: Self.rate)
    let voice = SampleBuffer([Int16](repeating: .min, count: sum.count))
    sum.begin(after: .min)
    for _ in 0..<(RoomSum.maximumVoices + 10) { sum.add(voice, .whole) }
    #expect(sum.voices == RoomSum.maximumVoices)
    var limiter = RoomLimiter()
    let output = SampleBuffer()
    sum.write(&limiter, into: output)
    #expect(output.samples.allSatisfy { $0 < -28_000 })
    sum.write(without: voice, &limiter, into: output)
    #expect(output.samples.allSatisfy { $0 < -28_000 })
  }

  @Test(arguments: [8_000, 16_000]) func aVoiceHearsExactlyTheOthers(_ rate: Int) {
    let sum = RoomSum(samplingRate: rate)
    let first = SampleBuffer(Sound.noise(samples: sum.count, amplitude: 9_000, seed: 3))
    let second = SampleBuffer(Sound.noise(samples: sum.count, amplitude: 9_000, seed: 4))
    let third = SampleBuffer(Sound.noise(samples: sum.count, amplitude: 9_000, seed: 5))
    let truth = second.samples
    sum.begin()
    sum.add(first, .whole)
    sum.add(second, .whole)
    sum.add(third, .fadesOut)
    let output = SampleBuffer()
    var limiter = RoomLimiter()
    sum.write(without: first, &limiter, into: output)
    let fade = rate / 200
    #expect(Array(output.samples[fade...]) == Array(truth[fade...]))
    let before = Int(truth[0]) + Int(third[0])
    #expect(Int(output[0]) == before)
  }

  @Test func voicesComeAndGoWithinFiveMilliseconds() {
    let sum = RoomSum(samplingRate: 8_000)
    func frame(_ part: RoomSum.Part) -> [Int16] {
      let voice = SampleBuffer([Int16](repeating: 8_000, count: sum.count))
      let output = SampleBuffer()
      var limiter = RoomLimiter()
      sum.begin()
      sum.add(voice, part)
      sum.write(&limiter, into: output)
      return output.samples
    }
    let (comes, goes) = (frame(.fadesIn), frame(.fadesOut))
    #expect(comes[0] == 0)
    #expect(Set(comes[40...]) == [8_000])
    #expect(goes[0] == 8_000)
    #expect(Set(goes[40...]) == [0])
    #expect(Set(frame(.none)) == [0])
    for samples in [comes, goes] { #expect(Sound.step(samples) <= 201) }
  }

  @Test func theLimiterGivesBackWithinATenthOfASecond() {
    var limiter = RoomLimiter()
    let sum = RoomSum(samplingRate: 8_000)
    let output = SampleBuffer()
    func frame(_ value: Int16, voices: Int) {
      sum.begin()
      for _ in 0..<voices { sum.add(SampleBuffer([Int16](repeating: value, count: sum.count)), .whole) }
      sum.write(&limiter, into: output)
    }
    frame(30_000, voices: 2)
    #expect(limiter.gain < 0.49)
    frame(1_000, voices: 1)
    #expect(limiter.gain < 0.8)
    for _ in 0..<5 { frame(1_000, voices: 1) }
    #expect(limiter.gain > 0.9)
    for _ in 0..<20 { frame(1_000, voices: 1) }
    #expect(limiter.gain == 1)
    #expect(output.samples.allSatisfy { $0 == 1_000 })
  }
}
