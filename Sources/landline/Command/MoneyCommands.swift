import ArgumentParser
import LandlineArguments
import LandlineConsole

struct TopupCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "topup", abstract: "Credit money that came in.",
    discussion: "landline topup acme 10 --key pay_7781")

  @Argument(completion: AccountCompletion.names)
  var account: String

  @Argument(help: "Above zero, at most six decimals.")
  var amount: String

  @Option(help: "Most booked at once (default: largest-amount).")
  var largest: String?

  @Option(help: "How it was paid: the account assets:payments:METHOD.")
  var method = "card"

  @Option(help: "For the record.")
  var note = ""

  @OptionGroup(title: "Writing")
  var writing: WritingOptions

  @OptionGroup(title: "Common")
  var common: CommonOptions

  func run() async throws {
    try await common.console {
      try await $0.topup(
        account: account, amount: amount, method: method, note: note, largest: largest, writing.options())
    }
  }
}

struct OpeningCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "opening", abstract: "Bring a balance over from another system.",
    discussion: "landline opening acme 12.50 --note 'from the old system'")

  @Argument(completion: AccountCompletion.names)
  var account: String

  @Argument(help: "Above zero, at most six decimals.")
  var amount: String

  @Option(help: "Most booked at once (default: largest-amount).")
  var largest: String?

  @Option(help: "For the record.")
  var note = ""

  @OptionGroup(title: "Writing")
  var writing: WritingOptions

  @OptionGroup(title: "Common")
  var common: CommonOptions

  func run() async throws {
    try await common.console {
      try await $0.opening(account: account, amount: amount, note: note, largest: largest, writing.options())
    }
  }
}

struct RefundCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "refund", abstract: "Give a call's charge back, or pay a top-up back, wholly or in part.",
    discussion: "landline refund acme 88104 --key ticket-91")

  @Argument(completion: AccountCompletion.names)
  var account: String

  @Argument(help: "The transfer's sequence number.")
  var seq: String

  @Argument(help: "Default: all that is left of it.")
  var amount: String?

  @Option(help: "For the record.")
  var note = ""

  @OptionGroup(title: "Writing")
  var writing: WritingOptions

  @OptionGroup(title: "Common")
  var common: CommonOptions

  func run() async throws {
    try await common.console {
      try await $0.refund(account: account, seq: seq, amount: amount, note: note, writing.options())
    }
  }
}

struct ChargebackCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "chargeback",
    abstract: "Book that the payer's bank took a top-up back; may pass the limit, and locks the account.",
    discussion: "landline chargeback acme 88104 --yes")

  @Argument(completion: AccountCompletion.names)
  var account: String

  @Argument(help: "The top-up's sequence number.")
  var seq: String

  @Argument(help: "Default: all that is left of it.")
  var amount: String?

  @Option(help: "For the record.")
  var note = ""

  @Flag(help: "Do not ask.")
  var yes = false

  @OptionGroup(title: "Writing")
  var writing: WritingOptions

  @OptionGroup(title: "Common")
  var common: CommonOptions

  func run() async throws {
    try await common.console {
      try await $0.chargeback(
        account: account, seq: seq, amount: amount, note: note, writing.options(confirmed: yes))
    }
  }
}

struct AdjustCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "adjust", abstract: "Correct a balance; a negative amount takes credit away.",
    discussion: "landline adjust acme -5 --reason \"duplicate top-up\"")

  @Argument(completion: AccountCompletion.names)
  var account: String

  @Argument(help: "At most six decimals; may be negative.")
  var amount: String?

  @Option(name: .customLong("amount"), parsing: .unconditional, help: "The amount, as an option.")
  var namedAmount: String?

  @Option(help: "Most booked at once (default: largest-amount).")
  var largest: String?

  @Option(help: "Why, for the record.")
  var reason: String

  @Flag(help: "Beyond what is available too; the account is then locked.")
  var force = false

  @Flag(help: "Do not ask.")
  var yes = false

  @OptionGroup(title: "Writing")
  var writing: WritingOptions

  @OptionGroup(title: "Common")
  var common: CommonOptions

  func validate() throws {
    if amount == nil, namedAmount == nil { throw ValidationError("Missing expected argument '<amount>'") }
    if amount != nil, namedAmount != nil { throw ValidationError("The amount is given twice") }
  }

  func run() async throws {
    try await common.console {
      try await $0.adjust(
        account: account, amount: amount ?? namedAmount ?? "", reason: reason, force: force,
        largest: largest, writing.options(confirmed: yes))
    }
  }
}

struct TransferCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "transfer", abstract: "Move credit from one account to another of the same currency.",
    discussion: "landline transfer acme beta 3")

  @Argument(completion: AccountCompletion.names)
  var from: String

  @Argument(completion: AccountCompletion.names)
  var to: String

  @Argument(help: "Above zero, at most six decimals.")
  var amount: String

  @Option(help: "For the record.")
  var note = ""

  @OptionGroup(title: "Writing")
  var writing: WritingOptions

  @OptionGroup(title: "Common")
  var common: CommonOptions

  func run() async throws {
    try await common.console {
      try await $0.transfer(from: from, to: to, amount: amount, note: note, writing.options())
    }
  }
}
