public import LandlineResolver
public import SIPCore

/// Asks DNS where a URI lives, for the transports and address families of the node's listeners.
public struct ResolverLocator: SIPLocator {
  private let resolver: Resolver

  /// - Parameter resolver: May serve any number of nodes; who made it shuts it down.
  public init(_ resolver: Resolver) { self.resolver = resolver }

  /// Completes without a path where DNS knows none for the transports and address families of `listeners`.
  public func locate(
    _ uri: SIPURI, over listeners: [AdvertisedAddress], completion: @escaping @Sendable ([SIPPath]) -> Void
  ) {
    resolver.locate(uri, policy: LocationPolicy(listeners: listeners)) { completion($0.paths(from: listeners)) }
  }
}
