import ArgumentParser
import LandlineArguments
import LandlineConsole

struct VerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Check the books against their rules; exit 6 if one is broken.",
    discussion: """
      landline verify
      landline verify --full
      """)

  @Flag(help: "Every record, instead of balances, holds and the end of the chain.")
  var full = false

  @OptionGroup(title: "Common")
  var common: CommonOptions

  func run() async throws { try await common.console { try await $0.verify(full: full) } }
}

struct RecoverCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "recover", abstract: "Settle the calls of gateways that have stopped, at their last beat.",
    discussion: """
      landline recover --dry-run
      landline recover --node gw-1
      """)

  @Option(help: "Only this gateway.")
  var node: String?

  @Flag(help: "Say what would happen; write nothing.")
  var dryRun = false

  @OptionGroup(title: "Common")
  var common: CommonOptions

  func run() async throws { try await common.console { try await $0.recover(node: node, isDryRun: dryRun) } }
}

struct NodeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "node", abstract: "Gateways that write to this ledger.", subcommands: [List.self])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "Each gateway's newest life.", discussion: "landline node list")

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws { try await common.console { try await $0.nodeList() } }
  }
}

struct ExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "The books for other programs.",
    subcommands: [Hledger.self, CSV.self, NDJSON.self])

  struct Hledger: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "hledger",
      abstract: "A journal with a balance assertion on every posting, for hledger and ledger-cli.",
      discussion: """
        landline export hledger --output-dir books
        hledger -f books/index.journal check -s
        """)

    @Option(help: "Only this month, such as 2026-11.")
    var month: String?

    @Option(help: "Only this account.", completion: AccountCompletion.names)
    var account: String?

    @Option(help: "One file a month and index.journal, in this directory.", completion: .directory)
    var outputDir: String?

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console {
        try await $0.exportHledger(month: month, account: account, directory: outputDir)
      }
    }
  }

  struct CSV: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "csv", abstract: "Every entry with its transfer, comma-separated.",
      discussion: """
        landline export csv --month 2026-11
        landline export csv --account acme --from today
        """)

    @OptionGroup(title: "Range")
    var range: RangeOptions

    @Option(help: "Only this month, such as 2026-11.")
    var month: String?

    @Option(help: "Only this account.", completion: AccountCompletion.names)
    var account: String?

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console {
        try await $0.exportEntries(
          isCSV: true, account: account, period: PeriodOptions(from: range.from, to: range.to, month: month))
      }
    }
  }

  struct NDJSON: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "ndjson", abstract: "Every entry with its transfer, one JSON object a line.",
      discussion: "landline export ndjson --from 2026-11-01 --to now")

    @OptionGroup(title: "Range")
    var range: RangeOptions

    @Option(help: "Only this month, such as 2026-11.")
    var month: String?

    @Option(help: "Only this account.", completion: AccountCompletion.names)
    var account: String?

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console {
        try await $0.exportEntries(
          isCSV: false, account: account, period: PeriodOptions(from: range.from, to: range.to, month: month))
      }
    }
  }
}
