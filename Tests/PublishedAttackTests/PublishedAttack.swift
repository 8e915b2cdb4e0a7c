/// An attack that was published against some gateway, library or browser, rebuilt here for the door it would come to.
struct PublishedAttack: Sendable, CustomStringConvertible {
  /// CVE, GHSA, AST or ES number, or the project's own name of the fix.
  let source: String
  let title: String
  /// What it may come to: the rule that refused it, the status it was answered with, `forward` where it does no harm.
  let outcomes: Set<String>
  /// Plays it and says what it came to.
  let play: @Sendable () throws -> String

  init(_ source: String, _ title: String, _ outcomes: String..., play: @escaping @Sendable () throws -> String) {
    self.init(source, title, Set(outcomes), play)
  }

  init(
    _ source: String, _ title: String, _ outcomes: some Sequence<String>,
    _ play: @escaping @Sendable () throws -> String
  ) {
    self.source = source
    self.title = title
    self.outcomes = Set(outcomes)
    self.play = play
  }

  var description: String { "\(source): \(title)" }

  static var all: [PublishedAttack] {
    signalling + framing + descriptions + connectivity + media + access + builders + names
  }
}
