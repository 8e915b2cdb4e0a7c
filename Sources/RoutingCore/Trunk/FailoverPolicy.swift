public import CallModel

/// How far an attempt had come when it ended.
public enum AttemptProgress: Int, Hashable, Comparable, Sendable, CaseIterable {
  /// Nothing that a caller could hear: no response, or 100 and the like.
  case none
  /// 180 came.
  case rang
  /// Early media reached the caller.
  case earlyMedia
  case answered

  /// From nothing heard over ringing and early media to the answer.
  public static func < (left: AttemptProgress, right: AttemptProgress) -> Bool { left.rawValue < right.rawValue }
}

/// How an attempt ended.
public enum AttemptEnd: Hashable, Sendable {
  case response(CallFailureEvidence)
  /// No response at all.
  case timedOut
  /// No connection, a broken one, or no address for the trunk's name.
  case transportFailed
}

/// What follows an attempt that failed, and by which rule.
public struct FailoverDecision: Hashable, Sendable {
  /// Why a call goes on or ends; the raw value says it in words.
  public enum Rule: String, Hashable, Sendable, CaseIterable {
    case answered = "the call was answered"
    case callerGaveUp = "the caller gave up or the ring time was over"
    case alreadyHeard = "it rang or was heard already, and may still"
    case userDecided = "the called party or its network decided"
    case badDestination = "the destination does not exist"
    case redirected = "the other side named another destination"
    case trunkRefusesUs = "the trunk does not let this gateway in"
    case trunkRefusesForm = "the trunk does not take the call in this form"
    case noCapacity = "the trunk has no capacity, no route or a fault"
    case noResponse = "the trunk does not answer"
    case attemptsUsed = "all attempts are used up"
  }

  /// Whether another attempt is to be made; which trunk is next is for ``TrunkSelection`` to say.
  public let triesNextTrunk: Bool
  /// What decided, the limit of attempts included.
  public let rule: Rule
  /// Keep calls away from the trunk so long; `nil` where it did not ask.
  public let restSeconds: Int?
}

/// When a failed attempt is followed by one at the next trunk. The next trunk is worth a try where this trunk is the
/// problem, and never where a person might be rung twice or has said no.
///
/// In this order:
/// 1. Nothing follows an answer, a CANCEL of ours, or the last attempt of ``maximumAttempts``.
/// 2. Silence or a broken connection: the next trunk, unless it rang or was heard: the phone may still ring.
/// 3. A Q.850 cause decides where the status is one of ``generalStatuses`` and the cause says more than it:
///    ``rule(forCause:)``.
/// 4. Otherwise the status decides: ``rule(forStatus:)``.
/// 5. Once it rang or was heard, only 500, 502, 503 and 504 lead on: a failure of the network that ends the first attempt
///    for certain.
public struct FailoverPolicy: Hashable, Sendable {
  /// Whether 404 and cause 1 lead to the next trunk: for trunks that answer so where they have no route.
  public var triesNextTrunkOnNotFound = false
  /// Attempts of one call.
  public var maximumAttempts = 4

  /// 404 and cause 1 lead no further, and a call has at most four attempts.
  public init() {}

  /// What a trunk has where nothing else is configured.
  public static let standard = FailoverPolicy()

  /// Statuses so general that a Q.850 cause beside them decides.
  public static let generalStatuses: Set<Int> = [400, 403, 404, 408, 480, 500, 502, 503, 504]

  /// Statuses that lead on even after it rang.
  private static let networkFailures: Set<Int> = [500, 502, 503, 504]

  /// - Parameter attempts: How many have been made, this one included.
  public func decision(after end: AttemptEnd, progress: AttemptProgress, attempts: Int) -> FailoverDecision {
    func decided(_ rule: FailoverDecision.Rule, _ triesNext: Bool, rest: Int? = nil) -> FailoverDecision {
      let isLast = triesNext && attempts >= maximumAttempts
      return FailoverDecision(
        triesNextTrunk: triesNext && !isLast, rule: isLast ? .attemptsUsed : rule, restSeconds: rest)
    }
    if progress == .answered { return decided(.answered, false) }
    guard case .response(let evidence) = end else {
      return progress == .none ? decided(.noResponse, true) : decided(.alreadyHeard, false)
    }
    let rest = evidence.status == 503 ? evidence.retryAfterSeconds.map { max(0, $0) } : nil
    if evidence.wasCancelledByCaller || evidence.hasRingTimerFired { return decided(.callerGaveUp, false, rest: rest) }
    let isHeard = progress > .none || evidence.hasRung
    let rule = rule(for: evidence, isHeard: isHeard)
    let triesNext = leadsOn(rule)
    if triesNext, isHeard, !FailoverPolicy.networkFailures.contains(evidence.status) {
      return decided(.alreadyHeard, false, rest: rest)
    }
    return decided(rule, triesNext, rest: rest)
  }

  private func rule(for evidence: CallFailureEvidence, isHeard: Bool) -> FailoverDecision.Rule {
    if FailoverPolicy.generalStatuses.contains(evidence.status), let cause = evidence.cause,
      let rule = FailoverPolicy.rule(forCause: cause)
    {
      return rule
    }
    // 480 with a time to come back is a network without capacity, not a person who is away.
    if evidence.status == 480, evidence.retryAfterSeconds != nil { return .noCapacity }
    return FailoverPolicy.rule(forStatus: evidence.status)
  }

  private func leadsOn(_ rule: FailoverDecision.Rule) -> Bool {
    switch rule {
    case .answered, .callerGaveUp, .alreadyHeard, .userDecided, .redirected, .attemptsUsed: false
    case .badDestination: triesNextTrunkOnNotFound
    case .trunkRefusesUs, .trunkRefusesForm, .noCapacity, .noResponse: true
    }
  }

  /// What a final status says by itself, before anybody heard anything. One without a row counts as the hundred it is in
  /// (RFC 3261 section 8.1.3.2).
  public static func rule(forStatus status: Int) -> FailoverDecision.Rule {
    switch status {
    case 300...399: .redirected
    case 401, 402, 403, 407: .trunkRefusesUs
    case 404: .badDestination
    // 408 with no ringing before: nobody behind the trunk took the call.
    case 408: .noResponse
    // Gone, away, incomplete, ambiguous, busy, cancelled, anonymous callers not wanted: the same everywhere.
    case 410, 433, 480, 484...487: .userDecided
    case 400...499: .trunkRefusesForm
    case 501, 505, 513, 555, 580: .trunkRefusesForm
    case 500...599: .noCapacity
    case 600...699: .userDecided
    default: .trunkRefusesForm
    }
  }

  /// What a Q.850 cause says where the status is general; `nil` where it says no more than the status.
  public static func rule(forCause cause: Int) -> FailoverDecision.Rule? {
    switch cause {
    case 1: .badDestination
    // No route, preemption, a routing error: of this network.
    case 2, 3, 8, 9, 25: .noCapacity
    // A wrong prefix, busy, no answer, absent, rejected, moved, cleared elsewhere, out of order, incomplete: the called
    // party's, or the number's.
    case 5, 17...24, 26, 27, 28: .userDecided
    // Congestion and faults.
    case 34, 38...44, 46, 47, 49: .noCapacity
    // Not subscribed, barred for us, not authorised.
    case 29, 50, 52, 53, 57: .trunkRefusesUs
    case 54, 55: .userDecided
    // Not available, not implemented, incompatible here.
    case 58, 62, 63, 65, 66, 69, 70, 79: .trunkRefusesForm
    case 87, 88: .userDecided
    case 91, 102: .noCapacity
    default: nil
    }
  }
}
