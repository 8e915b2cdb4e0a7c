/// Which way media flows, seen from the one who wrote it (RFC 8866 section 6.7).
public enum MediaDirection: String, Hashable, Sendable, CaseIterable {
  case sendAndReceive = "sendrecv"
  case sendOnly = "sendonly"
  case receiveOnly = "recvonly"
  case inactive

  /// Neither gives `inactive`.
  public init(sends: Bool, receives: Bool) {
    self = sends ? (receives ? .sendAndReceive : .sendOnly) : (receives ? .receiveOnly : .inactive)
  }

  /// True for `sendrecv` and `sendonly`.
  public var sends: Bool { self == .sendAndReceive || self == .sendOnly }
  /// True for `sendrecv` and `recvonly`.
  public var receives: Bool { self == .sendAndReceive || self == .receiveOnly }

  /// The same flow seen from the other end.
  public var mirrored: MediaDirection { MediaDirection(sends: receives, receives: sends) }

  /// What is left when both must agree, both seen from the same end.
  public func limited(to other: MediaDirection) -> MediaDirection {
    MediaDirection(sends: sends && other.sends, receives: receives && other.receives)
  }
}
