import CallModel
import LedgerCore
import Testing

/// Databases that go away, gateways that die, requests that come twice.
@Suite("Edge cases of outages and repeats")
struct OutageEdgeTests {
  private static func isUnavailable(
    _ cause: LedgerUnavailable.Cause, _ body: () async throws -> Void
  ) async throws -> Bool {
    do {
      try await body()
      return false
    } catch let error as LedgerUnavailable {
      return error.cause == cause
    }
  }

  @Test(
    "3.3 row 24: a ledger that is down at authorise answers unavailable; later the same key is new",
    arguments: StoreKind.all)
  func downAtAuthorise(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      await ledger.store.close()
      #expect(try await Self.isUnavailable(.closed) { try await ledger.authorise("acme", "c1") })
      #expect(try await Self.isUnavailable(.closed) { _ = try await ledger.counts() })
      try await ledger.reopen()
      let receipt = try await ledger.authorise("acme", "c1")
      #expect(receipt.refusal == nil && !receipt.isReplay)
    }
  }

  @Test(
    "3.3 row 25: a failed extension leaves the grant as it was; the call settles within it", arguments: StoreKind.all)
  func downAtExtension(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      try await ledger.authorise("acme", "c1")
      try await ledger.answer("acme", "c1")
      ledger.trouble.strike(.beforeCommit)
      #expect(try await Self.isUnavailable(.inputOutput) { try await ledger.extend("acme", "c1", 1) })
      #expect(try await ledger.hold("acme", "c1")?.grantedSeconds == 60)
      #expect(try await ledger.balance("acme").held == 60_000)
      try await ledger.settle("acme", "c1", milliseconds: 60_000)
      #expect(try await ledger.balance("acme") == .init(posted: 940_000, held: 0))
    }
  }

  @Test(
    "3.3 row 26: a settlement that failed is replayed with its key; the hold kept the money", arguments: StoreKind.all)
  func downAtSettlement(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "0.06")
      try await ledger.authorise("acme", "c1")
      try await ledger.answer("acme", "c1")
      ledger.trouble.strike(.beforeCommit)
      #expect(
        try await Self.isUnavailable(.inputOutput) { try await ledger.settle("acme", "c1", milliseconds: 60_000) })
      #expect(try await ledger.authorise("acme", "c2").refusal == .insufficientCredit)
      try await ledger.reopen()
      let settled = try await ledger.settle("acme", "c1", milliseconds: 60_000)
      #expect(settled.refusal == nil && !settled.isReplay)
      #expect(try await ledger.balance("acme") == .init(posted: 0, held: 0))
    }
  }

  @Test("3.3 row 27: a commit whose acknowledgement was lost is answered from its record", arguments: StoreKind.all)
  func lostAcknowledgement(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      let key = ledger.newKey()
      ledger.trouble.strike(.afterCommit)
      #expect(try await Self.isUnavailable(.inputOutput) { try await ledger.topup("acme", "1", key: key) })
      #expect(try await ledger.topup("acme", "1", key: key).isReplay)
      ledger.trouble.strike(.afterCommit)
      #expect(try await Self.isUnavailable(.inputOutput) { try await ledger.authorise("acme", "c1") })
      let granted = try await ledger.authorise("acme", "c1")
      #expect(granted.isReplay && granted.outcome == .granted(seconds: 60, amount: 60_000, isFinal: false))
      try await ledger.answer("acme", "c1")
      ledger.trouble.strike(.afterCommit)
      #expect(
        try await Self.isUnavailable(.inputOutput) { try await ledger.settle("acme", "c1", milliseconds: 1000) })
      #expect(try await ledger.settle("acme", "c1", milliseconds: 1000).isReplay)
      #expect(try await ledger.balance("acme") == .init(posted: 1_940_000, held: 0))
    }
  }

  @Test("3.3 row 28: a dead node's calls are settled at its last beat, once", arguments: StoreKind.all)
  func deadNode(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      try await ledger.authorise("acme", "answered", LedgerUnderTest.snapshot(initial: 1), seconds: 120)
      try await ledger.answer("acme", "answered")
      try await ledger.authorise("acme", "ringing")
      try await ledger.authorise("acme", "short", LedgerUnderTest.snapshot(initial: 1), seconds: 5)
      try await ledger.answer("acme", "short")
      for _ in 0..<42 {
        ledger.advance(seconds: 1)
        #expect(try await ledger.store.beat(ledger.node, epoch: ledger.epoch, at: ledger.now))
      }
      ledger.advance(milliseconds: NodeLease.milliseconds)
      #expect(try await ledger.store.recover(nil, at: ledger.now).isEmpty, "the lease has not lapsed yet")
      ledger.advance(milliseconds: 1)
      let recoveries = try await ledger.store.recover(nil, at: ledger.now)
      #expect(recoveries.count == 1)
      let settled = Dictionary(uniqueKeysWithValues: recoveries[0].settled.map { ($0.call.text, $0.milliseconds) })
      #expect(settled == ["answered": 42_000, "short": 5000])
      #expect(recoveries[0].voided.map(\.text) == ["ringing"])
      #expect(try await ledger.balance("acme") == .init(posted: 953_000, held: 0))
      #expect(try await ledger.store.recover(nil, at: ledger.now).isEmpty)
    }
  }

  @Test(
    "3.3 rows 21 and 28: a wall clock that is set moves no second of a dead node's calls",
    arguments: StoreKind.all, [Int64(-3600), 0, 3600])
  func deadNodeWithSetClock(_ kind: StoreKind, _ step: Int64) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      for call in ["early", "late"] {
        try await ledger.authorise("acme", call, LedgerUnderTest.snapshot(initial: 1), seconds: 120)
      }
      func answer(_ call: String, uptime: Int64) async throws {
        var operation = ledger.call("acme", call, .answer)
        operation.uptime = uptime
        #expect(try await ledger.store.perform(operation).outcome == .answered)
      }
      try await answer("early", uptime: 5000)
      ledger.advance(seconds: 10)
      #expect(try await ledger.store.beat(ledger.node, epoch: ledger.epoch, at: ledger.now, uptime: 15_000))
      ledger.advance(seconds: step)
      ledger.advance(seconds: 1)
      #expect(try await ledger.store.beat(ledger.node, epoch: ledger.epoch, at: ledger.now, uptime: 16_000))
      // Answered after the last life sign: nothing of it is certain.
      try await answer("late", uptime: 16_500)
      try await ledger.restartNode()
      let recovery = try #require(try await ledger.store.recover(ledger.node, at: ledger.now).first)
      let settled = Dictionary(uniqueKeysWithValues: recovery.settled.map { ($0.call.text, $0.milliseconds) })
      #expect(settled == ["early": 11_000, "late": 0])
    }
  }

  @Test("3.3 row 28: a node with more calls than one batch is recovered whole", arguments: StoreKind.all)
  func deadNodeWithManyCalls(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1000")
      let count = NodeLease.recoveryBatch * 2
      let operations = try (0..<count).flatMap { index in
        [try ledger.authorisation("acme", "c\(index)"), ledger.call("acme", "c\(index)", .answer)]
      }
      for result in await ledger.store.perform(operations) { #expect(try result.get().refusal == nil) }
      ledger.advance(seconds: 10)
      #expect(try await ledger.store.beat(ledger.node, epoch: ledger.epoch, at: ledger.now))
      ledger.advance(seconds: 60)
      let recoveries = try await ledger.store.recover(ledger.node, at: ledger.now)
      #expect(recoveries.count == 1 && recoveries[0].settled.count == count)
      let posted = MicroUnits(1_000_000_000 - Int64(count) * 60_000)
      #expect(try await ledger.balance("acme") == .init(posted: posted, held: 0))
    }
  }

  @Test("3.3 row 29: an answer replayed from the spool before the new life begins is billed", arguments: StoreKind.all)
  func spooledAnswer(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      try await ledger.authorise("acme", "spooled")
      try await ledger.authorise("acme", "lost")
      let answer = ledger.call("acme", "spooled", .answer)
      ledger.advance(seconds: 20)
      #expect(try await ledger.store.beat(ledger.node, epoch: ledger.epoch, at: ledger.now))
      try await ledger.reopen()
      #expect(try await ledger.store.perform(answer).outcome == .answered)
      try await ledger.restartNode()
      let recovery = try #require(try await ledger.store.recover(ledger.node, at: ledger.now).first)
      #expect(recovery.settled.map(\.milliseconds) == [20_000])
      #expect(recovery.voided.map(\.text) == ["lost"], "what was never recorded costs the customer nothing")
      #expect(try await ledger.balance("acme") == .init(posted: 940_000, held: 0))
    }
  }

  @Test("3.3 row 30: a zombie hears what was recorded and can change nothing", arguments: StoreKind.all)
  func zombie(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      for call in ["c1", "c2"] {
        try await ledger.authorise("acme", call)
        try await ledger.answer("acme", call)
      }
      let old = ledger.epoch
      ledger.advance(seconds: 30)
      try await ledger.restartNode()
      #expect(try await ledger.store.beat(ledger.node, epoch: old, at: ledger.now) == false)
      #expect(try await ledger.settle("acme", "c1", milliseconds: 30_000, epoch: old).refusal == .staleEpoch)
      #expect(
        try await ledger.store.perform(ledger.call("acme", "c1", .extend(number: 1, seconds: 60), epoch: old)).refusal
          == .staleEpoch)
      #expect(
        try await ledger.settle("acme", "c1", milliseconds: 30_000).refusal == .staleEpoch, "not this life's call")
      let recovery = try #require(try await ledger.store.recover(nil, at: ledger.now).first)
      #expect(recovery.settled.map(\.milliseconds) == [0, 0], "no beat after the answer")
      let late = try await ledger.settle("acme", "c1", milliseconds: 30_000, epoch: old)
      #expect(late.refusal == .alreadyResolved)
      #expect(late.resolved == .settled(milliseconds: 0, billedSeconds: 0, cost: 0, transfer: nil))
      #expect(try await ledger.balance("acme") == .init(posted: 1_000_000, held: 0))
    }
  }

  @Test("3.3 row 31: a settlement sent twice books once", arguments: StoreKind.all)
  func sameSettlement(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      try await ledger.authorise("acme", "c1")
      try await ledger.answer("acme", "c1")
      let first = try await ledger.settle("acme", "c1", milliseconds: 33_000)
      let counts = try await ledger.counts()
      ledger.advance(seconds: 7)
      let second = try await ledger.settle("acme", "c1", milliseconds: 33_000)
      #expect(second.isReplay && second.seq == first.seq && second.outcome == first.outcome)
      #expect(try await ledger.counts() == counts)
    }
  }

  @Test("3.3 row 31: a settlement sent twice in one batch books once", arguments: StoreKind.all)
  func sameSettlementInBatch(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      let settle = ledger.call("acme", "c1", .settle(milliseconds: 5000, reason: "hungUp", carriers: []))
      let other = ledger.call("acme", "c1", .settle(milliseconds: 6000, reason: "hungUp", carriers: []))
      let batch = [
        try ledger.authorisation("acme", "c1"), ledger.call("acme", "c1", .answer), settle, settle, other,
        ledger.call("acme", "c1", .void(reason: "late", carriers: [])),
      ]
      let receipts = try await ledger.store.perform(batch).map { try $0.get() }
      #expect(receipts[2].refusal == nil && !receipts[2].isReplay)
      #expect(receipts[3].isReplay && receipts[3].outcome == receipts[2].outcome)
      #expect(receipts[4].refusal == .conflict)
      #expect(receipts[5].refusal == .alreadyResolved && receipts[5].resolved == receipts[2].outcome)
      #expect(try await ledger.balance("acme") == .init(posted: 940_000, held: 0))
    }
  }

  @Test(
    "3.3 row 32: a second settlement with other figures is a conflict and changes nothing", arguments: StoreKind.all)
  func otherSettlement(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      try await ledger.authorise("acme", "c1")
      try await ledger.answer("acme", "c1")
      try await ledger.settle("acme", "c1", milliseconds: 33_000)
      let counts = try await ledger.counts()
      #expect(try await ledger.settle("acme", "c1", milliseconds: 33_001).refusal == .conflict)
      let carrier = CarrierCharge(trunk: TrunkName(unchecked: "north"), amount: 1)
      #expect(try await ledger.settle("acme", "c1", milliseconds: 33_000, carriers: [carrier]).refusal == .conflict)
      #expect(try await ledger.counts() == counts)
      #expect(try await ledger.settle("acme", "c1", milliseconds: 33_000).isReplay)
    }
  }

  @Test("3.3 row 33: nothing is known of an unknown call or account", arguments: StoreKind.all)
  func unknown(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      let counts = try await ledger.counts()
      #expect(try await ledger.settle("acme", "nobody", milliseconds: 1000).refusal == .unknownCall)
      #expect(try await ledger.void("acme", "nobody").refusal == .unknownCall)
      #expect(try await ledger.answer("acme", "nobody").refusal == .unknownCall)
      #expect(try await ledger.extend("acme", "nobody", 1).refusal == .unknownCall)
      #expect(try await ledger.settle("nobody", "c1", milliseconds: 1000).refusal == .unknownAccount)
      #expect(try await ledger.authorise("nobody", "c1").refusal == .unknownAccount)
      #expect(try await ledger.topup("nobody", "1").refusal == .unknownAccount)
      #expect(try await ledger.counts() == counts)
    }
  }

  @Test("3.3 row 34: void after settle and settle after void hear the first outcome", arguments: StoreKind.all)
  func lateEnds(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      for call in ["settled", "voided"] {
        try await ledger.authorise("acme", call)
        try await ledger.answer("acme", call)
      }
      let settled = try await ledger.settle("acme", "settled", milliseconds: 10_000)
      let void = try await ledger.void("acme", "settled")
      #expect(void.refusal == .alreadyResolved && void.resolved == settled.outcome)
      try await ledger.void("acme", "voided")
      let settle = try await ledger.settle("acme", "voided", milliseconds: 10_000)
      #expect(settle.refusal == .alreadyResolved && settle.resolved == .voided)
      #expect(try await ledger.extend("acme", "voided", 1).resolved == .voided)
      #expect(try await ledger.void("acme", "voided").isReplay)
      #expect(try await ledger.balance("acme") == .init(posted: 940_000, held: 0))
    }
  }

  @Test("3.3 row 34: the first outcome is still known when its record was pruned", arguments: StoreKind.all)
  func lateEndsAfterPruning(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      try await ledger.authorise("acme", "c1")
      try await ledger.answer("acme", "c1")
      let settled = try await ledger.settle("acme", "c1", milliseconds: 10_000)
      ledger.advance(seconds: 49 * 3600)
      #expect(try await ledger.store.prune(before: ledger.now) == 3)
      let again = try await ledger.settle("acme", "c1", milliseconds: 10_000)
      #expect(again.refusal == .alreadyResolved && again.resolved == settled.outcome)
      #expect(try await ledger.authorise("acme", "c1").resolved == settled.outcome)
    }
  }

  @Test("3.3 row 36: a hold never expires while its node lives", arguments: StoreKind.all)
  func noExpiry(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      try await ledger.authorise("acme", "c1")
      try await ledger.answer("acme", "c1")
      for _ in 0..<100 {
        ledger.advance(seconds: 4)
        #expect(try await ledger.store.beat(ledger.node, epoch: ledger.epoch, at: ledger.now))
        #expect(try await ledger.store.recover(nil, at: ledger.now).isEmpty)
      }
      ledger.advance(milliseconds: 500)
      #expect(try await ledger.store.prune(before: ledger.now) == 2)
      #expect(try await ledger.hold("acme", "c1")?.state == .answered)
      #expect(try await ledger.balance("acme").held == 60_000)
      #expect(try await ledger.settle("acme", "c1", milliseconds: 60_000).refusal == nil)
    }
  }

  @Test("3.3 row 61: a reader sees one state while calls settle", arguments: StoreKind.all)
  func snapshotWhileWriting(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "100")
      var calls: [[LedgerOperation]] = []
      for index in 0..<200 {
        calls.append([
          try ledger.authorisation("acme", "c\(index)"), ledger.call("acme", "c\(index)", .answer),
          ledger.call("acme", "c\(index)", .settle(milliseconds: 10_000, reason: "hungUp", carriers: [])),
        ])
      }
      let store = ledger.store
      let batches = calls
      let writer = Task {
        for batch in batches {
          for result in await store.perform(batch) {
            let receipt = try result.get()
            #expect(receipt.refusal == nil)
          }
        }
      }
      var last: Int64 = 0
      var looks = 0
      while last < 200 * 3 || looks < 3 {
        let (head, report, inside) = try await store.read { reading in
          let head = try reading.head()
          var seqs: [Int64] = []
          try reading.forEachTransfer { seqs.append($0.transfer.seq) }
          let report = try LedgerVerifier.verify(reading, full: true)
          return (head, report, try reading.head() == head && seqs.allSatisfy { $0 <= head.seq })
        }
        #expect(report.isSound && inside && report.head == head && head.seq >= last)
        last = head.seq
        looks += 1
      }
      try await writer.value
      #expect(try await ledger.balance("acme") == .init(posted: 100_000_000 - 200 * 60_000, held: 0))
    }
  }

  @Test("3.3 row 62: verification names the head that it vouches for", arguments: StoreKind.all)
  func verification(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      for full in [false, true] {
        let (report, head) = try await ledger.store.read { reading in
          (try LedgerVerifier.verify(reading, full: full), try reading.head())
        }
        #expect(report.isSound && report.head == head && report.isFull == full)
        #expect(report.rules.count == (full ? 12 : 7))
      }
    }
  }
}
