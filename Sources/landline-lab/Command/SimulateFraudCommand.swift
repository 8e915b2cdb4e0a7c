import ArgumentParser
import LandlineArguments
import LandlineConsole

/// `landline-lab simulate fraud`.
struct SimulateFraudCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fraud",
    abstract: "What a stolen application key can cost within an hour, in virtual time.",
    discussion: """
      Whoever stole it opens forty sessions and dials ten thousand numbers of forty countries, premium ranges among them;
      everybody answers, and nobody hangs up. Prints what the account lost beside what the rules let it lose, and ends with
      status 4 where nothing bounds the loss.

      The rules are those that hold without configuration, for an account with a Swedish number; with --config, those of an
      environment of that file.

      landline-lab simulate fraud
      landline-lab simulate fraud --any-country
      landline-lab simulate fraud --config /etc/landline/landline.yaml --environment production
      """)

  @Option(help: "The same seed gives the same run.")
  var seed: UInt64 = 1

  @Option(help: "Numbers that are dialled.")
  var calls = FraudOptions().calls

  @Flag(name: .customLong("any-country"), help: "As if the account might call every country.")
  var anyCountry = false

  @Option(
    name: .customLong("config"), help: "A configuration whose rules are tried.",
    completion: .file(extensions: ["yaml", "yml"]))
  var file: String?

  @Option(help: "With --config: the environment; the first one by default.")
  var environment: String?

  @OptionGroup(title: "Common")
  var common: CommonOptions

  func run() async throws {
    var options = FraudOptions()
    options.seed = seed
    options.calls = calls
    options.anyCountry = anyCountry
    options.configuration = file
    options.environment = environment
    let asked = options
    try await common.console { try $0.fraudDrill(asked) }
  }
}
