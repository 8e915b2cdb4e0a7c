import CallModel
public import SIPCore

/// Finds where a URI lives (RFC 3263).
public protocol SIPLocator: Sendable {
  /// - Parameters:
  ///   - node: Whose listeners the paths must name.
  ///   - completion: Called once, on any thread, with the paths in the order to try; empty where there is none.
  func locate(_ uri: SIPURI, for node: SIPNode, completion: @escaping @Sendable ([SIPPath]) -> Void)
}

/// Knows numeric addresses only: for peers that are configured by address, and where there is no DNS.
public struct LiteralLocator: SIPLocator {
  public init() {}

  public func locate(_ uri: SIPURI, for node: SIPNode, completion: @escaping @Sendable ([SIPPath]) -> Void) {
    completion(LiteralLocator.paths(of: uri, from: node.addresses))
  }

  /// RFC 3263 section 4.1 for a numeric host: the transport parameter, else UDP for sip and TLS for sips. `maddr`
  /// stands for the host.
  package static func paths(of uri: SIPURI, from listeners: [ListenerID: TransportAddress]) -> [SIPPath] {
    func parameter(_ name: String) -> String? {
      uri.parameters.first { $0.name.lowercased() == name }?.value?.lowercased()
    }
    let maddr = parameter("maddr").map(PeerIdentity.host)
    guard uri.scheme != .tel, let host = maddr ?? uri.host else { return [] }
    if case .name = host { return [] }
    let named = parameter("transport")
    let transport: SIPTransport? =
      switch (uri.scheme, named) {
      case (.sips, nil), (.sips, "tcp"), (.sips, "tls"): .tls
      case (.sips, _): nil
      case (_, nil): .udp
      case (_, let named?): SIPTransport(rawValue: named)
      }
    guard let transport else { return [] }
    let remote = TransportAddress(transport, host, port: uri.port ?? (transport == .tls ? 5061 : 5060))
    let usable = listeners.filter { $0.value.transport == transport && $0.value.host.isIPv6 == host.isIPv6 }
    guard let listener = usable.keys.min(by: { $0.number < $1.number }) else { return [] }
    return [SIPPath(listener: listener, remote: remote)]
  }
}
