/// Names a room towards the shell; chosen by whoever sends the first leg into it.
public struct RoomIdentifier: RawRepresentable, Hashable, Sendable {
  /// Any number that no other room of the same shell has.
  public let rawValue: UInt64
  /// A room of two legs of one bridge, while a sound is played beneath their talk. Conferences have numbers without this bit.
  init(of bridge: BridgeIdentifier) { rawValue = bridge.rawValue | 1 << 63 }
  var isConference: Bool { rawValue >> 63 == 0 }

  /// Any number is accepted.
  public init(rawValue: UInt64) { self.rawValue = rawValue }
}
