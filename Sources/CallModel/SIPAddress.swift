/// A SIP identity, `user@domain`: what an app calls on a SIP trunk or peer.
///
/// The user part keeps the escapes it was written with. Two addresses are equal by the rules of RFC 3261 section
/// 19.1.4: user part case-sensitive, an escape equal to the unreserved character it stands for, host without regard to
/// case, scheme and port (also its absence) as they are. URI parameters, headers and passwords are refused.
public struct SIPAddress: Sendable {
  /// Limits that an installation may set.
  public struct Rules: Hashable, Sendable {
    /// Most characters that an installation may allow.
    public static let largestMaximumLength = 1024
    /// 255 characters.
    public static let standard = Rules(unchecked: 255)
    /// 64 characters, the limit of some mobile clients.
    public static let short = Rules(unchecked: 64)

    /// Most characters of `user@domain:port`, the scheme not counted.
    public let maximumLength: Int

    /// - Throws: ``InvalidValue`` with rule `sip.rules` unless the length lies in 3...1024.
    public init(maximumLength: Int) throws(InvalidValue) {
      guard (3...Rules.largestMaximumLength).contains(maximumLength) else {
        throw InvalidValue(
          kind: "SIP address rules", rule: "sip.rules", offset: nil,
          problem: "a maximum of \(maximumLength) is out of range",
          accepted: "3 to \(Rules.largestMaximumLength) characters")
      }
      self.init(unchecked: maximumLength)
    }

    private init(unchecked maximumLength: Int) { self.maximumLength = maximumLength }
  }

  /// Most characters of the user part, escapes counted as written.
  public static let maximumUserLength = 128

  /// Written with `sips:`: every hop must use TLS.
  public let isSecure: Bool
  /// The user part with its escapes as written.
  public let user: String
  /// What follows the `@`, without the port; in canonical spelling.
  public let host: SIPHost
  /// 1 to 65535; `nil` where none was written.
  public let port: UInt16?
  /// The user part in which equal users are equal texts.
  private let comparableUser: String

  /// Reads `[sip:|sips:]user@domain[:port]`.
  /// - Throws: ``InvalidValue`` with rules `sip.empty`, `sip.long`, `sip.at`, `sip.user`, `sip.userLong`, `sip.escape`,
  ///   `sip.control`, `sip.port` and those of the host: `sip.host`, `sip.label`, `sip.hostLong`, `sip.ipv4`, `sip.ipv6`.
  public init(_ text: some StringProtocol, rules: Rules = .standard) throws(InvalidValue) {
    let scheme = SIPAddress.scheme(of: text.utf8.prefix(5))
    // One more than allowed is enough to know that it is too long.
    let bytes = Array(text.utf8.dropFirst(scheme.length).prefix(rules.maximumLength + 1))
    guard !bytes.isEmpty else { throw SIPAddress.refusal("empty", scheme.length, "nothing is there") }
    guard bytes.count <= rules.maximumLength else {
      throw SIPAddress.refusal(
        "long", scheme.length + rules.maximumLength, "the address has more than \(rules.maximumLength) characters")
    }
    guard let at = bytes.firstIndex(of: UInt8(ascii: "@")) else {
      throw SIPAddress.refusal("at", nil, "the '@' between user and domain is missing")
    }
    comparableUser = try SIPAddress.comparableUser(bytes[..<at], base: scheme.length)
    user = String(decoding: bytes[..<at], as: UTF8.self)
    let domain = bytes[(at + 1)...]
    let colon = UInt8(ascii: ":")
    guard domain.first == UInt8(ascii: "[") || domain.count(where: { $0 == colon }) < 2 else {
      throw SIPAddress.refusal(
        "ipv6", scheme.length + at + 1, "more than one ':' stands in the domain; an IPv6 address goes in brackets")
    }
    let (hostBytes, portBytes) = SIPAddress.hostAndPort(domain)
    host = try SIPHost(hostBytes, base: scheme.length + at + 1)
    port = try portBytes.map { digits throws(InvalidValue) in
      try SIPAddress.port(digits, base: scheme.length + digits.startIndex)
    }
    isSecure = scheme.isSecure
  }

