import CallModel
import LedgerCore
import Testing

/// Input that nobody sends on purpose: answered by name, never by a trap.
@Suite("Extreme input")
struct ExtremeInputTests {
  static let extremes: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]

  @Test("caps out of range are refused and change nothing", arguments: StoreKind.all)
  func caps(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      let wrong = [
        AccountCaps(concurrentCalls: -1), AccountCaps(callsPerSecond: -1), AccountCaps(perCall: .min),
        AccountCaps(perDay: .min), AccountCaps(highestRate: -1), AccountCaps(countries: [0]),
        AccountCaps(countries: [46, 2000]), AccountCaps(countries: Array(1...301)),
      ]
      for (index, caps) in wrong.enumerated() {
        #expect(try await ledger.administer("acme", .setCaps(caps)).refusal == .amountOutOfRange)
        #expect(try await ledger.create("new-\(index)", caps: caps).refusal == .amountOutOfRange)
      }
      #expect(try await ledger.account("acme").caps == AccountCaps())
      let largest = AccountCaps(
        concurrentCalls: .max, callsPerSecond: .max, perCall: .max, perDay: .max, highestRate: .max,
        countries: Array(1...300))
      #expect(try await ledger.administer("acme", .setCaps(largest)).outcome == .changed)
      #expect(try await ledger.account("acme").caps == largest)
      #expect(try await ledger.authorise("acme", "c1").refusal == nil)
      #expect(try await ledger.extend("acme", "c1", 1).refusal == nil)
    }
  }

  @Test("credit limits out of range are refused", arguments: StoreKind.all)
  func creditLimits(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      for limit in [.min, -1, Credits.maximumMicros + 1, .max] as [MicroUnits] {
        #expect(try await ledger.create("a\(limit)", kind: .postpaid, creditLimit: limit).refusal == .amountOutOfRange)
      }
      #expect(try await ledger.create("pre", kind: .prepaid, creditLimit: 1).refusal == .amountOutOfRange)
      #expect(try await ledger.create("own", kind: .revenue).refusal == .amountOutOfRange)
      try await ledger.create("acme", kind: .postpaid, creditLimit: Credits.maximumMicros)
      for limit in [.min, -1, Credits.maximumMicros + 1, .max] as [MicroUnits] {
        #expect(try await ledger.administer("acme", .setCreditLimit(limit)).refusal == .amountOutOfRange)
      }
      try await ledger.topup("acme", Credits.maximumMicros.decimal)
      let dearest = try LedgerUnderTest.snapshot(rate: Tariff.maximumPrice, fee: Tariff.maximumPrice)
      #expect(try await ledger.authorise("acme", "c1", dearest, seconds: .max, maximumSeconds: .max).refusal == nil)
      try await ledger.answer("acme", "c1")
      #expect(try await ledger.settle("acme", "c1", milliseconds: .max).refusal == nil)
      #expect(try await ledger.hold("acme", "c1")?.cost == (Tariff.maximumPrice * 1441).roundedUp)
    }
  }

  @Test("any number of seconds and any extension number is answered", arguments: StoreKind.all)
  func seconds(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "100000")
      for (index, value) in Self.extremes.enumerated() {
        for (other, limit) in Self.extremes.enumerated() {
          let call = "c\(index)-\(other)"
          #expect(try await ledger.authorise("acme", call, seconds: value, maximumSeconds: limit).refusal == nil)
          try await ledger.answer("acme", call)
          let more = try await ledger.extend("acme", call, value, by: limit)
          #expect(more.refusal == nil || more.refusal == .durationCap)
          #expect(try await ledger.settle("acme", call, milliseconds: value).refusal == nil)
        }
      }
    }
  }

  @Test("extensions out of order, repeated or before the answer count once each", arguments: StoreKind.all)
  func extensionNumbers(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "10")
      try await ledger.authorise("acme", "c1")
      #expect(
        try await ledger.extend("acme", "c1", 7).outcome == .granted(seconds: 120, amount: 120_000, isFinal: false))
      try await ledger.answer("acme", "c1")
      #expect(
        try await ledger.extend("acme", "c1", 3).outcome == .granted(seconds: 180, amount: 180_000, isFinal: false))
      let again = try await ledger.extend("acme", "c1", 7)
      #expect(again.isReplay && again.outcome == .granted(seconds: 120, amount: 120_000, isFinal: false))
      #expect(try await ledger.extend("acme", "c1", 7, by: 61).refusal == .conflict)
      #expect(try await ledger.hold("acme", "c1")?.extensions == 2)
      #expect(try await ledger.balance("acme").held == 180_000)
      try await ledger.settle("acme", "c1", milliseconds: 180_000)
    }
  }

  @Test(
    "any instant is booked, in any zone", arguments: StoreKind.all, ["UTC", "Europe/Stockholm", "America/St_Johns"])
  func instants(_ kind: StoreKind, _ zone: String) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      let normal = ledger.now
      for (index, milliseconds) in [Int64.min, -1, 0, normal.milliseconds, .max].enumerated() {
        ledger.now = Instant(milliseconds: milliseconds)
        let name = "acme-\(index)"
        try await ledger.create(name, credit: "1", caps: AccountCaps(callsPerSecond: 10, perDay: 1_000_000), zone: zone)
        for call in ["settled", "voided", "recovered"] {
          #expect(try await ledger.authorise(name, call).refusal == nil)
        }
        try await ledger.answer(name, "settled")
        try await ledger.answer(name, "recovered")
        #expect(try await ledger.extend(name, "settled", 1).refusal == nil)
        #expect(try await ledger.settle(name, "settled", milliseconds: 60_000).refusal == nil)
        try await ledger.void(name, "voided")
        _ = try await ledger.store.beat(ledger.node, epoch: ledger.epoch, at: ledger.now)
        try await ledger.restartNode()
        #expect(try await ledger.store.recover(nil, at: ledger.now).first?.settled.count == 1)
        let account = try await ledger.account(name)
        let (posted, held) = try await ledger.store.read { [now = ledger.now] in try $0.balance(of: account, at: now) }
        #expect(held == 0 && posted <= 1_000_000)
      }
      #expect(try await ledger.store.prune(before: .distantPast) == 0)
      _ = try await ledger.store.prune(before: .distantFuture)
    }
  }

  @Test(
    "carriers beyond the limit or with impossible amounts are refused; the call stays open", arguments: StoreKind.all)
  func carriers(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      try await ledger.authorise("acme", "c1")
      try await ledger.answer("acme", "c1")
      func carrier(_ amount: MicroUnits, _ overrun: MicroUnits = 0, _ index: Int = 0) -> CarrierCharge {
        CarrierCharge(trunk: TrunkName(unchecked: "t\(index)"), amount: amount, overrun: overrun)
      }
      let wrong: [[CarrierCharge]] = [
        [carrier(-1)], [carrier(.min)], [carrier(.max)], [carrier(CarrierCharge.maximumAmount + 1)], [carrier(1, 2)],
        [carrier(1, -1)], [carrier(1, .min)], [carrier(.max, .max)], (0..<17).map { carrier(1, 0, $0) },
        [carrier(5), carrier(-1)],
      ]
      let counts = try await ledger.counts()
      for carriers in wrong {
        #expect(
          try await ledger.settle("acme", "c1", milliseconds: 1, carriers: carriers).refusal == .amountOutOfRange)
        #expect(try await ledger.void("acme", "c1", carriers: carriers).refusal == .amountOutOfRange)
      }
      #expect(try await ledger.counts() == counts)
      let most = (0..<16).map { carrier(CarrierCharge.maximumAmount, CarrierCharge.maximumAmount, $0) }
      #expect(try await ledger.settle("acme", "c1", milliseconds: 1, carriers: most).refusal == nil)
      #expect(try await ledger.operatorBalance(ChartOfAccounts.overrun) == -CarrierCharge.maximumAmount * 16)
    }
  }

  @Test("long and odd texts are kept within their limits", arguments: StoreKind.all)
  func texts(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      let odd = String(repeating: "é\u{0}'\";--/\n", count: 200)
      for (index, text) in ["", odd, String(repeating: "🜁", count: 1000)].enumerated() {
        let movement = MoneyMovement(
          account: AccountName(unchecked: "acme"), key: ledger.newKey(), .adjust(force: false),
          amount: try Credits(micros: 1, .eur), detail: text)
        let receipt = try await ledger.store.perform(LedgerOperation(.move(movement), at: ledger.now, actor: text))
        #expect(receipt.refusal == nil)
        let last = try #require(try await ledger.transfers().last?.transfer)
        // A character cut in two is replaced by one of three bytes.
        #expect(last.detail.utf8.count <= LedgerOperation.maximumDetailBytes + 9)
        #expect(last.actor.utf8.count <= LedgerOperation.maximumActorBytes + 9)
        #expect(
          try await ledger.store.perform(LedgerOperation(.move(movement), at: ledger.now, actor: "again")).isReplay)
        try await ledger.authorise("acme", "c\(index)")
        try await ledger.void("acme", "c\(index)", reason: text)
      }
    }
  }

  @Test("closed, empty and repeated requests have plain answers", arguments: StoreKind.all)
  func plainAnswers(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      #expect(await ledger.store.perform([]).isEmpty)
      try await ledger.create("acme", credit: "1")
      #expect(try await ledger.create("acme").refusal == .accountExists)
      let key = ledger.newKey()
      #expect(try await ledger.administer("acme", .lock, key: key).outcome == .changed)
      #expect(try await ledger.administer("acme", .lock, key: key).isReplay)
      #expect(try await ledger.administer("acme", .unlock, key: key).refusal == .conflict)
      #expect(try await ledger.account("acme").status == .locked)
      #expect(try await ledger.administer("nobody", .lock).refusal == .unknownAccount)
      #expect(try await ledger.store.recover(NodeID(unchecked: "nobody"), at: ledger.now).isEmpty)
      #expect(try await ledger.store.beat(NodeID(unchecked: "nobody"), epoch: 1, at: ledger.now) == false)
      for epoch in ExtremeInputTests.extremes where epoch != 1 {
        #expect(try await ledger.answer("acme", "c", epoch: epoch).refusal == .unknownCall)
      }
    }
  }

  @Test("a time zone that nobody knows is refused before an account depends on it", arguments: StoreKind.all)
  func unknownZone(_ kind: StoreKind) async throws {
    let ledger = try await LedgerUnderTest(kind)
    #expect(try await ledger.create("lost", zone: "Mars/Olympus").refusal == .unknownZone)
    #expect(try await ledger.store.read { try $0.customer(named: "lost") } == nil)
    try await ledger.create("acme", credit: "1")
    #expect(try await ledger.administer("acme", .setZone("Mars/Olympus")).refusal == .unknownZone)
    #expect(try await ledger.account("acme").zone == "UTC")
    #expect(try await ledger.authorise("acme", "c1").refusal == nil)
    try await ledger.finish()
  }
}
