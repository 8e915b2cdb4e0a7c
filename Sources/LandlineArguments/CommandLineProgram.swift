package import ArgumentParser
import CallModel
import Foundation
package import LandlineConsole

/// The way of a program from its arguments to its exit.
package enum CommandLineProgram {
  /// A command line that the parser did not take.
  package struct Refused {
    package var arguments: [String]
    /// The words that name commands.
    package var words: [String] = []
    /// The word that should have named another, and what it could have been.
    package var unknown: String?
    package var names: [String] = []
  }

  /// Runs what the arguments ask for and ends the process where that failed.
  /// - Parameter amend: adds what only this program knows to what is said of a command line that was not understood.
  package static func run(
    _ root: any ParsableCommand.Type, amend: @Sendable (inout ConsoleError, Refused) -> Void = { _, _ in }
  ) async {
    let arguments = NegativeNumbers.marked(
      LeadingOptions.moved(Array(CommandLine.arguments.dropFirst())), of: root)
    do {
      var command = try root.parseAsRoot(arguments)
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch let code as ExitCode {
      exit(code.rawValue)
    } catch {
      refuse(error, arguments, root, amend)
    }
  }

  /// Help, versions and completions are answers; anything else is a command line that cannot be understood.
  private static func refuse(
    _ error: any Error, _ arguments: [String], _ root: any ParsableCommand.Type,
    _ amend: (inout ConsoleError, Refused) -> Void
  ) -> Never {
    if root.exitCode(for: error) == .success {
      print(root.fullMessage(for: error))
      exit(ExitStatus.ok.rawValue)
    }
    var format = ConsoleSettings.Format.table
    if arguments.contains("--json") || arguments.contains("--ndjson") { format = .json }
    for (option, value) in zip(arguments, arguments.dropFirst()) where option == "-o" || option == "--output" {
      if let named = ConsoleSettings.Format(rawValue: value) { format = named }
    }
    let refused = refused(arguments, root)
    let command = ([root._commandName] + refused.words).joined(separator: " ")
    var failure = ConsoleError.usage("usage", root.message(for: error), fix: "\(command) --help")
    failure.what = withoutFarGuess(failure.what)
    if let unknown = refused.unknown, !refused.names.isEmpty {
      failure.code = "unknownCommand"
      failure.what = "there is no such command"
      failure.place = (refused.words + [unknown]).joined(separator: " ")
      if let nearest = Spelling.nearest(to: unknown, among: refused.names) {
        failure.fix = "did you mean \(command) \(nearest)?"
      }
    }
    amend(&failure, refused)
    Console(settings: ConsoleSettings(format: format), environment: .process()).report(failure)
    exit(ExitStatus.usage.rawValue)
  }

  /// The parser guesses at options that share little with what was typed; such a guess is left out.
  private static func withoutFarGuess(_ message: String) -> String {
    guard let match = message.firstMatch(of: /Unknown option '--([^']*)'(\. Did you mean '--([^']*)'\?)/),
      Spelling.nearest(to: String(match.1), among: [String(match.3)]) == nil
    else { return message }
    return message.replacing(match.2, with: "")
  }

  private static func refused(_ arguments: [String], _ root: any ParsableCommand.Type) -> Refused {
    var refused = Refused(arguments: arguments)
    var current = root
    for argument in arguments {
      let children = current.configuration.subcommands + current.configuration.groupedSubcommands.flatMap(\.subcommands)
      if children.isEmpty || argument.hasPrefix("-") { return refused }
      guard let next = children.first(where: { $0._commandName == argument }) else {
        if argument == "help" && refused.words.isEmpty { return refused }
        refused.unknown = argument
        refused.names = children.map { $0._commandName }
        return refused
      }
      refused.words.append(argument)
      current = next
    }
    return refused
  }
}