  private static func scheme(of start: some Sequence<UInt8>) -> (length: Int, isSecure: Bool) {
    let lower = start.map { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") ? $0 | 0x20 : $0 }
    if lower.starts(with: "sips:".utf8) { return (5, true) }
    return lower.starts(with: "sip:".utf8) ? (4, false) : (0, false)
  }

  /// Checks the user part (RFC 3261 section 25.1) and brings equal spellings to one.
  private static func comparableUser(_ bytes: ArraySlice<UInt8>, base: Int) throws(InvalidValue) -> String {
    guard !bytes.isEmpty else { throw refusal("user", base, "the user part is empty") }
    guard bytes.count <= maximumUserLength else {
      throw refusal("userLong", base + maximumUserLength, "the user part has more than \(maximumUserLength) characters")
    }
    var comparable: [UInt8] = []
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let byte = bytes[index]
      let offset = base + index
      guard byte == UInt8(ascii: "%") else {
        guard SIPCharacter.isUnreserved(byte) || SIPCharacter.isUserUnreserved(byte) else {
          throw refusal("user", offset, "\(InvalidValue.name(of: byte)) must be escaped in the user part or left out")
        }
        comparable.append(byte)
        index += 1
        continue
      }
      guard index + 2 < bytes.endIndex, let high = SIPCharacter.hexadecimal(bytes[index + 1]),
        let low = SIPCharacter.hexadecimal(bytes[index + 2])
      else { throw refusal("escape", offset, "'%' is not followed by two hexadecimal digits") }
      let escaped = high << 4 | low
      guard escaped >= 0x20, escaped != 0x7F else {
        throw refusal("control", offset, "an escaped control character is not allowed")
      }
      if SIPCharacter.isUnreserved(escaped) {
        comparable.append(escaped)
      } else {
        comparable.append(UInt8(ascii: "%"))
        for digit in [high, low] {
          comparable.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10)
        }
      }
      index += 3
    }
    return String(decoding: comparable, as: UTF8.self)
  }

  /// Cuts at the colon of the port, which in an IPv6 address is the one after the bracket.
  private static func hostAndPort(_ bytes: ArraySlice<UInt8>) -> (ArraySlice<UInt8>, ArraySlice<UInt8>?) {
    let search: ArraySlice<UInt8>
    if bytes.first == UInt8(ascii: "["), let bracket = bytes.firstIndex(of: UInt8(ascii: "]")) {
      search = bytes[(bracket + 1)...]
    } else {
      search = bytes
    }
    guard let colon = search.firstIndex(of: UInt8(ascii: ":")) else { return (bytes, nil) }
    return (bytes[..<colon], bytes[(colon + 1)...])
  }

  private static func port(_ bytes: ArraySlice<UInt8>, base: Int) throws(InvalidValue) -> UInt16 {
    var value: UInt32 = 0
    for (offset, byte) in bytes.enumerated() {
      guard SIPCharacter.isDigit(byte), offset < 5 else {
        throw refusal("port", base + offset, "the port is not a number of at most five digits")
      }
      value = value * 10 + UInt32(byte - UInt8(ascii: "0"))
    }
    guard value > 0, let port = UInt16(exactly: value) else {
      throw refusal("port", base, "the port is missing or outside 1 to 65535")
    }
    return port
  }

  static func refusal(_ rule: String, _ offset: Int?, _ problem: String) -> InvalidValue {
    InvalidValue(
      kind: "SIP address", rule: "sip.\(rule)", offset: offset, problem: problem,
      accepted: "user@domain with an optional port, without parameters, such as alice@example.com, "
        + "alice@192.0.2.1:5060 or alice@[2001:db8::1]")
  }

  /// The address as a URI with its scheme: `sip:alice@example.com`.
  public var uri: String { (isSecure ? "sips:" : "sip:") + identity }

  private var identity: String { "\(user)@\(host)" + (port.map { ":\($0)" } ?? "") }
}

extension SIPAddress: Hashable {
  /// By the rules of RFC 3261 section 19.1.4, see ``SIPAddress``.
  public static func == (left: SIPAddress, right: SIPAddress) -> Bool {
    left.isSecure == right.isSecure && left.comparableUser == right.comparableUser && left.host == right.host
      && left.port == right.port
  }

  /// Equal addresses hash alike, however their users are escaped.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(isSecure)
    hasher.combine(comparableUser)
    hasher.combine(host)
    hasher.combine(port)
  }
}

extension SIPAddress: CustomStringConvertible {
  /// `user@domain[:port]` in canonical spelling, with `sips:` in front of a secure one, so that it reads back equal.
  public var description: String { isSecure ? uri : identity }
}
