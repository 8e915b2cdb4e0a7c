/// Bounds of everything that a peer could make grow.
public struct UserAgentLimits: Hashable, Sendable {
  /// Calls at a time, both directions; an INVITE above gets 503 with Retry-After.
  public var calls = 20_000
  /// INVITEs a second that start a call; above: 503 with Retry-After.
  public var incomingCallsPerSecond = 500
  /// Live transactions; a request above is answered 503 without one.
  public var transactions = 100_000
  /// Of those, requests of one host that begin something, copies of them waited for included; one above is answered 503
  /// without a transaction. What belongs to a dialog is not counted: calls that are up can be ended.
  public var beginningTransactionsPerHost = TransactionLayer.standardBeginningPerHost
  /// Early dialogs of one INVITE of ours: forks above get an ACK and a BYE when they answer, nothing else.
  public var forks = 10
  /// Unanswered reliable provisional responses of a call.
  public var reliableProvisionals = 16
  /// Times that one request is sent again for challenges.
  public var challenges = 2
  /// Times that one request is sent again for 422.
  public var sessionIntervals = 3
  /// Redirection targets remembered in one call.
  public var redirectionTargets = 10
  /// Re-INVITEs tried again after 491.
  public var glareRetries = 5
  /// Without any response to a request this long after it was sent, the next path is tried where there is one. The
  /// transaction itself gives up after 32 s (RFC 3261 section 17.1.1.2), which is the most that counts.
  public var firstResponseMilliseconds: Int64 = 32_000
  /// Paths tried in one call or query.
  public var paths = 8
  /// Requests of ours in one dialog that wait for their final response; above: not sent.
  public var dialogRequests = 16
  /// Transfers that one peer may have open in one dialog; a REFER above gets 403.
  public var transfers = 2
  /// Hosts remembered that requests of ours went to; the one that was met first is forgotten first.
  public var peers = 4096
  /// Seconds of Retry-After with our own 503.
  public var retryAfterSeconds = TransactionLayer.standardRetryAfterSeconds

  /// Each limit at the value written above.
  public init() {}

  /// The values written above.
  public static let standard = UserAgentLimits()
}
