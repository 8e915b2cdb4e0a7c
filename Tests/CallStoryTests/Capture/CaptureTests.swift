import CallModel
import CallStory
import Foundation
import PeerKit
import Testing

@Suite("A call as packets")
struct CaptureTests {
  @Test("Blocks follow one another in whole words, each with its length at both ends")
  func blocks() throws {
    let bytes = Scenario.answered.recorder.trace.capture()
    let types = try Blocks.types(bytes)
    #expect(types == [0x0A0D_0D0A, 1] + Array(repeating: 6, count: 15))
  }

  @Test("A trace without messages is a file without packets, with what is known in its comment")
  func empty() throws {
    var recorder = CallTraceRecorder(call: "A", startedAt: 0)
    recorder.line("call", "phone +46000000000", isFromApp: true, at: 0)
    let bytes = recorder.trace.capture()
    #expect(try Blocks.types(bytes) == [0x0A0D_0D0A, 1])
    #expect(String(decoding: bytes, as: UTF8.self).contains("app -> gateway call: phone +46000000000"))
  }

  /// Two messages each way over a transport, and the longest that a trace holds.
  private static func exchange(_ transport: String, _ local: String, _ remote: String) -> CallTrace {
    var recorder = CallTraceRecorder(call: "A", startedAt: Scenario.start)
    let id = "flow@gw"
    recorder.dialog(.init(sipCallID: id, side: .far, trunk: "carrier"))
    let offer = Scenario.description(Scenario.allCodecs)
    let long = Scenario.description(
      ["8 PCMA/8000"], extra: String(repeating: "a=x-long:0123456789\r\n", count: 500))
    let messages: [(Bool, String, String, String)] = [
      (true, Scenario.invite, "1 INVITE", offer), (false, "SIP/2.0 100 Trying", "1 INVITE", ""),
      (false, "SIP/2.0 200 OK", "1 INVITE", long), (true, "ACK sip:x@h SIP/2.0", "1 ACK", ""),
      (false, "BYE sip:gateway@h SIP/2.0", "1 BYE", ""), (true, "SIP/2.0 200 OK", "1 BYE", ""),
    ]
    for (index, (isSent, first, cseq, body)) in messages.enumerated() {
      recorder.message(
        Scenario.message(first, callID: id, cseq: cseq, body: body), of: id, isSent: isSent, transport: transport,
        local: local, remote: remote, at: Scenario.start + Int64(index) * 1_000)
    }
    return recorder.trace
  }

  /// What tshark reads: one line of fields for each packet.
  private func fields(_ capture: [UInt8], _ names: [String], filter: String = "") async throws -> [[String]] {
    let folder = try TemporaryFolder("capture")
    let file = folder.url.appendingPathComponent("call.pcapng")
    try Data(capture).write(to: file)
    let result = try await PeerProcess.run(
      .tshark,
      [
        "-r", file.path, "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE", "-o",
        "tcp.check_checksum:TRUE", "-T", "fields", "-E", "separator=/t",
      ] + (filter.isEmpty ? [] : ["-Y", filter]) + names.flatMap { ["-e", $0] })
    #expect(result.status == 0, "\(result.diagnostics)")
    return result.output.split(separator: "\n").map {
      $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    }
  }

