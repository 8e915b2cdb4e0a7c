import ArgumentParser
import LandlineConsole

struct SimulateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate", abstract: "Calls and faults that never happened, on a ledger that is real.",
    subcommands: [SimulateBooksCommand.self, Calls.self, SimulateSIPCommand.self, SimulateRelayCommand.self],
    defaultSubcommand: SimulateBooksCommand.self)

  struct Calls: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Overlapping calls of one account: held, answered, extended, settled, in virtual time.",
      discussion: """
        The calls are priced by the account's plan and booked in the ledger, from the present on; use a ledger that is
        made for it.

        landline simulate calls --account acme --calls 200 --seed 7
        """)

    @Option(help: "Who pays.", completion: AccountCompletion.names)
    var account: String

    @Option(help: "How many calls.")
    var calls = 200

    @Option(help: "The same seed gives the same calls.")
    var seed: UInt64 = 1

    @Option(help: "Seconds within which all calls start.")
    var window: Int64 = 60

    @Option(help: "Calls in a hundred that nobody answers.")
    var unanswered = 0

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console {
        try await $0.rehearse(account: account, calls: calls, seed: seed, window: window, unanswered: unanswered)
      }
    }
  }
}
