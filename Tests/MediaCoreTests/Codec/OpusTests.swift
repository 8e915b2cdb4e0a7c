import CallModel
import Foundation
import MediaCore
import SDPCore
import SecureTransport
import TestVectors
import Testing

@Suite struct OpusTests {
  @Test(arguments: [8_000, 16_000, 48_000]) func soundSurvives(_ rate: Int) throws {
    let encoder = try AudioEncoder(.opus, samplingRate: rate)
    #expect(encoder.mode == .constrained)
    let sound = Sound.voice(rate: rate, samples: 2 * rate)
    let packets = encoder.packets(sound, frame: rate / 50).compactMap { $0 }
    #expect(packets.count == 100)
    #expect(packets.allSatisfy { OpusPacket.inspect($0)?.mode == .celt && OpusPacket.inspect($0)?.duration == 960 })
    let heard = try AudioDecoder(.opus, samplingRate: rate).sound(packets)
    #expect(heard.count == sound.count)
    #expect(Sound.clarity(of: heard, like: sound, delay: rate / 50) > 10)
  }

  /// The decoder's rate is its own choice: what was encoded at 48 kHz is heard at 8.
  @Test(arguments: [8_000, 16_000, 48_000]) func everyRateHearsTheSame(_ rate: Int) throws {
    let sound = Sound.sine(1_000, rate: 48_000, samples: 48_000)
    let packets = try AudioEncoder(.opus, samplingRate: 48_000).packets(sound, frame: 960).compactMap { $0 }
    let heard = try AudioDecoder(.opus, samplingRate: rate).sound(packets)
    #expect(heard.count == rate)
    #expect(abs(Sound.strength(1_000, in: heard.dropFirst(rate / 10), rate: rate) - 8_000) < 500)
  }

  @Test(arguments: [20, 40, 80, 160, 320, 480]) func everyFrameLengthWorks(_ count: Int) throws {
    let encoder = try AudioEncoder(.opus, samplingRate: 8_000)
    let packets = encoder.packets(Sound.voice(rate: 8_000, samples: count * 10), frame: count).compactMap { $0 }
    #expect(packets.map { OpusPacket.inspect($0)?.duration } == Array(repeating: count * 6, count: 10))
  }

  @Test func otherFrameLengthsSendNothing() throws {
    let encoder = try AudioEncoder(.opus, samplingRate: 8_000)
    let packet = PacketBuffer([7])
    for count in [1, 79, 81, 161, 481, 1_000] {
      #expect(!encoder.encode(SampleBuffer(Array(repeating: 1, count: count)), from: 0, count: count, into: packet))
    }
    #expect(packet.bytes == [7])
    #expect(throws: CodecFailure.samplingRate(44_100)) { try AudioEncoder(.opus, samplingRate: 44_100) }
    #expect(throws: CodecFailure.samplingRate(44_100)) { try AudioDecoder(.opus, samplingRate: 44_100) }
  }

  // Modes

