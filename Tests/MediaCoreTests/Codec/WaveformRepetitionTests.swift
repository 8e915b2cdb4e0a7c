import MediaCore
import SDPCore
import Testing

@Suite struct WaveformRepetitionTests {
  @Test(arguments: [(AudioCodec.pcmu, 8_000), (.pcma, 8_000), (.g722, 8_000), (.g722, 16_000)])
  func aPeriodicSoundGoesOn(_ codec: AudioCodec, _ rate: Int) throws {
    let decoder = try AudioDecoder(codec, samplingRate: rate)
    let frame = rate / 50
    let sound = Sound.sine(160, rate: rate, samples: 12 * frame)
    let packets = try AudioEncoder(codec, samplingRate: rate).packets(sound, frame: frame).compactMap { $0 }
    _ = decoder.sound(packets[..<10])
    let whole = try AudioDecoder(codec, samplingRate: rate).sound(packets)
    let samples = SampleBuffer()
    decoder.conceal(samples: frame, into: samples)
    #expect(samples.count == frame)
    let made = samples.samples
    // The first 10 ms at full loudness are as good as the sound itself.
    #expect(
      Sound.clarity(of: Array(made[..<(frame / 2)]), like: Array(whole[(10 * frame)..<(10 * frame + frame / 2)])) > 15)
    let next = decoder.sound([packets[11]])
    let steps = zip([made[frame - 1]] + next, next).map { abs(Int($0) - Int($1)) }
    #expect((steps.max() ?? 0) < 2_500)
  }

  @Test func itFadesWithinItsBound() throws {
    let decoder = try AudioDecoder(.pcmu, samplingRate: 8_000)
    _ = decoder.sound(
      try AudioEncoder(.pcmu, samplingRate: 8_000).packets(
        Sound.voice(rate: 8_000, samples: 1_120), frame: 160
      ).compactMap { $0 })
    let samples = SampleBuffer()
    var levels: [Double] = []
    for _ in 0..<5 {
      decoder.conceal(samples: 160, into: samples)
      levels.append(Sound.level(samples.samples))
    }
    #expect(levels[0] > levels[1] && levels[1] > levels[2])
    #expect(levels[3] == 0 && levels[4] == 0)
    decoder.conceal(samples: 100_000, into: samples)
    #expect(samples.count == SampleBuffer.capacity)
    decoder.conceal(samples: -1, into: samples)
    #expect(samples.count == 0)
  }

  /// Nothing came yet: there is nothing to go on with.
  @Test func beforeTheFirstPacketThereIsSilence() throws {
    let samples = SampleBuffer()
    try AudioDecoder(.g722, samplingRate: 16_000).conceal(samples: 320, into: samples)
    #expect(samples.samples == Array(repeating: 0, count: 320))
  }
}
