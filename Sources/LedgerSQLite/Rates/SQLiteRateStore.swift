public import CallModel
import Foundation
import Glibc
import LandlineSQLite
public import LedgerCore
public import RoutingCore

/// Decks, plans and deny ranges, in the same file as the ledger.
///
/// A deck version is written in short transactions beside the ledger's own commits and becomes visible with the last of
/// them; an import that ends half-way leaves nothing that anybody sees. Not for use by two threads at once.
public final class SQLiteRateStore {
  /// Rows that an import writes in one transaction: the ledger's writer waits no longer than these take.
  public static let importBatch = 20_000

  /// What a file is called whatever its path is.
  private struct FileName: Hashable {
    let device: dev_t
    let inode: ino_t
  }

  private let connection: SQLiteConnection
  private let path: String
  private let file: FileName?

  /// - Throws: ``LedgerUnavailable``.
  public static func open(path: String, writable: Bool) throws(LedgerUnavailable) -> SQLiteRateStore {
    guard FileManager.default.fileExists(atPath: path) || writable else {
      throw LedgerUnavailable(.missing, "there is no ledger at \(path)")
    }
    return try SQLiteError.translated(path: path) {
      let connection = try SQLiteConnection(path: path, mode: writable ? .create : .readOnly)
      if writable {
        try connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY")
        try LedgerSchema.migrate(connection, path: path)
      } else if try LedgerSchema.schema.checkedVersion(connection, path: path) != LedgerSchema.schema.versions.count {
        throw LedgerUnavailable(.corrupt, "\(path) holds no ledger of this version; any writing command upgrades it")
      }
      return SQLiteRateStore(connection, path: path)
    }
  }

  private init(_ connection: SQLiteConnection, path: String) {
    self.connection = connection
    self.path = path
    file = SQLiteRateStore.file(at: path)
  }

  /// Gives up the connection; the store is of no use afterwards.
  public func close() { connection.close() }

  /// Whether its path still leads to the file that was opened.
  public var isAtItsPath: Bool { file != nil && file == SQLiteRateStore.file(at: path) }

  private static func file(at path: String) -> FileName? {
    var status = stat()
    return stat(path, &status) == 0 ? FileName(device: status.st_dev, inode: status.st_ino) : nil
  }

  /// Translates SQLite's failures and lets refusals pass.
  private func guarded<Value>(_ body: () throws -> Value) throws -> Value {
    do { return try body() } catch let error as SQLiteError { throw error.unavailable(path: path) }
  }

  private func transaction<Value>(_ body: () throws -> Value) throws -> Value {
    try guarded { try WriteTransaction(connection).run(body) }
  }

  // MARK: Decks

  /// Stores a version of a deck. It prices nothing until it is activated.
  /// - Parameter progress: told of the rows stored so far, after each batch.
  /// - Throws: ``RateStoreRefusal/deckExists(_:)``, ``LedgerUnavailable``.
  public func store(_ deck: RateDeck, at now: Instant, progress: (Int) throws -> Void = { _ in }) throws {
    let id: Int64 = try transaction {
      if try storedDeck(deck.name, deck.version) != nil { throw RateStoreRefusal.deckExists(deck.label) }
      let id = try connection.integer("SELECT COALESCE(MAX(id), 0) + 1 FROM deck")
      try connection.statement(
        """
        INSERT INTO deck(id, name, version, currency, zone, time_classes, prices, imported_at, is_complete)
        VALUES($1, $2, $3, $4, $5, $6, $7, $8, 0)
        """
      ).bind(1, id).bind(2, deck.name).bind(3, deck.version).bind(4, deck.currency.description)
        .bind(5, deck.zone.identifier).bind(6, deck.timeClasses.text).bind(7, Int64(deck.rows.count))
        .bind(8, now.milliseconds).run()
      return id
    }
    do {
      try storeRows(of: deck, id: id, progress: progress)
      try transaction {
        if try storedDeck(deck.name, deck.version) != nil { throw RateStoreRefusal.deckExists(deck.label) }
        try connection.statement("UPDATE deck SET is_complete = 1 WHERE id = $1").bind(1, id).run()
      }
    } catch {
      try? delete(id)
      throw error
    }
  }

