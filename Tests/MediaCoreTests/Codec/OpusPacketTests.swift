import MediaCore
import SecureTransport
import TestVectors
import Testing

@Suite struct OpusPacketTests {
  @Test(.enabled(if: TestVectors.arePresent, "\(TestVectors.absence)")) func everyHeadReads() throws {
    let modes: [String: OpusPacket.Mode] = ["SILK": .silk, "Hybrid": .hybrid, "CELT": .celt]
    let bandwidths: [String: OpusPacket.Bandwidth] = [
      "NB": .narrow, "MB": .medium, "WB": .wide, "SWB": .superWide, "FB": .full,
    ]
    let rows = try TestVectors.table("codec/opus-toc.tsv")
    #expect(rows.count == 64)
    for row in rows {
      let head = try #require(UInt8(row["toc_hex"] ?? "", radix: 16))
      let packet = try #require(OpusPacket.inspect([head]))
      #expect(packet.mode == modes[row["mode"] ?? ""], "\(row)")
      #expect(packet.bandwidth == bandwidths[row["bandwidth"] ?? ""], "\(row)")
      #expect(packet.frameDuration == Int((Double(row["frame_ms"] ?? "") ?? 0) * 48), "\(row)")
      #expect(packet.isStereo == (row["channels"] == "2"), "\(row)")
      #expect(packet.frameCount == 1)
    }
  }

  @Test(.enabled(if: TestVectors.arePresent, "\(TestVectors.absence)")) func requirementsHold() throws {
    let rows = try TestVectors.table("codec/opus-packets.tsv")
    #expect(rows.count >= 15)
    for row in rows {
      let bytes = Self.bytes(row["packet_hex"] ?? "")
      var sizes: [Int] = []
      let packet = bytes.withUnsafeBytes { OpusPacket.inspect($0) { sizes.append($0.count) } }
      #expect((packet != nil) == (row["valid"] == "yes"), "\(row["case"] ?? "")")
      #expect(packet?.frameCount ?? 0 == Int(row["frames"] ?? ""), "\(row["case"] ?? "")")
      #expect(packet?.duration ?? 0 == Int(row["samples_48k"] ?? ""), "\(row["case"] ?? "")")
      #expect(sizes == (row["frame_sizes"] ?? "").split(separator: " ").compactMap { Int($0) }, "\(row["case"] ?? "")")
    }
  }

  /// Whatever the bytes: no frame outside the packet, none too long, never more than 120 ms.
  @Test func noBytesAreTooOdd() {
    var generator = SeededNoise(state: 716)
    var wellFormed = 0
    for _ in 0..<100_000 {
      let count = Int.random(in: 0...60, using: &generator)
      let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
      var end = 1
      let packet = bytes.withUnsafeBytes { raw in
        OpusPacket.inspect(raw) { frame in
          #expect(frame.lowerBound >= end && frame.upperBound <= count)
          end = frame.upperBound
        }
      }
      guard let packet else { continue }
      wellFormed += 1
      #expect(packet.duration <= OpusPacket.maximumDuration && packet.frameCount > 0)
    }
    #expect(wellFormed > 10_000)
  }

  @Test func partOfABufferIsRead() {
    let buffer = PacketBuffer([0xFF, 0x78, 1, 2, 3])
    #expect(OpusPacket.inspect(buffer, offset: 1, count: 4)?.duration == 960)
    #expect(OpusPacket.inspect(buffer, offset: 1, count: 5) == nil)
    #expect(OpusPacket.inspect(buffer, offset: 5, count: 0) == nil)
    #expect(OpusPacket.inspect(buffer, offset: -1, count: 2) == nil)
  }

  static func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex)
    return stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...($0 + 1)]), radix: 16) }
  }
}
