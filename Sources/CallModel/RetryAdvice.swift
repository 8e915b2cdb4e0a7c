/// Whether the same call is worth another try, and whose turn it is.
public enum RetryAdvice: String, Hashable, Sendable, CaseIterable {
  /// Trying again gives the same answer.
  case never
  /// Nothing failed: somebody ended the call on purpose.
  case notNeeded
  /// The user may try at once.
  case now
  /// The user may try later.
  case later
  /// The user may try after putting right what the failure names.
  case afterFix
  /// The operator of the gateway must change something first.
  case afterOperator
  /// With another codec.
  case otherCodec
  /// The gateway tries again by itself with the terms the other side asked for.
  case byGateway
  /// The gateway tries the next trunk; then the user may try, after Retry-After where one was given.
  case nextTrunk

  /// How the advice reads in a table or a message.
  public var text: String {
    switch self {
    case .never: "no"
    case .notNeeded: "not needed"
    case .now: "yes"
    case .later: "later"
    case .afterFix: "fix and retry"
    case .afterOperator: "operator first"
    case .otherCodec: "other codec"
    case .byGateway: "gateway retries itself"
    case .nextTrunk: "next trunk, then after Retry-After"
    }
  }
}