  private func storeRows(of deck: RateDeck, id: Int64, progress: (Int) throws -> Void) throws {
    let destination = try connection.statement("INSERT INTO deck_destination(deck, id, name) VALUES($1, $2, $3)")
    let names = deck.distinctNames
    try inBatches(names.count) { try destination.bind(1, id).bind(2, Int64($0)).bind(3, names[$0]).run() }
    let terms = try connection.statement(
      """
      INSERT INTO deck_terms(deck, id, rate, fee, initial, increment, grace, minimum_charge, free_seconds,
        effective_from, effective_until, from_second, maximum_seconds, maximum_cost, time_class, flags)
      VALUES($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
      """)
    let distinct = deck.distinctTerms
    try inBatches(distinct.count) { try insert(distinct[$0], terms, deck: id, Int64($0)) }
    let rate = try connection.statement(
      "INSERT INTO rate(deck, prefix, position, destination, terms) VALUES($1, $2, $3, $4, $5)")
    try inBatches(deck.rows.count, progress: progress) { position in
      let row = deck.numbers(ofRow: position)
      try rate.bind(1, id).bind(2, row.prefix.description).bind(3, Int64(position)).bind(4, Int64(row.name))
        .bind(5, Int64(row.terms)).run()
    }
  }

  /// Writes `count` rows in transactions short enough for the ledger's writer to wait for.
  private func inBatches(
    _ count: Int, progress: (Int) throws -> Void = { _ in }, _ write: (Int) throws -> Void
  ) throws {
    var position = 0
    while position < count {
      let end = min(position + SQLiteRateStore.importBatch, count)
      try transaction { for index in position..<end { try write(index) } }
      position = end
      try progress(position)
    }
  }

  private func insert(_ terms: RateTerms, _ statement: SQLiteStatement, deck: Int64, _ id: Int64) throws {
    try statement.bind(1, deck).bind(2, id).bind(3, terms.ratePerMinute).bind(4, terms.fee).bind(5, terms.initial)
      .bind(6, terms.increment).bind(7, terms.grace).bind(8, terms.minimumCharge).bind(9, terms.freeSeconds)
      .bind(10, terms.effectiveFrom).bind(11, terms.effectiveUntil).bind(12, terms.fromSecond)
      .bind(13, terms.maximumSeconds).bind(14, terms.maximumCost).bind(15, Int64(terms.timeClass))
      .bind(16, Int64(terms.flags.rawValue)).run()
  }

  /// Removes what imports that ended half-way have left behind.
  /// - Parameter age: milliseconds since its start after which an import is taken for dead.
  public func removeUnfinishedImports(at now: Instant, olderThan age: Int64 = 3_600_000) throws {
    let ids = try guarded {
      try connection.statement("SELECT id FROM deck WHERE is_complete = 0 AND imported_at < $1")
        .bind(1, now.advanced(byMilliseconds: -age).milliseconds).rows { $0.int64(0) }
    }
    for id in ids { try delete(id) }
  }

  private func delete(_ id: Int64) throws {
    try transaction {
      for table in ["rate", "deck_terms", "deck_destination"] {
        try connection.statement("DELETE FROM \(table) WHERE deck = $1").bind(1, id).run()
      }
      try connection.statement("DELETE FROM deck WHERE id = $1").bind(1, id).run()
    }
  }

  private struct DeckRow {
    var id: Int64
    var deck: StoredDeck
  }

  private static let deckColumns = """
    id, name, version, currency, zone, time_classes, prices, imported_at, active_from
    """

