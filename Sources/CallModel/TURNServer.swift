/// Where a TURN server listens, as its URI says (RFC 7065): `turn:turn.example.com`, `turns:[2001:db8::7]:443?transport=tcp`.
public struct TURNServer: Hashable, Sendable {
  /// What carries STUN messages to the server.
  public enum Transport: String, Hashable, Sendable {
    case udp, tcp
  }

  /// Most characters of a URI.
  public static let maximumLength = 512
  /// The port where none is given, in the clear (RFC 8656 section 18.5).
  public static let standardPort: UInt16 = 3478
  /// The port where none is given, through TLS.
  public static let standardSecurePort: UInt16 = 5349

  /// Through TLS: `turns`.
  public let isSecure: Bool
  /// A name, or a numeric address.
  public let host: SIPHost
  public let port: UInt16
  /// Of `turn` without a transport UDP, of `turns` TCP (RFC 7065 section 3.1, RFC 8656 section 5).
  public let transport: Transport

  /// Nothing is checked: DTLS, which nobody here speaks, would be `isSecure` with UDP.
  public init(isSecure: Bool, host: SIPHost, port: UInt16, transport: Transport) {
    self.isSecure = isSecure
    self.host = host
    self.port = port
    self.transport = transport
  }

  /// Reads a URI.
  /// - Throws: ``InvalidValue`` with rules `turn.long`, `turn.scheme`, `turn.host`, `turn.port`, `turn.transport`.
  public init(_ text: some StringProtocol) throws(InvalidValue) {
    guard text.utf8.count <= TURNServer.maximumLength else {
      throw TURNServer.refusal("long", "it has more than \(TURNServer.maximumLength) characters")
    }
    var rest = Array(text.utf8)[...]
    guard let colon = rest.firstIndex(of: UInt8(ascii: ":")) else {
      throw TURNServer.refusal("scheme", "neither turn: nor turns: stands before the host")
    }
    switch String(decoding: rest[..<colon], as: UTF8.self).lowercased() {
    case "turn": isSecure = false
    case "turns": isSecure = true
    default: throw TURNServer.refusal("scheme", "neither turn: nor turns: stands before the host")
    }
    rest = rest[(colon + 1)...]
    var transport = isSecure ? Transport.tcp : .udp
    if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
      transport = try TURNServer.transport(rest[(mark + 1)...])
      rest = rest[..<mark]
    }
    guard !isSecure || transport == .tcp else {
      throw TURNServer.refusal("transport", "turns: with UDP is DTLS, which is not carried")
    }
    self.transport = transport
    let standard = isSecure ? TURNServer.standardSecurePort : TURNServer.standardPort
    (host, port) = try TURNServer.authority(rest, standard)
  }

  private static func transport(_ query: ArraySlice<UInt8>) throws(InvalidValue) -> Transport {
    switch String(decoding: query, as: UTF8.self).lowercased() {
    case "transport=udp": return .udp
    case "transport=tcp": return .tcp
    default: throw refusal("transport", "behind the question mark stands neither transport=udp nor transport=tcp")
    }
  }

  private static func authority(
    _ text: ArraySlice<UInt8>, _ standard: UInt16
  ) throws(InvalidValue) -> (SIPHost, UInt16) {
    var host = text
    var digits: ArraySlice<UInt8>?
    // The colons of an IPv6 address stand in its brackets.
    if let colon = text.lastIndex(of: UInt8(ascii: ":")), text.last != UInt8(ascii: "]") {
      host = text[..<colon]
      digits = text[(colon + 1)...]
    }
    let read: SIPHost
    do {
      read = try SIPHost(signalled: host)
    } catch {
      throw refusal("host", error.problem)
    }
    guard let digits else { return (read, standard) }
    guard !digits.isEmpty, digits.allSatisfy(SIPCharacter.isDigit),
      let port = UInt16(String(decoding: digits, as: UTF8.self)), port > 0
    else { throw refusal("port", "the port is not a number from 1 to 65535") }
    return (read, port)
  }

  private static func refusal(_ rule: String, _ problem: String) -> InvalidValue {
    InvalidValue(
      kind: "TURN server", rule: "turn.\(rule)", offset: nil, problem: problem,
      accepted: "turn:host, turn:host:port?transport=tcp or turns:host:port, such as turns:turn.example.com:443")
  }
}

extension TURNServer: CustomStringConvertible {
  /// With its port and its transport: `turn:192.0.2.7:3478?transport=udp`.
  public var description: String { "\(isSecure ? "turns" : "turn"):\(host):\(port)?transport=\(transport.rawValue)" }
}
