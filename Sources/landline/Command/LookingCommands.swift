import ArgumentParser
import LandlineArguments
import LandlineConsole

struct BalanceCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "balance", abstract: "What accounts have booked, held and available.",
    discussion: "landline balance acme --at 2026-11-01")

  @Argument(
    help: "Accounts by name, or a place in the chart such as revenues:calls.", completion: AccountCompletion.names)
  var accounts: [String] = []

  @Flag(help: "The operator's own accounts too.")
  var all = false

  @Option(parsing: .unconditional, help: "As of a past instant.")
  var at: String?

  @OptionGroup(title: "Common")
  var common: CommonOptions

  func run() async throws {
    try await common.console { try await $0.balance(accounts: accounts, includesOperator: all, at: at) }
  }
}

struct HistoryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history", abstract: "Entries of one account with the running balance, and its open holds.",
    discussion: "landline history acme --from 2026-11-21 --limit 4")

  @Argument(completion: AccountCompletion.names)
  var account: String

  @OptionGroup(title: "Range")
  var range: RangeOptions

  @OptionGroup(title: "Range")
  var cursor: CursorOptions

  @Option(help: "Only calls that ended for this reason, such as noCredit.")
  var reason: String?

  @Option(help: "Which of the operator's accounts of that name.")
  var currency: String?

  @OptionGroup(title: "Common")
  var common: CommonOptions

  func run() async throws {
    try await common.console {
      try await $0.history(
        account: account, currency: currency, period: PeriodOptions(from: range.from, to: range.to), page: cursor.page,
        reason: reason)
    }
  }
}

struct StatementCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "statement", abstract: "One month of one account: balances, totals, calls by destination.",
    discussion: """
      landline statement acme --month 2026-11

      Days are those of the account's own zone unless --tz names another.
      """)

  @Argument(completion: AccountCompletion.names)
  var account: String

  @Option(help: "The month, such as 2026-11.")
  var month: String

  @Option(help: "Which of the operator's accounts of that name.")
  var currency: String?

  @OptionGroup(title: "Common")
  var common: CommonOptions

  func run() async throws {
    try await common.console { try await $0.statement(account: account, currency: currency, month: month) }
  }
}

struct HoldCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hold", abstract: "Credit reserved for calls.", subcommands: [List.self, Show.self])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "Open holds, oldest first.",
      discussion: """
        landline hold list
        landline hold list --account acme --all
        """)

    @Option(help: "Only this account's.", completion: AccountCompletion.names)
    var account: String?

    @Option(help: "Only this gateway's.")
    var node: String?

    @Flag(help: "Ended calls too.")
    var all = false

    @OptionGroup(title: "Range")
    var cursor: CursorOptions

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console {
        try await $0.holdList(account: account, node: node, includesEnded: all, page: cursor.page)
      }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show",
      abstract: "One call's hold and how it grew.", discussion: "landline hold show CALL-ID --account acme")

    @Argument(help: "The call's id.")
    var call: String

    @Option(help: "The account that pays.", completion: AccountCompletion.names)
    var account: String?

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws { try await common.console { try await $0.holdShow(call: call, account: account) } }
  }
}
