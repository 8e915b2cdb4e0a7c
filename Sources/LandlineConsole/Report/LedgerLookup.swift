import CallModel
import LedgerCore

/// Accounts as people name them, over one state of the ledger; each row is read once.
struct LedgerLookup {
  let reading: any LedgerReading
  private var accounts: [Int64: LedgerAccount] = [:]

  init(_ reading: any LedgerReading) { self.reading = reading }

  mutating func account(id: Int64) throws -> LedgerAccount {
    if let account = accounts[id] { return account }
    guard let account = try reading.account(id: id) else {
      throw ConsoleError(
        .booksBroken, code: "accountMissing", "account number \(id) is named but does not exist",
        fix: "landline verify --full")
    }
    accounts[id] = account
    return account
  }

  /// A customer by its name.
  /// - Throws: ``ConsoleError`` with exit 3 and the nearest name.
  func customer(_ text: String, _ argument: String = "ACCOUNT") throws -> LedgerAccount {
    let name = try Arguments.name(text, argument, as: AccountName.self)
    if let account = try reading.customer(named: name.text) { return account }
    throw unknown(text)
  }

  /// A customer by its name, or any account by its place in the chart such as `revenues:calls`, one for each currency.
  func accounts(_ text: String, _ argument: String = "ACCOUNT") throws -> [LedgerAccount] {
    guard text.contains(":") else { return [try customer(text, argument)] }
    let found = try reading.allAccounts().filter { $0.journalName == text }
    guard !found.isEmpty else { throw unknown(text) }
    return found
  }

  /// Exactly one account.
  func account(_ text: String, currency: String?) throws -> LedgerAccount {
    var found = try accounts(text)
    if let currency {
      let wanted = try Arguments.currency(currency)
      found.removeAll { $0.currency != wanted }
    }
    guard let account = found.first else {
      throw ConsoleError(
        .notFound, code: "unknownAccount", "the account has no such currency", at: text, fix: "landline balance \(text)"
      )
    }
    guard found.count == 1 else {
      throw ConsoleError.usage(
        "account.ambiguous", "there is one such account for each currency", at: text,
        fix: "--currency \(found.map { "\($0.currency)" }.joined(separator: " or "))")
    }
    return account
  }

  private func unknown(_ text: String) -> ConsoleError {
    let refusal = LedgerRefusal.unknownAccount
    let names = (try? reading.allAccounts().map { text.contains(":") ? $0.journalName : $0.name }) ?? []
    let nearest = Spelling.nearest(to: text, among: names)
    return ConsoleError(
      .notFound, code: refusal.rawValue, refusal.explanation, at: text,
      fix: nearest.map { "did you mean \($0)?" } ?? "landline account list")
  }
}

extension LedgerAccount {
  /// Micro-units in the account's currency.
  func credits(_ micros: MicroUnits) throws -> Credits { try Credits(micros: micros, currency) }

  /// A customer's own name, or the place in the chart of accounts.
  var displayName: String { kind.isCustomer ? name : journalName }
}