  private func deckRow(_ row: SQLiteStatement) throws -> DeckRow {
    DeckRow(
      id: row.int64(0),
      deck: StoredDeck(
        name: row.text(1), version: row.text(2), currency: try Currency(row.text(3)), zone: row.text(4),
        timeClasses: row.text(5), prices: Int(row.int64(6)), importedAt: Instant(milliseconds: row.int64(7)),
        activeFrom: row.optionalInt64(8).map { Instant(milliseconds: $0) }))
  }

  private func storedDeck(_ name: String, _ version: String) throws -> DeckRow? {
    try connection.statement(
      "SELECT \(SQLiteRateStore.deckColumns) FROM deck WHERE name = $1 AND version = $2 AND is_complete = 1"
    ).bind(1, name).bind(2, version).first(deckRow)
  }

  /// Every complete version of every deck, by name and time of import.
  public func decks() throws -> [StoredDeck] {
    try guarded {
      try connection.statement(
        "SELECT \(SQLiteRateStore.deckColumns) FROM deck WHERE is_complete = 1 ORDER BY name, imported_at, id"
      ).rows { try deckRow($0).deck }
    }
  }

  /// One version, or, without a version, the one that is active at `instant`.
  /// - Throws: ``RateStoreRefusal/unknownDeck(_:)``, ``RateStoreRefusal/noActiveVersion(deck:)``.
  public func deck(_ name: String, version: String?, at instant: Instant) throws -> StoredDeck {
    try guarded { try find(name, version, at: instant).deck }
  }

  private func find(_ name: String, _ version: String?, at instant: Instant) throws -> DeckRow {
    if let version {
      guard let found = try storedDeck(name, version) else { throw RateStoreRefusal.unknownDeck("\(name)@\(version)") }
      return found
    }
    // Of two versions with the same start, the one imported later was meant to replace the other.
    let active = try connection.statement(
      """
      SELECT \(SQLiteRateStore.deckColumns) FROM deck
      WHERE name = $1 AND is_complete = 1 AND active_from <= $2 ORDER BY active_from DESC, id DESC LIMIT 1
      """
    ).bind(1, name).bind(2, instant.milliseconds).first(deckRow)
    if let active { return active }
    let isKnown =
      try connection.statement("SELECT 1 FROM deck WHERE name = $1 AND is_complete = 1 LIMIT 1")
      .bind(1, name).first { _ in true } ?? false
    throw isKnown ? RateStoreRefusal.noActiveVersion(deck: name) : RateStoreRefusal.unknownDeck(name)
  }

  /// Lets a version price calls from an instant on; the version before serves until then.
  /// - Throws: ``RateStoreRefusal``: unknown deck, or a currency other than that of a plan that names the deck.
  public func activate(_ name: String, version: String, from: Instant) throws {
    try transaction {
      let found = try find(name, version, at: from)
      for plan in try storedPlans() where plan.entries.contains(where: { $0.deck == name }) {
        guard plan.currency == found.deck.currency else {
          throw RateStoreRefusal.currencyMismatch(
            "deck \(found.deck.label)", found.deck.currency, "plan \(plan.name)", plan.currency)
        }
      }
      try connection.statement("UPDATE deck SET active_from = $1 WHERE id = $2")
        .bind(1, from.milliseconds).bind(2, found.id).run()
    }
  }

