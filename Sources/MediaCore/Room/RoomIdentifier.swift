/// Names a room towards the shell; chosen by whoever sends the first leg into it.
public struct RoomIdentifier: RawRepresentable, Hashable, Sendable {
  /// Any number that no other room of the same shell has.
  public let rawValue: UInt64
  /// A bridge's own room, see ``MediaCommand/shareRoom(_:)``. Conferences have numbers without this bit.
  private static let ownBit: UInt64 = 1 << 63

  /// The room of a bridge's own legs, and of those that are brought in to them.
  public init(of bridge: BridgeIdentifier) { rawValue = bridge.rawValue | RoomIdentifier.ownBit }

  /// Whose own room it is; `nil` for a conference.
  public var bridge: BridgeIdentifier? {
    isConference ? nil : BridgeIdentifier(rawValue: rawValue & ~RoomIdentifier.ownBit)
  }

  var isConference: Bool { rawValue & RoomIdentifier.ownBit == 0 }

  /// Any number is accepted.
  public init(rawValue: UInt64) { self.rawValue = rawValue }
}
