import ArgumentParser
import CallModel
import LandlineArguments

/// The command and everything below it: what tries the gateway, and is not installed with it.
struct LandlineLab: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "landline-lab",
    abstract: "Simulations and benchmarks of Landline, for those who work on it.",
    discussion: """
      EXAMPLES
        landline-lab simulate calls --seed 1 --seeds 100
        landline-lab bench calls

      Options, results and exit status are those of landline.
      """,
    version: "landline-lab \(LandlineVersion.text)",
    subcommands: [SimulateCommand.self, BenchCommand.self, ManualCommand<LandlineLab>.self])
}
