public import AppProtocol
public import CallModel

/// What is known of a call so far.
public struct CallDetails: Hashable, Sendable {
  /// When the call was asked for, by the clock of this device; once the call is over, all times are the gateway's.
  public var startedAt: Instant
  public var progressedAt: Instant?
  public var rungAt: Instant?
  public var answeredAt: Instant?
  public var establishedAt: Instant?
  public var endedAt: Instant?
  public var endCause = CallEndCause.none
  /// Why it did not connect, or did not end as it should.
  public var failure: CallFailure?
  public var isVideoOffered = false
  /// The frozen price; `nil` for a call without one.
  public var price: CallPrice?
  /// What it cost; `nil` until it is over, and while the gateway's ledger is away.
  public var cost: Credits?
  public var billedSeconds: Int64 = 0
  /// Answer to end.
  public var durationMilliseconds: Int64 = 0
  /// Of the latest response of the other side.
  public var remoteHeaders = CustomHeaders()

  public init(startedAt: Instant) { self.startedAt = startedAt }

  /// Takes the gateway's account of the call.
  mutating func finish(_ summary: CallSummary) {
    startedAt = summary.startedAt
    progressedAt = summary.progressedAt
    rungAt = summary.rungAt
    answeredAt = summary.answeredAt
    establishedAt = summary.establishedAt ?? establishedAt
    endedAt = summary.endedAt
    endCause = summary.cause
    failure = summary.failure
    billedSeconds = summary.billedSeconds
    durationMilliseconds = summary.durationMilliseconds
    if summary.headers != CustomHeaders() { remoteHeaders = summary.headers }
    if let micros = summary.costMicro, let currency = try? Currency(summary.currency) {
      cost = try? Credits(micros: micros, currency)
    }
  }
}
