public import CallModel
public import SIPCore

/// One place where a node listens for SIP.
public struct SIPListener: Hashable, Sendable {
  /// Unique in a node.
  public var id: ListenerID
  /// One of UDP, TCP and TLS: a port that serves several needs a listener for each.
  public var transport: SIPTransport
  /// A numeric address of this machine; `0.0.0.0` and `[::]` for all of one family.
  public var host: SIPHost
  /// 0 lets the system choose.
  public var port: UInt16
  /// What peers are told in Via and Contact; `nil` for ``host``.
  public var advertisedHost: SIPHost?
  /// What peers are told in Via and Contact; `nil` for the port that was bound.
  public var advertisedPort: UInt16?
  /// Only, and always, with TLS that accepts.
  public var tls: TLSServerSettings?
  /// Whether peers may open streams to it. Otherwise it is only where streams of ours start from, and nothing is bound;
  /// a UDP listener always receives.
  public var accepts: Bool

  /// Nothing is checked here: a node that is started with listeners refuses what does not go together.
  public init(
    id: ListenerID, transport: SIPTransport, host: SIPHost, port: UInt16, advertisedHost: SIPHost? = nil,
    advertisedPort: UInt16? = nil, tls: TLSServerSettings? = nil, accepts: Bool = true
  ) {
    self.id = id
    self.transport = transport
    self.host = host
    self.port = port
    self.advertisedHost = advertisedHost
    self.advertisedPort = advertisedPort
    self.tls = tls
    self.accepts = accepts
  }

  /// Whether it is bound to every address of its family.
  var isWildcard: Bool { host == .ipv4(0) || host == .ipv6(high: 0, low: 0) }

  /// - Parameter bound: What the system gave it.
  func advertised(bound: TransportAddress?) -> AdvertisedAddress {
    AdvertisedAddress(
      listener: id, transport: transport, host: advertisedHost ?? host, port: advertisedPort ?? bound?.port ?? port)
  }

  /// - Throws: ``InvalidValue`` with rules `listener.none`, `listener.id`, `listener.host`, `listener.advertisedHost`,
  ///   `listener.tls`.
  static func validate(_ listeners: [SIPListener]) throws(InvalidValue) {
    guard !listeners.isEmpty else {
      throw refusal("none", "there is none", accepted: "at least one, such as udp on 0.0.0.0:5060")
    }
    guard Set(listeners.map(\.id)).count == listeners.count else {
      throw refusal("id", "two listeners have the same number", accepted: "a number of its own for each")
    }
    for listener in listeners { try listener.validate() }
  }

  private func validate() throws(InvalidValue) {
    let place = "listener \(id.number) (\(transport.rawValue) on \(host):\(port))"
    if case .name = host {
      throw Self.refusal(
        "host", "\(place) is bound to a name", accepted: "a numeric address of this machine, such as 192.0.2.1 or [::]")
    }
    if isWildcard, advertisedHost == nil {
      throw Self.refusal(
        "advertisedHost", "\(place) listens on all addresses and does not say which one peers shall use",
        accepted: "an advertised host, such as 192.0.2.1 or sip.example.com")
    }
    if (transport == .tls && accepts) != (tls != nil) {
      throw Self.refusal(
        "tls", tls == nil ? "\(place) has no certificate" : "\(place) has TLS settings, but accepts no TLS",
        accepted: "TLS settings with the transport tls and no other")
    }
  }

  private static func refusal(_ rule: String, _ problem: String, accepted: String) -> InvalidValue {
    InvalidValue(kind: "SIP listener", rule: "listener.\(rule)", offset: nil, problem: problem, accepted: accepted)
  }
}
