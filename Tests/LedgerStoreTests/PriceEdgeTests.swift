import CallModel
import LedgerCore
import Testing

/// Prices, clocks and caps.
@Suite("Edge cases of prices, clocks and caps")
struct PriceEdgeTests {
  /// Peak at 0.06 a minute until `change`, off-peak at 0.03 after it.
  private static func classes(
    changing change: Instant, policy: RateSnapshot.BoundaryPolicy, peakFirst: Bool = true
  ) throws -> RateSnapshot {
    let peak = try Tariff(ratePerMinute: 60_000_000, initial: 1, increment: 1)
    let offPeak = try Tariff(ratePerMinute: 30_000_000, initial: 1, increment: 1)
    return try RateSnapshot(
      deck: "retail@1", prefix: "46", destination: "Sweden", currency: .eur,
      segments: [
        .init(from: .distantPast, timeClass: peakFirst ? "peak" : "off-peak", tariff: peakFirst ? peak : offPeak),
        .init(from: change, timeClass: peakFirst ? "off-peak" : "peak", tariff: peakFirst ? offPeak : peak),
      ], boundaryPolicy: policy)
  }

  @Test("3.3 row 17: a price change during a call waits for the next call", arguments: StoreKind.all)
  func priceChange(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      try await ledger.authorise("acme", "c1")
      try await ledger.answer("acme", "c1")
      try await ledger.administer("acme", .setPlan("dear"))
      let dear = try LedgerUnderTest.snapshot(rate: 120_000_000)
      try await ledger.authorise("acme", "c2", dear)
      try await ledger.answer("acme", "c2")
      #expect(
        try await ledger.extend("acme", "c1", 1).outcome == .granted(seconds: 120, amount: 120_000, isFinal: false))
      try await ledger.settle("acme", "c1", milliseconds: 100_000)
      try await ledger.settle("acme", "c2", milliseconds: 60_000)
      #expect(try await ledger.hold("acme", "c1")?.cost == 100_000)
      #expect(try await ledger.hold("acme", "c2")?.cost == 120_000)
    }
  }

  @Test("3.3 row 18: a settlement needs no deck: the hold carries the rate", arguments: StoreKind.all)
  func deckGone(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      let snapshot = try LedgerUnderTest.snapshot(rate: 61_234_567, initial: 30, increment: 6, fee: 5_000_001)
      try await ledger.authorise("acme", "c1", snapshot)
      try await ledger.answer("acme", "c1")
      try await ledger.reopen()
      #expect(try await ledger.hold("acme", "c1")?.snapshot == snapshot)
      try await ledger.settle("acme", "c1", milliseconds: 31_000)
      #expect(try await ledger.hold("acme", "c1")?.cost == snapshot.cost(milliseconds: 31_000, answeredAt: ledger.now))
    }
  }

  @Test(
    "3.3 row 19: a call over a peak boundary is priced at its answer, or split; the hold covered the dearer",
    arguments: StoreKind.all,
    [
      (RateSnapshot.BoundaryPolicy.atAnswer, true, MicroUnits(60_000)), (.atAnswer, false, 30_000),
      (.split, true, 50_000), (.split, false, 40_000),
    ])
  func boundary(_ kind: StoreKind, _ row: (policy: RateSnapshot.BoundaryPolicy, peakFirst: Bool, cost: MicroUnits))
    async throws
  {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      let snapshot = try PriceEdgeTests.classes(
        changing: ledger.now.advanced(byMilliseconds: 40_000), policy: row.policy, peakFirst: row.peakFirst)
      #expect(
        try await ledger.authorise("acme", "c1", snapshot).outcome
          == .granted(seconds: 60, amount: 60_000, isFinal: false))
      try await ledger.answer("acme", "c1")
      ledger.advance(seconds: 60)
      try await ledger.settle("acme", "c1", milliseconds: 60_000)
      #expect(try await ledger.hold("acme", "c1")?.cost == row.cost)
    }
  }

  @Test(
    "3.3 row 19: a cheap class at the answer frees nothing early, and the hold grows into it", arguments: StoreKind.all)
  func cheaperAnswer(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "0.06")
      let change = ledger.now.advanced(byMilliseconds: 10_000)
      let snapshot = try PriceEdgeTests.classes(changing: change, policy: .atAnswer)
      try await ledger.authorise("acme", "c1", snapshot)
      ledger.advance(seconds: 20)
      try await ledger.answer("acme", "c1")
      #expect(
        try await ledger.extend("acme", "c1", 1).outcome == .granted(seconds: 120, amount: 60_000, isFinal: true))
      try await ledger.settle("acme", "c1", milliseconds: 120_000)
      #expect(try await ledger.balance("acme") == .init(posted: 0, held: 0))
    }
  }

  @Test(
    "3.3 row 20: a call over the autumn clock change bills its seconds, and the long day is one day",
    arguments: StoreKind.all)
  func clockChange(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1", zone: "Europe/Stockholm")
      // 02:59:30 in summer time; a minute later the clocks show 02:00:30.
      ledger.advance(seconds: try ledger.secondsToAutumnChange())
      try await ledger.restartNode()
      try await ledger.authorise("acme", "c1", seconds: 120)
      try await ledger.answer("acme", "c1")
      ledger.advance(seconds: 90)
      try await ledger.settle("acme", "c1", milliseconds: 90_000)
      #expect(try await ledger.hold("acme", "c1")?.cost == 90_000)
      ledger.advance(seconds: 21 * 3600)
      try await ledger.authorise("acme", "c2")
      #expect(try await ledger.counters("acme").count == 1, "25 hours are one day")
      try await ledger.void("acme", "c2")
    }
  }

  @Test("3.3 row 21: a wall clock that jumps an hour changes no duration and no order", arguments: StoreKind.all)
  func clockStep(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      for (index, step) in [Int64(3600), -3600, -7200].enumerated() {
        try await ledger.authorise("acme", "c\(index)")
        try await ledger.answer("acme", "c\(index)")
        ledger.advance(seconds: step)
        try await ledger.settle("acme", "c\(index)", milliseconds: 30_000)
        #expect(try await ledger.hold("acme", "c\(index)")?.cost == 60_000)
        #expect(try await ledger.hold("acme", "c\(index)")?.duration == 30_000)
      }
      let times = try await ledger.transfers().map(\.transfer.at)
      #expect(times == times.sorted())
      let charges = try await ledger.transfers().map(\.transfer).filter { $0.kind == .call }
      #expect(charges.map(\.eventAt) != charges.map(\.eventAt).sorted(), "the event keeps its own clock")
    }
  }

  @Test("3.3 row 40: another currency is refused, never converted", arguments: StoreKind.all)
  func currencies(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      try await ledger.create("dollar", credit: "1", currency: .usd)
      #expect(
        try await ledger.authorise("acme", "c1", LedgerUnderTest.snapshot(currency: .usd)).refusal == .currencyMismatch)
      #expect(try await ledger.authorise("acme", "c2", refused: .currencyMismatch).refusal == .currencyMismatch)
      #expect(try await ledger.move("acme", .adjust(force: false), "1", .usd).refusal == .currencyMismatch)
      let dollar = AccountName(unchecked: "dollar")
      #expect(try await ledger.move("acme", .transfer(to: dollar), "0.1").refusal == .currencyMismatch)
      #expect(try await ledger.move("acme", .transfer(to: dollar), "0.1", .usd).refusal == .currencyMismatch)
    }
  }

  @Test("3.3 row 41: the test number needs no credit, is capped, and leaves a record", arguments: StoreKind.all)
  func testNumber(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", caps: AccountCaps(perCall: 0, perDay: 0))
      let free = try LedgerUnderTest.snapshot(rate: 0, initial: 1)
      #expect(
        try await ledger.authorise("acme", "c1", free, maximumSeconds: 15).outcome
          == .granted(seconds: 15, amount: 0, isFinal: true))
      try await ledger.answer("acme", "c1")
      #expect(try await ledger.extend("acme", "c1", 1).refusal == .durationCap)
      #expect(
        try await ledger.settle("acme", "c1", milliseconds: 20_000).outcome
          == .settled(milliseconds: 15_000, billedSeconds: 15, cost: 0, transfer: nil))
      #expect(try await ledger.hold("acme", "c1")?.state == .settled)
      #expect(try await ledger.counts().entries == 0)
    }
  }

  @Test("3.3 row 41: a free call passes a day cap that was lowered below what is spent", arguments: StoreKind.all)
  func freeCallPastDayCap(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      try await ledger.authorise("acme", "c1")
      try await ledger.answer("acme", "c1")
      try await ledger.settle("acme", "c1", milliseconds: 60_000)
      try await ledger.administer("acme", .setCaps(AccountCaps(perDay: 50_000)))
      #expect(try await ledger.authorise("acme", "c2").refusal == .dailyCap)
      let free = try LedgerUnderTest.snapshot(rate: 0)
      #expect(try await ledger.authorise("acme", "c3", free).refusal == nil)
      #expect(try await ledger.extend("acme", "c3", 1).refusal == nil)
      try await ledger.void("acme", "c3")
    }
  }

  @Test("3.3 row 42: rate nought with a fee needs the fee and ends at the cap", arguments: StoreKind.all)
  func feeOnly(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "0.04")
      let feeOnly = try LedgerUnderTest.snapshot(rate: 0, fee: 50_000_000)
      #expect(try await ledger.authorise("acme", "c1", feeOnly).refusal == .insufficientCredit)
      try await ledger.topup("acme", "0.01")
      #expect(
        try await ledger.authorise("acme", "c2", feeOnly, seconds: 600, maximumSeconds: 600).outcome
          == .granted(seconds: 600, amount: 50_000, isFinal: true))
      try await ledger.answer("acme", "c2")
      #expect(try await ledger.extend("acme", "c2", 1).refusal == .durationCap)
      try await ledger.settle("acme", "c2", milliseconds: 700_000)
      #expect(try await ledger.balance("acme") == .init(posted: 0, held: 0))
    }
  }

  @Test("3.3 row 43: a fee above the credit is refused", arguments: StoreKind.all)
  func feeAboveCredit(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "0.06")
      #expect(
        try await ledger.authorise("acme", "c1", LedgerUnderTest.snapshot(fee: 61_000_000)).refusal
          == .insufficientCredit)
      #expect(
        try await ledger.authorise("acme", "c2", LedgerUnderTest.snapshot(fee: 1)).refusal == .insufficientCredit)
      #expect(try await ledger.balance("acme") == .init(posted: 60_000, held: 0))
    }
  }

  @Test(
    "3.3 row 44: a missing rate is a recorded refusal, never free", arguments: StoreKind.all,
    [LedgerRefusal.noRate, .destinationBlocked])
  func noRate(_ kind: StoreKind, _ refusal: LedgerRefusal) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      #expect(try await ledger.authorise("acme", "c1", refused: refusal).refusal == refusal)
      let again = try await ledger.authorise("acme", "c1")
      #expect(again.refusal == refusal && again.isReplay)
      #expect(try await ledger.hold("acme", "c1") == nil)
      #expect(try await ledger.answer("acme", "c1").refusal == .unknownCall)
    }
  }

  @Test("3.3 row 45: with no profitable route left the call is refused and stays refused", arguments: StoreKind.all)
  func noProfit(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      #expect(try await ledger.authorise("acme", "c1", refused: .noProfitableRoute).refusal == .noProfitableRoute)
      #expect(try await ledger.authorise("acme", "c1").refusal == .noProfitableRoute)
      #expect(try await ledger.balance("acme").held == 0)
    }
  }

  @Test("3.3 row 48: a call longer than its cap is cut there and priced normally", arguments: StoreKind.all)
  func durationCap(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      try await ledger.authorise("acme", "c1", maximumSeconds: 130)
      try await ledger.answer("acme", "c1")
      #expect(try await ledger.extend("acme", "c1", 1).refusal == nil)
      #expect(
        try await ledger.extend("acme", "c1", 2).outcome == .granted(seconds: 130, amount: 130_000, isFinal: true))
      #expect(try await ledger.extend("acme", "c1", 3).refusal == .durationCap)
      try await ledger.settle("acme", "c1", milliseconds: 999_000)
      #expect(try await ledger.hold("acme", "c1")?.cost == 130_000)
    }
  }

  @Test("3.3 row 48: a tariff's maximum cost disconnects, or is the last that the call costs", arguments: StoreKind.all)
  func maximumCost(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      let cut = try LedgerUnderTest.snapshot(maximumCost: 100_000_000)
      try await ledger.authorise("acme", "cut", cut)
      try await ledger.answer("acme", "cut")
      #expect(
        try await ledger.extend("acme", "cut", 1).outcome == .granted(seconds: 100, amount: 100_000, isFinal: true))
      #expect(try await ledger.extend("acme", "cut", 2).refusal == .durationCap)
      try await ledger.settle("acme", "cut", milliseconds: 200_000)
      let free = try LedgerUnderTest.snapshot(maximumCost: 100_000_000, strategy: .free)
      try await ledger.authorise("acme", "free", free)
      try await ledger.answer("acme", "free")
      for number: Int64 in 1...5 { #expect(try await ledger.extend("acme", "free", number).refusal == nil) }
      try await ledger.settle("acme", "free", milliseconds: 360_000)
      #expect(try await ledger.balance("acme") == .init(posted: 800_000, held: 0))
      #expect(try await ledger.hold("acme", "free")?.duration == 360_000)
    }
  }

  @Test("3.3 row 50: the day cap stops an extension and rolls at the account's own midnight", arguments: StoreKind.all)
  func dayCap(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1", caps: AccountCaps(perDay: 100_000), zone: "Europe/Stockholm")
      // 22:30 UTC is 23:30 in Stockholm in November.
      ledger.now = Instant(seconds: 1_795_000_000 / 86_400 * 86_400 + 22 * 3600 + 1800)
      try await ledger.restartNode()
      let bySecond = try LedgerUnderTest.snapshot(initial: 1)
      try await ledger.authorise("acme", "c1", bySecond)
      try await ledger.answer("acme", "c1")
      try await ledger.settle("acme", "c1", milliseconds: 60_000)
      #expect(
        try await ledger.authorise("acme", "c2", bySecond).outcome
          == .granted(seconds: 40, amount: 40_000, isFinal: true))
      try await ledger.answer("acme", "c2")
      #expect(try await ledger.extend("acme", "c2", 1).refusal == .dailyCap)
      #expect(try await ledger.authorise("acme", "c3", bySecond).refusal == .dailyCap)
      ledger.advance(seconds: 1799)
      #expect(try await ledger.extend("acme", "c2", 2).refusal == .dailyCap, "a second before midnight")
      ledger.advance(seconds: 1)
      #expect(
        try await ledger.extend("acme", "c2", 3).outcome == .granted(seconds: 100, amount: 100_000, isFinal: true))
      #expect(try await ledger.authorise("acme", "c4", bySecond).refusal == .dailyCap, "the new day is full")
      try await ledger.settle("acme", "c2", milliseconds: 90_000)
      let counters = try await ledger.counters("acme")
      #expect(counters.map(\.spent) == [60_000, 90_000])
      #expect(counters.map(\.held) == [0, 0])
      #expect(
        try await ledger.authorise("acme", "c5", bySecond).outcome
          == .granted(seconds: 10, amount: 10_000, isFinal: true))
      try await ledger.void("acme", "c5")
    }
  }

  @Test("3.3 row 51: parallel INVITEs are counted in the same commit as their holds", arguments: StoreKind.all)
  func concurrencyCap(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "10", caps: AccountCaps(concurrentCalls: 3))
      let receipts = try await ledger.race((0..<20).map { try ledger.authorisation("acme", "c\($0)") })
      #expect(receipts.filter { $0.refusal == nil }.count == 3)
      #expect(receipts.filter { $0.refusal == .concurrencyCap }.count == 17)
      let open = try await ledger.store.read { try $0.holds(HoldFilter(openOnly: true, limit: 10)) }
      try await ledger.void("acme", open[0].call.text)
      #expect(try await ledger.authorise("acme", "next").refusal == nil)
      #expect(try await ledger.authorise("acme", "one-more").refusal == .concurrencyCap)
    }
  }

  @Test("3.3 row 52: a flood of INVITE and CANCEL is capped, leaves no entries and is pruned", arguments: StoreKind.all)
  func flood(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1", caps: AccountCaps(callsPerSecond: 5))
      let entries = try await ledger.counts().entries
      for second in 0..<20 {
        for index in 0..<7 {
          let receipt = try await ledger.authorise("acme", "c-\(second)-\(index)")
          #expect(receipt.refusal == (index < 5 ? nil : .rateCap))
          if index < 5 { try await ledger.void("acme", "c-\(second)-\(index)", reason: "cancelled") }
        }
        ledger.advance(seconds: 1)
      }
      try await ledger.authorise("acme", "alive")
      #expect(try await ledger.counts().entries == entries)
      #expect(try await ledger.balance("acme").held == 60_000)
      ledger.advance(seconds: LedgerRetention.callOperationHours * 3600)
      // 100 calls of two answers, a hold and a grant; 40 refusals; the living call's own answer.
      #expect(try await ledger.store.prune(before: ledger.now) == 100 * 4 + 40 + 1)
      let left = try await ledger.store.read { try $0.operations(afterAccount: 0, key: "", limit: 100) }
      #expect(left.map(\.key).allSatisfy { $0.hasPrefix("k/") } && left.count == 2)
      #expect(try await ledger.hold("acme", "alive")?.state == .authorised)
      #expect(try await ledger.void("acme", "alive").outcome == .voided)
    }
  }

  @Test(
    "3.3 row 54: an emergency call is not refused for credit, caps, a lock, a price or a currency",
    arguments: StoreKind.all)
  func emergency(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      let nothing = AccountCaps(
        concurrentCalls: 0, callsPerSecond: 0, perCall: 0, perDay: 0, highestRate: 0, countries: [])
      try await ledger.create("acme", caps: nothing)
      try await ledger.administer("acme", .lock)
      for (call, refused) in [("c1", nil), ("c2", LedgerRefusal.noRate), ("c3", .currencyMismatch)] {
        #expect(
          try await ledger.authorise("acme", call, emergency: true, refused: refused).outcome
            == .granted(seconds: 14_400, amount: 0, isFinal: true))
        try await ledger.answer("acme", call)
      }
      #expect(try await ledger.extend("acme", "c1", 1).refusal == .durationCap)
      let dollars = try LedgerUnderTest.snapshot(currency: .usd)
      try await ledger.administer("acme", .close)
      #expect(try await ledger.authorise("acme", "c4", dollars, emergency: true).refusal == nil)
      for call in ["c1", "c2", "c3"] {
        #expect(try await ledger.settle("acme", call, milliseconds: 600_000).refusal == nil)
        #expect(try await ledger.hold("acme", call)?.cost == 0)
      }
      try await ledger.void("acme", "c4")
      #expect(try await ledger.account("acme").status == .closed)
      #expect(try await ledger.authorise("acme", "c5", emergency: true).refusal == .accountClosed)
      #expect(try await ledger.counts().entries == 0)
    }
  }

  @Test("3.3 row 59: the connection fee is charged once, however often the call is extended", arguments: StoreKind.all)
  func oneFee(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "10")
      try await ledger.authorise("acme", "c1", LedgerUnderTest.snapshot(fee: 25_000_000))
      try await ledger.answer("acme", "c1")
      for number: Int64 in 1...20 { try await ledger.extend("acme", "c1", number) }
      #expect(try await ledger.balance("acme").held == 1_285_000)
      try await ledger.settle("acme", "c1", milliseconds: 1_260_000)
      #expect(try await ledger.hold("acme", "c1")?.cost == 1_285_000)
      #expect(try await ledger.transfers().filter { $0.transfer.call != nil }.count == 1)
    }
  }
}

extension LedgerUnderTest {
  /// Seconds from now to half a minute before the clocks of Stockholm next go back.
  fileprivate func secondsToAutumnChange() throws -> Int64 {
    let zone = try CivilZone("Europe/Stockholm")
    var later = now
    for _ in 0..<(400 * 24) {
      let next = later.advanced(byMilliseconds: 3_600_000)
      if zone.offsetSeconds(at: next) < zone.offsetSeconds(at: later) {
        let seconds = next.milliseconds / 1000 / 3600 * 3600
        return seconds - 30 - now.milliseconds / 1000
      }
      later = next
    }
    throw LedgerFault("no clock change in a year")
  }
}
