import ArgumentParser
import LandlineArguments
import LandlineConsole

struct AccountCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "account", abstract: "Make, show and change accounts.",
    subcommands: [
      Create.self, Show.self, List.self, Close.self, Lock.self, Unlock.self, SetPlan.self, SetCap.self, SetZone.self,
    ])
}

/// Options for the limits of an account.
struct CapArguments: ParsableArguments {
  @Option(name: .customLong("concurrent"), help: "Calls open at a time, or none.")
  var concurrent: String?

  @Option(name: .customLong("per-second"), help: "New calls in one second, or none.")
  var perSecond: String?

  @Option(name: .customLong("per-call"), help: "Most that one call may cost, or none.")
  var perCall: String?

  @Option(name: .customLong("per-day"), help: "Most that one day's calls may cost, or none.")
  var perDay: String?

  @Option(name: .customLong("highest-rate"), help: "Dearest rate a minute that may be called, or none.")
  var highestRate: String?

  @Option(
    name: .customLong("countries"),
    help: "Country codes that may be called, such as 46,47 or 1876; any; or none for those of the configuration.")
  var countries: String?

  var caps: CapOptions {
    CapOptions(
      concurrent: concurrent, perSecond: perSecond, perCall: perCall, perDay: perDay, highestRate: highestRate,
      countries: countries)
  }
}

extension AccountCommand {
  struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "create",
      abstract: "Make an account; makes the ledger if there is none.",
      discussion: "landline account create acme --currency EUR --plan eu-retail --per-day 50")

    @Argument(help: "The account's name: 1 to 64 letters, digits and . _ - @ +")
    var name: String

    @Option(help: "ISO 4217 code such as EUR.")
    var currency: String

    @Option(help: "prepaid or postpaid.", completion: .list(["prepaid", "postpaid"]))
    var kind = "prepaid"

    @Option(help: "What a postpaid account may owe.")
    var creditLimit: String?

    @Option(help: "The rate plan.")
    var plan: String?

    @Option(help: "The zone whose midnight starts a new day of calls.")
    var zone = "UTC"

    @OptionGroup(title: "Limits")
    var caps: CapArguments

    @OptionGroup(title: "Writing")
    var writing: WritingOptions

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console { console in
        try await console.accountCreate(
          Console.AccountCreation(
            name: name, currency: currency, kind: kind, creditLimit: creditLimit, plan: plan, zone: zone,
            caps: caps.caps), writing.options())
      }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show",
      abstract: "All settings of one account.", discussion: "landline account show acme")

    @Argument(completion: AccountCompletion.names)
    var account: String

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws { try await common.console { try await $0.accountShow(account) } }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "All customers' accounts.",
      discussion: """
        landline account list
        landline account list --all --json
        """)

    @Flag(help: "The operator's own accounts too.")
    var all = false

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws { try await common.console { try await $0.accountList(includesOperator: all) } }
  }

  struct Close: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "close",
      abstract: "Close an account for good; calls under way still settle.",
      discussion: "landline account close acme --yes")

    @Argument(completion: AccountCompletion.names)
    var account: String

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup(title: "Writing")
    var writing: WritingOptions

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console { try await $0.accountClose(account, writing.options(confirmed: yes)) }
    }
  }

  struct Lock: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "lock",
      abstract: "Refuse new calls until the account is unlocked.",
      discussion: "landline account lock acme --reason 'a key was stolen'")

    @Argument(completion: AccountCompletion.names)
    var account: String

    @Option(help: "Why, for whoever looks at the account later.")
    var reason: String?

    @OptionGroup(title: "Writing")
    var writing: WritingOptions

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console { try await $0.accountLock(account, reason: reason, writing.options()) }
    }
  }

  struct Unlock: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "unlock",
      abstract: "Allow calls again.", discussion: "landline account unlock acme")

    @Argument(completion: AccountCompletion.names)
    var account: String

    @OptionGroup(title: "Writing")
    var writing: WritingOptions

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws { try await common.console { try await $0.accountUnlock(account, writing.options()) } }
  }

  struct SetPlan: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "set-plan", abstract: "Assign a rate plan, or none.",
      discussion: """
        landline account set-plan acme eu-retail
        landline account set-plan acme none
        """)

    @Argument(completion: AccountCompletion.names)
    var account: String

    @Argument(help: "The plan's name, or none.")
    var plan: String

    @OptionGroup(title: "Writing")
    var writing: WritingOptions

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console { try await $0.accountSetPlan(account, plan: plan, writing.options()) }
    }
  }

  struct SetZone: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "set-zone", abstract: "Change the zone whose midnight starts a new day of calls.",
      discussion: "landline account set-zone acme Europe/Stockholm")

    @Argument(completion: AccountCompletion.names)
    var account: String

    @Argument(help: "An IANA name such as Europe/Stockholm.")
    var zone: String

    @OptionGroup(title: "Writing")
    var writing: WritingOptions

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console { try await $0.accountSetZone(account, zone: zone, writing.options()) }
    }
  }

  struct SetCap: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "set-cap", abstract: "Change limits; those not named stay.",
      discussion: "landline account set-cap acme --per-day 50 --countries 46,47 --concurrent none")

    @Argument(completion: AccountCompletion.names)
    var account: String

    @Option(help: "What a postpaid account may owe.")
    var creditLimit: String?

    @OptionGroup(title: "Limits")
    var caps: CapArguments

    @OptionGroup(title: "Writing")
    var writing: WritingOptions

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console {
        try await $0.accountSetCap(account, caps.caps, creditLimit: creditLimit, writing.options())
      }
    }
  }
}

struct CapCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cap", abstract: "Limits of an account and how far they are used.", subcommands: [Show.self])

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show",
      abstract: "Limits of an account and how far they are used.", discussion: "landline cap show acme")

    @Argument(completion: AccountCompletion.names)
    var account: String

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws { try await common.console { try await $0.capShow(account) } }
  }
}
