import CallModel
import LedgerCore
import LedgerSQLite
import RoutingCore

/// Rate plans.
extension Console {
  /// - Throws: ``ConsoleError`` when the plan is not known or prices calls in another currency.
  func checkPlan(_ name: String, currency: Currency) async throws {
    guard try exists(databasePath()) else { throw RateStoreRefusal.unknownPlan(name) }
    let plan = try rates { try $0.plan(name) }
    guard plan.currency == currency else {
      throw RateStoreRefusal.currencyMismatch("plan \(name)", plan.currency, "the account", currency)
    }
  }

  /// - Parameter decks: each `DECK`, or `DECK=1.15` to multiply its prices.
  package func planCreate(_ name: String, decks: [String], isDryRun: Bool) async throws -> Answer {
    let name = try planName(name, "NAME")
    let entries = try planEntries(decks)
    let now = try now()
    return try rates(writable: true) { store in
      if isDryRun {
        if try store.plans().contains(where: { $0.name == name }) { throw RateStoreRefusal.planExists(name) }
        return dryRun(planListing([try rehearsed(name, entries, store, now)]))
      }
      try store.create(plan: name, entries, at: now)
      return Answer(row: planListing([ShownPlan(try store.plan(name))]))
    }
  }

  package func planSet(_ name: String, decks: [String], isDryRun: Bool) async throws -> Answer {
    let name = try planName(name, "NAME")
    let entries = try planEntries(decks)
    let now = try now()
    return try rates(writable: true) { store in
      if isDryRun {
        _ = try store.plan(name)
        return dryRun(planListing([try rehearsed(name, entries, store, now)]))
      }
      try store.replace(plan: name, entries)
      return Answer(row: planListing([ShownPlan(try store.plan(name))]))
    }
  }

  package func planList() async throws -> Answer {
    Answer("plans", planListing(try rates { try $0.plans() }.map(ShownPlan.init)))
  }

  package func planShow(_ name: String) async throws -> Answer {
    let now = try now()
    return try rates { store in
      let plan = try store.plan(name)
      var listing = Listing([
        Column("position", title: "order", .number), Column("deck"), Column("multiplier", .number),
        Column("active_version", title: "active version"), Column("currency"), Column("prices", .number),
      ])
      for (index, entry) in plan.entries.enumerated() {
        // A deck may have no version that is active yet.
        let active = try? store.deck(entry.deck, version: nil, at: now)
        listing.rows.append([
          .integer(Int64(index + 1)), .text(entry.deck), .text(multiplier(entry.multiplier)),
          .text(optional: active?.version), .text("\(plan.currency)"),
          .integer(optional: active.map { Int64($0.prices) }),
        ])
      }
      var answer = Answer("decks", listing)
      answer.members.insert(
        contentsOf: [("plan", .string(plan.name)), ("currency", .string("\(plan.currency)"))], at: 0)
      return answer
    }
  }

  package func planDelete(_ name: String, isDryRun: Bool, isConfirmed: Bool) async throws -> Answer {
    let plan = try rates { try $0.plan(name) }
    try confirm("delete plan \(name)", WriteOptions(isDryRun: isDryRun, isConfirmed: isConfirmed))
    let listing = planListing([ShownPlan(plan)])
    if isDryRun { return dryRun(listing) }
    try rates(writable: true) { try $0.delete(plan: name) }
    return Answer(row: listing)
  }

  /// A plan that is stored, or would be.
  private struct ShownPlan {
    var name: String
    var currency: Currency
    var entries: [StoredPlan.Entry]
    var createdAt: Instant

    init(name: String, currency: Currency, entries: [StoredPlan.Entry], createdAt: Instant) {
      self.name = name
      self.currency = currency
      self.entries = entries
      self.createdAt = createdAt
    }

    init(_ stored: StoredPlan) {
      self.init(
        name: stored.name, currency: stored.currency, entries: stored.entries, createdAt: stored.createdAt)
    }
  }

  private func planListing(_ plans: [ShownPlan]) -> Listing {
    Listing(
      [Column("plan"), Column("currency"), Column("decks"), Column("created_at", title: "created")],
      rows: plans.map { plan in
        [
          .text(plan.name), .text("\(plan.currency)"),
          .list(
            plan.entries.map {
              $0.multiplier == RatePlan.unchanged ? $0.deck : "\($0.deck)=\(multiplier($0.multiplier))"
            }), .instant(plan.createdAt),
        ]
      })
  }

  /// Basis points as a factor: `1.15`.
  private func multiplier(_ basisPoints: Int64) -> String {
    var text = DecimalText.format(basisPoints, scale: 4)
    while text.hasSuffix("0"), !text.hasSuffix(".0") { text.removeLast() }
    return text
  }

  private func planEntries(_ decks: [String]) throws -> [StoredPlan.Entry] {
    try decks.map { text in
      guard let sign = text.lastIndex(of: "=") else { return StoredPlan.Entry(deck: text) }
      let factor = try Arguments.value("DECK") { () throws(InvalidValue) in
        try DecimalText.parse(text[text.index(after: sign)...], scale: 4, kind: "multiplier")
      }
      return StoredPlan.Entry(deck: String(text[..<sign]), multiplier: factor)
    }
  }

  /// What the plan would be; the decks must exist in one currency, as they must when it is written.
  private func rehearsed(
    _ name: String, _ entries: [StoredPlan.Entry], _ store: SQLiteRateStore, _ now: Instant
  ) throws -> ShownPlan {
    let decks = try store.decks()
    var currency: Currency?
    for entry in entries {
      guard let deck = decks.first(where: { $0.name == entry.deck }) else {
        throw RateStoreRefusal.unknownDeck(entry.deck)
      }
      if let currency, currency != deck.currency {
        throw RateStoreRefusal.currencyMismatch("plan \(name)", currency, "deck \(deck.name)", deck.currency)
      }
      currency = deck.currency
    }
    guard let currency else { throw RateStoreRefusal.unknownDeck("") }
    return ShownPlan(name: name, currency: currency, entries: entries, createdAt: now)
  }

  func dryRun(_ listing: Listing) -> Answer {
    var answer = Answer(row: listing)
    answer.members.append(("dry_run", .boolean(true)))
    if settings.format == .table { answer.notes.append("dry run: nothing was written") }
    return answer
  }
}
