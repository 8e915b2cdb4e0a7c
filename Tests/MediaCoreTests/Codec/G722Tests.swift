import Foundation
import MediaCore
import SDPCore
import SecureTransport
import TestVectors
import Testing

@Suite struct G722Tests {
  private static let sounds: [[Int16]] = [
    Sound.voice(rate: 16_000, samples: 32_000),
    Sound.sine(1_004, rate: 16_000, samples: 16_000),
    Sound.sine(5_300, rate: 16_000, samples: 16_000, amplitude: 20_000),
    Sound.noise(samples: 16_000, amplitude: 12_000),
    Sound.noise(samples: 16_000, amplitude: 32_000, seed: 2),
    (0..<16_000).map { $0 / 40 % 2 == 0 ? .max : .min },
    Array(repeating: 0, count: 8_000),
  ]

  @Test(.enabled(if: ForeignCodec.isPresent, "\(ForeignCodec.absence)"), arguments: sounds.indices)
  func bitsAgreeWithAnotherEncoder(_ index: Int) throws {
    let sound = Self.sounds[index]
    let ours = try AudioEncoder(.g722, samplingRate: 16_000).packets(sound, frame: 320).flatMap { $0 ?? [] }
    let theirs = try ForeignCodec.encode(sound, rate: 16_000, to: "g722")
    #expect(ours == theirs)
  }

  @Test(.enabled(if: ForeignCodec.isPresent, "\(ForeignCodec.absence)"), arguments: sounds.indices)
  func samplesAgreeWithAnotherDecoder(_ index: Int) throws {
    let bytes = try AudioEncoder(.g722, samplingRate: 16_000).packets(Self.sounds[index], frame: 320).flatMap {
      $0 ?? []
    }
    #expect(try decode(bytes) == ForeignCodec.decode(bytes, from: "g722"))
  }

  /// Codes that no encoder would send in this order.
  @Test(.enabled(if: ForeignCodec.isPresent, "\(ForeignCodec.absence)")) func randomCodesAgree() throws {
    var generator = SeededNoise(state: 722)
    let bytes = (0..<80_000).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    #expect(try decode(bytes) == ForeignCodec.decode(bytes, from: "g722"))
  }

  @Test(.enabled(if: TestVectors.arePresent, "\(TestVectors.absence)")) func aBeepFromElsewhereIsHeard() throws {
    let file = TestVectors.folder.appendingPathComponent("codec/audio/sipp-beep-1s.g722")
    let sound = try decode([UInt8](Data(contentsOf: file)))
    #expect(sound.count == 16_000)
    let aLaw = [UInt8](
      try Data(contentsOf: TestVectors.folder.appendingPathComponent("codec/audio/sipp-beep-1s.alaw")))
    let same = try AudioDecoder(.pcma, samplingRate: 8_000).sound(
      stride(from: 0, to: 8_000, by: 160).map { Array(aLaw[$0..<($0 + 160)]) })
    // The same beep: equally loud, and its strongest tone is the same.
    #expect(abs(20 * log10(Sound.level(sound) / Sound.level(same))) < 1)
    let tones = stride(from: 100.0, to: 3_500, by: 20)
    let loudest = tones.max {
      Sound.strength($0, in: sound, rate: 16_000) < Sound.strength($1, in: sound, rate: 16_000)
    }
    let expected = tones.max { Sound.strength($0, in: same, rate: 8_000) < Sound.strength($1, in: same, rate: 8_000) }
    #expect(loudest == expected)
  }

  @Test func soundSurvives() throws {
    let sound = Sound.voice(rate: 16_000, samples: 32_000)
    let packets = try AudioEncoder(.g722, samplingRate: 16_000).packets(sound, frame: 320)
    #expect(packets.allSatisfy { $0?.count == 160 })
    let heard = try decode(packets.flatMap { $0 ?? [] })
    #expect(Sound.clarity(of: heard, like: sound, delay: 24) > 20)
  }

  /// At 8 kHz the lower band alone is coded, and a 16 kHz decoder plays it.
  @Test func narrowSoundSurvives() throws {
    let sound = Sound.voice(rate: 8_000, samples: 16_000)
    let packets = try AudioEncoder(.g722, samplingRate: 8_000).packets(sound, frame: 160).compactMap { $0 }
    #expect(packets.allSatisfy { $0.count == 160 })
    #expect(Sound.clarity(of: try AudioDecoder(.g722, samplingRate: 8_000).sound(packets), like: sound) > 20)
    let wide = try AudioDecoder(.g722, samplingRate: 16_000).sound(packets)
    #expect(wide.count == 2 * sound.count)
    #expect(abs(20 * log10(Sound.level(wide) / Sound.level(sound))) < 1)
  }

  /// How the bytes were cut into packets makes no difference.
  @Test func anyPacketLengthWorks() throws {
    let sound = Sound.voice(rate: 16_000, samples: 9_600)
    let whole = try AudioEncoder(.g722, samplingRate: 16_000).packets(sound, frame: 3_200).flatMap { $0 ?? [] }
    let parts = try AudioEncoder(.g722, samplingRate: 16_000).packets(sound, frame: 160).flatMap { $0 ?? [] }
    #expect(whole.count == 4_800 && whole.prefix(160) == parts.prefix(160))
    #expect(try whole[...] == parts[...] && decode(whole) == decode(parts, packet: 37))
  }

  @Test func impossibleLengthsAreRefused() throws {
    let encoder = try AudioEncoder(.g722, samplingRate: 16_000)
    #expect(!encoder.encode(SampleBuffer([1, 2, 3]), from: 0, count: 3, into: PacketBuffer()))
    #expect(throws: CodecFailure.samplingRate(48_000)) { try AudioDecoder(.g722, samplingRate: 48_000) }
  }

  private func decode(_ bytes: [UInt8], packet: Int = 160) throws -> [Int16] {
    try AudioDecoder(.g722, samplingRate: 16_000).sound(
      stride(from: 0, to: bytes.count, by: packet).map { Array(bytes[$0..<min($0 + packet, bytes.count)]) })
  }
}
