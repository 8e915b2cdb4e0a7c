import AppProtocol
import CallEngine
import CallModel
import Foundation
import LedgerCore
import LedgerSQLite
import Testing

/// A bench whose ledger is the real one, in a file of its own.
final class PaidBench {
  let bench: Bench
  let store: SQLiteLedgerStore
  private let folder: URL
  private var keys = 0
  /// No answer comes while it is set; questions wait.
  var isAway = false

  init(_ configuration: EngineConfiguration? = nil) async throws {
    bench = try Bench(configuration)
    bench.ledger = .silent
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("calls-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    store = try SQLiteLedgerStore.open(
      path: folder.appendingPathComponent("ledger.db").path, options: .init(flush: .normal), createIfMissing: true)
    _ = try await store.registerNode(Scene.node.node, at: bench.clock)
  }

  /// Runs a test on a fresh ledger with an account of so much credit; it must end with sound books and no hold.
  static func run(
    _ credit: String, caps: AccountCaps = AccountCaps(), configuration: EngineConfiguration? = nil,
    openHolds: Int = 0, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: (PaidBench) async throws -> Void
  ) async throws {
    let paid = try await PaidBench(configuration)
    try await paid.administer(
      .create(kind: .prepaid, currency: .eur, creditLimit: 0, plan: "retail", caps: caps, zone: "UTC"))
    if credit != "0" { try await paid.topUp(credit) }
    try await body(paid)
    let report = try await paid.store.read { try LedgerVerifier.verify($0, full: true) }
    for rule in report.rules { #expect(rule.problem == nil, "\(rule.id.rawValue)", sourceLocation: sourceLocation) }
    let account = try await paid.account()
    #expect(account.openHolds == Int64(openHolds), sourceLocation: sourceLocation)
    #expect(account.posted >= 0, sourceLocation: sourceLocation)
    await paid.store.close()
    try FileManager.default.removeItem(at: paid.folder)
  }

  func operation(_ request: LedgerOperation.Request) -> LedgerOperation {
    LedgerOperation(request, at: bench.clock, actor: "test")
  }

  private func newKey() -> RequestKey {
    keys += 1
    return RequestKey(unchecked: "key-\(keys)")
  }

  func administer(_ change: AccountAdministration.Change) async throws {
    let receipt = try await store.perform(
      operation(.administer(AccountAdministration(account: Scene.account, key: newKey(), change))))
    #expect(receipt.refusal == nil)
  }

  func topUp(_ amount: String) async throws {
    try await move(.topup(method: RequestKey(unchecked: "card")), amount)
  }

  @discardableResult
  func move(_ kind: MoneyMovement.Kind, _ amount: String) async throws -> LedgerReceipt {
    try await store.perform(
      operation(
        .move(
          MoneyMovement(
            account: Scene.account, key: newKey(), kind, amount: try Credits(parsing: amount, .eur)))))
  }

  func account() async throws -> LedgerAccount {
    try #require(try await store.read { try $0.customer(named: Scene.account.text) })
  }

  func hold(_ call: CallID) async throws -> Hold? {
    let account = try await account()
    return try await store.read { try $0.hold(account: account.id, call: call) }
  }

  /// `call` transfers.
  func charges() async throws -> [MicroUnits] {
    try await store.read { reading in
      try reading.transfers(HistoryRange(limit: 10_000)).filter { $0.transfer.kind == .call }.map(\.transfer.amount)
    }
  }

  // MARK: Questions

  /// Has every open question answered, and those that come of the answers.
  func settle() async throws {
    while true {
      let questions = bench.drainQuestions()
      guard !questions.isEmpty else { return }
      for (step, operation) in questions {
        if isAway {
          lost.append(operation)
          bench.feed(.ledger(operation.call, step, .failure(LedgerUnavailable(.busy, "as the test asked"))))
        } else {
          let receipt = try await store.perform(self.operation(.call(operation)))
          bench.feed(.ledger(operation.call, step, .success(receipt)))
        }
      }
    }
  }

  /// What the spool keeps while the ledger is away.
  private var lost: [CallOperation] = []

  /// The ledger is back: what was kept is performed, in order.
  func comeBack() async throws {
    isAway = false
    for operation in lost {
      switch operation.phase {
      case .answer, .settle, .void: _ = try await store.perform(self.operation(.call(operation)))
      case .authorise, .extend, .recover: break
      }
    }
    lost = []
  }

  func pass(milliseconds: Int64) async throws {
    let target = bench.now.advanced(byMilliseconds: milliseconds)
    while let next = bench.engine.nextDeadline, next <= target {
      bench.step(to: max(next, bench.now))
      try await settle()
    }
    bench.step(to: target, wakes: false)
  }

  func pass(seconds: Int64) async throws { try await pass(milliseconds: seconds * 1000) }

  // MARK: Calls

  @discardableResult
  func place(_ target: String = Scene.phone) async throws -> CallID? {
    let number = bench.request(.call(PlaceCall(kind: .phone, target: target, offer: Scene.appOffer())))
    try await settle()
    return bench.placed(number)
  }

  func talk(_ target: String = Scene.phone) async throws -> CallID {
    let call = try #require(try await place(target))
    let index = bench.invites.count - 1
    bench.secured(call)
    try bench.answer(index)
    bench.speak(call)
    try await settle()
    return call
  }

  func hangUp(_ call: CallID) async throws {
    bench.request(.hangUp(call))
    try await settle()
  }

  func bye(_ index: Int = 0) async throws {
    bench.bye(index)
    try await settle()
  }
}
