import Foundation

/// The commands with their options and arguments, as the argument parser describes them in JSON.
package struct CommandOutline: Decodable, Sendable {
  package struct Argument: Decodable, Sendable {
    package struct Name: Decodable, Sendable {
      package var kind: String
      package var name: String

      /// `--database`, `-o`.
      package var text: String { (kind == "long" ? "--" : "-") + name }
    }

    /// `positional`, `option` or `flag`.
    package var kind: String
    package var shouldDisplay: Bool
    package var sectionTitle: String?
    package var isOptional: Bool
    package var isRepeating: Bool
    package var names: [Name]?
    package var valueName: String?
    package var defaultValue: String?
    package var abstract: String?
  }

  package var commandName: String
  package var shouldDisplay: Bool
  package var abstract: String?
  package var discussion: String?
  package var subcommands: [CommandOutline]?
  package var arguments: [Argument]?

  private struct Whole: Decodable { var command: CommandOutline }

  /// - Returns: `nil` where the parser describes itself in another form than is known here.
  package init?(dump: String) {
    guard let whole = try? JSONDecoder().decode(Whole.self, from: Data(dump.utf8)) else { return nil }
    self = whole.command
  }

  /// Commands below this one that people see; the parser's own `help` is none.
  var children: [CommandOutline] { (subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" } }

  /// The command that the first words name, as far as they name any, and those words.
  package func named(_ words: [String]) -> (words: [String], command: CommandOutline) {
    guard let word = words.first, let next = subcommands?.first(where: { $0.commandName == word }) else {
      return ([], self)
    }
    let (rest, command) = next.named(Array(words.dropFirst()))
    return ([word] + rest, command)
  }

  /// This command and all below it, each with the words that name it.
  package func all(_ words: [String] = []) -> [(words: [String], command: CommandOutline)] {
    [(words, self)] + children.flatMap { $0.all(words + [$0.commandName]) }
  }

  /// Commands that do something.
  package var leaves: [(words: [String], command: CommandOutline)] { all().filter { $0.command.children.isEmpty } }

  /// Lines of the discussion that can be pasted.
  /// - Parameter program: the name that they begin with.
  func examples(of program: String) -> [String] {
    (discussion ?? "").split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { $0.hasPrefix(program + " ") }
  }
}
