import ArgumentParser
import LandlineArguments
import LandlineConsole

struct RateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rate", abstract: "What calls cost, and why.",
    subcommands: [Lookup.self, Explain.self, Difference.self])

  struct Lookup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "lookup",
      abstract: "Every rate that begins a number, in the active decks.", discussion: "landline rate lookup +46701234567"
    )

    @Argument(help: "The number, with or without +.")
    var number: String

    @Option(help: "Only this deck: NAME or NAME@VERSION.")
    var deck: String?

    @Option(help: "Only the decks of this plan.")
    var plan: String?

    @Option(help: "Only the decks of this account's plan.", completion: AccountCompletion.names)
    var account: String?

    @Option(parsing: .unconditional, help: "As of another instant.")
    var at: String?

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console {
        try await $0.rateLookup(number, deck: deck, plan: plan, account: account, at: at)
      }
    }
  }

  struct Explain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "explain",
      abstract: "How a call of an account is priced, step by step; exit 4 if it would be refused.",
      discussion: "landline rate explain +46701234567 --account acme --seconds 63.412")

    @Argument(help: "The number, with or without +.")
    var number: String

    @Option(help: "The account that pays.", completion: AccountCompletion.names)
    var account: String

    @Option(help: "The call's duration, to the millisecond.")
    var seconds = "60"

    @Option(parsing: .unconditional, help: "When the call is answered.")
    var at: String?

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console { try await $0.rateExplain(number, account: account, seconds: seconds, at: at) }
    }
  }

  struct Difference: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "diff", abstract: "What differs between two decks.",
      discussion: "landline rate diff retail-eu@2026-10-01 retail-eu@2026-11-01")

    @Argument(help: "NAME@VERSION, or NAME for the active version.")
    var old: String

    @Argument(help: "NAME@VERSION, or NAME for the active version.")
    var new: String

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws { try await common.console { try await $0.rateDifference(old, new) } }
  }
}

struct DeckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "deck", abstract: "Rate decks: immutable versions of price lists.",
    subcommands: [Import.self, List.self, Activate.self, Export.self])

  struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "import",
      abstract: "Read a deck from CSV: all of it, or nothing.",
      discussion:
        "landline deck import retail.csv --name retail-eu --version 2026-11-01 --currency EUR --activate-from now")

    @Argument(help: "The file, or - for standard input.", completion: .file(extensions: ["csv"]))
    var file: String

    @Option(help: "The deck's name (default: the file's).")
    var name: String?

    @Option(
      name: .customLong("version"),
      help: "The version's label, such as 2026-11-01; never used twice (default: today's date).")
    var label: String?

    @Option(help: "Currency of every price, unless the file has a column for it.")
    var currency: String?

    @Option(help: "Zone of dates without a time and of time classes.")
    var zone = "UTC"

    @Option(help: "Such as 'peak=Mon-Fri 08:00-20:00; weekend=Sat-Sun 00:00-24:00'.")
    var timeClasses: String?

    @Option(parsing: .unconditional, help: "Let it price calls from then on, such as now or 2026-12-01.")
    var activateFrom: String?

    @Flag(help: "Check the file; write nothing.")
    var dryRun = false

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console {
        try await $0.deckImport(
          Console.DeckImport(
            file: file, name: name, version: label, currency: currency, zone: zone, timeClasses: timeClasses,
            activeFrom: activateFrom, isDryRun: dryRun))
      }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "Every version of every deck.", discussion: "landline deck list")

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws { try await common.console { try await $0.deckList() } }
  }

  struct Activate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "activate",
      abstract: "Let a version price calls from an instant on.",
      discussion: "landline deck activate retail-eu@2026-12-01 --from 2026-12-01")

    @Argument(help: "NAME@VERSION, or NAME for the version imported last.")
    var deck: String

    @Option(parsing: .unconditional, help: "Default: now.")
    var from: String?

    @Flag(help: "Say what would happen; write nothing.")
    var dryRun = false

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console { try await $0.deckActivate(deck, from: from, isDryRun: dryRun) }
    }
  }

  struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "export",
      abstract: "A deck as canonical CSV.", discussion: "landline deck export retail-eu@2026-11-01")

    @Argument(help: "NAME@VERSION, or NAME for the active version.")
    var deck: String

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws { try await common.console { try await $0.deckExport(deck) } }
  }
}

