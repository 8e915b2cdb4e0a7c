import ArgumentParser

struct SimulateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate", abstract: "Calls and faults that never happened, on cores and a ledger that are real.",
    subcommands: [
      SimulateBooksCommand.self, SimulateCallsCommand.self, SimulateFraudCommand.self,
      SimulateSIPCommand.self, SimulateRelayCommand.self,
    ],
    defaultSubcommand: SimulateBooksCommand.self)
}
