import CallEngine
import CallModel
import Foundation
import LandlineNode
import LedgerCore
import LedgerSQLite
import RoutingCore
import Testing

@Suite("Who pays, as calls ask", .timeLimit(.minutes(5)))
struct PayerDirectoryTests {
  private let now = Instant(seconds: 1_795_000_000)
  private let account = AccountName(unchecked: "acme")

  @Test("many calls at once read an account once")
  func manyAtOnce() async throws {
    try await withDirectory { directory, ledger, _ in
      ledger.holdsReadings = true
      let payers = try await withThrowingTaskGroup(of: Payer?.self) { group in
        for _ in 0..<50 { group.addTask { try await directory.payer(account) } }
        while ledger.readingCount == 0 { await Task.yield() }
        ledger.holdsReadings = false
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(payers.count == 50)
      #expect(payers.allSatisfy { $0?.currency == .eur })
      #expect(ledger.readingCount == 1)
    }
  }

  @Test("an account that is not there, and a ledger that is away, are asked again")
  func nothing() async throws {
    try await withDirectory { directory, ledger, _ in
      let nobody = try await directory.payer(AccountName(unchecked: "nobody"))
      #expect(nobody == nil)
      ledger.isAway = true
      await #expect(throws: LedgerUnavailable.self) { try await directory.payer(account) }
      ledger.isAway = false
      let payer = try await directory.payer(account)
      #expect(payer != nil)
      #expect(ledger.readingCount == 3)
    }
  }

  @Test("what another process changes is seen, in the same file or in one that took its place")
  func changes() async throws {
    try await withDirectory { directory, _, path in
      let satellite = try NumberDigits("88213")
      func isBlocked() async throws -> Bool {
        try #require(try await directory.payer(account)).denyRanges.match(satellite) != nil
      }
      var blocked = try await isBlocked()
      #expect(!blocked)
      try block(satellite, in: path)
      blocked = try await isBlocked()
      #expect(blocked)

      let other = path + ".new"
      try await makeLedger(at: other).close()
      for suffix in ["", "-wal", "-shm"] { try FileManager.default.removeItem(atPath: path + suffix) }
      try FileManager.default.moveItem(atPath: other, toPath: path)
      blocked = try await isBlocked()
      #expect(!blocked)
    }
  }

  private func block(_ prefix: NumberDigits, in path: String) throws {
    let rates = try SQLiteRateStore.open(path: path, writable: true)
    try rates.decide(StoredDenyRange(prefix: prefix, ruling: .denied(.satellite), note: "", addedAt: now))
    rates.close()
  }

  private func makeLedger(at path: String) async throws -> SQLiteLedgerStore {
    let store = try SQLiteLedgerStore.open(path: path, options: .init(flush: .normal), createIfMissing: true)
    _ = try await store.perform(
      LedgerOperation(
        .administer(
          AccountAdministration(
            account: account, key: RequestKey(unchecked: "k1"),
            .create(kind: .prepaid, currency: .eur, creditLimit: 0, plan: "", caps: AccountCaps(), zone: "UTC"))),
        at: now, actor: "test"))
    return store
  }

  private func withDirectory(
    _ body: (PayerDirectory, LedgerThatGoesAway, String) async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("payers-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("ledger.db").path
    let store = try await makeLedger(at: path)
    let ledger = LedgerThatGoesAway(store)
    let directory = PayerDirectory(environment: "production", ledgerPath: path, ledger: ledger)
    try await body(directory, ledger, path)
    await directory.close()
    await #expect(throws: LedgerUnavailable.self) {
      try await directory.payer(account)
    }
    await store.close()
  }
}
