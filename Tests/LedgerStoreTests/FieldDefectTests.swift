import CallModel
import LedgerCore
import Testing

/// What other prepaid systems got wrong, as their own trackers tell it: each is a test here.
@Suite("Defects of the field")
struct FieldDefectTests {
  @Test("Kamailio 1387 and 2948: counters of held credit return to nought after many calls", arguments: StoreKind.all)
  func countersReturn(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "100")
      for index in 0..<60 {
        let call = "c\(index)"
        try await ledger.authorise("acme", call)
        if index % 3 > 0 { try await ledger.answer("acme", call) }
        if index % 4 == 0 { try await ledger.extend("acme", call, 1) }
        if index % 3 > 0 {
          try await ledger.settle("acme", call, milliseconds: Int64(index) * 1000)
        } else {
          try await ledger.void("acme", call)
        }
      }
      let account = try await ledger.account("acme")
      #expect(account.held == 0 && account.openHolds == 0)
      #expect(try await ledger.counters("acme").map(\.held) == [0])
    }
  }

  @Test("Kamailio 1051: a teardown that fails cannot make the balance negative", arguments: StoreKind.all)
  func failedTeardown(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "0.1")
      try await ledger.authorise("acme", "c1", LedgerUnderTest.snapshot(initial: 1))
      try await ledger.answer("acme", "c1")
      ledger.advance(seconds: 3600)
      #expect(try await ledger.store.beat(ledger.node, epoch: ledger.epoch, at: ledger.now))
      ledger.advance(seconds: 60)
      _ = try await ledger.store.recover(nil, at: ledger.now)
      #expect(try await ledger.balance("acme") == .init(posted: 40_000, held: 0))
    }
  }

  @Test("Kamailio 408 and 4009: many calls cut at the same instant all settle", arguments: StoreKind.all)
  func cutTogether(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "6")
      for index in 0..<100 {
        try await ledger.authorise("acme", "c\(index)")
        try await ledger.answer("acme", "c\(index)")
      }
      ledger.advance(seconds: 60)
      let ends = (0..<100).flatMap { index in
        [
          ledger.call("acme", "c\(index)", .extend(number: 1, seconds: 60)),
          ledger.call("acme", "c\(index)", .settle(milliseconds: 60_000, reason: "noCredit", carriers: [])),
        ]
      }
      let receipts = try await ledger.race(ends)
      #expect(receipts.filter { if case .settled = $0.outcome { true } else { false } }.count == 100)
      let balance = try await ledger.balance("acme")
      #expect(balance == .init(posted: 0, held: 0))
    }
  }

  @Test("FreeSWITCH 621, magnusbilling 343: nobody talks past the balance", arguments: StoreKind.all)
  func talkingPastBalance(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "0.1")
      try await ledger.authorise("acme", "c1", LedgerUnderTest.snapshot(initial: 1))
      try await ledger.answer("acme", "c1")
      #expect(
        try await ledger.extend("acme", "c1", 1).outcome == .granted(seconds: 100, amount: 100_000, isFinal: true))
      #expect(try await ledger.extend("acme", "c1", 2).refusal == .insufficientCredit)
      try await ledger.settle("acme", "c1", milliseconds: 5_000_000)
      #expect(try await ledger.balance("acme") == .init(posted: 0, held: 0))
    }
  }

  @Test("magnusbilling 38: a hold is taken before the trunk sees the call", arguments: StoreKind.all)
  func holdFirst(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "0.06")
      let receipts = try await ledger.race((0..<30).map { try ledger.authorisation("acme", "c\($0)") })
      #expect(receipts.filter { $0.refusal == nil }.count == 1)
    }
  }

  @Test("CGRateS 568: an account that may owe owes up to its limit and no further", arguments: StoreKind.all)
  func allowedToOwe(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", kind: .postpaid, creditLimit: 100_000)
      let bySecond = try LedgerUnderTest.snapshot(initial: 1)
      try await ledger.authorise("acme", "c1", bySecond, seconds: 100)
      #expect(try await ledger.authorise("acme", "c2", bySecond).refusal == .insufficientCredit)
      try await ledger.answer("acme", "c1")
      try await ledger.settle("acme", "c1", milliseconds: 100_000)
      #expect(try await ledger.balance("acme") == .init(posted: -100_000, held: 0))
      #expect(try await ledger.administer("acme", .setCreditLimit(99_999)).refusal == .belowFloor)
      #expect(try await ledger.administer("acme", .setCreditLimit(160_000)).outcome == .changed)
      #expect(try await ledger.authorise("acme", "c3", bySecond).refusal == nil)
      try await ledger.void("acme", "c3")
    }
  }

  @Test("CGRateS 1490: the record of a call that ran out of credit has the right figures", arguments: StoreKind.all)
  func recordAtExhaustion(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "0.075")
      try await ledger.authorise("acme", "c1", LedgerUnderTest.snapshot(initial: 1))
      try await ledger.answer("acme", "c1")
      try await ledger.extend("acme", "c1", 1)
      try await ledger.settle("acme", "c1", milliseconds: 75_000)
      let hold = try #require(try await ledger.hold("acme", "c1"))
      #expect(hold.duration == 75_000 && hold.cost == 75_000 && hold.amount == 75_000)
      let charge = try #require(try await ledger.transfers().last)
      #expect(charge.transfer.amount == 75_000 && charge.transfer.seq == hold.transfer)
      #expect(charge.transfer.detail == "+46701234567 75.000s billed 75s")
      #expect(charge.debit?.balanceAfter == 0)
    }
  }

  @Test("CGRateS 457: nothing is authorised at a balance of nought", arguments: StoreKind.all)
  func zeroBalance(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme")
      #expect(
        try await ledger.authorise("acme", "c1", LedgerUnderTest.snapshot(rate: 1, initial: 1)).refusal
          == .insufficientCredit)
    }
  }

  @Test("CGRateS 16: each extension holds for the whole call, so nothing is taken twice", arguments: StoreKind.all)
  func cumulativeHold(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      let snapshot = try LedgerUnderTest.snapshot(rate: 33_333_333, initial: 1, fee: 1_234_567)
      try await ledger.authorise("acme", "c1", snapshot, seconds: 10)
      for number: Int64 in 1...30 { try await ledger.extend("acme", "c1", number, by: 10) }
      let whole = snapshot.coveringCost(seconds: 310, answeredAt: nil)
      #expect(try await ledger.balance("acme").held == whole, "slices must not add up to more than the whole")
      try await ledger.void("acme", "c1")
    }
  }

  @Test("nibblebill: an interval whose write failed is not lost", arguments: StoreKind.all)
  func failedInterval(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      try await ledger.authorise("acme", "c1")
      try await ledger.answer("acme", "c1")
      ledger.trouble.strike(.beforeCommit)
      await #expect(throws: LedgerUnavailable.self) { try await ledger.extend("acme", "c1", 1) }
      #expect(try await ledger.extend("acme", "c1", 1).refusal == nil)
      try await ledger.settle("acme", "c1", milliseconds: 120_000)
      #expect(try await ledger.hold("acme", "c1")?.cost == 120_000)
    }
  }

  @Test("CGRateS replicas: taking over a call charges nothing at once and nothing at random", arguments: StoreKind.all)
  func takeover(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      try await ledger.authorise("acme", "c1", LedgerUnderTest.snapshot(initial: 1))
      try await ledger.answer("acme", "c1")
      ledger.advance(seconds: 17)
      #expect(try await ledger.store.beat(ledger.node, epoch: ledger.epoch, at: ledger.now))
      try await ledger.restartNode()
      #expect(try await ledger.balance("acme") == .init(posted: 1_000_000, held: 60_000))
      ledger.advance(seconds: 1000)
      let recovery = try #require(try await ledger.store.recover(nil, at: ledger.now).first)
      #expect(recovery.settled.map(\.milliseconds) == [17_000])
      #expect(recovery.settled.map(\.cost.micros) == [17_000])
    }
  }

  @Test("Kamailio acc: a record counts from the answer, however long it rang", arguments: StoreKind.all)
  func ringingIsFree(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      try await ledger.authorise("acme", "c1", LedgerUnderTest.snapshot(initial: 1))
      ledger.advance(seconds: 50)
      try await ledger.answer("acme", "c1")
      ledger.advance(seconds: 10)
      #expect(try await ledger.store.beat(ledger.node, epoch: ledger.epoch, at: ledger.now))
      try await ledger.restartNode()
      let recovery = try #require(try await ledger.store.recover(nil, at: ledger.now).first)
      #expect(recovery.settled.map(\.milliseconds) == [10_000])
    }
  }

  @Test("ASTPP: a 60/60 customer is granted whole minutes, never part of one already charged", arguments: StoreKind.all)
  func wholeMinutes(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "0.17")
      let minutes = try LedgerUnderTest.snapshot(initial: 60, increment: 60, fee: 10_000_000)
      #expect(
        try await ledger.authorise("acme", "c1", minutes, seconds: 10).outcome
          == .granted(seconds: 60, amount: 70_000, isFinal: false))
      try await ledger.answer("acme", "c1")
      #expect(
        try await ledger.extend("acme", "c1", 1, by: 10).outcome
          == .granted(seconds: 120, amount: 130_000, isFinal: true))
      #expect(try await ledger.extend("acme", "c1", 2).refusal == .insufficientCredit)
      try await ledger.settle("acme", "c1", milliseconds: 61_000)
      #expect(try await ledger.balance("acme") == .init(posted: 40_000, held: 0))
    }
  }

  @Test("IvozProvider 703: a prepaid call is charged at its end, not again", arguments: StoreKind.all)
  func chargedOnce(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      try await ledger.authorise("acme", "c1")
      try await ledger.answer("acme", "c1")
      let settle = ledger.call("acme", "c1", .settle(milliseconds: 60_000, reason: "hungUp", carriers: []))
      let receipts = try await ledger.race(Array(repeating: settle, count: 32))
      #expect(receipts.filter { !$0.isReplay }.count == 1 && Set(receipts.map(\.seq)).count == 1)
      #expect(try await ledger.balance("acme").posted == 940_000)
    }
  }
}
