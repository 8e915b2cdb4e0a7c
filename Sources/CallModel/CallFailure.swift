/// Why a call did not connect or did not end as it should: one class of the catalogue and what is known of this case.
///
/// Texts that came from outside are cut and cleaned here, so that a failure is always safe to log and to send on.
public struct CallFailure: Error, Hashable, Sendable {
  /// A Reason header (RFC 3326).
  public struct Reason: Hashable, Sendable {
    /// `Q.850`, `SIP`, `STIR` or another protocol's name.
    public let protocolName: String
    /// `nil` when absent, not a number or out of the protocol's range.
    public let cause: Int?
    /// The header's `text` parameter, shortened to ``CallFailure/maximumTextBytes``.
    public let text: String?
    /// Who cleared the call, for a Q.850 cause.
    public let location: Location?

    /// Texts are shortened; a cause out of range is dropped, and so is a location without Q.850.
    public init(protocolName: String, cause: Int?, text: String? = nil, location: Location? = nil) {
      self.protocolName = CallFailure.shortened(protocolName)
      let isQ850 = protocolName.lowercased() == "q.850"
      self.cause = cause.flatMap { (isQ850 ? 0...127 : 0...999).contains($0) ? $0 : nil }
      self.text = text.map(CallFailure.shortened)
      self.location = isQ850 ? location : nil
    }

    /// Where in the telephone network a cause arose (RFC 8606), by the names of Q.850.
    public enum Location: String, Hashable, Sendable, CaseIterable {
      /// The called or calling person's own equipment.
      case user = "U"
      case privateNetworkServingLocalUser = "LPN"
      case publicNetworkServingLocalUser = "LN"
      case transitNetwork = "TN"
      case publicNetworkServingRemoteUser = "RLN"
      case privateNetworkServingRemoteUser = "RPN"
      case internationalNetwork = "INTL"
      case networkBeyondInterworkingPoint = "BI"
    }

    /// Whether the cause is one of the telephone network's (ITU-T Q.850); the name's case does not count.
    public var isQ850: Bool { protocolName.lowercased() == "q.850" }
  }

  /// Most bytes kept of a text that came from outside.
  public static let maximumTextBytes = 256
  /// Most Reason headers kept.
  public static let maximumReasons = 4
  /// Most attempts kept: the last ones.
  public static let maximumAttempts = 16

  /// What the failure is known by: the key of its row in ``CallFailureCatalogue``.
  public let code: CallFailureCode
  /// The refusal behind a `gw.…` code, where one was.
  public let refusal: CallRefusal?
  /// The status received, unknown ones included, or the one the gateway answers with; `nil` where SIP had no part.
  public let sipStatus: Int?
  /// The received reason phrase, shortened to ``maximumTextBytes``; `nil` where none is known.
  public let phrase: String?
  /// In the order received, at most ``maximumReasons``.
  public let reasons: [Reason]
  /// The Warning header's text (RFC 3261 section 20.43).
  public let warning: String?
  /// Seconds; never negative.
  public let retryAfterSeconds: Int?
  /// The trunk that gave the final answer.
  public let trunk: String?
  /// All attempts of the call, oldest first.
  public let attempts: [CallAttempt]
  /// The side on which the failure arose.
  public let leg: CallLeg?
  /// Finds the call in logs, records and the peer's traces.
  public let correlationID: String?
  /// What was wrong with a value the app sent.
  public let invalidValue: InvalidValue?
  /// The least sequence that a signature needs, for ``CallFailureCode/sequence``.
  public let nextSequence: UInt64?
  /// Whom to turn to, for ``CallFailureCode/blocked``; `nil` where the network names nobody.
  public let redress: Redress?

