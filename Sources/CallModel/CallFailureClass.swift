/// One class of call failures: a row of ``CallFailureCatalogue``.
public struct CallFailureClass: Hashable, Sendable {
  /// Different in every row.
  public let code: CallFailureCode
  /// Who finds failures of this class.
  public let domain: CallFailureDomain
  /// The class as a person would say it.
  public let name: String
  /// SIP final responses that mean this class by themselves or, where another class lists them too, in the context
  /// that ``CallFailureEvidence`` describes.
  public let statuses: [Int]
  /// Q.850 causes that mean this class; a cause stands first in the class it decides by itself.
  public let causes: [Int]
  /// Refusals of the ledger and of routing that the class covers.
  public let refusals: [CallRefusal]
  /// The SIP status a peer or an app is told where the gateway found the failure itself; `nil` where none is sent.
  public let sipStatus: Int?
  /// What an app is told as the end of the call.
  public let endCause: CallEndCause
  /// Whether the same call is worth another try, and whose turn it is.
  public let retry: RetryAdvice
  /// One sentence.
  public let meaning: String
  /// The most frequent reasons, in phrases that a list can join.
  public let likelyCauses: [String]
  /// What to do about it, in phrases that a list can join.
  public let remedies: [String]

  init(
    _ code: CallFailureCode, _ domain: CallFailureDomain, _ name: String, statuses: [Int] = [], causes: [Int] = [],
    refusals: [CallRefusal] = [], sipStatus: Int? = nil, _ endCause: CallEndCause, _ retry: RetryAdvice,
    _ meaning: String, likely: [String], remedies: [String]
  ) {
    self.code = code
    self.domain = domain
    self.name = name
    self.statuses = statuses
    self.causes = causes
    self.refusals = refusals
    self.sipStatus = sipStatus
    self.endCause = endCause
    self.retry = retry
    self.meaning = meaning
    self.likelyCauses = likely
    self.remedies = remedies
  }
}
