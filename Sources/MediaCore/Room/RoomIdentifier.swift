/// Names a room towards the shell; chosen by whoever sends the first leg into it.
public struct RoomIdentifier: RawRepresentable, Hashable, Sendable {
  /// Any number that no other room of the same shell has.
  public let rawValue: UInt64
  /// Any number is accepted.
  public init(rawValue: UInt64) { self.rawValue = rawValue }
}
