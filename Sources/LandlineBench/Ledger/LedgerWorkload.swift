import CallModel
import LedgerCore
import LedgerSQLite

/// The calls that benchmarks send to a ledger: customers, a price, and the operations of call number n.
struct LedgerWorkload: Sendable {
  static let customers = 10_000
  /// Micro-units that each customer starts with.
  static let openingBalance: MicroUnits = 1_000_000_000_000
  /// Operations in one request while accounts are made.
  static let setupBatch = 500
  /// Coprime to the number of customers, so that neighbouring calls meet different ones.
  static let stride = 7919
  static let firstInstant: Int64 = 1_728_000_000_000
  static let start = Instant(milliseconds: firstInstant)

  let snapshot: RateSnapshot
  let origin: CallOperation.Origin
  let accounts: [AccountName]

  init(epoch: Int64) throws {
    snapshot = try LedgerWorkload.snapshot()
    origin = CallOperation.Origin(node: NodeID(unchecked: "bench"), epoch: epoch)
    accounts = (0..<LedgerWorkload.customers).map(LedgerWorkload.account)
  }

  /// 0.0145 a minute, 60/1: what every call costs.
  static func snapshot() throws -> RateSnapshot {
    try RateSnapshot(
      deck: "bench@2026-11-01", prefix: "4670", destination: "Sweden mobile", currency: .eur,
      tariff: Tariff(ratePerMinute: 14_500_000, initial: 60, increment: 1))
  }

  private static func account(_ number: Int) -> AccountName {
    let digits = String(number)
    return AccountName(unchecked: "customer-" + String(repeating: "0", count: max(0, 6 - digits.utf8.count)) + digits)
  }

  /// Makes the customers and gives each a balance.
  static func prepare(_ store: SQLiteLedgerStore) async throws {
    let amount = try Credits(micros: openingBalance, .eur)
    var operations: [LedgerOperation] = []
    for number in 0..<customers {
      let name = account(number)
      operations.append(
        LedgerOperation(
          .administer(
            AccountAdministration(
              account: name, key: RequestKey(unchecked: "create"),
              .create(
                kind: .prepaid, currency: .eur, creditLimit: 0, plan: "bench", caps: AccountCaps(), zone: "UTC"))),
          at: start, actor: "bench"))
      operations.append(
        LedgerOperation(
          .move(
            MoneyMovement(account: name, key: RequestKey(unchecked: "opening"), .opening, amount: amount)), at: start,
          actor: "bench"))
    }
    for start in Swift.stride(from: 0, to: operations.count, by: setupBatch) {
      let batch = Array(operations[start..<min(start + setupBatch, operations.count)])
      for result in await store.perform(batch) {
        if let refusal = try result.get().refusal { throw BenchProblem("making accounts was refused: \(refusal)") }
      }
    }
  }

  enum Phase: CaseIterable {
    case authorise, answer, settle
  }

  func operation(_ phase: Phase, call number: Int, at milliseconds: Int64) -> LedgerOperation {
    let step: CallOperation.Phase =
      switch phase {
      case .authorise:
        .authorise(
          CallOperation.Authorisation(destination: "+46701234567", country: 46, rating: .rated(snapshot)))
      case .answer: .answer
      case .settle: .settle(milliseconds: 60_000, reason: "hungUp", carriers: [])
      }
    let digits = String(number)
    let call = CallID(unchecked: "call-" + String(repeating: "0", count: max(0, 12 - digits.utf8.count)) + digits)
    return LedgerOperation(
      .call(
        CallOperation(
          account: accounts[number * LedgerWorkload.stride % accounts.count], call: call, origin: origin, step)),
      at: Instant(milliseconds: LedgerWorkload.firstInstant + milliseconds), actor: "node:bench")
  }
}
