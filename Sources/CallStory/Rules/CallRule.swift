/// One piece of experience: sees a situation in what is known of a call, and says what to do about it.
public struct CallRule: Sendable {
  /// `noCommonCodec`; stable, unique.
  public let id: String
  /// What it is about, for lists of rules.
  public let title: String
  let find: @Sendable (CallEvidence) -> CallStory.Finding?

  init(_ id: String, _ title: String, _ find: @escaping @Sendable (CallEvidence) -> CallStory.Finding?) {
    self.id = id
    self.title = title
    self.find = find
  }

  /// Every rule, in the order in which equals are told.
  public static let all: [CallRule] = []
}
