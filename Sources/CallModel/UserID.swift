/// The id of a user inside an application: printable ASCII from `!` to `~`, so no space, control or other script.
public struct UserID: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// Limits that an installation may set.
  public struct Rules: Hashable, Sendable {
    /// Most characters a user id may be configured to have.
    public static let largestMaximumLength = 255
    /// Forty characters.
    public static let standard = Rules(unchecked: 40)

    /// Most characters (bytes, as every one is ASCII).
    public let maximumLength: Int

    /// - Throws: ``InvalidValue`` with rule `user.rules` unless the length lies in 1...255.
    public init(maximumLength: Int) throws(InvalidValue) {
      guard (1...Rules.largestMaximumLength).contains(maximumLength) else {
        throw InvalidValue(
          kind: "user id rules", rule: "user.rules", offset: nil,
          problem: "a maximum of \(maximumLength) is out of range",
          accepted: "1 to \(Rules.largestMaximumLength) characters")
      }
      self.init(unchecked: maximumLength)
    }

    private init(unchecked maximumLength: Int) { self.maximumLength = maximumLength }
  }

  /// As given; upper and lower case differ.
  public let text: String

  /// - Throws: ``InvalidValue`` with rules `user.empty`, `user.character`, `user.long`.
  public init(_ text: some StringProtocol, rules: Rules = .standard) throws(InvalidValue) {
    try PrintableText.check(text, kind: "user id", rule: "user", maximumLength: rules.maximumLength)
    self.text = String(text)
  }

  /// The ``text`` as it is, fit for a log: it holds no control character.
  public var description: String { text }

  /// By bytes, so all capital letters come before all small ones.
  public static func < (left: UserID, right: UserID) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }
}
