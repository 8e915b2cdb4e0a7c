import CallModel
public import SIPCore

/// Finds where a URI lives (RFC 3263).
public protocol SIPLocator: Sendable {
  /// - Parameters:
  ///   - listeners: What the paths must name, one for each.
  ///   - completion: Called once, on any thread, with the paths in the order to try; empty where there is none.
  func locate(
    _ uri: SIPURI, over listeners: [AdvertisedAddress], completion: @escaping @Sendable ([SIPPath]) -> Void)
}

/// Knows numeric addresses only: for peers that are configured by address, and where there is no DNS.
public struct LiteralLocator: SIPLocator {
  /// Holds nothing; one may serve any number of nodes.
  public init() {}

  /// Completes before it returns, without a path for a URI that has a name.
  public func locate(
    _ uri: SIPURI, over listeners: [AdvertisedAddress], completion: @escaping @Sendable ([SIPPath]) -> Void
  ) {
    var machine = LocationMachine(uri, policy: LocationPolicy(listeners: listeners), identifiers: .system)
    var effects: [LocationEffect] = []
    machine.start(into: &effects)
    // Whatever asks a question is no numeric address.
    guard case .finished(let result)? = effects.last else { return completion([]) }
    completion(result.paths(from: listeners))
  }
}
