import CallModel
import Foundation
import SIPCore
import TestVectors

/// Bytes and verdicts shared by the gate's suites.
enum GateFixtures {
  static func bytes(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: TestVectors.folder.appendingPathComponent(path)))
  }

  /// `forward`, or the refusal as it would be logged.
  static func verdict(_ bytes: [UInt8], _ transport: SIPTransport = .udp) -> String {
    switch SIPGate.admit(bytes, transport: transport) {
    case .success: "forward"
    case .failure(let refusal): refusal.description
    }
  }

  static let source = PacketSource(host: .ipv4(0xC000_0201), port: 40_000)

  /// A message from its lines, joined by CRLF.
  static func message(_ lines: [String], body: String = "") -> [UInt8] {
    Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
  }

  static let lines = [
    "INVITE sip:+46000000000@127.0.0.1 SIP/2.0", "Via: SIP/2.0/UDP 192.0.2.1:5099;branch=z9hG4bK-1;rport",
    "Max-Forwards: 70", "From: <sip:a@127.0.0.1>;tag=a1", "To: <sip:+46000000000@127.0.0.1>", "Call-ID: a1@127.0.0.1",
    "CSeq: 1 INVITE", "Contact: <sip:a@127.0.0.1:5099>", "Content-Length: 0",
  ]

  /// The plain INVITE with the line that starts so replaced; with `nil`, left out.
  static func replacing(_ start: String, with line: String?) -> [UInt8] {
    message(lines.compactMap { $0.hasPrefix(start) ? line : $0 })
  }

  /// The plain INVITE with one more header field.
  static func adding(_ line: String) -> [UInt8] { message(lines + [line]) }
}

/// The numbers of Vigna's splitmix64: the same for a seed everywhere.
struct SeededBytes: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
