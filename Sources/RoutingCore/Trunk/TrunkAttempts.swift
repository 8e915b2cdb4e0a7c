public import CallModel

/// The attempts of one call, in order, and the failure that they add up to.
public struct TrunkAttempts: Hashable, Sendable {
  /// The last ``CallFailure/maximumAttempts``.
  public private(set) var attempts: [CallAttempt] = []
  /// Trunks that were tried, the dropped attempts included.
  public private(set) var trunks: Set<String> = []
  /// All attempts made.
  public private(set) var count = 0
  /// What the call ends with if nothing follows: the newest final response; before the first one, the newest silence.
  private var last: Ending?

  private struct Ending: Hashable {
    let trunk: String
    let evidence: CallFailureEvidence?
    /// Where there is no evidence.
    let code: CallFailureCode
    let warning: String?
  }

  /// No attempt yet: a failure asked for now is `noRoute`.
  public init() {}

  /// Notes an attempt that failed.
  /// - Parameters:
  ///   - code: Of an attempt that ended without a response that could be read.
  ///   - warning: The text of a Warning header, or why the response could not be read.
  public mutating func add(
    trunk: String, startedAt: Instant, endedAt: Instant, end: AttemptEnd, code: CallFailureCode = .transport,
    warning: String? = nil
  ) {
    let evidence: CallFailureEvidence? = if case .response(let evidence) = end { evidence } else { nil }
    note(
      CallAttempt(
        trunk: trunk, startedAt: startedAt, endedAt: endedAt, sipStatus: evidence?.status,
        code: evidence?.code ?? code), trunk)
    if evidence != nil || last?.evidence == nil {
      last = Ending(trunk: trunk, evidence: evidence, code: code, warning: warning)
    }
  }

  /// Notes the attempt that connected.
  public mutating func addAnswered(trunk: String, startedAt: Instant, answeredAt: Instant, status: Int = 200) {
    note(CallAttempt(trunk: trunk, startedAt: startedAt, endedAt: answeredAt, sipStatus: status, code: nil), trunk)
  }

  private mutating func note(_ attempt: CallAttempt, _ trunk: String) {
    count += 1
    // Names come from the configuration, so the set is no larger than that.
    trunks.insert(trunk)
    attempts.append(attempt)
    if attempts.count > CallFailure.maximumAttempts { attempts.removeFirst() }
  }

  /// The failure of a call that no further trunk is tried for. A response beats a silence, as it says more.
  /// - Parameter skipped: Why other trunks were not tried; stands in the phrase where none was tried at all.
  public func failure(skipped: TrunkSelection? = nil, at now: MonotonicInstant, correlationID: String? = nil)
    -> CallFailure
  {
    guard let last else {
      let reasons = skipped?.explanation(at: now) ?? ""
      return CallFailure(
        .noRoute, phrase: reasons.isEmpty ? nil : reasons, attempts: attempts, leg: .trunk, correlationID: correlationID
      )
    }
    guard let evidence = last.evidence else {
      return CallFailure(
        last.code, warning: last.warning, trunk: last.trunk, attempts: attempts, leg: .trunk,
        correlationID: correlationID)
    }
    return CallFailure(
      evidence, warning: last.warning, trunk: last.trunk, attempts: attempts, correlationID: correlationID)
  }
}
