/// Names a bridge towards its shell; chosen by whoever makes the bridge.
public struct BridgeIdentifier: RawRepresentable, Hashable, Sendable {
  /// Any number that no other bridge of the same shell has.
  public let rawValue: UInt64
  /// Any number is accepted.
  public init(rawValue: UInt64) { self.rawValue = rawValue }
}
