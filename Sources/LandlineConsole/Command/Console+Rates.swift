import CallModel
import LedgerCore
import LedgerSQLite
import RoutingCore

/// Questions about prices.
extension Console {
  /// What every active deck, or one deck, or one plan, says about a number.
  package func rateLookup(_ number: String, deck: String?, plan: String?, account: String?, at: String?) async throws
    -> Answer
  {
    let free = FreeNumber(dialled: Arguments.dialled(number))
    let number = try digits(number, "NUMBER")
    let at = try instant(at)
    guard [deck, plan, account].count(where: { $0 != nil }) <= 1 else {
      throw ConsoleError.usage("rate.options", "only one of --deck, --plan and --account can be asked")
    }
    var name = plan
    if let account { name = try self.plan(of: try reading { try LedgerLookup($0).customer(account, "--account") }) }
    return try rates { store in
      let labels: [(name: String, version: String?)]
      if let deck {
        labels = [try deckLabel(deck)]
      } else if let name {
        labels = try store.plan(name).entries.map { ($0.deck, nil) }
      } else {
        labels = Set(try store.decks().filter { $0.activeFrom.map { $0 <= at } ?? false }.map(\.name)).sorted()
          .map { ($0, nil) }
      }
      var listing = Listing(RateReport.columns)
      for label in labels {
        do {
          let deck = try store.load(label.name, version: label.version, at: at, matching: number)
          listing.rows.append(contentsOf: RateReport.rows(of: RateIndex(deck, at: at), number, at: at))
        } catch RateStoreRefusal.noMatchingRow {
          continue
        }
      }
      guard !listing.rows.isEmpty else {
        throw ConsoleError(
          .notFound, code: "noRate", "no rate begins that number", at: "\(number)", fix: "landline deck list")
      }
      var answer = Answer("rates", listing)
      if let free { answer.notes.append("note: \(number) is free as \(free.article) number, whatever a deck says") }
      return answer
    }
  }

  /// How a call of an account would be priced, step by step.
  package func rateExplain(_ number: String, account: String, seconds: String, at: String?) async throws -> Answer {
    let free = FreeNumber(dialled: Arguments.dialled(number))
    let number = try digits(number, "NUMBER")
    let milliseconds = try Arguments.value("--seconds") { () throws(InvalidValue) in
      try DecimalText.parse(seconds, scale: 3, kind: "duration")
    }
    guard (0...Tariff.maximumSeconds * 1000).contains(milliseconds) else {
      throw ConsoleError.usage(
        "duration.range", "duration: out of range", at: "--seconds", fix: "0 to \(Tariff.maximumSeconds) seconds")
    }
    let at = try instant(at)
    let (customer, head) = try reading { (try LedgerLookup($0).customer(account), try $0.head()) }
    if let free {
      return try RateExplanation(
        number: number, account: customer, plan: customer.plan,
        trace: Rating.explainFree(number, as: free, account: customer.currency), milliseconds: milliseconds, at: at
      ).answer(asOf: head)
    }
    let planName = try plan(of: customer)
    let (plan, denied) = try rates { store in
      (
        try store.ratePlan(planName, at: at, matching: number),
        try DenyRanges(store.denyRanges().map { (prefix: $0.prefix, ruling: $0.ruling) })
      )
    }
    guard let plan else {
      if let range = denied.match(number), case .denied(let reason) = range.ruling {
        throw ConsoleError(
          .refused, code: LedgerRefusal.destinationBlocked.rawValue, LedgerRefusal.destinationBlocked.explanation,
          at: "\(number), range \(range.prefix) (\(reason.rawValue))", fix: "landline deny list")
      }
      throw ConsoleError(
        .refused, code: LedgerRefusal.noRate.rawValue, LedgerRefusal.noRate.explanation,
        at: "\(number), plan \(planName)",
        fix: "landline plan show \(planName)")
    }
    let trace = Rating.explain(number, plan: plan, account: customer.currency, denyRanges: denied, at: at)
    return try RateExplanation(
      number: number, account: customer, plan: planName, trace: trace, milliseconds: milliseconds, at: at,
      defaultCountries: try defaultCountries(of: customer.name)
    ).answer(asOf: head)
  }

  private func plan(of account: LedgerAccount) throws -> String {
    guard !account.plan.isEmpty else {
      throw ConsoleError(
        .refused, code: LedgerRefusal.noRate.rawValue, "the account has no rate plan", at: account.name,
        fix: "landline account set-plan \(account.name) PLAN")
    }
    return account.plan
  }

  private func instant(_ text: String?) throws -> Instant {
    let now = try now()
    let zone = try zone()
    return try text.map { text in
      try Arguments.value("--at") { () throws(InvalidValue) in try InstantText.parse(text, now: now, zone: zone) }
    } ?? now
  }

  /// What differs between two decks.
  package func rateDifference(_ old: String, _ new: String) async throws -> Answer {
    let now = try now()
    return try rates { store in
      func load(_ text: String) throws -> RateDeck {
        let (name, version) = try deckLabel(text)
        return try store.load(name, version: version, at: now)
      }
      return RateReport.difference(from: try load(old), to: try load(new))
    }
  }
}

extension FreeNumber {
  var article: String { self == .emergency ? "an emergency" : "a test" }
}
