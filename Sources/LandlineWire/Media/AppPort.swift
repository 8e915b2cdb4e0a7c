public import SecureTransport

/// A port that all apps of a shard talk to.
public struct AppPort: Hashable, Sendable {
  /// Names the socket to the bridges of its shard. The UDP port stands in ``address`` and ``bound``.
  public let port: MediaPort
  /// What a candidate names.
  public let address: MediaAddress
  /// What the socket is bound to.
  public let bound: MediaAddress
}
