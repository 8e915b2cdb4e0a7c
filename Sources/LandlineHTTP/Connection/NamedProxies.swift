package import CallModel

/// The proxies in front of the gateway whose word about their clients counts: `X-Forwarded-For` of anybody else is not
/// read, for anybody can write one.
package struct NamedProxies: Sendable {
  private let hosts: Set<SIPHost>

  package init(_ hosts: [SIPHost]) { self.hosts = Set(hosts.map(\.unmapped)) }

  package func contains(_ host: SIPHost) -> Bool { !hosts.isEmpty && hosts.contains(host.unmapped) }

  /// Who sent a request.
  /// - Parameters:
  ///   - peer: the connection's other end.
  ///   - forwarded: values of `X-Forwarded-For`, in the order of the fields.
  /// - Returns: of a named proxy's request the last address that is not a named proxy's; the proxy itself where none can be
  ///   read. Else the peer.
  package func client(of peer: SIPHost, forwarded: @autoclosure () -> [String]) -> SIPHost {
    guard contains(peer) else { return peer }
    for entry in forwarded().joined(separator: ",").split(separator: ",").reversed() {
      guard let host = NamedProxies.host(entry) else { return peer }
      if !contains(host) { return host }
    }
    return peer
  }

  /// A numeric address, with or without brackets and port.
  private static func host(_ text: Substring) -> SIPHost? {
    var text = text.drop { $0 == " " || $0 == "\t" }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    if text.hasPrefix("[") {
      text = text.dropFirst().prefix { $0 != "]" }
    } else if text.utf8.count(where: { $0 == UInt8(ascii: ":") }) == 1 {
      text = text.prefix { $0 != ":" }
    }
    switch try? SIPHost(unbracketed: String(text)) {
    case .ipv4(let address): return .ipv4(address)
    case .ipv6(let high, let low): return SIPHost.ipv6(high: high, low: low).unmapped
    case .name, nil: return nil
    }
  }
}
