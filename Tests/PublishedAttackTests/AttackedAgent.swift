import CallModel
import SIPCore

/// A whole agent and a stranger who sends to it.
struct AttackedAgent {
  private let agent: UserAgent
  private let path: SIPPath

  init(_ transport: SIPTransport = .udp, acceptsCalls: Bool = true) {
    agent = UserAgent(
      UserAgentConfiguration(
        addresses: [
          AdvertisedAddress(listener: ListenerID(1), transport: transport, host: .ipv4(0x7F00_0001), port: 5060)
        ], acceptsCalls: acceptsCalls),
      identifiers: .system)
    path = SIPPath(
      listener: ListenerID(1), remote: TransportAddress(transport, .ipv4(0x7F00_0009), port: 5060),
      connection: transport.isStream ? ConnectionID(1) : nil)
  }

  /// The final statuses that are sent within half a minute, in order: `400`, `404 404`; `silence`; `call` where a call is
  /// reported.
  func outcome(_ bytes: [UInt8]...) -> String {
    var effects: [UserAgentEffect] = []
    for message in bytes { agent.receive(message, from: path, at: .zero, into: &effects) }
    agent.advance(to: MonotonicInstant(milliseconds: 400), into: &effects)
    var words: [String] = []
    for effect in effects {
      switch effect {
      case .send(let bytes, _, _):
        guard case .success(let message) = SIPGate.inspect(bytes, transport: .tcp) else {
          words.append("broken bytes")
          continue
        }
        if let status = message.status, status >= 200 { words.append("\(status)") }
        if message.status == nil { words.append("request \(message.method ?? "")") }
      case .event(.incoming): words.append("call")
      default: continue
      }
    }
    return words.isEmpty ? "silence" : words.joined(separator: " ")
  }

  /// Whether it still answers.
  var isAlive: Bool {
    outcome(Self.message("OPTIONS", ["Call-ID: alive", "Via: SIP/2.0/UDP 127.0.0.9;branch=z9hG4bKalive"])) == "200"
  }

  /// One message, then whether the agent lives.
  static func outcome(_ bytes: [UInt8]..., over transport: SIPTransport = .udp) throws -> String {
    let agent = AttackedAgent(transport)
    let words = bytes.map { agent.outcome($0) }
    guard agent.isAlive else { return "dead after \(words)" }
    return words.joined(separator: ", ")
  }

  /// A plain request with some fields replaced (those of a name that is there) or added.
  static func message(
    _ method: String = "INVITE", uri: String = "sip:+46000000000@127.0.0.1", _ fields: [String] = [],
    without: Set<String> = [], body: String = ""
  ) -> [UInt8] {
    bytes("\(method) \(uri) SIP/2.0", method, fields, without: without, body: body)
  }

  /// The same for an INVITE.
  static func message(_ fields: [String], without: Set<String> = [], body: String = "") -> [UInt8] {
    message("INVITE", fields, without: without, body: body)
  }

  static func bytes(
    _ startLine: String, _ method: String, _ fields: [String], without: Set<String> = [], body: String = ""
  ) -> [UInt8] {
    let plain = [
      ("Via", "SIP/2.0/UDP 127.0.0.9;branch=z9hG4bK-1;rport"), ("Max-Forwards", "70"),
      ("From", "<sip:a@127.0.0.9>;tag=a1"), ("To", "<sip:+46000000000@127.0.0.1>"), ("Call-ID", "a1@127.0.0.9"),
      ("CSeq", "1 \(method)"), ("Contact", "<sip:a@127.0.0.9:5060>"), ("Content-Length", "\(body.utf8.count)"),
    ]
    func name(_ field: String) -> String {
      String(field.prefix { $0 != ":" }).trimmingBlanks().lowercased()
    }
    let given = Set(fields.map(name))
    var lines = [startLine]
    for (key, value) in plain where !without.contains(key) && !given.contains(key.lowercased()) {
      lines.append("\(key): \(value)")
    }
    lines += fields
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
  }
}

extension String {
  func trimmingBlanks() -> String {
    String(drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
  }

  func times(_ count: Int) -> String { String(repeating: self, count: count) }
}
