/// The address of something on the web that is fetched over TLS (RFC 9110 section 4.2.2): `https://host:port/path?query`.
///
/// Narrower than what browsers take, so that no two readers see different hosts in it: no user part, no fragment, and
/// nothing in the host that only some of them read as a numeric address.
public struct WebAddress: Hashable, Sendable {
  /// Most bytes of its text.
  public static let maximumBytes = 2048

  /// As it was written.
  public let text: String
  /// Where it leads, before any name is resolved.
  public let host: SIPHost
  /// 443 where the text has none.
  public let port: UInt16
  /// Path and query, at least `/`: what a request line names.
  public let target: String

  /// - Throws: ``InvalidValue`` with rules `web.length`, `web.scheme`, `web.user`, `web.host`, `web.port` and
  ///   `web.character`.
  public init(_ text: String) throws(InvalidValue) {
    let bytes = Array(text.utf8.prefix(WebAddress.maximumBytes + 1))
    guard bytes.count <= WebAddress.maximumBytes else {
      throw WebAddress.refusal("length", "it has more than \(WebAddress.maximumBytes) bytes")
    }
    guard bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"\"<>\\^`{|}#".utf8.contains($0) }) else {
      throw WebAddress.refusal("character", "it holds a byte that has no place in it")
    }
    let scheme = Array("https://".utf8)
    guard bytes.prefix(scheme.count).map({ $0 | 0x20 }) == scheme else {
      throw WebAddress.refusal("scheme", "it does not begin with https://")
    }
    let rest = bytes.dropFirst(scheme.count)
    let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
    guard !authority.contains(UInt8(ascii: "@")) else {
      throw WebAddress.refusal("user", "a user part stands before its host")
    }
    // The colons of an IPv6 address are inside brackets.
    let closing = authority.lastIndex(of: UInt8(ascii: "]"))
    let colon = authority.lastIndex(of: UInt8(ascii: ":")).flatMap { colon in
      closing.map { colon > $0 } ?? true ? colon : nil
    }
    let name = authority[..<(colon ?? authority.endIndex)]
    do throws(InvalidValue) {
      host = try SIPHost(name, base: 0)
    } catch {
      throw WebAddress.refusal("host", error.problem)
    }
    if case .name(let name) = host, let last = name.split(separator: ".").last, WebAddress.isNumeric(last) {
      // 127.1 and 0x7f.1 are loopback to some.
      throw WebAddress.refusal("host", "its host is neither a name nor four decimal numbers")
    }
    if let colon {
      let digits = authority[authority.index(after: colon)...]
      guard digits.count <= 5, digits.allSatisfy(SIPCharacter.isDigit),
        let port = UInt16(String(decoding: digits, as: UTF8.self)), port > 0
      else { throw WebAddress.refusal("port", "its port is no number from 1 to 65535") }
      self.port = port
    } else {
      port = 443
    }
    let path = rest[authority.endIndex...]
    target = (path.first == UInt8(ascii: "/") ? "" : "/") + String(decoding: path, as: UTF8.self)
    self.text = text
  }

  private static func isNumeric(_ label: Substring) -> Bool {
    let isHexadecimal = label.hasPrefix("0x") && label.dropFirst(2).allSatisfy(\.isHexDigit)
    return isHexadecimal || label.utf8.allSatisfy(SIPCharacter.isDigit)
  }

  private static func refusal(_ rule: String, _ problem: String) -> InvalidValue {
    InvalidValue(
      kind: "web address", rule: "web.\(rule)", offset: nil, problem: problem,
      accepted: "https:// with a host, such as https://cert.example.org/certificate.pem")
  }
}

extension WebAddress: CustomStringConvertible {
  /// As it was written.
  public var description: String { text }
}
