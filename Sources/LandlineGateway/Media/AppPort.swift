public import SecureTransport

/// A port that all apps of a shard talk to.
public struct AppPort: Hashable, Sendable {
  public let port: MediaPort
  /// What a candidate names.
  public let address: MediaAddress
  /// What the socket is bound to.
  public let bound: MediaAddress
}
