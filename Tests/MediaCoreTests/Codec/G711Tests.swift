import MediaCore
import SDPCore
import SecureTransport
import TestVectors
import Testing

@Suite struct G711Tests {
  @Test(.enabled(if: TestVectors.arePresent, "\(TestVectors.absence)")) func everyCodeDecodes() throws {
    let rows = try TestVectors.table("codec/g711-decode.tsv")
    #expect(rows.count == 256)
    for row in rows {
      let code = try #require(UInt8(row["code_hex"] ?? "", radix: 16))
      #expect(G711.muLaw.decode(code) == Int16(row["ulaw_pcm16"] ?? ""))
      #expect(G711.aLaw.decode(code) == Int16(row["alaw_pcm16"] ?? ""))
    }
  }

  @Test(.enabled(if: TestVectors.arePresent, "\(TestVectors.absence)"), arguments: [G711.muLaw, .aLaw])
  func everySampleEncodes(_ law: G711) throws {
    let rows = try TestVectors.table(law == .muLaw ? "codec/g711-encode-ulaw.tsv" : "codec/g711-encode-alaw.tsv")
    var checked = 0
    for row in rows {
      let from = try #require(Int16(row["from_pcm"] ?? ""))
      let to = try #require(Int16(row["to_pcm"] ?? ""))
      let accepted = (row["accepted_codes"] ?? "").split(separator: " ").compactMap { UInt8($0, radix: 16) }
      for sample in from...to {
        checked += 1
        let code = law.encode(sample)
        #expect(accepted.contains(code), "\(law) \(sample): \(String(code, radix: 16))")
      }
    }
    #expect(checked == 65_536)
  }

  /// A code that went through samples is the same code again; -0 of µ-law is +0.
  @Test(arguments: [G711.muLaw, .aLaw]) func codesSurvive(_ law: G711) {
    for code in UInt8.min ... .max where !(law == .muLaw && code == 0x7F) {
      #expect(law.encode(law.decode(code)) == code)
    }
  }

  @Test(arguments: [AudioCodec.pcmu, .pcma]) func packetsCarrySound(_ codec: AudioCodec) throws {
    let sound = Sound.voice(rate: 8_000, samples: 1_600)
    let packets = try AudioEncoder(codec, samplingRate: 8_000).packets(sound, frame: 160)
    #expect(packets.allSatisfy { $0?.count == 160 })
    let heard = try AudioDecoder(codec, samplingRate: 8_000).sound(packets.compactMap { $0 })
    #expect(Sound.clarity(of: heard, like: sound) > 35)
  }

  @Test func otherRatesAreRefused() {
    #expect(throws: CodecFailure.samplingRate(16_000)) { try AudioEncoder(.pcmu, samplingRate: 16_000) }
    #expect(throws: CodecFailure.samplingRate(16_000)) { try AudioDecoder(.pcma, samplingRate: 16_000) }
  }

  @Test func impossibleRangesAreRefused() throws {
    let encoder = try AudioEncoder(.pcmu, samplingRate: 8_000)
    let decoder = try AudioDecoder(.pcmu, samplingRate: 8_000)
    let samples = SampleBuffer([1, 2, 3])
    let packet = PacketBuffer([9])
    #expect(!encoder.encode(samples, from: 0, count: 4, into: packet))
    #expect(!encoder.encode(samples, from: -1, count: 1, into: packet))
    #expect(!encoder.encode(samples, from: 3, count: 0, into: packet))
    #expect(!decoder.decode(packet, offset: 0, count: 2, into: samples))
    #expect(!decoder.decode(packet, offset: 1, count: 0, into: samples))
    #expect(packet.bytes == [9] && samples.samples == [1, 2, 3])
    packet.count = PacketBuffer.capacity - AudioEncoder.reserve - 2
    #expect(!encoder.encode(samples, from: 0, count: 3, into: packet))
    #expect(encoder.encode(samples, from: 0, count: 2, into: packet))
  }
}
