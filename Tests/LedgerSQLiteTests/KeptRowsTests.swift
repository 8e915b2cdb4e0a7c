import CallModel
import Foundation
import LedgerCore
import LedgerSQLite
import Testing

@Suite("The rows that a writer keeps from commit to commit") struct KeptRowsTests {
  private static let now = Instant(seconds: 1_795_000_000)

  private func withFolder(_ body: (String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("ledger-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder.appendingPathComponent("ledger.db").path)
  }

  private func create(_ name: String) -> LedgerOperation {
    LedgerOperation(
      .administer(
        AccountAdministration(
          account: AccountName(unchecked: name), key: RequestKey(unchecked: "create"),
          .create(kind: .prepaid, currency: .eur, creditLimit: 0, plan: "", caps: AccountCaps(), zone: "UTC"))),
      at: KeptRowsTests.now, actor: "test")
  }

  private func topup(_ name: String, _ key: String) throws -> LedgerOperation {
    LedgerOperation(
      .move(
        MoneyMovement(
          account: AccountName(unchecked: name), key: RequestKey(unchecked: key),
          .topup(method: RequestKey(unchecked: "card")), amount: try Credits(micros: 1_000_000, .eur))),
      at: KeptRowsTests.now, actor: "test")
  }

  /// Each of two writers keeps rows from commit to commit only while the other has not written.
  @Test("two writers of one file see each other's commits")
  func twoWriters() async throws {
    try await withFolder { path in
      let first = try SQLiteLedgerStore.open(path: path, options: .init(flush: .normal), createIfMissing: true)
      let second = try SQLiteLedgerStore.open(path: path, options: .init(flush: .normal), createIfMissing: true)
      _ = try await first.perform(create("acme")).outcome
      var balances: [MicroUnits] = []
      for number in 0..<40 {
        // Runs of one to three at the same writer, so that kept rows are used as well as forgotten.
        let store = number / 3 % 2 == 0 || number % 7 == 0 ? first : second
        guard case .posted(_, _, let balance) = try await store.perform(topup("acme", "key-\(number)")).outcome else {
          Issue.record("top-up \(number) was refused")
          continue
        }
        balances.append(balance)
      }
      #expect(balances == (1...40).map { MicroUnits($0 * 1_000_000) })
      let report = try await first.read { try LedgerVerifier.verify($0, full: true) }
      for rule in report.rules { #expect(rule.problem == nil, "\(rule.id.rawValue)") }
      await second.close()
      await first.close()
    }
  }
}