  /// A deck with its rows, validated again as it is read.
  /// - Parameter number: only the rows whose prefix begins this number; `nil` for all.
  /// - Throws: ``RateStoreRefusal``; ``LedgerFault`` when stored rows have been altered into something invalid.
  public func load(
    _ name: String, version: String?, at instant: Instant, matching number: NumberDigits? = nil
  ) throws -> RateDeck {
    try guarded {
      let found = try find(name, version, at: instant)
      let zone = try CivilZone(found.deck.zone)
      let classes = try TimeClasses(parsing: found.deck.timeClasses, zone: zone)
      var builder = DeckBuilder(
        settings: try DeckSettings(
          name: found.deck.name, version: found.deck.version, currency: found.deck.currency, zone: zone,
          timeClasses: classes))
      if let number {
        for length in 1...number.count {
          guard let prefix = number.prefix(length) else { continue }
          let rows = try connection.statement(
            """
            SELECT d.name, \(SQLiteRateStore.termsColumns) FROM rate r
              JOIN deck_destination d ON d.deck = r.deck AND d.id = r.destination
              JOIN deck_terms t ON t.deck = r.deck AND t.id = r.terms
            WHERE r.deck = $1 AND r.prefix = $2
            """
          ).bind(1, found.id).bind(2, prefix.description).rows { ($0.text(0), try terms($0, at: 1)) }
          for (name, terms) in rows { builder.append(RateRow(prefix: prefix, name: name, terms: terms)) }
        }
        // A deck without a row is refused, but a number that no row matches is an ordinary answer.
        if builder.rowCount == 0 { throw RateStoreRefusal.noMatchingRow }
      } else {
        try appendAll(of: found.id, to: &builder)
      }
      do { return try builder.build() } catch {
        throw LedgerFault("deck \(found.deck.label) holds rows that are not valid: \(error)")
      }
    }
  }

  private static let termsColumns = """
    t.rate, t.fee, t.initial, t.increment, t.grace, t.minimum_charge, t.free_seconds, t.effective_from, \
    t.effective_until, t.from_second, t.maximum_seconds, t.maximum_cost, t.time_class, t.flags
    """

  private func terms(_ row: SQLiteStatement, at column: Int32) throws -> RateTerms {
    guard let timeClass = UInt8(exactly: row.int64(column + 12)), let flags = UInt8(exactly: row.int64(column + 13))
    else { throw LedgerFault("a stored rate names a time class or a flag that does not exist") }
    return RateTerms(
      ratePerMinute: row.amount(column), initial: row.int64(column + 2), increment: row.int64(column + 3),
      fee: row.amount(column + 1), grace: row.int64(column + 4), minimumCharge: row.amount(column + 5),
      freeSeconds: row.int64(column + 6), effectiveFrom: row.int64(column + 7), effectiveUntil: row.int64(column + 8),
      fromSecond: row.int64(column + 9), maximumSeconds: row.int64(column + 10),
      maximumCost: row.optionalAmount(column + 11), timeClass: timeClass, flags: RateFlags(rawValue: flags))
  }

  private func appendAll(of id: Int64, to builder: inout DeckBuilder) throws {
    var names: [String] = []
    var allTerms: [RateTerms] = []
    names = try connection.statement("SELECT name FROM deck_destination WHERE deck = $1 ORDER BY id").bind(1, id)
      .rows { $0.text(0) }
    allTerms = try connection.statement(
      "SELECT \(SQLiteRateStore.termsColumns) FROM deck_terms t WHERE t.deck = $1 ORDER BY t.id"
    ).bind(1, id).rows { try terms($0, at: 0) }
    let rows = try connection.statement(
      "SELECT prefix, destination, terms FROM rate WHERE deck = $1 ORDER BY prefix, position"
    ).bind(1, id)
    defer { rows.reset() }
    while try rows.step() {
      let destination = Int(rows.int64(1))
      let terms = Int(rows.int64(2))
      guard names.indices.contains(destination), allTerms.indices.contains(terms) else {
        throw LedgerFault("a stored rate names a destination or terms that do not exist")
      }
      builder.append(
        RateRow(prefix: try NumberDigits(rows.text(0)), name: names[destination], terms: allTerms[terms]))
    }
  }

  // MARK: Plans

  /// - Throws: ``RateStoreRefusal``: the name is taken, a deck is unknown, currencies differ, too many decks.
  public func create(plan name: String, _ entries: [StoredPlan.Entry], at now: Instant) throws {
    try transaction {
      if try storedPlan(name) != nil { throw RateStoreRefusal.planExists(name) }
      let currency = try checkedCurrency(plan: name, entries)
      try connection.statement("INSERT INTO plan(name, currency, created_at) VALUES($1, $2, $3)")
        .bind(1, name).bind(2, currency.description).bind(3, now.milliseconds).run()
      try insert(entries, plan: name)
    }
  }

