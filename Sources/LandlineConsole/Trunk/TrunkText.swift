import CallModel
import NodeCore
import SDPCore
import SIPCore

/// How values of SIP read on a line.
enum TrunkText {
  static func text(_ uri: SIPURI) -> String { TrunkAddress.text(uri) }

  static func text(_ address: NameAddress) -> String {
    (address.displayName.map { "\"\($0)\" " } ?? "") + "<\(text(address.uri))>"
  }

  static func text(_ address: TransportAddress) -> String {
    "\(address.transport.rawValue) \(address.host):\(address.port)"
  }

  static func text(_ question: DNSQuestion, _ answer: DNSAnswer) -> [String] {
    func line(_ value: String) -> String { "\(question): \(value)" }
    switch answer {
    case .naptr(let records):
      return records.map { line("\($0.order) \($0.preference) \"\($0.flags)\" \"\($0.services)\" \($0.replacement)") }
    case .srv(let records): return records.map { line("\($0.priority) \($0.weight) \($0.port) \($0.target)") }
    case .addresses(let hosts): return [line(hosts.map { "\($0)" }.joined(separator: ", "))]
    case .notFound: return [line("none")]
    case .serverFailure: return [line("the name server failed")]
    case .timedOut: return [line("no answer")]
    }
  }

  static func text(_ codec: AudioCodec) -> String { codec.rawValue.lowercased() }

  static func text(_ protection: MediaPolicy.Protection) -> String {
    if protection.contains(.sdes) { return protection.contains(.none) ? "optional" : "required" }
    return "off"
  }

  /// As the configuration has it: `e164`, `national of 46`.
  static func text(_ format: InboundNumberFormat) -> String {
    switch format {
    case .international: "e164"
    case .national(let country): "national of \(country)"
    }
  }

  /// `30s`, `5m`.
  static func duration(_ milliseconds: Int64) -> String {
    if milliseconds % 3_600_000 == 0, milliseconds > 0 { return "\(milliseconds / 3_600_000)h" }
    if milliseconds % 60_000 == 0, milliseconds > 0 { return "\(milliseconds / 60_000)m" }
    return milliseconds % 1000 == 0 ? "\(milliseconds / 1000)s" : "\(milliseconds)ms"
  }

  static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: ":")
  }

  /// What a text from outside reads like on one line.
  static func clean(_ text: String) -> String { CallFailure.shortened(text) }
}
