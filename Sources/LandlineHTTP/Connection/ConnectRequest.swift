import CallModel
import NIOHTTP1

/// Whether a request for a WebSocket is as it should be (RFC 6455 section 4.2.1).
struct ConnectRequest {
  static let path = "/v1/connect"
  static let subprotocol = "landline.v1"
  /// RFC 6455 section 4.1: 16 octets in Base64.
  private static let keyLength = 24

  /// Characters of an origin that a refusal repeats.
  private static let maximumOrigin = 256

  private let allowedOrigins: Set<String>
  /// Pages of this machine's other ports, and such as were opened from a file, may connect: for development.
  private let admitsLocalPages: Bool
  /// Whether WebSockets are spoken at all.
  private let isSpoken: Bool

  init(allowedOrigins: [String], admitsLocalPages: Bool = false, isSpoken: Bool = true) {
    self.isSpoken = isSpoken
    self.admitsLocalPages = admitsLocalPages
    self.allowedOrigins = Set(allowedOrigins.map { ConnectRequest.normal($0) })
  }

  /// Whether a request is for the WebSocket's path.
  static func concerns(_ head: HTTPRequestHead) -> Bool {
    head.uri == path || head.uri.hasPrefix(path + "?") || head.uri.hasPrefix(path + "#")
  }

  /// - Returns: what is wrong, `nil` when nothing is.
  func problem(_ head: HTTPRequestHead, isFirst: Bool) -> Problem? {
    guard isSpoken else { return Problem(.notFound, "no WebSocket is spoken here") }
    guard head.method == .GET else {
      return Problem(.methodNotAllowed, "a WebSocket is asked for with GET", headers: [("Allow", "GET")])
    }
    guard head.uri == ConnectRequest.path else {
      return Problem(
        .connectQuery, "the path has a query string",
        fix: "no query string: credentials belong into the first message, where no log sees them")
    }
    // Before what only a WebSocket brings along: a page cannot read why its WebSocket was refused, and asks again without.
    guard isAllowed(origins: head.headers["Origin"], hosts: head.headers["Host"]) else {
      return refusal(origins: head.headers["Origin"])
    }
    func words(_ name: String) -> [String] { head.headers[canonicalForm: name].map { String($0) } }
    guard words("Upgrade").contains(where: { $0.lowercased() == "websocket" }),
      words("Connection").contains(where: { $0.lowercased() == "upgrade" }), head.version == .http1_1
    else {
      return Problem(
        .upgradeRequired, "this path speaks WebSocket only", fix: "Upgrade: websocket over HTTP/1.1",
        headers: [("Upgrade", "websocket"), ("Connection", "Upgrade")])
    }
    guard head.headers["Sec-WebSocket-Version"] == ["13"] else {
      return Problem(
        .upgradeRequired, "the WebSocket version is not 13", fix: "Sec-WebSocket-Version: 13",
        headers: [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13")])
    }
    guard head.headers["Sec-WebSocket-Key"].count == 1, let key = head.headers.first(name: "Sec-WebSocket-Key"),
      ConnectRequest.isKey(key)
    else {
      return Problem(.connectKey, "Sec-WebSocket-Key is not 16 octets in Base64")
    }
    guard words("Sec-WebSocket-Protocol").contains(ConnectRequest.subprotocol) else {
      return Problem(
        .connectProtocol, "none of the sub-protocols asked for is spoken here",
        fix: "Sec-WebSocket-Protocol: \(ConnectRequest.subprotocol)")
    }
    guard head.headers["Content-Length"].allSatisfy({ $0 == "0" }), !head.headers.contains(name: "Transfer-Encoding")
    else { return Problem(.connectBody, "a request for a WebSocket has no body") }
    guard isFirst else {
      return Problem(.connectLate, "the connection served another request before", fix: "a connection of its own")
    }
    return nil
  }

  /// Native apps send no origin; a page may connect to the host that it came from, or when it is listed.
  private func isAllowed(origins: [String], hosts: [String]) -> Bool {
    guard let origin = origins.first else { return true }
    guard origins.count == 1 else { return false }
    let normal = ConnectRequest.normal(origin)
    if allowedOrigins.contains(normal) { return true }
    if admitsLocalPages, normal == "null" || ConnectRequest.isLoopback(normal) { return true }
    guard hosts.count == 1, let host = hosts.first else { return false }
    return ConnectRequest.isOrigin(origin, of: host)
  }

  /// The refusal can be read by the page that it concerns, and says what would let it in.
  private func refusal(origins: [String]) -> Problem {
    let fix = "the operator lists the origin in http.origins"
    guard origins.count == 1, let origin = origins.first,
      (1...ConnectRequest.maximumOrigin).contains(origin.utf8.count),
      origin.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return Problem(.originRefused, "pages of this origin may not connect", fix: fix) }
    let lines = "http.origins: [\"\(origin)\"] in landline.yaml, or landline dev --origin \(origin)"
    return Problem(
      .originRefused, "pages of \(origin) may not connect", fix: origin == "null" ? fix : lines,
      headers: [("Access-Control-Allow-Origin", origin), ("Vary", "Origin")])
  }

  /// Whether an origin is that of a page on this machine, by whichever port.
  private static func isLoopback(_ normal: String) -> Bool {
    ["http://", "https://"].contains {
      normal.hasPrefix($0) && PageOrigin.isLoopbackName(String(normal.dropFirst($0.count)))
    }
  }

  /// Whether an `Origin` field is that of a page of the `Host` beside it.
  static func isOrigin(_ origin: String, of host: String) -> Bool {
    let normal = normal(origin)
    guard let start = normal.firstRange(of: "://") else { return false }
    let scheme = normal[..<start.lowerBound]
    guard scheme == "http" || scheme == "https" else { return false }
    return ConnectRequest.normal("\(scheme)://\(host)") == normal
  }

  /// Lower case, without the scheme's own port and without a final slash.
  private static func normal(_ origin: String) -> String {
    var text = origin.lowercased()
    if text.hasSuffix("/") { text.removeLast() }
    for (scheme, port) in [("http://", ":80"), ("https://", ":443")] where text.hasPrefix(scheme) {
      if text.hasSuffix(port) { text.removeLast(port.count) }
    }
    return text
  }

  /// Its bits behind the last octet are nobody's concern: the key is only ever given back as it is written.
  private static func isKey(_ text: String) -> Bool {
    text.utf8.count == keyLength && Base64.decode(text.utf8, ignoresRest: true)?.count == 16
  }
}