  @Test func lossMakesTheStreamResilientAndQuietEconomicalAgain() throws {
    let encoder = try AudioEncoder(.opus, samplingRate: 8_000)
    encoder.report(lossRate: 0.02, at: .zero)
    #expect(encoder.mode == .constrained)
    encoder.report(lossRate: 0.05, at: .zero)
    #expect(encoder.mode == .resilient)
    let packets = encoder.packets(Sound.voice(rate: 8_000, samples: 8_000), frame: 160).compactMap { $0 }
    #expect(packets.count == 50)
    #expect(packets.allSatisfy { OpusPacket.inspect($0)?.mode == .silk })
    #expect(packets.contains { OpusPacket.inspect($0)?.hasForwardErrorCorrection == true })
    for _ in 1..<OpusEncoder.quietReports { encoder.report(lossRate: 0, at: .zero) }
    // One report between the two bounds begins the wait anew.
    encoder.report(lossRate: 0.015, at: .zero)
    for _ in 1..<OpusEncoder.quietReports { encoder.report(lossRate: 0.01, at: .zero) }
    #expect(encoder.mode == .resilient)
    encoder.report(lossRate: 0, at: .zero)
    #expect(encoder.mode == .constrained)
    #expect(
      encoder.packets(Sound.voice(rate: 8_000, samples: 160), frame: 160).compactMap { $0 }.allSatisfy {
        OpusPacket.inspect($0)?.mode == .celt
      })
    encoder.report(lossRate: .nan, at: .zero)
    #expect(encoder.mode == .constrained)
  }

  /// The far decoder blends the modes: no click, no hole, where the stream changes.
  @Test func aChangeOfModeIsNotHeard() throws {
    let encoder = try AudioEncoder(.opus, samplingRate: 8_000)
    let sound = Sound.sine(440, rate: 8_000, samples: 16_000)
    var packets = encoder.packets(Array(sound[..<8_000]), frame: 160).compactMap { $0 }
    encoder.report(lossRate: 0.1, at: .zero)
    packets += encoder.packets(Array(sound[8_000...]), frame: 160).compactMap { $0 }
    let heard = try AudioDecoder(.opus, samplingRate: 8_000).sound(packets)
    let steepest = zip(heard, heard.dropFirst()).map { abs(Int($0) - Int($1)) }.max() ?? 0
    // A sine of this amplitude and frequency never moves by more than 2,770 from one sample to the next.
    #expect(steepest < 2 * 2_770)
    for start in stride(from: 800, to: 15_000, by: 160) {
      #expect(Sound.level(heard[start..<(start + 160)]) > 2_000, "a hole at sample \(start)")
    }
  }

  @Test func aPeerWithoutCorrectionGetsNone() throws {
    var settings = AudioEncoder.Settings()
    settings.inBandFEC = false
    let encoder = try AudioEncoder(.opus, samplingRate: 8_000, settings: settings)
    encoder.report(lossRate: 0.1, at: .zero)
    let packets = encoder.packets(Sound.voice(rate: 8_000, samples: 8_000), frame: 160).compactMap { $0 }
    #expect(packets.allSatisfy { OpusPacket.inspect($0)?.hasForwardErrorCorrection == false })
  }

  @Test(arguments: [8_000, 12_000, 16_000, 24_000, 40_000]) func thePeersBitRateHolds(_ bitRate: Int) throws {
    let parameters = OpusParameters(maximumAverageBitRate: bitRate, inBandFEC: true)
    let encoder = try AudioEncoder(.opus, samplingRate: 8_000, settings: .init(peer: parameters))
    #expect(encoder.mode == (bitRate < OpusEncoder.leastEconomical ? .resilient : .constrained))
    for loss in [0.0, 0.1] {
      encoder.report(lossRate: loss, at: .zero)
      let packets = encoder.packets(Sound.voice(rate: 8_000, samples: 40_000), frame: 160).compactMap { $0 }
      let spent = Double(packets.reduce(0) { $0 + $1.count } * 8) / 5
      #expect(spent <= Double(bitRate) * 1.1, "at loss \(loss)")
    }
  }

  @Test func silenceIsNotSentWhenThePeerPrefersSo() throws {
    let encoder = try AudioEncoder(
      .opus, samplingRate: 8_000,
      settings: .init(peer: OpusParameters(maximumAverageBitRate: 24_000, discontinuous: true)))
    let silence = encoder.packets(Array(repeating: 0, count: 16_000), frame: 160)
    #expect(silence.count { $0 == nil } > 50)
    #expect(encoder.packets(Sound.voice(rate: 8_000, samples: 8_000), frame: 160).compactMap { $0 }.count > 20)
    let always = try AudioEncoder(.opus, samplingRate: 8_000)
    #expect(always.packets(Array(repeating: 0, count: 16_000), frame: 160).allSatisfy { $0 != nil })
  }

  @Test func packetsOfOneSizeWhenThePeerAsks() throws {
    let encoder = try AudioEncoder(
      .opus, samplingRate: 8_000, settings: .init(peer: OpusParameters(constantBitRate: true)))
    let sizes = Set(encoder.packets(Sound.voice(rate: 8_000, samples: 16_000), frame: 160).map { $0?.count })
    #expect(sizes.count == 1)
  }

  // Loss

  /// A lost packet comes back from the copy in the next one, better than concealment makes it up.
  @Test func theNextPacketRestoresTheLostOne() throws {
    let encoder = try AudioEncoder(.opus, samplingRate: 8_000)
    encoder.report(lossRate: 0.2, at: .zero)
    let sound = Sound.voice(rate: 8_000, samples: 32_000)
    let packets = encoder.packets(sound, frame: 160).compactMap { $0 }
    let whole = try AudioDecoder(.opus, samplingRate: 8_000).sound(packets)
    func heard(recovering: Bool) throws -> ([Int16], recovered: Int) {
      let decoder = try AudioDecoder(.opus, samplingRate: 8_000)
      let samples = SampleBuffer()
      var out: [Int16] = []
      var recovered = 0
      for (index, bytes) in packets.enumerated() where index % 5 != 3 {
        let packet = PacketBuffer(bytes)
        if index % 5 == 4 {
          if recovering {
            if decoder.recover(from: packet, offset: 0, count: bytes.count, samples: 160, into: samples) {
              recovered += 1
            }
          } else {
            decoder.conceal(samples: 160, into: samples)
          }
          #expect(samples.count == 160)
          out += samples.samples
        }
        #expect(decoder.decode(packet, offset: 0, count: bytes.count, into: samples))
        out += samples.samples
      }
      return (out, recovered)
    }
    let concealed = try heard(recovering: false)
    let restored = try heard(recovering: true)
    #expect(restored.recovered > 10)
    #expect(restored.0.count == sound.count && concealed.0.count == sound.count)
    #expect(Sound.clarity(of: restored.0, like: whole) > Sound.clarity(of: concealed.0, like: whole) + 3)
  }

  @Test func concealmentFades() throws {
    let decoder = try AudioDecoder(.opus, samplingRate: 8_000)
    let packets = try AudioEncoder(.opus, samplingRate: 8_000).packets(
      Sound.sine(300, rate: 8_000, samples: 4_000), frame: 160)
    _ = decoder.sound(packets.compactMap { $0 })
    let samples = SampleBuffer()
    var levels: [Double] = []
    for _ in 0..<50 {
      decoder.conceal(samples: 160, into: samples)
      levels.append(Sound.level(samples.samples))
    }
    #expect(levels[0] > 2_000 && levels[49] < levels[0] / 5, "\(levels)")
    for count in [0, 1, 7, 165, 5_760, 9_999, -3] {
      decoder.conceal(samples: count, into: samples)
      #expect(samples.count == min(max(count, 0), SampleBuffer.capacity))
    }
  }

  // What others send

  @Test func malformedPacketsChangeNothing() throws {
    let decoder = try AudioDecoder(.opus, samplingRate: 8_000)
    let samples = SampleBuffer([1, 2])
    for bytes: [UInt8] in [[0x79, 1, 2, 3], [0x7B], [0x7B, 0], [0x7A, 9, 1]] {
      #expect(!decoder.decode(PacketBuffer(bytes), offset: 0, count: bytes.count, into: samples))
    }
    #expect(samples.samples == [1, 2])
  }

  @Test func randomPacketsAreSurvived() throws {
    var generator = SeededNoise(state: 6_716)
    let decoders = try [8_000, 16_000, 48_000].map { try AudioDecoder(.opus, samplingRate: $0) }
    let samples = SampleBuffer()
    for _ in 0..<6_000 {
      let count = Int.random(in: 1...200, using: &generator)
      let packet = PacketBuffer((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
      for decoder in decoders {
        let expected = OpusPacket.inspect(packet, offset: 0, count: count)?.duration
        if decoder.decode(packet, offset: 0, count: count, into: samples) {
          #expect(samples.count == (expected ?? 0) * decoder.samplingRate / 48_000)
        }
        _ = decoder.recover(from: packet, offset: 0, count: count, samples: 320, into: samples)
        #expect(samples.count == 320)
      }
    }
  }
}
