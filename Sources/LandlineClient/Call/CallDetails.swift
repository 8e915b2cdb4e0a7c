public import AppProtocol
public import CallModel

/// What is known of a call so far.
public struct CallDetails: Hashable, Sendable {
  /// When the call was asked for, by the clock of this device; once the call is over, all times are the gateway's.
  public var startedAt: Instant
  /// When the other side's device was first there; `nil` until then.
  public var progressedAt: Instant?
  /// When the other side first rang, or this device for an incoming call; `nil` until then.
  public var rungAt: Instant?
  /// When the call was answered; `nil` until then.
  public var answeredAt: Instant?
  /// When sound could flow both ways; `nil` until then.
  public var establishedAt: Instant?
  /// `nil` until the call is over.
  public var endedAt: Instant?
  /// `none` until the call is over.
  public var endCause = CallEndCause.none
  /// Why it did not connect, or did not end as it should.
  public var failure: CallFailure?
  /// Whether whoever calls offers video, which the gateway does not carry. Always `false` for a call that goes out.
  public var isVideoOffered = false
  /// Where the app stood when the call came in; `nil` for a call that goes out.
  public var applicationStateWhenReceived: ApplicationState?
  /// Of an incoming call that is over: nobody took or declined it on any device of the user.
  public var isMissed = false
  /// Of an incoming call that is over: the user's device that answered or declined it, as it named itself when it
  /// registered (``Client/device``), this one included; `nil` where none did.
  public var endedByDevice: String?
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
    isMissed = summary.isMissed
    endedByDevice = summary.device
    billedSeconds = summary.billedSeconds
    durationMilliseconds = summary.durationMilliseconds
    if summary.headers != CustomHeaders() { remoteHeaders = summary.headers }
    if let micros = summary.costMicro, let currency = try? Currency(summary.currency) {
      cost = try? Credits(micros: micros, currency)
    }
  }
}
