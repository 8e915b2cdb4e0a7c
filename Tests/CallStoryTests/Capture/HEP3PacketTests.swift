import CallModel
import CallStory
import Foundation
import PeerKit
import Testing

@Suite("Packets for a capture server")
struct HEP3PacketTests {
  private static let invite = Scenario.message(
    Scenario.invite, callID: "hep-1@gw", cseq: "1 INVITE", body: Scenario.description(Scenario.allCodecs))

  private static func packet(_ source: String, _ destination: String, _ transport: String = "udp") -> HEP3Packet {
    HEP3Packet(
      .sip, transport: transport, source: source, destination: destination, at: Scenario.start + 123, agent: 2001,
      password: "key", node: "node-1", correlationID: "hep-1@gw", payload: invite)
  }

  @Test("The packet begins with its name and its length, and each chunk has its own")
  func chunks() {
    let bytes = Self.packet("192.0.2.1:5060", "192.0.2.2:5080").bytes
    #expect(bytes.prefix(4).elementsEqual("HEP3".utf8))
    #expect(Int(bytes[4]) << 8 | Int(bytes[5]) == bytes.count)
    var chunks: [UInt16: [UInt8]] = [:]
    var place = 6
    while place + 6 <= bytes.count {
      #expect(bytes[place] == 0 && bytes[place + 1] == 0)
      let type = UInt16(bytes[place + 2]) << 8 | UInt16(bytes[place + 3])
      let length = Int(bytes[place + 4]) << 8 | Int(bytes[place + 5])
      guard length >= 6, place + length <= bytes.count else { break }
      chunks[type] = Array(bytes[place + 6..<place + length])
      place += length
    }
    #expect(place == bytes.count)
    #expect(chunks[1] == [2])
    #expect(chunks[2] == [17])
    #expect(chunks[3] == [192, 0, 2, 1])
    #expect(chunks[4] == [192, 0, 2, 2])
    #expect(chunks[7] == [0x13, 0xC4])
    #expect(chunks[8] == [0x13, 0xD8])
    #expect(chunks[9] == [0x6B, 0x02, 0x68, 0xC0])
    #expect(chunks[10] == [0, 0, 0, 123])
    #expect(chunks[11] == [1])
    #expect(chunks[12] == [0, 0, 0x07, 0xD1])
    #expect(chunks[14] == Array("key".utf8))
    #expect(chunks[15] == Self.invite)
    #expect(chunks[17] == Array("hep-1@gw".utf8))
    #expect(chunks[19] == Array("node-1".utf8))
  }

  @Test("A payload that is too long is cut, so that the packet fits in a datagram; odd values do no harm")
  func limits() {
    var packet = Self.packet("nonsense", "")
    packet.payload = [UInt8](repeating: 0x78, count: 200_000)
    packet.correlationID = String(repeating: "c", count: 70_000)
    packet.node = String(repeating: "\u{E9}", count: 70_000)
    packet.password = packet.node
    packet.at = .min
    let bytes = packet.bytes
    #expect(bytes.count < 65_507)
    #expect(Int(bytes[4]) << 8 | Int(bytes[5]) == bytes.count)
    packet.at = .max
    #expect(!packet.bytes.isEmpty)
  }

  @Test("A message of a trace goes the way it went")
  func ofTrace() throws {
    let trace = Scenario.answered.recorder.trace
    let received = try #require(trace.messages.first { !$0.isSent })
    let packet = HEP3Packet(received, startedAt: trace.startedAt, agent: 1, correlationID: "busy-1@gw")
    #expect(packet.source == "127.0.0.1:5070")
    #expect(packet.destination == "127.0.0.1:5060")
    #expect(packet.at == Scenario.start + received.at)
  }

