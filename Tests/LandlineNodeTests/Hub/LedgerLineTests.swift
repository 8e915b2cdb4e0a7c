import CallEngine
import CallModel
import Foundation
import LandlineNode
import LedgerCore
import LedgerSQLite
import LedgerSpool
import NodeCore
import RecordsSQLite
import Synchronization
import Testing

@Suite("The way of calls to a ledger that may be away", .timeLimit(.minutes(5)))
struct LedgerLineTests {
  private let now = Instant(seconds: 1_795_000_000)
  private let account = AccountName(unchecked: "acme")
  private let node = NodeID(unchecked: "gw-1")

  @Test("answers come in order, and a batch is one order of operations")
  func order() async throws {
    try await withLine { line, _, _ in
      let answers = Answers()
      for operation in [authorise("c1"), call("c1", .answer), settle("c1", 5000)] {
        line.submit(operation) { answers.append($0) }
      }
      let outcomes = try await answers.first(3).map { try $0.get().outcome }
      guard case .granted = outcomes[0], outcomes[1] == .answered, case .settled(5000, 5, 5000, _) = outcomes[2] else {
        Issue.record("\(outcomes)")
        return
      }
    }
  }

  @Test("3.3 rows 24 to 27: away, a call is refused; its answer and its end wait on disk and are booked once")
  func outage() async throws {
    try await withLine { line, ledger, spool in
      let answers = Answers()
      line.submit(authorise("c1")) { answers.append($0) }
      _ = try await answers.first(1)[0].get()

      ledger.isAway = true
      for operation in [authorise("c2"), call("c1", .answer), settle("c1", 5000)] {
        line.submit(operation) { answers.append($0) }
      }
      for answer in try await answers.first(4).dropFirst() {
        #expect(throws: LedgerUnavailable.self) { try answer.get() }
      }
      #expect(line.spooled == 2)
      // A second try while it is away loses nothing.
      line.poke()
      line.submit(authorise("c3")) { answers.append($0) }
      await #expect(throws: LedgerUnavailable.self) { try await answers.first(5)[4].get() }
      #expect(await spool.count == 2)

      ledger.isAway = false
      line.poke()
      while line.spooled > 0 { await Task.yield() }
      let (open, posted) = try await ledger.read { reading in
        let acme = try #require(try reading.customer(named: "acme"))
        return (acme.openHolds, acme.posted)
      }
      #expect(open == 0)
      #expect(posted == 995_000)

      line.submit(settle("c1", 5000)) { answers.append($0) }
      #expect(try await answers.first(6)[5].get().isReplay)
    }
  }

  @Test("what waits is carried out before the line is idle")
  func finishing() async throws {
    try await withLine { line, _, _ in
      let answers = Answers()
      for number in 1...50 { line.submit(authorise("c\(number)")) { answers.append($0) } }
      await line.finish()
      let carriedOut = try await answers.first(50)
      #expect(carriedOut.count == 50)
    }
  }

  // MARK: Stage

  private func withLine(
    _ body: (BilledLine, LedgerThatGoesAway, LedgerSpool) async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("line-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = try SQLiteLedgerStore.open(
      path: folder.appendingPathComponent("ledger.db").path, options: .init(flush: .normal), createIfMissing: true)
    _ = try await store.registerNode(node, at: now)
    let key = RequestKey(unchecked: "k1")
    _ = try await store.perform(
      LedgerOperation(
        .administer(
          AccountAdministration(
            account: account, key: key,
            .create(kind: .prepaid, currency: .eur, creditLimit: 0, plan: "", caps: AccountCaps(), zone: "UTC"))),
        at: now, actor: "test"))
    _ = try await store.perform(
      LedgerOperation(
        .move(
          MoneyMovement(
            account: account, key: RequestKey(unchecked: "k2"), .topup(method: key),
            amount: try Credits(parsing: "1", .eur))), at: now, actor: "test"))
    let ledger = LedgerThatGoesAway(store)
    let spool = try LedgerSpool(path: folder.appendingPathComponent("spool").path)
    let gateway = try SQLiteGatewayStore.open(
      path: folder.appendingPathComponent("gateway.db").path, createIfMissing: true)
    let stores = EnvironmentStores(ledger: ledger, records: gateway, idempotency: gateway)
    let line = BilledLine(LedgerErrands(stores, spool: spool))
    try await body(line, ledger, spool)
    await line.finish()
    await gateway.close()
    await store.close()
  }

