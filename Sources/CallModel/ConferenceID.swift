/// The id of a conference inside an application: 1 to 64 printable ASCII characters from `!` to `~`.
public struct ConferenceID: Hashable, Sendable, CustomStringConvertible {
  /// Most characters.
  public static let maximumLength = 64

  /// As given; upper and lower case differ.
  public let text: String
  /// The call whose guests meet there, which is no conference that anybody can name; `nil` for every other id.
  package let host: CallID?

  /// - Throws: ``InvalidValue`` with rules `conference.empty`, `conference.character`, `conference.long`.
  public init(_ text: some StringProtocol) throws(InvalidValue) {
    try PrintableText.check(
      text, kind: "conference id", rule: "conference", maximumLength: ConferenceID.maximumLength)
    self.text = String(text)
    host = nil
  }

  /// Where those meet who are brought in to a call. Nobody can write this id: it holds a space.
  package init(guestsOf call: CallID) {
    text = "call \(call.text)"
    host = call
  }

  /// The ``text`` as it is, fit for a log: it holds no control character.
  public var description: String { text }
}
