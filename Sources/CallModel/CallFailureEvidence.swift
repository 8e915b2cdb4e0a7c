/// What is known when a SIP peer ends a call attempt with a final response: enough to choose its class.
public struct CallFailureEvidence: Hashable, Sendable {
  /// The status of the final response.
  public var status: Int
  /// The reason phrase of the final response; empty where none is known.
  public var phrase: String
  /// Reason headers (RFC 3326), in order.
  public var reasons: [CallFailure.Reason]
  /// Seconds of the Retry-After header; `nil` where there was none.
  public var retryAfterSeconds: Int?
  /// Whom a caller can turn to who was blocked by call analytics; `nil` where the response names nobody.
  public var redress: CallFailure.Redress?
  /// A 180 came before the final response.
  public var hasRung: Bool
  /// The caller gave up and the gateway sent CANCEL.
  public var wasCancelledByCaller: Bool
  /// The gateway's own ring timer sent CANCEL.
  public var hasRingTimerFired: Bool

  /// Without the optional arguments, the status alone decides the class.
  public init(
    status: Int, phrase: String = "", reasons: [CallFailure.Reason] = [], retryAfterSeconds: Int? = nil,
    redress: CallFailure.Redress? = nil, hasRung: Bool = false, wasCancelledByCaller: Bool = false,
    hasRingTimerFired: Bool = false
  ) {
    self.status = status
    self.phrase = phrase
    self.reasons = reasons
    self.retryAfterSeconds = retryAfterSeconds
    self.redress = redress
    self.hasRung = hasRung
    self.wasCancelledByCaller = wasCancelledByCaller
    self.hasRingTimerFired = hasRingTimerFired
  }

  /// The Q.850 cause of the first Reason header that has one in range.
  public var cause: Int? {
    reasons.lazy.filter { $0.isQ850 }.compactMap(\.cause).first
  }

  /// The Q.850 cause to pass on: the one received, else the one that ``CallFailureCauseMapping`` gives the status and
  /// its context; `nil` where the status is no final failure. It has no say in the class, which needs what came back.
  public var causeOrMapped: Int? {
    cause ?? CallFailureCauseMapping.cause(forStatus: status, code: code)
  }

  /// A 603 sent by call analytics rather than by a person (ATIS-1000099): marked in the phrase or a Reason text.
  private var isBlockedByAnalytics: Bool {
    phrase.lowercased() == "network blocked"
      || reasons.contains { CallFailure.Redress.isMarked($0.text) } || redress != nil
  }

  /// Statuses so general that a Q.850 cause says more than they do.
  private static let generalStatuses: Set<Int> = [400, 403, 408, 480, 500, 502, 503, 504]

  /// Normal clearing and "normal, unspecified" say nothing about a call that was not answered.
  private static let generalCauses: Set<Int> = [16, 31]

  /// The class: what the gateway itself did comes first, then marks of the response, then a Q.850 cause where the
  /// status is general and its class does not list that cause, then the status alone.
  public var code: CallFailureCode {
    switch status {
    case 487 where hasRingTimerFired: return .noAnswer
    case 487: return .cancelled
    case 408 where hasRung: return .noAnswer
    case 480 where retryAfterSeconds != nil: return .congestion
    case 603 where isBlockedByAnalytics: return .blocked
    case 607, 608: return .blocked
    default: break
    }
    if wasCancelledByCaller { return .cancelled }
    if hasRingTimerFired { return .noAnswer }
    let byStatus = CallFailureCatalogue.code(forStatus: status)
    let isKnown = !byStatus.details.statuses.isEmpty
    guard let cause, CallFailureEvidence.generalStatuses.contains(status) || !isKnown,
      !byStatus.details.causes.contains(cause), let byCause = CallFailureCatalogue.code(forCause: cause),
      !CallFailureEvidence.generalCauses.contains(cause)
    else { return byStatus }
    return byCause
  }
}
