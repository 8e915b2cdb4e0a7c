public import AppProtocol
public import CallModel

/// What is known of a call so far.
public struct CallDetails: Hashable, Sendable {
  /// When the call was asked for, by the clock of this device; once the call is over, all times are the gateway's.
  public var startedAt: Instant
  /// When the other side's device was first there; `nil` until then.
  public var progressedAt: Instant?
  /// When the other side first rang; `nil` until then.
  public var rungAt: Instant?
  /// When the other side answered; `nil` until then.
  public var answeredAt: Instant?
  /// When sound could flow both ways; `nil` until then.
  public var establishedAt: Instant?
  /// `nil` until the call is over.
  public var endedAt: Instant?
  /// `none` until the call is over.
  public var endCause = CallEndCause.none
  /// Why it did not connect, or did not end as it should.
  public var failure: CallFailure?
  /// Always `false`: no video is carried yet, and nothing sets it.
  public var isVideoOffered = false
  /// The frozen price; `nil` for a call without one.
  public var price: CallPrice?
  /// What it cost; `nil` until it is over, and while the gateway's ledger is away.
  public var cost: Credits?
  /// Of the other side's leg; 0 until the call is over.
  public var billedSeconds: Int64 = 0
  /// Answer to end.
  public var durationMilliseconds: Int64 = 0
  /// Of the latest response of the other side.
  public var remoteHeaders = CustomHeaders()

  /// Of a call that has just been asked for.
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
