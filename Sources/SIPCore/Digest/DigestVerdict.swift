public import CallModel

/// What a server makes of the credentials of a request.
public enum DigestVerdict: Hashable, Sendable {
  /// The user is who it says.
  case accepted(username: String)
  /// Answer 401 or 407 with fresh challenges, stale where the fault is.
  case challenge(DigestFault)
  /// Answer 400.
  case malformed(InvalidValue)
  /// An ACK or CANCEL: it is never challenged, and belongs to a request that was checked (RFC 3261 section 22.1).
  case notChallenged
}

/// Why credentials do not do.
public enum DigestFault: Hashable, Sendable {
  /// None for this realm.
  case absent
  /// The algorithm was not offered.
  case algorithm
  /// The quality was not offered, or none was used where one was.
  case quality
  /// Unknown user or wrong password: the two cannot be told apart.
  case wrongCredentials
  /// A right response to a nonce that is too old, unknown, or no longer counted.
  case staleNonce
  /// A right response with a count that was used before: a repetition or a replay.
  case replayed

  /// The `stale` of the challenge: the same password will do with a new nonce.
  public var isStale: Bool { self == .staleNonce || self == .replayed }
}
