/// The id of a conference inside an application: 1 to 64 printable ASCII characters from `!` to `~`.
public struct ConferenceID: Hashable, Sendable, CustomStringConvertible {
  /// Most characters.
  public static let maximumLength = 64

  /// As given; upper and lower case differ.
  public let text: String

  /// - Throws: ``InvalidValue`` with rules `conference.empty`, `conference.character`, `conference.long`.
  public init(_ text: some StringProtocol) throws(InvalidValue) {
    try PrintableText.check(
      text, kind: "conference id", rule: "conference", maximumLength: ConferenceID.maximumLength)
    self.text = String(text)
  }

  /// The ``text`` as it is, fit for a log: it holds no control character.
  public var description: String { text }
}
