import CallModel

/// One piece of experience: sees a situation in what is known of a call, and says what to do about it.
///
/// A rule that sees nothing but a code says so with a low confidence; one that finds the cause in messages, figures or
/// settings of the call stands above it.
public struct CallRule: Sendable {
  /// `noCommonCodec`; stable, unique.
  public let id: String
  /// What it is about, for lists of rules.
  public let title: String
  let find: @Sendable (CallEvidence) -> CallStory.Finding?

  /// What a rule says when it applies.
  struct Verdict: Sendable {
    var explanation: String
    var evidence: [String]
    var owner: Owner
    var fixes: [String]
    var confidence: Int

    init(_ confidence: Int, _ owner: Owner, _ explanation: String, evidence: [String] = [], fixes: [String] = []) {
      self.confidence = confidence
      self.owner = owner
      self.explanation = explanation
      self.evidence = evidence
      self.fixes = fixes
    }
  }

  enum Owner: String, Sendable { case app, gateway, trunk, callee, account, nobody }

  init(_ id: String, _ title: String, _ judge: @escaping @Sendable (CallEvidence) -> Verdict?) {
    self.id = id
    self.title = title
    find = { evidence in
      judge(evidence).map { verdict in
        CallStory.Finding(
          rule: id, title: title, explanation: verdict.explanation, evidence: verdict.evidence,
          owner: verdict.owner.rawValue, fixes: verdict.fixes.filter { !$0.contains(DeskPhone.deviceName("")) },
          confidence: min(max(verdict.confidence, 0), 100))
      }
    }
  }

  /// Every rule, in the order in which equals are told.
  public static let all: [CallRule] =
    authentication + identity + numbers + negotiation + answers + transport + capacity + sound + loss + appLeg + users
    + arrivals + transfers + conferences + money + flow + general

  /// What all rules find, the most likely first.
  public static func findings(in evidence: CallEvidence) -> [CallStory.Finding] {
    let found = all.compactMap { $0.find(evidence) }
    return found.enumerated().sorted {
      ($0.element.confidence, $1.offset) > ($1.element.confidence, $0.offset)
    }.map(\.element)
  }
}
