extension LocationResult {
  /// The paths of the targets, each from the first listener of its transport and address family. A listener that is
  /// advertised by a name serves both families, after those whose address says theirs. Targets that no listener can
  /// reach are left out.
  public func paths(from listeners: [AdvertisedAddress]) -> [SIPPath] {
    targets.compactMap { target in
      let ofTransport = listeners.filter { $0.transport == target.address.transport }
      let listener =
        ofTransport.first { $0.host.family == target.address.host.family }
        ?? ofTransport.first { $0.host.family == nil }
      return listener.map {
        SIPPath(listener: $0.listener, remote: target.address, serverName: target.serverName)
      }
    }
  }
}

extension LocationPolicy {
  /// What a node with these listeners has: transports in their order, IPv6 before IPv4.
  public init(listeners: [AdvertisedAddress]) {
    var transports: [SIPTransport] = []
    for listener in listeners where !transports.contains(listener.transport) { transports.append(listener.transport) }
    let families: [AddressFamily] = [.ipv6, .ipv4].filter { family in
      listeners.contains { $0.host.family == family || $0.host.family == nil }
    }
    self.init(transports: transports, families: families)
  }
}