  @Test("The figures of a second are a report as a collector reads it")
  func report() throws {
    let direction = CallTrace.Direction(packets: 50, bytes: 8000, lost: 2, lossRate: 0.04, jitter: 1.25, score: 4.1)
    let second = CallTrace.Second(at: 1_000_000, side: .far, received: direction, sent: direction, roundTrip: 12.5)
    let packet = HEP3Packet(
      second, startedAt: Scenario.start, clockRate: 8000, source: "127.0.0.1:40000", destination: "127.0.0.1:42000",
      agent: 7, correlationID: "x@gw")
    #expect(packet.kind == .rtcpReport)
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(packet.payload)) as? [String: Any])
    #expect(object["type"] as? Int == 200)
    #expect(object["report_count"] as? Int == 1)
    let sender = try #require(object["sender_information"] as? [String: Any])
    #expect(sender["packets"] as? Int == 50)
    #expect(sender["octets"] as? Int == 8000)
    #expect(sender["ntp_timestamp_sec"] as? Int == 1_795_320_001 + 2_208_988_800)
    let block = try #require((object["report_blocks"] as? [[String: Any]])?.first)
    #expect(block["packets_lost"] as? Int == 2)
    #expect(block["fraction_lost"] as? Int == 10)
    #expect(block["ia_jitter"] as? Int == 10)
    #expect((object["mos"] as? Double) == 4.1)
  }

  /// Packets as datagrams to the port of a capture server, in a file.
  private static func file(_ packets: [HEP3Packet], in folder: TemporaryFolder) throws -> URL {
    let file = folder.url.appendingPathComponent("hep.pcapng")
    try Data(Datagrams.capture(packets.map(\.bytes), port: 9060)).write(to: file)
    return file
  }

  @Test(
    "sip-doctor finds the call in packets for a capture server",
    .enabled(if: SIPDoctor.isInstalled, "\(SIPDoctor.absence)"))
  func sipDoctor() async throws {
    let folder = try TemporaryFolder("hep")
    let trace = Scenario.failed(486, "Busy Here").recorder.trace
    var packets = trace.messages.map {
      HEP3Packet($0, startedAt: trace.startedAt, agent: 2001, node: "n", correlationID: "fail-1@gw")
    }
    packets.append(Self.packet("[2001:db8::1]:5060", "[2001:db8::2]:5080", "tcp"))
    let report = try await SIPDoctor.read(try Self.file(packets, in: folder))
    #expect(report.contains("1 busy, 1 no response"))
    #expect(report.contains("Call failed: 486 Busy Here"))
    #expect(report.contains("4 SIP messages (TCP 1, UDP 3)"))
    #expect(report.contains("4 via HEP"))
    #expect(report.contains("[2001:db8::2]:5080"))
  }
}

/// UDP datagrams in a capture file, written apart from the code under test: Ethernet, no comments, no checksum of UDP.
enum Datagrams {
  static func capture(_ payloads: [[UInt8]], port: UInt16) -> [UInt8] {
    func little(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    func big(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)] }
    // The old format (pcap), whose header is 24 bytes; the link type is Ethernet.
    var file = little(0xA1B2_C3D4) + [2, 0, 4, 0] + little(0) + little(0) + little(65_535) + little(1)
    for (index, payload) in payloads.enumerated() {
      var header: [UInt8] =
        [0x45, 0] + big(28 + payload.count) + [0, 0, 0x40, 0, 64, 17, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1]
      var sum = stride(from: 0, to: 20, by: 2).reduce(0) { $0 + (Int(header[$1]) << 8 | Int(header[$1 + 1])) }
      while sum > 0xFFFF { sum = (sum & 0xFFFF) + sum >> 16 }
      header.replaceSubrange(10..<12, with: big(~sum & 0xFFFF))
      let frame =
        [UInt8](repeating: 2, count: 12) + [8, 0] + header + big(40_000) + big(Int(port)) + big(8 + payload.count)
        + [0, 0] + payload
      file += little(1_795_320_000) + little(UInt32(index)) + little(UInt32(frame.count)) + little(UInt32(frame.count))
      file += frame
    }
    return file
  }
}
