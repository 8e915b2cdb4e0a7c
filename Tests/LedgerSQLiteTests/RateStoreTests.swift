import CallModel
import Foundation
import LedgerCore
import LedgerSQLite
import RoutingCore
import Testing

@Suite("Decks, plans and deny ranges in the store")
struct RateStoreTests {
  let now = Instant(seconds: 1_795_000_000)

  private func withStore(_ body: (SQLiteRateStore, String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rates-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("ledger.db").path
    let store = try SQLiteRateStore.open(path: path, writable: true)
    defer { store.close() }
    try body(store, path)
  }

  private func deck(_ name: String, _ version: String, _ csv: String, currency: Currency = .eur, classes: String = "")
    throws -> RateDeck
  {
    var reader = DeckReader(
      settings: try DeckSettings(
        name: name, version: version, currency: currency,
        timeClasses: try TimeClasses(parsing: classes, zone: CivilZone("Europe/Stockholm"))))
    Array(csv.utf8).withUnsafeBytes { reader.feed($0) }
    return try reader.finish()
  }

  private let small = "prefix,name,rate\n46,Sweden,0.01\n4670,Sweden mobile,0.02\n1,USA,0.005\n"

  @Test("a deck with every kind of row is read back equal")
  func roundTrip() throws {
    let csv = #"""
      prefix,name,rate,fee,initial,increment,grace,min_charge,free_seconds,effective_from,effective_to,time_class,from_second,max_seconds,max_cost,flags
      46,"Sweden, fixed",0.010000001,0.05,60,6,3,0.001,0,2026-01-01,2026-12-31,,0,3600,2.5,max-cost-free
      46,"Sweden, fixed",0.02,0.05,60,6,3,0.001,0,2026-12-31,,,0,3600,2.5,
      47,Norway,0.03,,60,1,,,,,,peak,0,,,split
      47,Norway,0.01,,60,1,,,,,,,0,,,split
      48,Poland,0.3,,60,60,,,,,,,0,,,
      48,Poland,0.1,,60,30,,,,,,,120,,,
      4890,"Poland ""premium""",9,,60,60,,,,,,,0,,,blocked
      """#
    let original = try deck("retail", "1", csv, classes: "peak=Mon-Fri 08:00-20:00")
    try withStore { store, _ in
      var steps: [Int] = []
      try store.store(original, at: now) { steps.append($0) }
      #expect(steps == [original.rows.count])
      #expect(try store.load("retail", version: "1", at: now) == original)
      #expect(try store.decks().map(\.label) == ["retail@1"])
    }
  }

  @Test("a version never changes, prices nothing before it is activated, and then from its instant on")
  func versions() throws {
    try withStore { store, _ in
      try store.store(try deck("retail", "1", small), at: now)
      #expect(throws: RateStoreRefusal.deckExists("retail@1")) {
        try store.store(try deck("retail", "1", small), at: now)
      }
      #expect(throws: RateStoreRefusal.noActiveVersion(deck: "retail")) {
        try store.load("retail", version: nil, at: now)
      }
      try store.activate("retail", version: "1", from: now)
      try store.store(try deck("retail", "2", small + "49,Germany,0.01\n"), at: now)
      let later = now.advanced(byMilliseconds: 86_400_000)
      try store.activate("retail", version: "2", from: later)
      #expect(try store.deck("retail", version: nil, at: now).version == "1")
      #expect(try store.deck("retail", version: nil, at: later).version == "2")
      #expect(throws: RateStoreRefusal.unknownDeck("retail@3")) {
        try store.activate("retail", version: "3", from: now)
      }
    }
  }

  @Test("a question about one number loads a few rows and gets the answer of the whole deck")
  func partialLoad() throws {
    try withStore { store, _ in
      try store.store(try deck("retail", "1", small), at: now)
      try store.activate("retail", version: "1", from: now)
      try store.create(plan: "eu", [.init(deck: "retail", multiplier: 11_000)], at: now)
      for text in ["46701234567", "4681234567", "12125550100", "4"] {
        let number = try NumberDigits(text)
        let whole = try #require(try store.ratePlan("eu", at: now))
        let expected = try? Rating.quote(number, plan: whole, account: .eur, at: now)
        let partial = try store.ratePlan("eu", at: now, matching: number)
        let found = try partial.map { try Rating.quote(number, plan: $0, account: .eur, at: now) }
        #expect(found == expected, "\(text)")
      }
    }
  }

  @Test("an import that fails half-way leaves nothing, and the ledger's writer gets its turn between batches")
  func interruptedImport() throws {
    struct Interrupted: Error {}
    var csv = "prefix,rate\n"
    for prefix in 100_000..<100_000 + SQLiteRateStore.importBatch + 10 { csv += "\(prefix),0.01\n" }
    let large = try deck("large", "1", csv)
    try withStore { store, path in
      #expect(throws: Interrupted.self) {
        try store.store(large, at: now) { _ in throw Interrupted() }
      }
      #expect(try store.decks().isEmpty)
      #expect(throws: RateStoreRefusal.unknownDeck("large")) { try store.load("large", version: nil, at: now) }
      let other = try SQLiteRateStore.open(path: path, writable: true)
      defer { other.close() }
      try store.store(large, at: now) { rows in
        // Another connection can write between two batches.
        if rows <= SQLiteRateStore.importBatch {
          try other.decide(
            StoredDenyRange(prefix: try NumberDigits("88213"), ruling: .denied(.satellite), note: "", addedAt: now))
        }
      }
      #expect(try store.load("large", version: "1", at: now).rows.count == large.rows.count)
    }
  }

  @Test("what an import that died has left is removed, one under way is not")
  func unfinishedImports() throws {
    try withStore { store, path in
      let early = now.advanced(byMilliseconds: -7_200_000)
      let other = try SQLiteRateStore.open(path: path, writable: true)
      defer { other.close() }
      var checked = false
      try store.store(try deck("slow", "1", small), at: now) { _ in
        try other.removeUnfinishedImports(at: now)
        checked = true
      }
      #expect(checked)
      #expect(try store.load("slow", version: "1", at: now).rows.count == 3)
      // A process killed during its import cannot clean up: the age of the import tells.
      #expect(throws: (any Error).self) {
        try store.store(try deck("dead", "1", small), at: early) { _ in
          try other.removeUnfinishedImports(at: now)
          throw RateStoreRefusal.noMatchingRow
        }
      }
      #expect(try store.decks().map(\.label) == ["slow@1"])
    }
  }

  @Test("plans check their decks, currencies and users")
  func plans() throws {
    try withStore { store, _ in
      try store.store(try deck("retail", "1", small), at: now)
      try store.store(try deck("dollar", "1", small, currency: .usd), at: now)
      #expect(throws: RateStoreRefusal.unknownDeck("nothing")) {
        try store.create(plan: "eu", [.init(deck: "nothing")], at: now)
      }
      #expect(throws: RateStoreRefusal.currencyMismatch("deck retail", .eur, "deck dollar", .usd)) {
        try store.create(plan: "eu", [.init(deck: "retail"), .init(deck: "dollar")], at: now)
      }
      try store.create(plan: "eu", [.init(deck: "retail")], at: now)
      #expect(throws: RateStoreRefusal.planExists("eu")) {
        try store.create(plan: "eu", [.init(deck: "retail")], at: now)
      }
      #expect(throws: RateStoreRefusal.currencyMismatch("the decks", .usd, "plan eu", .eur)) {
        try store.replace(plan: "eu", [.init(deck: "dollar")])
      }
      #expect(throws: (any Error).self) { try store.create(plan: "none", [], at: now) }
      // A version in another currency may be stored, but not activated under a plan.
      try store.store(try deck("retail", "usd", small, currency: .usd), at: now)
      #expect(throws: (any Error).self) { try store.activate("retail", version: "usd", from: now) }
      try store.delete(plan: "eu")
      #expect(throws: RateStoreRefusal.unknownPlan("eu")) { try store.plan("eu") }
    }
  }

  @Test("deny ranges are kept, changed and removed by prefix")
  func denyRanges() throws {
    try withStore { store, _ in
      let prefix = try NumberDigits("881")
      try store.decide(StoredDenyRange(prefix: prefix, ruling: .denied(.satellite), note: "GMSS", addedAt: now))
      try store.decide(StoredDenyRange(prefix: prefix, ruling: .denied(.premium), note: "changed", addedAt: now))
      let ranges = try store.denyRanges()
      #expect(ranges.map(\.ruling) == [.denied(.premium)])
      try store.removeDecision(prefix)
      #expect(throws: RateStoreRefusal.unknownDenyRange("881")) { try store.removeDecision(prefix) }
    }
  }
}
