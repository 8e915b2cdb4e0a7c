import CallModel
import SIPCore
import Synchronization
import Testing

/// A user agent with telephones, and what one of them sends: plain text, answered as a telephone would.
final class PhoneStage {
  static let password = "a-long-enough-password"
  static let listener = AdvertisedAddress(
    listener: ListenerID(1), transport: .udp, host: .ipv4(0xC000_0201), port: 5060)

  let agent: UserAgent
  private(set) var now = MonotonicInstant(milliseconds: 1_000_000)
  private(set) var events: [UserAgentEvent] = []
  private var branch = 0

  init(
    phones names: [String] = ["lobby"], trunks: [SIPHost] = [],
    _ change: (inout UserAgentConfiguration) -> Void = { _ in }
  ) throws {
    var configuration = UserAgentConfiguration(addresses: [PhoneStage.listener], acceptsCalls: true)
    configuration.acquaintance = .peers(trunks)
    change(&configuration)
    agent = UserAgent(configuration, identifiers: IdentifierSource(PhoneCounter().next))
    try set(names)
  }

  /// Telephones of one owner.
  func set(_ names: [String], password: String = password) throws {
    let phones = try names.map { name in
      PhoneCredential(
        name: name, owner: "production/app/alice", keys: try PhoneKeys(password: Redacted(password), name: name))
    }
    _ = perform(.phones(phones))
  }

  static func path(host: UInt32 = 0xCB00_7107, port: UInt16 = 5060) -> SIPPath {
    SIPPath(listener: ListenerID(1), remote: TransportAddress(.udp, .ipv4(host), port: port))
  }

  /// A request as text.
  func request(
    _ method: String = "REGISTER", user: String = "lobby", sequence: Int, callID: String = "c1",
    contacts: [String] = ["<sip:lobby@10.0.0.7:5060>"], fields: [String] = [], uri: String = "sip:gw.example.com",
    branch: String? = nil
  ) -> [UInt8] {
    self.branch += 1
    let lines =
      [
        "\(method) \(uri) SIP/2.0",
        "Via: SIP/2.0/UDP 10.0.0.7:5060;rport;branch=z9hG4bK\(branch ?? "b\(self.branch)")", "Max-Forwards: 70",
        "From: <sip:\(user)@gw.example.com>;tag=f1", "To: <sip:\(user)@gw.example.com>", "Call-ID: \(callID)",
        "CSeq: \(sequence) \(method)",
      ] + contacts.map { "Contact: \($0)" } + fields
      + [
        "User-Agent: a telephone of a test, version 1.2.3",
        "Allow: INVITE, ACK, BYE, CANCEL, OPTIONS, NOTIFY, INFO, UPDATE",
        "Content-Length: 0",
      ]
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }

  /// - Returns: what is sent because of it.
  @discardableResult
  func send(_ bytes: [UInt8], from path: SIPPath = path()) -> [String] {
    perform { agent.receive(bytes, from: path, at: now, into: &$0) }
  }

  func perform(_ command: UserAgentCommand) -> [String] {
    perform { agent.handle(command, at: now, into: &$0) }
  }

  func wait(_ milliseconds: Int64) {
    now = now.advanced(byMilliseconds: milliseconds)
    _ = perform { agent.advance(to: now, into: &$0) }
  }

  private func perform(_ body: (inout [UserAgentEffect]) -> Void) -> [String] {
    var effects: [UserAgentEffect] = []
    body(&effects)
    var sent: [String] = []
    for effect in effects {
      switch effect {
      case .send(let bytes, _, _): sent.append(String(decoding: bytes, as: UTF8.self))
      case .event(let event): events.append(event)
      case .locate: break
      }
    }
    return sent
  }

  // MARK: What a telephone does

  /// Credentials for a challenge.
  static func answer(
    _ response: String, _ method: String = "REGISTER", uri: String = "sip:gw.example.com", user: String = "lobby",
    password: String = password, algorithms: Set<DigestAlgorithm> = Set(DigestAlgorithm.allCases)
  ) throws -> [String] {
    let scope: DigestScope = response.hasPrefix("SIP/2.0 407") ? .proxy : .userAgent
    let challenges = PhoneStage.values(response, scope.challengeFieldName).map { DigestField(scope, $0) }
    var client = DigestClient(
      account: DigestAccount(username: user, password: Redacted(password), algorithms: algorithms))
    let made = try client.answer(
      challenges, to: DigestRequest(method: method, uri: uri), previous: nil, cnonce: "0123456789abcdef")
    return made.fields.map { "\(scope.credentialsFieldName): \($0.value)" }
  }

  static func values(_ message: String, _ name: String) -> [String] {
    message.split(separator: "\r\n").compactMap { line in
      line.hasPrefix("\(name): ") ? String(line.dropFirst(name.count + 2)) : nil
    }
  }

  /// Registers, with a challenge before it; the CSeq is `sequence` and the next.
  @discardableResult
  func register(
    user: String = "lobby", password: String = password, sequence: Int = 1, callID: String = "c1",
    contacts: [String] = ["<sip:lobby@10.0.0.7:5060>"], fields: [String] = [], from path: SIPPath = path(),
    algorithms: Set<DigestAlgorithm> = Set(DigestAlgorithm.allCases)
  ) throws -> String {
    let challenge = try #require(
      send(
        request(user: user, sequence: sequence, callID: callID, contacts: contacts, fields: fields), from: path
      ).first)
    try #require(challenge.hasPrefix("SIP/2.0 401"), "\(challenge)")
    let proof = try PhoneStage.answer(challenge, user: user, password: password, algorithms: algorithms)
    return try #require(
      send(
        request(user: user, sequence: sequence + 1, callID: callID, contacts: contacts, fields: fields + proof),
        from: path
      ).first)
  }

  /// Far ports of all bindings, as the last event about a telephone has them.
  func ports(_ name: String = "lobby") -> [UInt16]? {
    events.lazy.compactMap { event -> [UInt16]? in
      if case .phoneBindings(name, let bindings) = event { bindings.map(\.path.remote.port) } else { nil }
    }.last
  }
}

/// Numbers one after the other.
private final class PhoneCounter: Sendable {
  private let value = Mutex<UInt64>(1 << 40)
  var next: @Sendable () -> UInt64 {
    {
      self.value.withLock {
        $0 = $0 &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return $0
      }
    }
  }
}
