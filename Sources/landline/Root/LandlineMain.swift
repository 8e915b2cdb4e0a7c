import ArgumentParser
import CallModel
import Foundation
import LandlineConsole

@main
enum LandlineMain {
  static func main() async {
    endOnInterrupt()
    let arguments = NegativeNumbers.marked(LeadingOptions.moved(Array(CommandLine.arguments.dropFirst())))
    do {
      var command = try Landline.parseAsRoot(arguments)
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch let code as ExitCode {
      exit(code.rawValue)
    } catch {
      refuse(error, arguments)
    }
  }

  /// An interrupt ends the process at once, with the status that scripts expect. Whatever was not committed is not in
  /// the ledger, and an unfinished import is invisible.
  private static func endOnInterrupt() {
    signal(SIGINT) { _ in
      if !PendingKey.report() {
        let text: StaticString = "landline: interrupted\n"
        _ = write(STDERR_FILENO, text.utf8Start, text.utf8CodeUnitCount)
      }
      _exit(ExitStatus.interrupted.rawValue)
    }
  }

  /// Help, versions and completions are answers; anything else is a command line that cannot be understood.
  private static func refuse(_ error: any Error, _ arguments: [String]) -> Never {
    if Landline.exitCode(for: error) == .success {
      print(Landline.fullMessage(for: error))
      exit(ExitStatus.ok.rawValue)
    }
    var format = ConsoleSettings.Format.table
    if arguments.contains("--json") || arguments.contains("--ndjson") { format = .json }
    for (option, value) in zip(arguments, arguments.dropFirst()) where option == "-o" || option == "--output" {
      if let named = ConsoleSettings.Format(rawValue: value) { format = named }
    }
    let path = commandPath(arguments)
    let words = path.words.joined(separator: " ")
    var failure = ConsoleError.usage(
      "usage", Landline.message(for: error), fix: "landline \(words.isEmpty ? "" : words + " ")--help")
    failure.what = withoutFarGuess(failure.what)
    if let number = arguments.first(where: NegativeNumbers.isNumber), let word = path.words.first,
      movesMoney.contains(word)
    {
      failure = ConsoleError.usage(
        "amount.positive", "amount: a negative amount moves nothing here", at: number,
        fix: "an amount above zero; landline adjust ACCOUNT \(number) --reason TEXT takes credit away")
    }
    if let unknown = path.unknown, !path.names.isEmpty {
      failure.code = "unknownCommand"
      failure.what = "there is no such command"
      failure.place = "\(words.isEmpty ? "" : words + " ")\(unknown)"
      if let nearest = Spelling.nearest(to: unknown, among: path.names) {
        failure.fix = "did you mean landline \(words.isEmpty ? "" : words + " ")\(nearest)?"
      }
    }
    Console(settings: ConsoleSettings(format: format), environment: .process()).report(failure)
    exit(ExitStatus.usage.rawValue)
  }

  /// Commands with an amount that is above zero.
  private static let movesMoney: Set<String> = ["topup", "opening", "refund", "chargeback", "transfer"]

  /// The parser guesses at options that share little with what was typed; such a guess is left out.
  private static func withoutFarGuess(_ message: String) -> String {
    guard let match = message.firstMatch(of: /Unknown option '--([^']*)'(\. Did you mean '--([^']*)'\?)/),
      Spelling.nearest(to: String(match.1), among: [String(match.3)]) == nil
    else { return message }
    return message.replacing(match.2, with: "")
  }

  /// Which commands the arguments name, and the word that should have named another.
  private static func commandPath(
    _ arguments: [String]
  ) -> (words: [String], unknown: String?, names: [String]) {
    var words: [String] = []
    var current: any ParsableCommand.Type = Landline.self
    for argument in arguments {
      let children = current.configuration.subcommands + current.configuration.groupedSubcommands.flatMap(\.subcommands)
      if children.isEmpty || argument.hasPrefix("-") { return (words, nil, []) }
      guard let next = children.first(where: { $0._commandName == argument }) else {
        return argument == "help" && words.isEmpty
          ? (words, nil, []) : (words, argument, children.map { $0._commandName })
      }
      words.append(argument)
      current = next
    }
    return (words, nil, [])
  }
}
