import CallModel
import LedgerCore
import Testing

/// The last credit, and what people do to an account while calls run.
@Suite("Edge cases of credit and accounts")
struct CreditEdgeTests {
  @Test("3.3 row 09: two calls race for the last credit and one is held", arguments: StoreKind.all)
  func twoCalls(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "0.06")
      let receipts = try await ledger.race([ledger.authorisation("acme", "c1"), ledger.authorisation("acme", "c2")])
      #expect(receipts.filter { $0.refusal == nil }.count == 1)
      #expect(receipts.compactMap(\.refusal) == [.insufficientCredit])
      #expect(try await ledger.balance("acme") == .init(posted: 60_000, held: 60_000))
    }
  }

  @Test("3.3 row 10: of 30 simultaneous INVITEs with credit for one, one goes through", arguments: StoreKind.all)
  func thirtyInvites(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "0.06")
      let receipts = try await ledger.race((0..<30).map { try ledger.authorisation("acme", "c\($0)") })
      #expect(receipts.filter { $0.refusal == nil }.count == 1)
      #expect(receipts.filter { $0.refusal == .insufficientCredit }.count == 29)
      #expect(try await ledger.balance("acme").available == 0)
    }
  }

  @Test("3.3 row 10: credit for a minute and a half is shared out, never passed", arguments: StoreKind.all)
  func fairShares(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "0.09")
      let bySecond = try LedgerUnderTest.snapshot(initial: 1)
      let receipts = try await ledger.race((0..<30).map { try ledger.authorisation("acme", "c\($0)", bySecond) })
      let granted = receipts.compactMap { receipt -> Int64? in
        if case .granted(let seconds, _, _) = receipt.outcome { seconds } else { nil }
      }
      #expect(granted.first { $0 == 60 } != nil)
      #expect(granted.count > 5, "the first call left nothing for the others: \(granted)")
      #expect(granted.allSatisfy { $0 >= 1 })
      let balance = try await ledger.balance("acme")
      #expect(balance.available >= 0)
      #expect(balance.held == MicroUnits(granted.reduce(0, +) * 1000))
    }
  }

  @Test("3.3 row 11: a refused extension ends its own call only", arguments: StoreKind.all)
  func oneExtensionRefused(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "0.18")
      for call in ["c1", "c2"] {
        try await ledger.authorise("acme", call)
        try await ledger.answer("acme", call)
      }
      ledger.advance(seconds: 55)
      #expect(
        try await ledger.extend("acme", "c1", 1).outcome == .granted(seconds: 120, amount: 120_000, isFinal: true))
      #expect(try await ledger.extend("acme", "c2", 1).refusal == .insufficientCredit)
      #expect(try await ledger.hold("acme", "c1")?.grantedSeconds == 120)
      #expect(try await ledger.hold("acme", "c2")?.grantedSeconds == 60)
      try await ledger.settle("acme", "c2", milliseconds: 60_000)
      #expect(try await ledger.extend("acme", "c1", 2).refusal == .insufficientCredit)
      try await ledger.settle("acme", "c1", milliseconds: 120_000)
      #expect(try await ledger.balance("acme") == .init(posted: 0, held: 0))
    }
  }

  @Test("3.3 row 11: a growing call takes its share of the rest, not all of it", arguments: StoreKind.all)
  func extensionShares(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "0.16")
      for call in ["c1", "c2"] {
        try await ledger.authorise("acme", call)
        try await ledger.answer("acme", call)
      }
      #expect(
        try await ledger.extend("acme", "c1", 1).outcome == .granted(seconds: 80, amount: 80_000, isFinal: false))
      #expect(
        try await ledger.extend("acme", "c2", 1).outcome == .granted(seconds: 70, amount: 70_000, isFinal: false))
      try await ledger.settle("acme", "c1", milliseconds: 80_000)
      try await ledger.settle("acme", "c2", milliseconds: 70_000)
      #expect(try await ledger.balance("acme") == .init(posted: 10_000, held: 0))
    }
  }

  @Test("3.3 row 12: two nodes cannot both give out an account's last credit", arguments: StoreKind.all)
  func twoNodes(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      let other = try await ledger.anotherStore()
      let second = NodeID(unchecked: "gw-2")
      let epoch = try await other.registerNode(second, at: ledger.now).epoch
      try await ledger.create("acme", credit: "1.2")
      var operations: [LedgerOperation] = []
      for index in 0..<40 { operations.append(try ledger.authorisation("acme", "c\(index)")) }
      let store = ledger.store
      let here = operations.prefix(20)
      let there = operations.suffix(20).map { $0.from(second, epoch: epoch) }
      async let first = LedgerUnderTest.race(Array(here), on: store)
      async let last = LedgerUnderTest.race(there, on: other)
      let receipts = try await first + last
      #expect(receipts.filter { $0.refusal == nil }.count == 20)
      #expect(receipts.filter { $0.refusal == .insufficientCredit }.count == 20)
      #expect(try await ledger.balance("acme").available == 0)
      await other.close()
    }
  }

  @Test("3.3 row 13: a top-up during a call serves its next extension", arguments: StoreKind.all)
  func topupDuringCall(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "0.06")
      #expect(
        try await ledger.authorise("acme", "c1").outcome == .granted(seconds: 60, amount: 60_000, isFinal: true))
      try await ledger.answer("acme", "c1")
      #expect(try await ledger.extend("acme", "c1", 1).refusal == .insufficientCredit)
      try await ledger.topup("acme", "1")
      #expect(try await ledger.extend("acme", "c1", 1).refusal == .insufficientCredit, "the first answer stands")
      #expect(
        try await ledger.extend("acme", "c1", 2).outcome == .granted(seconds: 120, amount: 120_000, isFinal: false))
      try await ledger.settle("acme", "c1", milliseconds: 100_000)
      #expect(try await ledger.balance("acme").posted == 960_000)
    }
  }

  @Test(
    "3.3 row 14: credit is taken away down to what is held; beyond it by force, which locks", arguments: StoreKind.all)
  func adjustDown(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      try await ledger.authorise("acme", "c1")
      try await ledger.answer("acme", "c1")
      #expect(try await ledger.move("acme", .adjust(force: false), "-0.940001").refusal == .insufficientCredit)
      #expect(try await ledger.move("acme", .adjust(force: false), "-0.94").refusal == nil)
      #expect(try await ledger.account("acme").status == .open)
      #expect(try await ledger.move("acme", .adjust(force: true), "-0.05").refusal == nil)
      #expect(try await ledger.account("acme").status == .locked)
      #expect(try await ledger.extend("acme", "c1", 1).refusal == .accountLocked)
      try await ledger.settle("acme", "c1", milliseconds: 60_000)
      #expect(try await ledger.balance("acme") == .init(posted: -50_000, held: 0))
      #expect(try await ledger.administer("acme", .unlock).refusal == .belowFloor)
      try await ledger.topup("acme", "0.05")
      #expect(try await ledger.administer("acme", .unlock).outcome == .changed)
    }
  }

  @Test("3.3 row 14: a top-up is paid back only as far as nothing is held", arguments: StoreKind.all)
  func refundDown(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme")
      guard case .posted(let topup, _, _) = try await ledger.topup("acme", "1").outcome else { return }
      try await ledger.authorise("acme", "c1")
      #expect(try await ledger.move("acme", .refund(of: topup), nil).refusal == .insufficientCredit)
      #expect(try await ledger.move("acme", .refund(of: topup), "0.94").refusal == nil)
      #expect(try await ledger.balance("acme") == .init(posted: 60_000, held: 60_000))
      try await ledger.void("acme", "c1")
      #expect(try await ledger.move("acme", .refund(of: topup), "0.07").refusal == .amountOutOfRange)
      #expect(try await ledger.move("acme", .refund(of: topup), nil).refusal == nil)
      #expect(try await ledger.move("acme", .refund(of: topup), nil).refusal == .amountOutOfRange)
      #expect(try await ledger.balance("acme") == .init(posted: 0, held: 0))
    }
  }

  @Test("3.3 row 15: closing lets running calls settle, grants no more, then closes", arguments: StoreKind.all)
  func closing(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      for call in ["c1", "c2"] {
        try await ledger.authorise("acme", call)
        try await ledger.answer("acme", call)
      }
      try await ledger.administer("acme", .close)
      #expect(try await ledger.account("acme").status == .closing)
      #expect(try await ledger.extend("acme", "c1", 1).refusal == .accountClosed)
      #expect(try await ledger.authorise("acme", "c3").refusal == .accountClosed)
      #expect(try await ledger.topup("acme", "1").refusal == .accountClosed)
      #expect(try await ledger.administer("acme", .lock).refusal == .accountClosed)
      #expect(try await ledger.settle("acme", "c1", milliseconds: 60_000).refusal == nil)
      #expect(try await ledger.account("acme").status == .closing)
      #expect(try await ledger.void("acme", "c2").outcome == .voided)
      #expect(try await ledger.account("acme").status == .closed)
      #expect(try await ledger.balance("acme") == .init(posted: 940_000, held: 0))
      #expect(try await ledger.administer("acme", .unlock).refusal == .accountClosed)
    }
  }

  @Test("3.3 row 16: a locked account's call is cut and settled to that instant", arguments: StoreKind.all)
  func locked(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      try await ledger.authorise("acme", "c1", LedgerUnderTest.snapshot(initial: 1))
      try await ledger.answer("acme", "c1")
      try await ledger.administer("acme", .lock)
      #expect(try await ledger.extend("acme", "c1", 1).refusal == .accountLocked)
      #expect(try await ledger.authorise("acme", "c2").refusal == .accountLocked)
      try await ledger.settle("acme", "c1", milliseconds: 12_300)
      #expect(try await ledger.balance("acme") == .init(posted: 987_000, held: 0))
    }
  }

  @Test("3.3 row 35: a refused call stays refused after a top-up; a new call goes through", arguments: StoreKind.all)
  func stickyRefusal(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "0.01")
      let refused = try await ledger.authorise("acme", "c1")
      #expect(refused.refusal == .insufficientCredit && !refused.isReplay)
      try await ledger.topup("acme", "1")
      let again = try await ledger.authorise("acme", "c1")
      #expect(again.refusal == .insufficientCredit && again.isReplay && again.seq == refused.seq)
      #expect(try await ledger.authorise("acme", "c2").refusal == nil)
    }
  }

  @Test("3.3 row 37: time past the grant is the operator's overrun, not the customer's", arguments: StoreKind.all)
  func overrun(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "0.06")
      try await ledger.authorise("acme", "c1")
      try await ledger.answer("acme", "c1")
      let carrier = CarrierCharge(trunk: TrunkName(unchecked: "north"), amount: 50_000, overrun: 20_000)
      try await ledger.settle("acme", "c1", milliseconds: 90_000, carriers: [carrier])
      #expect(try await ledger.balance("acme") == .init(posted: 0, held: 0))
      #expect(try await ledger.operatorBalance(ChartOfAccounts.termination) == -30_000)
      #expect(try await ledger.operatorBalance(ChartOfAccounts.overrun) == -20_000)
      #expect(try await ledger.operatorBalance(ChartOfAccounts.carrier(carrier.trunk)) == 50_000)
    }
  }

  @Test(
    "3.3 row 47: an amount past the largest balance is refused before anything is written", arguments: StoreKind.all)
  func overflow(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme")
      try await ledger.create("twin")
      let largest = Credits.maximumMicros.decimal
      #expect(try await ledger.topup("acme", largest).refusal == nil)
      let before = try await ledger.counts()
      #expect(try await ledger.topup("acme", "0.000001").refusal == .amountOutOfRange)
      #expect(try await ledger.topup("acme", largest).refusal == .amountOutOfRange)
      #expect(try await ledger.move("acme", .opening, largest).refusal == .amountOutOfRange)
      #expect(try await ledger.move("acme", .adjust(force: false), "0.000001").refusal == .amountOutOfRange)
      // The payments account stands at its limit: nobody can pay in by that method.
      #expect(try await ledger.topup("twin", "0.000001").refusal == .counterAccountFull)
      #expect(try await ledger.counts() == before, "a refusal left a trace")
      #expect(try await ledger.move("acme", .transfer(to: AccountName(unchecked: "twin")), largest).refusal == nil)
      #expect(try await ledger.balance("twin").posted == Credits.maximumMicros)
    }
  }

  @Test("What may be booked at once has a limit of its own, to the last micro-unit", arguments: StoreKind.all)
  func largestAmount(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme")
      var keys = 0
      func move(_ kind: MoneyMovement.Kind, _ micros: MicroUnits, _ largest: MicroUnits, key: String? = nil)
        async throws
        -> LedgerRefusal?
      {
        keys += 1
        let movement = MoneyMovement(
          account: AccountName(unchecked: "acme"), key: RequestKey(unchecked: key ?? "large-\(keys)"), kind,
          amount: try Credits(micros: micros, .eur), largest: largest)
        return try await ledger.store.perform(
          LedgerOperation(.move(movement), at: Instant(milliseconds: 1_795_000_000_000), actor: "test")
        ).refusal
      }
      let largest: MicroUnits = 5_000_000
      let card = RequestKey(unchecked: "card")
      let kinds: [MoneyMovement.Kind] = [.topup(method: card), .opening, .adjust(force: true)]
      for kind in kinds {
        #expect(try await move(kind, largest, largest) == nil)
        #expect(try await move(kind, largest + 1, largest) == .amountTooLarge)
        #expect(try await move(kind, Credits.maximumMicros - 20_000_000, largest) == .amountTooLarge)
      }
      #expect(try await move(.adjust(force: true), -largest - 1, largest) == .amountTooLarge)
      #expect(try await move(.adjust(force: true), -largest, largest) == nil)
      // Nobody else's payments suffer, and a repeat is answered as before, whatever the limit is now.
      try await ledger.create("twin")
      #expect(try await ledger.topup("twin", "1").refusal == nil)
      #expect(try await move(.topup(method: card), 4_000_000, largest, key: "once") == nil)
      #expect(try await move(.topup(method: card), 4_000_000, 1, key: "once") == nil)
    }
  }

  @Test(
    "3.3 row 57: re-rating gives the charge back and charges anew; the old call stays as it was",
    arguments: StoreKind.all)
  func rerating(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      try await ledger.authorise("acme", "c1")
      try await ledger.answer("acme", "c1")
      guard
        case .settled(_, _, let cost, let charge?) = try await ledger.settle("acme", "c1", milliseconds: 60_000).outcome
      else { return }
      let before = try await ledger.store.read { try $0.transfer(seq: charge) }
      let hold = try await ledger.hold("acme", "c1")
      #expect(cost == 60_000)
      #expect(try await ledger.move("acme", .refund(of: charge), nil).refusal == nil)
      #expect(try await ledger.move("acme", .adjust(force: false), "-0.045").refusal == nil)
      #expect(try await ledger.move("acme", .refund(of: charge), nil).refusal == .amountOutOfRange, "given back once")
      #expect(try await ledger.balance("acme").posted == 955_000)
      #expect(try await ledger.store.read { try $0.transfer(seq: charge) } == before)
      #expect(try await ledger.hold("acme", "c1") == hold)
      let refund = try await ledger.transfers().last { $0.transfer.kind == .refund }
      #expect(refund?.transfer.reverses == charge && refund?.transfer.call?.text == "c1")
    }
  }

  @Test("3.3 row 58: a chargeback may pass the floor, and locks", arguments: StoreKind.all)
  func chargeback(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme")
      guard case .posted(let topup, _, _) = try await ledger.topup("acme", "1").outcome else { return }
      try await ledger.authorise("acme", "c1")
      try await ledger.answer("acme", "c1")
      guard
        case .settled(_, _, _, let charge?) = try await ledger.settle("acme", "c1", milliseconds: 60_000).outcome
      else { return }
      #expect(try await ledger.move("acme", .chargeback(of: charge), nil).refusal == .unknownTransfer)
      #expect(try await ledger.move("acme", .refund(of: topup), nil).refusal == .insufficientCredit)
      #expect(try await ledger.move("acme", .chargeback(of: topup), nil).refusal == nil)
      #expect(try await ledger.balance("acme") == .init(posted: -60_000, held: 0))
      #expect(try await ledger.account("acme").status == .locked)
      #expect(try await ledger.authorise("acme", "c2").refusal == .accountLocked)
      #expect(try await ledger.operatorBalance(ChartOfAccounts.payments(RequestKey(unchecked: "card"))) == 0)
    }
  }

  @Test("3.3 row 60: credit is used to the last increment and never past it", arguments: StoreKind.all)
  func exhaustion(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      var random = SplitMix(seed: 60)
      for round in 0..<40 {
        let rate = NanoUnits(.random(in: 1...5_000_000_000, using: &random))
        let initial = Int64.random(in: 1...90, using: &random)
        let increment = Int64.random(in: 1...60, using: &random)
        let fee = NanoUnits(.random(in: 0...100_000_000, using: &random))
        let snapshot = try LedgerUnderTest.snapshot(rate: rate, initial: initial, increment: increment, fee: fee)
        let first = snapshot.coveringCost(seconds: initial, answeredAt: nil)
        let credit = first + MicroUnits(.random(in: 0...first.count * 8, using: &random))
        let name = "acme-\(round)"
        try await ledger.create(name, credit: credit.decimal)
        #expect(try await ledger.authorise(name, "c", snapshot, maximumSeconds: 86_400).refusal == nil)
        try await ledger.answer(name, "c")
        var number: Int64 = 1
        while try await ledger.extend(name, "c", number, by: 300).refusal == nil { number += 1 }
        try await ledger.settle(name, "c", milliseconds: .max)
        let balance = try await ledger.balance(name)
        let step = MicroUnits((rate.cost(ofSeconds: increment).count + 59_999) / 60_000)
        #expect(
          balance.posted >= .zero && balance.posted <= step && balance.held == .zero,
          "seed 60 round \(round): \(balance.posted) left of \(credit), an increment costs \(step)")
      }
    }
  }
}
