import MediaCore
import SDPCore
import SecureTransport
import Testing

@Suite struct GapConcealmentTests {
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
    for _ in 0..<7 {
      decoder.conceal(samples: 160, into: samples)
      levels.append(Sound.level(samples.samples))
    }
    #expect(levels[0] > levels[1] && levels[1] > levels[2])
    #expect(levels[5] == 0 && levels[6] == 0)
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

  /// With the packet behind it, a gap is nearer to what was lost, and fits on both ends.
  @Test(arguments: [(AudioCodec.pcmu, 8_000), (.pcma, 8_000), (.g722, 8_000), (.g722, 16_000)], [1, 2, 3])
  func bothSidesTellMoreThanOne(_ format: (codec: AudioCodec, rate: Int), _ lost: Int) throws {
    let (codec, rate) = format
    let frame = rate / 50
    let sound = Sound.voice(rate: rate, samples: 80 * frame)
    let packets = try AudioEncoder(codec, samplingRate: rate).packets(sound, frame: frame).compactMap { $0 }
    let whole = try AudioDecoder(codec, samplingRate: rate).sound(packets)
    func heard(isBridged: Bool) throws -> [Int16] {
      let decoder = try AudioDecoder(codec, samplingRate: rate)
      let samples = SampleBuffer()
      var heard: [Int16] = []
      var index = 0
      while index < packets.count {
        if index % 8 == 7, index + lost < packets.count {
          let following = PacketBuffer(packets[index + lost])
          if isBridged {
            decoder.bridge(lost * frame, to: following, offset: 0, count: 160, scratch: samples)
          }
          for _ in 0..<lost {
            decoder.conceal(samples: frame, into: samples)
            heard += samples.samples
          }
          index += lost
        }
        heard += decoder.sound([packets[index]])
        index += 1
      }
      return heard
    }
    let one = Sound.clarity(of: try heard(isBridged: false), like: whole)
    let both = Sound.clarity(of: try heard(isBridged: true), like: whole)
    // What G.722 has behind the gap is decoded without what was lost, and helps less.
    #expect(both > one + (codec == .g722 ? 0.5 : 1), "\(both) dB beside \(one) dB")
  }

  /// Looking at the packet behind a gap leaves the decoder as it was.
  @Test(arguments: [8_000, 16_000]) func aLookAheadChangesNothing(_ rate: Int) throws {
    let packets = try AudioEncoder(.g722, samplingRate: rate).packets(
      Sound.voice(rate: rate, samples: rate), frame: rate / 50
    ).compactMap { $0 }
    let (plain, curious) = (
      try G722Decoder(samplingRate: rate), try G722Decoder(samplingRate: rate)
    )
    let (first, second) = (SampleBuffer(), SampleBuffer())
    for (index, packet) in packets.enumerated() {
      packet.withUnsafeBytes { bytes in
        if index % 3 == 0 {
          let other = packets[(index * 7 + 5) % packets.count]
          #expect(other.withUnsafeBytes { curious.peek($0, into: second) })
        }
        #expect(plain.decode(bytes, into: first) && curious.decode(bytes, into: second))
      }
      #expect(first.samples == second.samples)
    }
  }

  /// Whatever comes from the network is concealed without a trap, within the range of samples.
  @Test func noiseAndExtremesAreConcealed() throws {
    let samples = SampleBuffer()
    var generator = SystemRandomNumberGenerator()
    for shape in 0..<4 {
      for codec in [AudioCodec.pcmu, .pcma, .g722] {
        let decoder = try AudioDecoder(codec, samplingRate: 8_000)
        for turn in 0..<300 {
          let count = Int.random(in: 1...400, using: &generator)
          let payload = (0..<count).map { index -> UInt8 in
            switch shape {
            case 0: UInt8.random(in: 0...255, using: &generator)
            case 1: 0x80
            case 2: index % 2 == 0 ? 0x00 : 0x80
            default: turn % 2 == 0 ? 0xFF : 0x00
            }
          }
          let packet = PacketBuffer(payload)
          let gap = Int.random(in: -1...1_000, using: &generator)
          decoder.bridge(gap, to: packet, offset: 0, count: count, scratch: samples)
          for _ in 0..<Int.random(in: 0...4, using: &generator) {
            decoder.conceal(samples: Int.random(in: 0...400, using: &generator), into: samples)
          }
          #expect(decoder.decode(packet, offset: 0, count: count, into: samples))
        }
      }
    }
  }
}
