import CallModel
import LedgerCore
import PeerKit
import Testing

/// Many tasks at once, tasks that are cancelled, rows that one group meets twice.
@Suite("Races")
struct RaceTests {
  @Test("of 64 concurrent calls as many go through as the credit pays for", arguments: StoreKind.all)
  func lastCredit(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: DecimalText.format(17 * 60_000 + 59_999, scale: 6))
      let receipts = try await ledger.race((0..<64).map { try ledger.authorisation("acme", "c\($0)") })
      #expect(receipts.filter { $0.refusal == nil }.count == 17)
      #expect(receipts.filter { $0.refusal == .insufficientCredit }.count == 47)
      #expect(try await ledger.balance("acme").available == 59_999)
    }
  }

  @Test("of 1,000 concurrent calls on credit for one, one goes through", arguments: StoreKind.all)
  func creditForOne(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: DecimalText.format(60_000, scale: 6))
      let receipts = try await ledger.race((0..<1000).map { try ledger.authorisation("acme", "c\($0)") })
      let granted = receipts.filter { $0.refusal == nil }.count
      #expect(granted == 1)
      #expect(try await ledger.balance("acme").available == 0)
      try ScoreboardRow(
        "M4", figure: "\(granted - 1)", unit: "calls too many", target: "= 0", passed: granted == 1,
        detail: "\(kind): 1,000 at once on credit for one", gate: true
      ).record()
    }
  }

  @Test("of 64 concurrent withdrawals as many go through as the balance holds", arguments: StoreKind.all)
  func withdrawals(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      try await ledger.create("other")
      let other = AccountName(unchecked: "other")
      let receipts = try await ledger.race(
        (0..<64).map { _ in try ledger.movement("acme", .transfer(to: other), "0.03") })
      #expect(receipts.filter { $0.refusal == nil }.count == 33)
      #expect(try await ledger.balance("acme").posted == 10_000)
      #expect(try await ledger.balance("other").posted == 990_000)
    }
  }

  @Test("64 concurrent repeats of one top-up pay in once", arguments: StoreKind.all)
  func sameTopup(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme")
      let topup = try ledger.movement("acme", .topup(method: RequestKey(unchecked: "card")), "1")
      let receipts = try await ledger.race(Array(repeating: topup, count: 64))
      #expect(receipts.filter { !$0.isReplay }.count == 1 && Set(receipts.map(\.outcome)).count == 1)
      #expect(try await ledger.balance("acme").posted == 1_000_000)
      let paidIn = receipts.filter { !$0.isReplay }.count
      try ScoreboardRow(
        "M3", figure: "\(paidIn - 1)", unit: "events", target: "= 0", passed: paidIn == 1,
        detail: "\(kind): one top-up sent 64 times at once", gate: true
      ).record()
      let other = try ledger.movement("acme", .topup(method: RequestKey(unchecked: "card")), "2")
      guard case .move(var movement) = other.request, case .move(let first) = topup.request else { return }
      movement.key = first.key
      #expect(try await ledger.store.perform(ledger.operation(.move(movement))).refusal == .conflict)
    }
  }

  @Test("a cancelled task undoes nothing", arguments: StoreKind.all)
  func cancelled(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      let store = ledger.store
      let topups = try (0..<20).map { _ in
        try ledger.movement("acme", .topup(method: RequestKey(unchecked: "card")), "1")
      }
      let tasks = topups.map { topup in Task { try await store.perform(topup) } }
      for task in tasks { task.cancel() }
      for task in tasks { #expect(try await task.value.refusal == nil) }
      let already = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await store.perform(topups[0])
      }
      #expect(try await already.value.isReplay)
      #expect(try await ledger.balance("acme").posted == 21_000_000)
      for topup in topups { #expect(try await ledger.store.perform(topup).isReplay) }
    }
  }

  @Test("a row met by its number and again by its name in one batch keeps both changes", arguments: StoreKind.all)
  func metTwice(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      try await ledger.authorise("acme", "c1")
      try await ledger.answer("acme", "c1")
      guard
        case .settled(_, _, _, let charge?) = try await ledger.settle("acme", "c1", milliseconds: 60_000).outcome
      else { return }
      try await ledger.authorise("acme", "c2")
      try await ledger.answer("acme", "c2")
      // The refund meets the revenue account by its number, the settlement by its name.
      let batch = [
        try ledger.movement("acme", .refund(of: charge), nil),
        ledger.call("acme", "c2", .settle(milliseconds: 30_000, reason: "hungUp", carriers: [])),
        try ledger.movement("acme", .topup(method: RequestKey(unchecked: "card")), "1"),
      ]
      for result in await ledger.store.perform(batch) { #expect(try result.get().refusal == nil) }
      #expect(try await ledger.operatorBalance(ChartOfAccounts.revenue) == 60_000)
      #expect(try await ledger.balance("acme") == .init(posted: 1_940_000, held: 0))
    }
  }

  @Test("an account made and used in one batch is whole", arguments: StoreKind.all)
  func madeAndUsed(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      let create = ledger.operation(
        .administer(
          AccountAdministration(
            account: AccountName(unchecked: "acme"), key: ledger.newKey(),
            .create(
              kind: .prepaid, currency: .eur, creditLimit: 0, plan: "retail", caps: AccountCaps(), zone: "UTC"))))
      let batch = [
        create, create, try ledger.movement("acme", .opening, "1"), try ledger.authorisation("acme", "c1"),
        ledger.call("acme", "c1", .answer),
        ledger.call("acme", "c1", .settle(milliseconds: 1000, reason: "hungUp", carriers: [])),
      ]
      let receipts = try await ledger.store.perform(batch).map { try $0.get() }
      #expect(receipts.compactMap(\.refusal).isEmpty)
      #expect(receipts.map(\.isReplay) == [false, true, false, false, false, false])
      #expect(try await ledger.balance("acme") == .init(posted: 940_000, held: 0))
    }
  }

  @Test("a rehearsal tells what would be answered and writes nothing", arguments: StoreKind.all)
  func rehearsal(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      let head = try await ledger.store.read { try $0.head() }
      let topup = try ledger.movement("acme", .topup(method: RequestKey(unchecked: "bank")), "1")
      let rehearsed = try await ledger.store.rehearse(topup)
      #expect(try await ledger.store.read { try $0.head() } == head)
      let performed = try await ledger.store.perform(topup)
      #expect(performed.outcome == rehearsed.outcome && performed.seq == rehearsed.seq)
      #expect(try await ledger.store.rehearse(topup).isReplay)
    }
  }

  @Test("rehearsals between writes see them and disturb none", arguments: StoreKind.all)
  func rehearsalsAmongWrites(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "10")
      let store = ledger.store
      let topups = try (0..<50).map { _ in
        try ledger.movement("acme", .topup(method: RequestKey(unchecked: "card")), "1")
      }
      let rehearsed = try ledger.movement("acme", .topup(method: RequestKey(unchecked: "cash")), "5")
      try await withThrowingTaskGroup(of: LedgerReceipt.self) { group in
        for topup in topups {
          group.addTask { try await store.perform(topup) }
          group.addTask { try await store.rehearse(rehearsed) }
        }
        for try await receipt in group { #expect(receipt.refusal == nil && !receipt.isReplay) }
      }
      #expect(try await ledger.balance("acme").posted == 60_000_000)
    }
  }
}