  @Test(
    "tshark reads every message, finds every checksum right and has nothing to warn of",
    .enabled(if: PeerProgram.tshark.isInstalled, "\(PeerProgram.tshark.absence)"),
    arguments: [
      ("udp", "127.0.0.1:5060", "127.0.0.1:5080"), ("udp", "[2001:db8::1]:5060", "[2001:db8::2]:5080"),
      ("tcp", "127.0.0.1:5060", "127.0.0.1:5080"), ("tcp", "[2001:db8::1]:5060", "[2001:db8::2]:5080"),
      ("tls", "127.0.0.1:5061", "127.0.0.2:5061"), ("udp", "", "carrier.example:5060"),
    ])
  func tshark(_ transport: String, _ local: String, _ remote: String) async throws {
    let capture = Self.exchange(transport, local, remote).capture()
    let packets = try await fields(
      capture,
      [
        "ip.checksum.status", "udp.checksum.status", "tcp.checksum.status", "sip.Method", "sip.Status-Code", "sip.CSeq",
        "frame.time_epoch", "frame.packet_flags_direction",
      ])
    #expect(packets.count == 6)
    let isIPv6 = local.hasPrefix("[")
    for packet in packets {
      #expect(packet[0] == (isIPv6 ? "" : "1"))
      #expect(packet[1] == (transport == "udp" ? "1" : ""))
      #expect(packet[2] == (transport == "udp" ? "" : "1"))
    }
    #expect(packets.map { $0[3] } == ["INVITE", "", "", "ACK", "BYE", ""])
    #expect(packets.map { $0[4] } == ["", "100", "200", "", "", "200"])
    #expect(packets.map { $0[6] }.first?.hasPrefix("1795320000.000000") ?? false)
    #expect(packets.map { $0[6] }.last?.hasPrefix("1795320000.005000") ?? false)
    #expect(packets.compactMap { $0[7].last } == ["2", "1", "1", "2", "1", "2"])
    let warnings = try await fields(
      capture, ["_ws.expert.message"], filter: "_ws.expert.severity >= \"Warning\" or _ws.malformed")
    #expect(warnings.isEmpty, "\(warnings)")
    let lost = try await fields(
      capture, ["frame.number"],
      filter: "tcp.analysis.lost_segment or tcp.analysis.retransmission or tcp.analysis.ack_lost_segment")
    #expect(lost.isEmpty)
  }

  @Test(
    "tshark sees which messages were repeated, and the app's lines as comments",
    .enabled(if: PeerProgram.tshark.isInstalled, "\(PeerProgram.tshark.absence)"))
  func tsharkDialog() async throws {
    let capture = Scenario.answered.recorder.trace.capture()
    let resent = try await fields(capture, ["sip.CSeq"], filter: "sip.resend == 1")
    #expect(resent == [["2 INVITE"], ["2 INVITE"]])
    let comments = try await fields(capture, ["frame.comment"], filter: "frame.comment")
    let all = comments.flatMap { $0 }.joined(separator: "\n")
    for line in ["app -> gateway call: phone +46701234567", "gateway -> app ringing", "ended: hungUp", "repeated"] {
      #expect(all.contains(line))
    }
    let responses = try await fields(capture, ["sip.response-request"], filter: "sip.Status-Code == 180")
    #expect(responses.count == 1)
  }

  @Test(
    "sip-doctor reads the same call: one trunk refused, the other answered",
    .enabled(if: SIPDoctor.isInstalled, "\(SIPDoctor.absence)"))
  func sipDoctor() async throws {
    let folder = try TemporaryFolder("doctor")
    let file = folder.url.appendingPathComponent("call.pcapng")
    try Data(Scenario.answered.recorder.trace.capture()).write(to: file)
    let report = try await SIPDoctor.read(file)
    #expect(report.contains("2 call(s)"))
    #expect(report.contains("1 failed, 1 answered"))
    #expect(report.contains("FAILED 503"))
    #expect(report.contains("503 Service Unavailable"))
    #expect(report.contains("15 SIP messages"))
  }
}

/// Blocks of a pcapng file.
enum Blocks {
  struct Broken: Error {}

  static func types(_ bytes: [UInt8]) throws -> [UInt32] {
    func word(_ place: Int) throws -> UInt32 {
      guard place + 4 <= bytes.count else { throw Broken() }
      return (0..<4).reduce(0) { $0 | UInt32(bytes[place + $1]) << UInt32(8 * $1) }
    }
    var types: [UInt32] = []
    var place = 0
    while place < bytes.count {
      let length = Int(try word(place + 4))
      guard length >= 12, length.isMultiple(of: 4), try word(place + length - 4) == UInt32(length) else {
        throw Broken()
      }
      types.append(try word(place))
      place += length
    }
    return types
  }
}

/// A foreign reader of captures, of the peers' Python environment.
enum SIPDoctor {
  static let program: String? = PythonPeer.python.map {
    URL(fileURLWithPath: $0).deletingLastPathComponent().appendingPathComponent("sip-doctor").path
  }.flatMap { FileManager.default.isExecutableFile(atPath: $0) ? $0 : nil }
  static var isInstalled: Bool { program != nil }
  static let absence = "sip-doctor is absent: Deploy/peers-python makes the environment that has it"

  static func read(_ file: URL) async throws -> String {
    guard let program else { throw PeerFailure(absence) }
    let result = try await PeerProcess.run(
      URL(fileURLWithPath: program), ["read", "--no-color", "--ladder", file.path],
      environment: ["LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"], startedIn: file.deletingLastPathComponent())
    return result.output
  }
}
