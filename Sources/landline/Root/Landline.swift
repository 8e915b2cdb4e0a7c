import ArgumentParser
import CallModel
import LandlineArguments

/// The command and everything below it. Each command states its name: where it is left to be made of the type's, every start
/// looks for it through all conformances of the program, for all commands.
struct Landline: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "landline",
    abstract: "Calls between apps and phones, and the books that say what they cost.",
    discussion: """
      EXAMPLES
        landline account create acme --currency EUR
        landline topup acme 10
        landline balance
        landline history acme --from today

      Results go to standard output, everything else to standard error.

      EXIT STATUS
        0 ok, 1 internal fault, 2 usage, 3 not found, 4 refused, 5 conflict,
        6 books broken, 7 database unavailable, 8 not permitted, 9 configuration broken,
        10 call failed, 11 gateway not reachable, 12 timed out, 130 interrupted,
        141 nobody reads the output any more

      ENVIRONMENT
        LANDLINE_DATABASE  the ledger's file
        LANDLINE_CONFIG    the configuration
        LANDLINE_CONTROL   the control socket of a running gateway
        LANDLINE_URL, LANDLINE_APPLICATION_KEY, LANDLINE_APPLICATION_SECRET_FILE
                           the gateway and the application of landline call and answer
        LANDLINE_AUTHORITY a PEM file of authorities that both trust over wss
        NO_COLOR, PAGER    as everywhere
        LANDLINE_NOW       an RFC 3339 time in place of the clock, for tests
      """,
    version: "landline \(LandlineVersion.text)",
    groupedSubcommands: [
      CommandGroup(
        name: "Running",
        subcommands: [
          DevCommand.self, InitCommand.self, ServeCommand.self, CallCommand.self, AnswerCommand.self,
          ConferenceCommand.self, RecordingCommand.self, CallsCommand.self, StatusCommand.self,
        ]),
      CommandGroup(name: "Accounts", subcommands: [AccountCommand.self, CapCommand.self]),
      CommandGroup(
        name: "Looking",
        subcommands: [BalanceCommand.self, HistoryCommand.self, StatementCommand.self, HoldCommand.self]),
      CommandGroup(
        name: "Money",
        subcommands: [
          TopupCommand.self, RefundCommand.self, AdjustCommand.self, TransferCommand.self, ChargebackCommand.self,
          OpeningCommand.self,
        ]),
      CommandGroup(
        name: "Books",
        subcommands: [VerifyCommand.self, ExportCommand.self, RecoverCommand.self, NodeCommand.self]),
      CommandGroup(
        name: "Prices",
        subcommands: [RateCommand.self, DeckCommand.self, PlanCommand.self, DenyCommand.self]),
      CommandGroup(name: "Carriers", subcommands: [TrunkCommand.self, NumberCommand.self, DeskPhoneCommand.self]),
      CommandGroup(
        name: "Tools",
        subcommands: [ExplainCommand.self, CompletionCommand.self, ManualCommand<Landline>.self]),
    ])
}
