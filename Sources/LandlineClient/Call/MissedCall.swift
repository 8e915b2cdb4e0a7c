public import CallModel

/// A call for the user that nobody took or declined on any device.
public struct MissedCall: Hashable, Sendable {
  /// The gateway's name of the call.
  public let id: CallID
  /// Who called; `nil` where the call came while this device was away, so that its end alone is known.
  public let remote: String?
  /// What the caller's device calls itself, not verified; empty for none.
  public let remoteName: String
  /// `canceled`: the caller gave up; `timeout`: it rang for as long as it may; `error`: the gateway could not go on.
  public let cause: CallEndCause
  /// When the call began, by the gateway's clock.
  public let startedAt: Instant
  /// When it was over, by the gateway's clock.
  public let endedAt: Instant

  /// `remote` is `nil` where the end alone is known.
  public init(
    id: CallID, remote: String?, remoteName: String = "", cause: CallEndCause, startedAt: Instant, endedAt: Instant
  ) {
    self.id = id
    self.remote = remote
    self.remoteName = remoteName
    self.cause = cause
    self.startedAt = startedAt
    self.endedAt = endedAt
  }
}
