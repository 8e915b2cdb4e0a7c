import Foundation
import MediaCore
import SecureTransport
import TestVectors
import Testing

@Suite struct RTPHeaderTests {
  /// The verdict of every packet, and every field of those that are packets.
  @Test(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
  func verdictsAndFields() throws {
    let rows = try TestVectors.table("rtp-rtcp/facts.tsv").filter { $0["kind"] == "rtp" }
    var counts: [String: Int] = [:]
    for row in rows {
      let file = row["file"] ?? ""
      let bytes = [UInt8](try Data(contentsOf: TestVectors.folder.appendingPathComponent("rtp-rtcp/" + file)))
      let packet = PacketBuffer(bytes)
      let header = RTPHeader(packet)
      #expect((header == nil ? "invalid" : "valid") == row["structure"], "\(file)")
      counts[row["structure"] ?? "", default: 0] += 1
      guard let header else { continue }
      #expect(RTPHeaderTests.facts(header, packet) == row["fields"], "\(file)")
    }
    #expect(counts["valid", default: 0] >= 15)
    #expect(counts["invalid", default: 0] >= 6)
  }

  private static func facts(_ header: RTPHeader, _ packet: PacketBuffer) -> String {
    let contributors = Int(packet[0] & 0x0F)
    var length = "-"
    if packet[0] & 0x10 != 0 {
      let start = 12 + contributors * 4
      let profile = packet.integer(at: start, as: UInt16.self)
      length = "0x" + String(profile, radix: 16) + "/\(header.payloadOffset - start - 4)B"
    }
    let source = String(header.source, radix: 16)
    return "pt=\(header.payloadType) m=\(header.marker ? 1 : 0) seq=\(header.sequence) ts=\(header.timestamp) "
      + "ssrc=0x\(String(repeating: "0", count: 8 - source.count))\(source) cc=\(contributors) ext=\(length) "
      + "pad=\(packet.count - header.payloadOffset - header.payloadCount) payload=\(header.payloadCount)"
  }

  @Test func whatIsWrittenIsRead() throws {
    let packet = PacketBuffer()
    packet.writeRTPHeader(marker: true, payloadType: 101, sequence: 65_535, timestamp: 0x8000_0001, source: 7)
    packet.append(9)
    let header = try #require(RTPHeader(packet))
    #expect(header.marker)
    #expect(header.payloadType == 101)
    #expect(header.sequence == 65_535)
    #expect(header.timestamp == 0x8000_0001)
    #expect(header.source == 7)
    #expect(header.payloadOffset == 12)
    #expect(header.payloadCount == 1)
    packet.writeRTPHeader(marker: false, payloadType: 0xFF, sequence: 1, timestamp: 2, source: 3)
    #expect(RTPHeader(packet)?.marker == false)
    #expect(RTPHeader(packet)?.payloadType == 127)
  }

  /// Every length of a packet with all optional parts: cut short, it is refused, never misread.
  @Test func cutShort() {
    let whole: [UInt8] = [
      0xB2, 0x80, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0xBE, 0xDE, 0, 1, 1, 2, 3, 4, 9, 9, 0, 2,
    ]
    for length in 0..<whole.count {
      let header = RTPHeader(PacketBuffer(whole[..<length]))
      #expect(header == nil, "\(length) bytes")
    }
    let header = RTPHeader(PacketBuffer(whole))
    #expect(header?.payloadOffset == 28)
    #expect(header?.payloadCount == 2)
  }

  @Test(arguments: [0, 5] as [UInt8]) func paddingThatCannotBe(_ count: UInt8) {
    #expect(RTPHeader(PacketBuffer([0xA0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 1, 1, 1, count])) == nil)
  }

  @Test func rewritingKeepsThePayload() throws {
    let packet = PacketBuffer(
      [0xB1, 0x6F, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0xBE, 0xDE, 0, 1, 1, 2, 3, 4, 0xAA, 0xBB, 0xCC, 0, 2])
    let header = try #require(RTPHeader(packet))
    packet.rewriteRTPHeader(header, marker: false, payloadType: 8, sequence: 10, timestamp: 20, source: 30)
    #expect(packet.bytes == [0x80, 8, 0, 10, 0, 0, 0, 20, 0, 0, 0, 30, 0xAA, 0xBB, 0xCC])
  }
}
