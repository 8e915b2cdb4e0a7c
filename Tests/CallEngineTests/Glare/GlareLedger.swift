import CallModel
import Foundation
import LedgerCore
import LedgerSQLite
import Testing

/// A real ledger for many calls: one account for each, so that the credit of each is its own.
final class GlareLedger {
  let store: SQLiteLedgerStore
  private let folder: URL
  private var keys = 0
  /// What each account must hold in the end.
  private var expected: [AccountName: MicroUnits] = [:]

  init() async throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("glare-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    store = try SQLiteLedgerStore.open(
      path: folder.appendingPathComponent("ledger.db").path, options: .init(flush: .normal), createIfMissing: true)
    _ = try await store.registerNode(Scene.node.node, at: Bench.firstClock)
  }

  private func operation(_ request: LedgerOperation.Request, _ at: Instant) -> LedgerOperation {
    LedgerOperation(request, at: at, actor: "test")
  }

  private func newKey() -> RequestKey {
    keys += 1
    return RequestKey(unchecked: "key-\(keys)")
  }

  /// A new account with so many micro-units.
  func open(_ credit: MicroUnits, at: Instant) async throws -> AccountName {
    let account = AccountName(unchecked: "glare-\(keys)")
    let change = AccountAdministration.Change.create(
      kind: .prepaid, currency: .eur, creditLimit: 0, plan: "retail", caps: AccountCaps(), zone: "UTC")
    let receipts = await store.perform([
      operation(.administer(AccountAdministration(account: account, key: newKey(), change)), at),
      operation(
        .move(
          MoneyMovement(
            account: account, key: newKey(), .topup(method: RequestKey(unchecked: "card")),
            amount: try Credits(micros: credit, .eur))), at),
    ])
    for receipt in receipts { try #require(try receipt.get().refusal == nil) }
    expected[account] = credit
    return account
  }

  func perform(_ call: CallOperation, at: Instant) async throws -> LedgerReceipt {
    try await store.perform(operation(.call(call), at))
  }

  /// A call of this account was charged so much.
  func charged(_ account: AccountName, _ cost: MicroUnits) { expected[account, default: 0] -= cost }

  /// Closes the books. - Returns: What is wrong with them.
  func close() async throws -> [String] {
    var problems: [String] = []
    let report = try await store.read { try LedgerVerifier.verify($0, full: true) }
    for rule in report.rules {
      if let problem = rule.problem { problems.append("\(rule.id.rawValue) \(rule.id.title): \(problem.detail)") }
    }
    let names = expected.keys.sorted { $0.text < $1.text }
    let rows = try await store.read { reading in try names.map { try reading.customer(named: $0.text) } }
    for (name, row) in zip(names, rows) {
      guard let row else {
        problems.append("\(name.text) is gone")
        continue
      }
      if row.openHolds != 0 { problems.append("\(name.text): \(row.openHolds) holds are open") }
      if row.posted != expected[name] {
        problems.append("\(name.text): \(row.posted) left in place of \(expected[name] ?? 0)")
      }
    }
    await store.close()
    try FileManager.default.removeItem(at: folder)
    return problems
  }
}
