/// One INVITE to one trunk inside one call, and how it ended.
public struct CallAttempt: Hashable, Sendable {
  /// The trunk's id in the configuration.
  public let trunk: String
  public let startedAt: Instant
  public let endedAt: Instant
  /// `nil` when no final response came.
  public let sipStatus: Int?
  /// `nil` for the attempt that connected.
  public let code: CallFailureCode?

  public init(trunk: String, startedAt: Instant, endedAt: Instant, sipStatus: Int?, code: CallFailureCode?) {
    self.trunk = CallFailure.shortened(trunk)
    self.startedAt = startedAt
    self.endedAt = endedAt
    self.sipStatus = sipStatus
    self.code = code
  }
}