struct PlanCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plan", abstract: "Rate plans: decks in the order in which they are asked.",
    subcommands: [Create.self, List.self, Show.self, Change.self, Delete.self])

  struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "create",
      abstract: "Make a plan.", discussion: "landline plan create gold specials retail-eu=0.9")

    @Argument(help: "The plan's name.")
    var name: String

    @Argument(help: "DECK, or DECK=1.15 to multiply its prices; the first deck with a rate decides.")
    var decks: [String]

    @Flag(help: "Say what would happen; write nothing.")
    var dryRun = false

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console { try await $0.planCreate(name, decks: decks, isDryRun: dryRun) }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "All plans.", discussion: "landline plan list")

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws { try await common.console { try await $0.planList() } }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show",
      abstract: "One plan's decks and their active versions.", discussion: "landline plan show eu-retail")

    @Argument(help: "The plan's name.")
    var name: String

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws { try await common.console { try await $0.planShow(name) } }
  }

  struct Change: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "set", abstract: "Replace a plan's decks; calls under way keep their prices.",
      discussion: "landline plan set eu-retail retail-eu=1.05")

    @Argument(help: "The plan's name.")
    var name: String

    @Argument(help: "DECK, or DECK=1.15 to multiply its prices; the first deck with a rate decides.")
    var decks: [String]

    @Flag(help: "Say what would happen; write nothing.")
    var dryRun = false

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws { try await common.console { try await $0.planSet(name, decks: decks, isDryRun: dryRun) } }
  }

  struct Delete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "delete",
      abstract: "Remove a plan that no account uses.", discussion: "landline plan delete eu-retail --yes")

    @Argument(help: "The plan's name.")
    var name: String

    @Flag(help: "Say what would happen; write nothing.")
    var dryRun = false

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console { try await $0.planDelete(name, isDryRun: dryRun, isConfirmed: yes) }
    }
  }
}

struct DenyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "deny", abstract: "Ranges of numbers that nobody may call.",
    discussion: """
      Dear ranges of every country's number plan (premium rate, shared cost, universal access, pagers, voicemail, \
      satellites, networks of no country) are blocked from the start, unless a deck has a price for the range or a part \
      of it: landline deny list --number-plan.
      """,
    subcommands: [Add.self, Allow.self, List.self, Remove.self])

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add",
      abstract: "Block a range, or change why it is blocked.", discussion: "landline deny add 4690 --reason premium")

    @Argument(help: "The digits that the range begins with.")
    var prefix: String

    @Option(
      help: "\(Console.denyReasons.joined(separator: ", ")).", completion: .list(Console.denyReasons))
    var reason: String

    @Option(help: "For the record.")
    var note = ""

    @Flag(help: "Say what would happen; write nothing.")
    var dryRun = false

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console { try await $0.denyAdd(prefix, reason: reason, note: note, isDryRun: dryRun) }
    }
  }

  struct Allow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "allow",
      abstract: "Allow a range that the number plan says is dear, at the price of its longest prefix.",
      discussion: "landline deny allow 4610 --note 'costs what Sweden costs'")

    @Argument(help: "The digits that the range begins with.")
    var prefix: String

    @Option(help: "For the record.")
    var note = ""

    @Flag(help: "Say what would happen; write nothing.")
    var dryRun = false

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console { try await $0.denyAllow(prefix, note: note, isDryRun: dryRun) }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "All ranges that were blocked or allowed here.", discussion: "landline deny list")

    @Flag(help: "The dear ranges of the number plans instead, which are blocked from the start.")
    var numberPlan = false

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      let numberPlan = numberPlan
      try await common.console { numberPlan ? try await $0.denyPlanList() : try await $0.denyList() }
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove",
      abstract: "Forget what was decided for a range.", discussion: "landline deny remove 4690")

    @Argument(help: "The digits that the range begins with.")
    var prefix: String

    @Flag(help: "Say what would happen; write nothing.")
    var dryRun = false

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws { try await common.console { try await $0.denyRemove(prefix, isDryRun: dryRun) } }
  }
}