  private func call(_ id: String, _ phase: CallOperation.Phase) -> LedgerOperation {
    LedgerOperation(
      .call(
        CallOperation(account: account, call: CallID(unchecked: id), origin: .init(node: node, epoch: 1), phase)),
      at: now, actor: "gw-1")
  }

  private func settle(_ id: String, _ milliseconds: Int64) -> LedgerOperation {
    call(id, .settle(milliseconds: milliseconds, reason: "hungUp", carriers: []))
  }

  /// A thousandth of a unit a second, held for ten.
  private func authorise(_ id: String) -> LedgerOperation {
    let rating: CallOperation.Authorisation.Rating
    do {
      rating = .rated(
        try RateSnapshot(
          deck: "retail@1", prefix: "46", destination: "Sweden", currency: .eur,
          tariff: Tariff(ratePerMinute: 60_000_000, initial: 1, increment: 1)))
    } catch {
      rating = .refused(.noRate)
    }
    return call(id, .authorise(.init(destination: "+4670", country: 46, rating: rating, seconds: 10)))
  }
}

/// The line of a node's core, with a ledger and a spool that carry out its errands.
private final class BilledLine: Sendable {
  typealias Completion = @Sendable (Result<LedgerReceipt, LedgerUnavailable>) -> Void

  private struct State {
    var line = BillingLine()
    var completions: [Completion] = []
  }

  private let errands: LedgerErrands
  private let state = Mutex(State())

  init(_ errands: LedgerErrands) {
    self.errands = errands
    step()
  }

  var spooled: Int { state.withLock { $0.line.spooled } }

  func submit(_ operation: LedgerOperation, _ completion: @escaping Completion) {
    state.withLock { state in
      guard case .call(let call) = operation.request else { return }
      state.completions.append(completion)
      _ = state.line.submit(operation, .call(call.call, .authorise, askedAt: .zero), at: .zero)
    }
    step()
  }

  func poke() {
    state.withLock { $0.line.retrySpool() }
    step()
  }

  func finish() async {
    while !state.withLock({ $0.line.isIdle }) { await errands.finish() }
    await errands.finish()
  }

  private func step() {
    while true {
      switch state.withLock({ $0.line.step(at: MonotonicInstant(microseconds: .max)) }) {
      case .nothing: return
      case .answers(let answers):
        for answer in answers { state.withLock { $0.completions.removeFirst() }(answer.result) }
      case .errand(let errand):
        errands.carryOut(errand) { answer in
          self.state.withLock { state in
            switch answer {
            case .performed(let results): state.line.performed(results)
            case .spooled(let waiting, _): state.line.spooled(waiting: waiting)
            case .replayed(let replay): state.line.replayed(waiting: replay.waiting)
            }
          }
          self.step()
        }
      }
    }
  }
}

/// Answers in the order in which they came.
private final class Answers: Sendable {
  private let all = Mutex<[Result<LedgerReceipt, LedgerUnavailable>]>([])

  func append(_ answer: Result<LedgerReceipt, LedgerUnavailable>) { all.withLock { $0.append(answer) } }

  func first(_ count: Int) async throws -> [Result<LedgerReceipt, LedgerUnavailable>] {
    while true {
      try Task.checkCancellation()
      let answers = all.withLock { $0 }
      if answers.count >= count { return Array(answers.prefix(count)) }
      await Task.yield()
    }
  }
}
