/// One INVITE to one trunk inside one call, and how it ended.
public struct CallAttempt: Hashable, Sendable {
  /// The trunk's id in the configuration.
  public let trunk: String
  /// When the attempt at this trunk began, by the wall clock.
  public let startedAt: Instant
  /// When the attempt failed or, for the one that connected, when it was answered.
  public let endedAt: Instant
  /// `nil` when no final response came.
  public let sipStatus: Int?
  /// `nil` for the attempt that connected.
  public let code: CallFailureCode?

  /// A `trunk` longer than ``CallFailure/maximumTextBytes`` is cut, and its control characters are replaced.
  public init(trunk: String, startedAt: Instant, endedAt: Instant, sipStatus: Int?, code: CallFailureCode?) {
    self.trunk = CallFailure.shortened(trunk)
    self.startedAt = startedAt
    self.endedAt = endedAt
    self.sipStatus = sipStatus
    self.code = code
  }
}
