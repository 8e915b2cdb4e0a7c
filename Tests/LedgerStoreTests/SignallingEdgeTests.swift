import CallModel
import LedgerCore
import Testing

/// What happens on the wire, and what it must do to the money.
@Suite("Edge cases of signalling and media")
struct SignallingEdgeTests {
  @Test(
    "3.3 row 01: a BYE within a second of the answer costs the first increment and the fee", arguments: StoreKind.all)
  func shortCall(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      try await ledger.authorise("acme", "c1", LedgerUnderTest.snapshot(fee: 10_000_000))
      try await ledger.answer("acme", "c1")
      let settled = try await ledger.settle("acme", "c1", milliseconds: 400)
      guard case .settled(400, 60, 70_000, _?) = settled.outcome else {
        Issue.record("settled as \(settled.outcome)")
        return
      }
      #expect(try await ledger.balance("acme") == .init(posted: 930_000, held: 0))
    }
  }

  @Test("3.3 row 01: a call within the grace time is settled at nothing, with a record", arguments: StoreKind.all)
  func shortCallInGrace(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      let entries = try await ledger.counts().entries
      try await ledger.authorise("acme", "c1", LedgerUnderTest.snapshot(fee: 10_000_000, grace: 1))
      try await ledger.answer("acme", "c1")
      let settled = try await ledger.settle("acme", "c1", milliseconds: 1000)
      #expect(settled.outcome == .settled(milliseconds: 1000, billedSeconds: 0, cost: 0, transfer: nil))
      #expect(try await ledger.hold("acme", "c1")?.state == .settled)
      #expect(try await ledger.counts().entries == entries)
    }
  }

  @Test("3.3 row 02: CANCEL crossing 200 frees the customer and books the carrier", arguments: StoreKind.all)
  func cancelRace(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      try await ledger.authorise("acme", "c1")
      try await ledger.answer("acme", "c1")
      let charge = CarrierCharge(trunk: TrunkName(unchecked: "north"), amount: 12_000)
      #expect(try await ledger.void("acme", "c1", reason: "cancelRace", carriers: [charge]).outcome == .voided)
      #expect(try await ledger.balance("acme") == .init(posted: 1_000_000, held: 0))
      #expect(try await ledger.operatorBalance(ChartOfAccounts.termination) == -12_000)
      #expect(try await ledger.operatorBalance(ChartOfAccounts.carrier(charge.trunk)) == 12_000)
      let hold = try await ledger.hold("acme", "c1")
      #expect(hold?.reason == "cancelRace")
      #expect(hold?.answeredAt != nil)
      #expect(hold?.cost == nil)
    }
  }

  @Test("3.3 row 03: a failed call leaves no entries and gives the credit back at once", arguments: StoreKind.all)
  func failure(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      let entries = try await ledger.counts().entries
      for reason in ["busy", "notFound", "ringTimeout", "declined"] {
        try await ledger.authorise("acme", "c-\(reason)")
        #expect(try await ledger.balance("acme").available == 940_000)
        #expect(try await ledger.void("acme", "c-\(reason)", reason: reason).outcome == .voided)
        #expect(try await ledger.balance("acme").available == 1_000_000)
      }
      #expect(try await ledger.counts().entries == entries)
      #expect(try await ledger.account("acme").openHolds == 0)
    }
  }

  @Test("3.3 row 04: early media that is never answered costs nothing", arguments: StoreKind.all)
  func earlyMedia(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      try await ledger.authorise("acme", "c1")
      ledger.advance(seconds: 90)
      #expect(try await ledger.settle("acme", "c1", milliseconds: 90_000).refusal == .notAnswered)
      #expect(try await ledger.void("acme", "c1", reason: "earlyMediaLimit").outcome == .voided)
      #expect(try await ledger.answer("acme", "c1").refusal == .alreadyResolved)
      #expect(try await ledger.balance("acme") == .init(posted: 1_000_000, held: 0))
    }
  }

  @Test(
    "3.3 row 05: a second 200 of a forked call is the same answer, and there is one charge", arguments: StoreKind.all)
  func forkedAnswers(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      try await ledger.authorise("acme", "c1")
      let first = try await ledger.answer("acme", "c1")
      let answeredAt = try await ledger.hold("acme", "c1")?.answeredAt
      ledger.advance(milliseconds: 800)
      let second = try await ledger.answer("acme", "c1")
      #expect(second.isReplay && second.seq == first.seq && second.outcome == .answered)
      #expect(try await ledger.hold("acme", "c1")?.answeredAt == answeredAt)
      try await ledger.settle("acme", "c1", milliseconds: 10_000)
      #expect(try await ledger.transfers().filter { $0.transfer.kind == .call }.count == 1)
    }
  }

  @Test("3.3 row 06: a re-INVITE makes no second hold", arguments: StoreKind.all)
  func refresh(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1", caps: AccountCaps(concurrentCalls: 1, callsPerSecond: 1))
      let first = try await ledger.authorise("acme", "c1")
      try await ledger.answer("acme", "c1")
      for seconds: Int64 in [60, 600] {
        let again = try await ledger.authorise("acme", "c1", seconds: seconds)
        #expect(again.isReplay && again.outcome == first.outcome)
      }
      #expect(try await ledger.balance("acme").held == 60_000)
      #expect(try await ledger.account("acme").openHolds == 1)
    }
  }

  @Test(
    "3.3 row 07: after a failover one hold pays, and each attempt is its own carrier cost", arguments: StoreKind.all)
  func failover(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      try await ledger.authorise("acme", "c1")
      try await ledger.answer("acme", "c1")
      let north = CarrierCharge(trunk: TrunkName(unchecked: "north"), amount: 1000)
      let south = CarrierCharge(trunk: TrunkName(unchecked: "south"), amount: 31_000)
      try await ledger.settle("acme", "c1", milliseconds: 60_000, carriers: [north, south])
      #expect(try await ledger.balance("acme").posted == 940_000)
      #expect(try await ledger.operatorBalance(ChartOfAccounts.carrier(north.trunk)) == 1000)
      #expect(try await ledger.operatorBalance(ChartOfAccounts.carrier(south.trunk)) == 31_000)
      #expect(try await ledger.operatorBalance(ChartOfAccounts.termination) == -32_000)
      #expect(try await ledger.counts().openHolds == 0)
    }
  }

  @Test("3.3 row 08: a dearer route after failover never raises the customer's price", arguments: StoreKind.all)
  func dearerRoute(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      let first = try await ledger.authorise("acme", "c1")
      let dearer = try await ledger.authorise("acme", "c1", LedgerUnderTest.snapshot(rate: 600_000_000))
      #expect(dearer.isReplay && dearer.outcome == first.outcome)
      try await ledger.answer("acme", "c1")
      let carrier = CarrierCharge(trunk: TrunkName(unchecked: "dear"), amount: 500_000)
      try await ledger.settle("acme", "c1", milliseconds: 60_000, carriers: [carrier])
      #expect(try await ledger.balance("acme").posted == 940_000)
    }
  }

  @Test("3.3 row 22: a machine that was paused past the grant bills no more than the grant", arguments: StoreKind.all)
  func pausedMachine(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      for milliseconds: Int64 in [60_001, 3 * 3_600_000, .max] {
        try await ledger.authorise("acme", "c\(milliseconds)")
        try await ledger.answer("acme", "c\(milliseconds)")
        let settled = try await ledger.settle("acme", "c\(milliseconds)", milliseconds: milliseconds)
        guard case .settled(60_000, 60, 60_000, _?) = settled.outcome else {
          Issue.record("\(milliseconds) ms settled as \(settled.outcome)")
          return
        }
      }
    }
  }

  @Test("3.3 row 23: a negative or zero duration is nought", arguments: StoreKind.all)
  func negativeDuration(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      for (index, milliseconds) in [Int64(0), -1, -3_600_000, .min].enumerated() {
        try await ledger.authorise("acme", "c\(index)")
        try await ledger.answer("acme", "c\(index)")
        let settled = try await ledger.settle("acme", "c\(index)", milliseconds: milliseconds)
        #expect(settled.outcome == .settled(milliseconds: 0, billedSeconds: 0, cost: 0, transfer: nil))
      }
      #expect(try await ledger.balance("acme") == .init(posted: 1_000_000, held: 0))
    }
  }

  @Test("3.3 row 38: a vanished peer is billed to its last packet, not to the timeout", arguments: StoreKind.all)
  func vanishedPeer(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      try await ledger.authorise("acme", "c1", seconds: 120)
      try await ledger.answer("acme", "c1")
      ledger.advance(seconds: 95)
      try await ledger.settle("acme", "c1", milliseconds: 65_000)
      #expect(try await ledger.balance("acme").posted == 935_000)
    }
  }

  @Test("3.3 row 39: a call on hold keeps its grants and is billed to its BYE", arguments: StoreKind.all)
  func mutedCall(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      try await ledger.authorise("acme", "c1")
      try await ledger.answer("acme", "c1")
      for number: Int64 in 1...3 {
        ledger.advance(seconds: 55)
        #expect(try await ledger.extend("acme", "c1", number).refusal == nil)
      }
      try await ledger.settle("acme", "c1", milliseconds: 200_000)
      #expect(try await ledger.balance("acme").posted == 800_000)
    }
  }

  @Test(
    "3.3 row 49: ends just before and just after a whole second", arguments: StoreKind.all,
    [
      (Int64(59_990), Int64(0), MicroUnits(60_000)), (60_000, 0, 60_000), (60_001, 0, 61_000), (60_010, 0, 61_000),
      (60_010, 10, 60_000), (60_011, 10, 61_000), (60_999, 999, 60_000), (1, 999, 60_000),
    ])
  func subSecond(_ kind: StoreKind, _ row: (milliseconds: Int64, tolerance: Int64, cost: MicroUnits)) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      try await ledger.authorise("acme", "c1", LedgerUnderTest.snapshot(tolerance: row.tolerance), seconds: 120)
      try await ledger.answer("acme", "c1")
      try await ledger.settle("acme", "c1", milliseconds: row.milliseconds)
      #expect(try await ledger.hold("acme", "c1")?.cost == row.cost)
    }
  }

  @Test("3.3 row 55: each leg of a conference is its own hold under its payer", arguments: StoreKind.all)
  func conference(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("host", credit: "1")
      try await ledger.create("guest", credit: "1")
      for (payer, leg) in [("host", "leg-1"), ("host", "leg-2"), ("guest", "leg-1")] {
        #expect(try await ledger.authorise(payer, leg).refusal == nil)
        try await ledger.answer(payer, leg)
      }
      #expect(try await ledger.balance("host").held == 120_000)
      #expect(try await ledger.balance("guest").held == 60_000)
      try await ledger.settle("host", "leg-1", milliseconds: 60_000)
      #expect(try await ledger.balance("host") == .init(posted: 940_000, held: 60_000))
      #expect(try await ledger.balance("guest") == .init(posted: 1_000_000, held: 60_000))
      try await ledger.settle("host", "leg-2", milliseconds: 30_000)
      try await ledger.settle("guest", "leg-1", milliseconds: 30_000)
    }
  }

  @Test("3.3 row 56: a transferred call is a new leg with a new hold that names the old one", arguments: StoreKind.all)
  func referred(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      try await ledger.authorise("acme", "c1")
      try await ledger.answer("acme", "c1")
      try await ledger.authorise("acme", "c2", linked: "c1")
      try await ledger.settle("acme", "c1", milliseconds: 20_000)
      #expect(try await ledger.hold("acme", "c2")?.linkedCall?.text == "c1")
      #expect(try await ledger.balance("acme") == .init(posted: 940_000, held: 60_000))
      try await ledger.void("acme", "c2")
    }
  }

  @Test(
    "3.3 row 63: a ringing call keeps its own hold at another's limit and can be cancelled", arguments: StoreKind.all)
  func ringingBesideLimit(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "0.12")
      try await ledger.authorise("acme", "talking")
      try await ledger.answer("acme", "talking")
      try await ledger.authorise("acme", "ringing")
      #expect(try await ledger.extend("acme", "talking", 1).refusal == .insufficientCredit)
      #expect(try await ledger.hold("acme", "ringing")?.state == .authorised)
      try await ledger.settle("acme", "talking", milliseconds: 60_000)
      #expect(try await ledger.balance("acme") == .init(posted: 60_000, held: 60_000))
      #expect(try await ledger.void("acme", "ringing", reason: "cancelled").outcome == .voided)
      #expect(try await ledger.balance("acme") == .init(posted: 60_000, held: 0))
    }
  }
}