  /// Replaces a plan's decks; calls under way keep their frozen prices.
  public func replace(plan name: String, _ entries: [StoredPlan.Entry]) throws {
    try transaction {
      guard let plan = try storedPlan(name) else { throw RateStoreRefusal.unknownPlan(name) }
      let currency = try checkedCurrency(plan: name, entries)
      guard currency == plan.currency else {
        throw RateStoreRefusal.currencyMismatch("the decks", currency, "plan \(name)", plan.currency)
      }
      try connection.statement("DELETE FROM plan_deck WHERE plan = $1").bind(1, name).run()
      try insert(entries, plan: name)
    }
  }

  /// - Throws: ``RateStoreRefusal/planInUse(_:accounts:)`` while an account that is not closed is assigned to it.
  public func delete(plan name: String) throws {
    try transaction {
      guard try storedPlan(name) != nil else { throw RateStoreRefusal.unknownPlan(name) }
      let users =
        try connection.statement("SELECT COUNT(*) FROM account WHERE plan = $1 AND status <> 'closed'")
        .bind(1, name).first { Int($0.int64(0)) } ?? 0
      guard users == 0 else { throw RateStoreRefusal.planInUse(name, accounts: users) }
      try connection.statement("DELETE FROM plan_deck WHERE plan = $1").bind(1, name).run()
      try connection.statement("DELETE FROM plan WHERE name = $1").bind(1, name).run()
    }
  }

  private func insert(_ entries: [StoredPlan.Entry], plan: String) throws {
    for (position, entry) in entries.enumerated() {
      try connection.statement("INSERT INTO plan_deck(plan, position, deck_name, multiplier) VALUES($1, $2, $3, $4)")
        .bind(1, plan).bind(2, Int64(position)).bind(3, entry.deck).bind(4, entry.multiplier).run()
    }
  }

  /// The one currency of a plan's decks.
  private func checkedCurrency(plan: String, _ entries: [StoredPlan.Entry]) throws -> Currency {
    func refuse(_ rule: String, _ problem: String, _ accepted: String) -> RateStoreRefusal {
      .invalid(
        InvalidValue(kind: "rate plan", rule: "plan.\(rule)", offset: nil, problem: problem, accepted: accepted))
    }
    guard !plan.isEmpty, plan.utf8.count <= DeckSettings.maximumNameBytes else {
      throw refuse("name", "the name is empty or too long", "1 to \(DeckSettings.maximumNameBytes) bytes")
    }
    guard (1...RatePlan.maximumDecks).contains(entries.count) else {
      throw refuse("decks", "\(entries.count) decks", "1 to \(RatePlan.maximumDecks) decks")
    }
    var first: (label: String, currency: Currency)?
    for entry in entries {
      guard (0...RatePlan.maximumMultiplier).contains(entry.multiplier) else {
        throw refuse(
          "multiplier", "the multiplier \(entry.multiplier) is out of range",
          "0 to \(RatePlan.maximumMultiplier) basis points")
      }
      let versions = try connection.statement(
        "SELECT DISTINCT currency FROM deck WHERE name = $1 AND is_complete = 1"
      ).bind(1, entry.deck).rows { try Currency($0.text(0)) }
      guard let currency = versions.first else { throw RateStoreRefusal.unknownDeck(entry.deck) }
      for other in versions {
        if let first, first.currency != other {
          throw RateStoreRefusal.currencyMismatch(
            "deck \(first.label)", first.currency, "deck \(entry.deck)", other)
        }
        if other != currency {
          throw RateStoreRefusal.currencyMismatch("deck \(entry.deck)", currency, "another version of it", other)
        }
        first = first ?? (entry.deck, other)
      }
    }
    guard let first else { throw refuse("decks", "no deck", "1 to \(RatePlan.maximumDecks) decks") }
    return first.currency
  }