  /// Without a `sipStatus`, the one that the catalogue gives the code. Texts are shortened, a list past its maximum is
  /// cut, and negative seconds become 0.
  public init(
    _ code: CallFailureCode, refusal: CallRefusal? = nil, sipStatus: Int? = nil, phrase: String? = nil,
    reasons: [Reason] = [], warning: String? = nil, retryAfterSeconds: Int? = nil, trunk: String? = nil,
    attempts: [CallAttempt] = [], leg: CallLeg? = nil, correlationID: String? = nil, invalidValue: InvalidValue? = nil,
    nextSequence: UInt64? = nil, redress: Redress? = nil
  ) {
    self.code = code
    self.refusal = refusal
    self.sipStatus = sipStatus ?? code.details.sipStatus
    self.phrase = phrase.map(CallFailure.shortened)
    self.reasons = Array(reasons.prefix(CallFailure.maximumReasons))
    self.warning = warning.map(CallFailure.shortened)
    self.retryAfterSeconds = retryAfterSeconds.map { max($0, 0) }
    self.trunk = trunk.map(CallFailure.shortened)
    self.attempts = Array(attempts.suffix(CallFailure.maximumAttempts))
    self.leg = leg
    self.correlationID = correlationID.map(CallFailure.shortened)
    self.invalidValue = invalidValue
    self.nextSequence = nextSequence
    self.redress = redress
  }

  /// The failure of a trunk leg that a SIP final response ended.
  public init(
    _ evidence: CallFailureEvidence, warning: String? = nil, trunk: String?, attempts: [CallAttempt] = [],
    correlationID: String? = nil
  ) {
    self.init(
      evidence.code, sipStatus: evidence.status, phrase: evidence.phrase, reasons: evidence.reasons, warning: warning,
      retryAfterSeconds: evidence.retryAfterSeconds, trunk: trunk, attempts: attempts, leg: .trunk,
      correlationID: correlationID, redress: evidence.redress)
  }

  /// The failure that a refusal by routing or the ledger becomes.
  public init(_ refusal: CallRefusal, phrase: String? = nil, correlationID: String? = nil) {
    self.init(
      refusal.code, refusal: refusal, phrase: phrase, reasons: refusal.reason.map { [$0] } ?? [],
      retryAfterSeconds: refusal.retryAfterSeconds, leg: .app, correlationID: correlationID)
  }

  /// Who found the failure, by the code's row in the catalogue.
  public var domain: CallFailureDomain { code.details.domain }
  /// What an app is told as the end of the call, by the code's row in the catalogue.
  public var endCause: CallEndCause { code.details.endCause }
  /// Whether the same call is worth another try, by the code's row in the catalogue.
  public var retry: RetryAdvice { code.details.retry }

  /// The Q.850 cause of the first Reason header that has one.
  public var cause: Int? { reasons.lazy.filter(\.isQ850).compactMap(\.cause).first }

  /// The Q.850 cause to pass on and to record: the one received, else the one that ``CallFailureCauseMapping`` gives;
  /// `nil` where SIP had no part.
  public var causeOrMapped: Int? {
    cause ?? sipStatus.flatMap { CallFailureCauseMapping.cause(forStatus: $0, code: code) }
  }

  /// Cuts a text at ``maximumTextBytes`` on a character boundary and replaces control characters.
  package static func shortened(_ text: String) -> String {
    // Most are words of ours.
    if text.utf8.count <= maximumTextBytes, text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
    var result = String.UnicodeScalarView()
    var bytes = 0
    for scalar in text.unicodeScalars {
      bytes += UTF8.width(scalar)
      guard bytes <= maximumTextBytes else { break }
      let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
      result.append(isControl ? "?" : scalar)
    }
    return String(result)
  }
}

extension CallFailure: CustomStringConvertible {
  /// `gw.limit: The account has … (concurrencyCap, 403, correlation c-17)`.
  public var description: String {
    var facts: [String] = []
    if let refusal { facts.append(refusal.rawValue) }
    if let sipStatus { facts.append([String(sipStatus), phrase ?? ""].filter { !$0.isEmpty }.joined(separator: " ")) }
    if let cause { facts.append("Q.850 cause \(cause)") }
    if let retryAfterSeconds { facts.append("retry after \(retryAfterSeconds) s") }
    if let trunk { facts.append("trunk \(trunk)") }
    if let correlationID { facts.append("correlation \(correlationID)") }
    let message = invalidValue.map { ": \($0)" } ?? ""
    return "\(code.rawValue): \(code.details.meaning)" + message
      + (facts.isEmpty ? "" : " (\(facts.joined(separator: ", ")))")
  }
}

extension CallRefusal {
  /// The Reason header that tells the caps apart, which share status 403: Q.850 cause 21 (call rejected) and the
  /// refusal's name.
  public var reason: CallFailure.Reason? {
    code == .limit ? CallFailure.Reason(protocolName: "Q.850", cause: 21, text: rawValue) : nil
  }
}
