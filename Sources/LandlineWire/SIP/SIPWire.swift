import CallModel
package import NIOCore
package import SIPCore

/// All SIP sockets of one event loop, with nobody yet who understands what they carry: a ``SIPNode`` has an agent of its
/// own, a gateway's core has one as well.
package final class SIPWire: Sendable {
  package let eventLoop: any EventLoop
  /// What each listener is bound to, with the port that the system chose where 0 was asked for.
  package let addresses: [ListenerID: TransportAddress]
  /// What peers are told in Via and Contact, one for each listener.
  package let advertisedAddresses: [AdvertisedAddress]
  /// To be used on the loop.
  package let transports: NIOLoopBound<SIPTransports>
  private let listeners: [SIPListener]

  private init(_ listeners: [SIPListener], _ transports: NIOLoopBound<SIPTransports>, on eventLoop: any EventLoop) {
    self.eventLoop = eventLoop
    self.listeners = listeners
    self.transports = transports
    addresses = transports.value.addresses
    advertisedAddresses = listeners.map { $0.advertised(bound: transports.value.addresses[$0.id]) }
  }

  /// Reads certificates and opens all listeners. Blocks for files: call it before calls are running.
  /// - Throws: ``InvalidValue`` with the rules of listeners (`listener.…`) and certificates (`tls.…`).
  package static func open(
    _ configuration: SIPNode.Configuration, identifiers: IdentifierSource = .system, on eventLoop: any EventLoop
  ) async throws -> SIPWire {
    try SIPListener.validate(configuration.listeners)
    let contexts = try TLSContexts(listeners: configuration.listeners, policies: configuration.tlsClients)
    return try await eventLoop.flatSubmit {
      let transports = SIPTransports(
        configuration.listeners, contexts: contexts, limits: configuration.limits, identifiers: identifiers,
        shard: configuration.shard, on: eventLoop)
      let bound = NIOLoopBound(transports, eventLoop: eventLoop)
      return transports.open().map {
        SIPWire(configuration.listeners, bound, on: eventLoop)
      }.flatMapError { error in
        bound.value.shutdown().flatMapThrowing { throw error }
      }
    }.get()
  }

  /// Reads all certificate files again. Handshakes from now on use the new ones; open connections stay as they are. When
  /// a file cannot be used, everything stays as it was.
  /// - Parameter tlsClients: Takes the place of the policies where given.
  /// - Throws: ``InvalidValue`` with rules `tls.…`.
  package func reloadCertificates(tlsClients: TLSClientPolicies? = nil) async throws {
    let policies = try await eventLoop.submit { self.transports.value.policies }.get()
    let contexts = try TLSContexts(listeners: listeners, policies: tlsClients ?? policies)
    try await eventLoop.submit { self.transports.value.install(contexts) }.get()
  }

  package func statistics() async throws -> TransportStatistics {
    try await eventLoop.submit { self.transports.value.statistics }.get()
  }

  /// Closes every socket. Done when the last one is closed.
  package func shutdown() async throws {
    try await eventLoop.flatSubmit { self.transports.value.shutdown() }.get()
  }
}