  /// Every plan, by name.
  public func plans() throws -> [StoredPlan] { try guarded { try storedPlans() } }

  /// - Throws: ``RateStoreRefusal/unknownPlan(_:)``.
  public func plan(_ name: String) throws -> StoredPlan {
    try guarded {
      guard let plan = try storedPlan(name) else { throw RateStoreRefusal.unknownPlan(name) }
      return plan
    }
  }

  private func storedPlans() throws -> [StoredPlan] {
    let names = try connection.statement("SELECT name FROM plan ORDER BY name").rows { $0.text(0) }
    return try names.compactMap { try storedPlan($0) }
  }

  private func storedPlan(_ name: String) throws -> StoredPlan? {
    let entries = try connection.statement(
      "SELECT deck_name, multiplier FROM plan_deck WHERE plan = $1 ORDER BY position"
    ).bind(1, name).rows { StoredPlan.Entry(deck: $0.text(0), multiplier: $0.int64(1)) }
    return try connection.statement("SELECT currency, created_at FROM plan WHERE name = $1").bind(1, name).first {
      StoredPlan(
        name: name, currency: try Currency($0.text(0)), entries: entries,
        createdAt: Instant(milliseconds: $0.int64(1)))
    }
  }

  /// A plan ready to price calls at an instant.
  /// - Parameter number: load only what prices this number: enough for one question, at the cost of a few rows.
  /// - Throws: ``RateStoreRefusal``.
  public func ratePlan(_ name: String, at instant: Instant, matching number: NumberDigits? = nil) throws -> RatePlan? {
    let plan = try self.plan(name)
    var entries: [RatePlan.Entry] = []
    for entry in plan.entries {
      do {
        let deck = try load(entry.deck, version: nil, at: instant, matching: number)
        entries.append(RatePlan.Entry(RateIndex(deck, at: instant), multiplier: entry.multiplier))
      } catch RateStoreRefusal.noMatchingRow {
        continue
      }
    }
    return entries.isEmpty ? nil : try RatePlan(name: name, entries)
  }

  // MARK: Deny ranges

  /// Everything that is decided for a prefix, denied and allowed alike, in the order of the prefixes.
  public func denyRanges() throws -> [StoredDenyRange] {
    try guarded {
      try connection.statement("SELECT prefix, reason, note, added_at FROM deny_range ORDER BY prefix").rows { row in
        guard let ruling = DenyRanges.Ruling(name: row.text(1)) else {
          throw RowCoding.unreadable("deny_range", row.text(1))
        }
        return StoredDenyRange(
          prefix: try NumberDigits(row.text(0)), ruling: ruling, note: row.text(2),
          addedAt: Instant(milliseconds: row.int64(3)))
      }
    }
  }

  /// Writes what is decided for a range, in place of what was decided before.
  public func decide(_ range: StoredDenyRange) throws {
    try transaction {
      try connection.statement(
        """
        INSERT INTO deny_range(prefix, reason, note, added_at) VALUES($1, $2, $3, $4)
        ON CONFLICT(prefix) DO UPDATE SET reason = excluded.reason, note = excluded.note
        """
      ).bind(1, range.prefix.description).bind(2, range.ruling.name).bind(3, range.note)
        .bind(4, range.addedAt.milliseconds).run()
    }
  }

  /// - Throws: ``RateStoreRefusal/unknownDenyRange(_:)``.
  public func removeDecision(_ prefix: NumberDigits) throws {
    try transaction {
      try connection.statement("DELETE FROM deny_range WHERE prefix = $1").bind(1, prefix.description).run()
      guard connection.changes == 1 else { throw RateStoreRefusal.unknownDenyRange(prefix.description) }
    }
  }
}
