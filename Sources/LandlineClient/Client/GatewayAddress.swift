public import CallModel

/// Where a gateway listens for apps.
public struct GatewayAddress: Hashable, Sendable, CustomStringConvertible {
  /// Where an app connects when no path is given.
  public static let standardPath = "/v1/connect"

  /// Through TLS: `wss`.
  public let isSecure: Bool
  /// A name or a numeric address, without brackets.
  public let host: String
  /// 1 to 65535; where none was given, 443 with TLS and 80 without.
  public let port: Int
  /// Begins with `/`; ``standardPath`` where none was given, or `/` alone.
  public let path: String

  /// Reads `host`, `host:port`, `ws://…`, `wss://…`, `http://…` or `https://…`, with or without a path. Without a scheme,
  /// a loopback host is reached in the clear and every other through TLS.
  /// - Throws: ``InvalidValue`` with rules `gateway.scheme`, `gateway.host`, `gateway.port`, `gateway.path`.
  public init(_ text: some StringProtocol) throws(InvalidValue) {
    func refusal(_ rule: String, _ problem: String) -> InvalidValue {
      InvalidValue(
        kind: "gateway address", rule: "gateway.\(rule)", offset: nil, problem: problem,
        accepted: "host, host:port or a ws:// or wss:// URL, such as wss://gateway.example.com")
    }
    guard text.utf8.count <= 1024, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw refusal("host", "it is too long or has a character that no address has")
    }
    var rest = Substring(text)
    var scheme: Bool?
    if let mark = rest.firstRange(of: "://") {
      switch rest[..<mark.lowerBound].lowercased() {
      case "ws", "http": scheme = false
      case "wss", "https": scheme = true
      default: throw refusal("scheme", "the scheme is none of ws, wss, http, https")
      }
      rest = rest[mark.upperBound...]
    }
    guard !rest.contains("#"), !rest.contains("?") else {
      throw refusal("path", "a query or fragment has no place here")
    }
    let authority = rest.prefix { $0 != "/" }
    let path = String(rest[authority.endIndex...])
    guard !authority.contains("@") else { throw refusal("host", "a user has no place before the host") }
    var host = authority
    var portText: Substring?
    if authority.first == "[" {
      guard let end = authority.firstIndex(of: "]") else { throw refusal("host", "a bracket is not closed") }
      host = authority[authority.index(after: authority.startIndex)..<end]
      let tail = authority[authority.index(after: end)...]
      guard tail.isEmpty || tail.first == ":" else { throw refusal("host", "something follows the bracket") }
      portText = tail.isEmpty ? nil : tail.dropFirst()
    } else if let colon = authority.firstIndex(of: ":") {
      host = authority[..<colon]
      portText = authority[authority.index(after: colon)...]
      guard !(portText?.contains(":") ?? false) else {
        throw refusal("host", "a numeric IPv6 address stands in brackets")
      }
    }
    guard !host.isEmpty, host.utf8.count <= 255 else { throw refusal("host", "no host is there") }
    let isLoopback = host == "localhost" || host.hasPrefix("127.") || host == "::1"
    isSecure = scheme ?? !isLoopback
    if let portText {
      guard let port = UInt16(portText), port > 0, portText.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
        throw refusal("port", "the port is not a number from 1 to 65535")
      }
      self.port = Int(port)
    } else {
      port = isSecure ? 443 : 80
    }
    self.host = String(host)
    self.path = path.isEmpty || path == "/" ? GatewayAddress.standardPath : path
  }

  /// `host:port` as the Host header wants it.
  var authority: String { (host.contains(":") ? "[\(host)]" : host) + ":\(port)" }

  /// The URL with its port: `wss://gateway.example.com:443/v1/connect`, IPv6 in brackets.
  public var description: String { "\(isSecure ? "wss" : "ws")://\(authority)\(path)" }
}
