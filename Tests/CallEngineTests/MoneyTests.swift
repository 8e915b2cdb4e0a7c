import AppProtocol
import CallEngine
import CallModel
import LedgerCore
import LedgerSQLite
import RoutingCore
import SDPCore
import SIPCore
import Testing

@Suite("The money of calls, with the ledger on disk")
struct MoneyTests {
  @Test("3.3 row 1: answer, then BYE within a second: the first increment; within the grace time nothing")
  func shortCall() async throws {
    try await PaidBench.run("10") { paid in
      let call = try await paid.talk("+46711234567")
      try await paid.pass(milliseconds: 400)
      try await paid.bye()
      #expect(paid.bench.summary(of: call)?.costMicro == 70_000, "60 s and the fee")
      #expect(paid.bench.summary(of: call)?.billedSeconds == 60)
      let graceful = try await paid.talk("+46721234567")
      try await paid.pass(milliseconds: 1_900)
      try await paid.bye(1)
      #expect(paid.bench.summary(of: graceful)?.costMicro == 0)
      #expect(paid.bench.records.count == 2)
      #expect(try await paid.charges() == [70_000])
    }
  }

  @Test("3.3 row 2: a CANCEL that crosses the 200: void, flagged")
  func cancelRace() async throws {
    try await PaidBench.run("10") { paid in
      let call = try #require(try await paid.place())
      try paid.bench.progress(180)
      try await paid.hangUp(call)
      #expect(paid.bench.summary(of: call)?.cause == .canceled)
      paid.bench.hungUp(crossing: true)
      #expect(paid.bench.records.first?.flags == [.cancelRace])
      #expect(paid.bench.count("ledger void") == 1)
      #expect(paid.bench.count("ledger answer") == 0)
      #expect(try await paid.charges().isEmpty)
    }
  }

  @Test("3.3 row 3: failures and the ring timeout: void, all is available again", arguments: [404, 486, 503, 603, 487])
  func failed(_ status: Int) async throws {
    try await PaidBench.run("10") { paid in
      let call = try #require(try await paid.place())
      #expect(try await paid.account().held == 60_000)
      paid.bench.fail(status)
      if status == 503 { paid.bench.fail(status, 1) }
      try await paid.settle()
      #expect(paid.bench.summary(of: call)?.costMicro == 0)
      #expect(try await paid.account().available == 10_000_000)
      #expect(try await paid.charges().isEmpty)
    }
  }

  @Test("3.3 row 4: early media that is never answered: void after its limit")
  func earlyMedia() async throws {
    try await PaidBench.run("10") { paid in
      let call = try #require(try await paid.place())
      try paid.bench.progress(183, sdp: true)
      try await paid.pass(seconds: 90)
      #expect(paid.bench.summary(of: call)?.cause == .noAnswer)
      #expect(paid.bench.summary(of: call)?.costMicro == 0)
    }
  }

  @Test("3.3 row 5: two 200: one answer, one charge")
  func forked() async throws {
    try await PaidBench.run("10") { paid in
      let call = try await paid.talk()
      try paid.bench.answer()
      try await paid.pass(seconds: 61)
      try await paid.bye()
      #expect(paid.bench.count("ledger answer") == 1)
      #expect(try await paid.charges() == [61_000])
      #expect(paid.bench.summary(of: call)?.costMicro == 61_000)
    }
  }

  @Test("3.3 row 6: a re-INVITE makes no hold and no charge")
  func reinvite() async throws {
    try await PaidBench.run("10") { paid in
      let call = try await paid.talk()
      let before = try await paid.hold(call)
      paid.bench.feed(
        .sip(
          .offered(
            paid.bench.invites[0].handle, ExchangeID(1), try paid.bench.peer.offer(.sendAndReceive))))
      try await paid.settle()
      #expect(try await paid.hold(call) == before)
      try await paid.pass(seconds: 1)
      try await paid.bye()
      #expect(try await paid.charges() == [60_000])
    }
  }

  @Test("3.3 rows 7 and 8: failover: the same hold at the same price")
  func failover() async throws {
    try await PaidBench.run("10") { paid in
      let call = try #require(try await paid.place())
      let before = try await paid.hold(call)
      paid.bench.fail(503)
      try await paid.settle()
      #expect(try await paid.hold(call) == before)
      paid.bench.secured(call)
      try paid.bench.answer(1)
      try await paid.settle()
      try await paid.pass(seconds: 60)
      try await paid.bye(1)
      #expect(try await paid.charges() == [60_000])
      #expect(paid.bench.records.first?.attempts.map(\.sipStatus) == [503, 200])
    }
  }

  @Test("3.3 row 9: the last credit goes to one call; the other is refused before any INVITE")
  func lastCredit() async throws {
    try await PaidBench.run("0.06") { paid in
      let call = try #require(try await paid.place())
      let refused = try await paid.place()
      #expect(refused == nil)
      #expect(paid.bench.lastRefusal?.refusal == .insufficientCredit)
      #expect(paid.bench.invites.count == 1)
      #expect(paid.bench.count("media close") == 1)
      try await paid.hangUp(call)
    }
  }

  @Test("3.3 row 11: a refused extension ends that call at its own instant; others keep theirs")
  func refusedExtension() async throws {
    try await PaidBench.run("0.12") { paid in
      let first = try await paid.talk()
      try await paid.pass(seconds: 10)
      let second = try await paid.talk()
      try await paid.pass(milliseconds: 49_999)
      #expect(paid.bench.summary(of: first) == nil)
      try await paid.pass(milliseconds: 1)
      let summary = try #require(paid.bench.summary(of: first))
      #expect(summary.durationMilliseconds == 60_000)
      #expect(summary.failure?.refusal == .insufficientCredit)
      #expect(paid.bench.summary(of: second) == nil)
      try await paid.pass(seconds: 10)
      #expect(paid.bench.summary(of: second)?.durationMilliseconds == 60_000)
      #expect(try await paid.charges() == [60_000, 60_000])
    }
  }

  @Test("3.3 row 13: a top-up in the last grant is used at once, and the warning withdrawn")
  func topUp() async throws {
    try await PaidBench.run("0.06") { paid in
      let call = try await paid.talk()
      #expect(paid.bench.count("app credit 60") == 1)
      try await paid.pass(seconds: 58)
      #expect(paid.bench.count("app credit 5") == 1)
      try await paid.topUp("1")
      paid.bench.feed(.accountChanged(Scene.account, environment: "production"))
      try await paid.settle()
      #expect(paid.bench.ladder().last == "app credit -")
      try await paid.pass(seconds: 10)
      #expect(paid.bench.summary(of: call) == nil)
      try await paid.hangUp(call)
      #expect(paid.bench.summary(of: call)?.costMicro == 68_000)
    }
  }

  @Test(
    "3.3 rows 14 and 15: credit taken away, or the account closed: the grant is kept, no more is given",
    arguments: [true, false])
  func noMore(_ closes: Bool) async throws {
    try await PaidBench.run("1") { paid in
      let call = try await paid.talk()
      if closes {
        try await paid.administer(.close)
      } else {
        try await paid.move(.adjust(force: false), "-0.94")
      }
      paid.bench.feed(.accountChanged(Scene.account, environment: "production"))
      try await paid.pass(milliseconds: 59_999)
      #expect(paid.bench.summary(of: call) == nil)
      try await paid.pass(milliseconds: 1)
      #expect(paid.bench.summary(of: call)?.costMicro == 60_000)
      #expect(paid.bench.summary(of: call)?.failure?.refusal == (closes ? .accountClosed : .insufficientCredit))
    }
  }

  @Test("3.3 row 16: a locked account's calls are cut at once and charged to that instant")
  func locked() async throws {
    try await PaidBench.run("1") { paid in
      let call = try await paid.talk()
      let ringing = try #require(try await paid.place())
      try await paid.pass(seconds: 7)
      try await paid.administer(.lock)
      let start = paid.bench.effects.count
      paid.bench.feed(.accountLocked(Scene.account, environment: "production"))
      #expect(paid.bench.ladder(since: start).contains("media mute near"))
      try await paid.settle()
      #expect(paid.bench.summary(of: call)?.durationMilliseconds == 7_000)
      #expect(paid.bench.summary(of: call)?.failure?.refusal == .accountLocked)
      #expect(paid.bench.summary(of: ringing)?.costMicro == 0)
      #expect(try await paid.charges() == [60_000])
    }
  }

  @Test("3.3 row 22: the machine was paused past the grant: no more is charged than was granted")
  func paused() async throws {
    try await PaidBench.run("0.06") { paid in
      let call = try await paid.talk()
      paid.bench.step(to: paid.bench.now.advanced(byMilliseconds: 3_600_000))
      try await paid.settle()
      #expect(paid.bench.summary(of: call)?.durationMilliseconds == 60_000)
      #expect(paid.bench.summary(of: call)?.costMicro == 60_000)
    }
  }

  @Test("3.3 row 21 and 23: the clock on the wall steps; the duration is that of the monotonic one")
  func clockSteps() async throws {
    try await PaidBench.run("1") { paid in
      let call = try await paid.talk()
      try await paid.pass(seconds: 61)
      var effects: [EngineEffect] = []
      // An hour back on the wall, and a hang-up.
      paid.bench.engine.handle(
        .request(paid.bench.session, RequestNumber(99), .hangUp(call), paid.bench.caller), at: paid.bench.now,
        clock: paid.bench.clock.advanced(byMilliseconds: -3_600_000), into: &effects)
      #expect(effects.compactMap(Bench.word).contains("ledger settle 61000"))
      for effect in effects {
        guard case .ledger(_, let step, let operation) = effect else { continue }
        let receipt = try await paid.store.perform(paid.operation(.call(operation)))
        paid.bench.feed(.ledger(operation.call, step, .success(receipt)))
      }
      #expect(paid.bench.summary(of: call)?.costMicro == 61_000)
    }
  }

  @Test("3.3 row 24: no ledger at authorise: refused, nothing dialled")
  func awayAtAuthorise() async throws {
    try await PaidBench.run("1") { paid in
      paid.isAway = true
      let refused = try await paid.place()
      #expect(refused == nil)
      #expect(paid.bench.lastRefusal?.refusal == .billingUnavailable)
      #expect(paid.bench.invites.isEmpty)
      #expect(paid.bench.engine.isIdle)
    }
  }

  @Test("3.3 row 24, too late: an answer after the refusal is given back")
  func lateAuthorise() async throws {
    try await PaidBench.run("1") { paid in
      paid.bench.request(.call(PlaceCall(kind: .phone, target: Scene.phone, offer: Scene.appOffer())))
      paid.bench.pass(milliseconds: 1_999)
      #expect(paid.bench.lastRefusal == nil)
      paid.bench.pass(milliseconds: 1)
      #expect(paid.bench.lastRefusal?.refusal == .billingUnavailable)
      #expect(paid.bench.count("ledger void") == 0)
      try await paid.settle()
      #expect(paid.bench.count("ledger void") == 1)
      #expect(try await paid.account().available == 1_000_000)
      #expect(paid.bench.engine.isIdle)
    }
  }

  @Test("3.3 row 25: no ledger at the extension: to the end of the grant, no further")
  func awayAtExtension() async throws {
    try await PaidBench.run("1") { paid in
      let call = try await paid.talk()
      try await paid.pass(seconds: 50)
      paid.isAway = true
      try await paid.pass(milliseconds: 9_999)
      #expect(paid.bench.summary(of: call) == nil)
      try await paid.pass(milliseconds: 1)
      #expect(paid.bench.summary(of: call)?.failure?.refusal == .billingUnavailable)
      #expect(paid.bench.summary(of: call)?.durationMilliseconds == 60_000)
      #expect(paid.bench.summary(of: call)?.costMicro == nil)
      try await paid.comeBack()
      #expect(try await paid.charges() == [60_000])
    }
  }

  @Test("3.3 row 25, back in time: the same question is asked again, and the call goes on")
  func backInTime() async throws {
    try await PaidBench.run("1") { paid in
      let call = try await paid.talk()
      try await paid.pass(seconds: 50)
      paid.isAway = true
      try await paid.pass(seconds: 7)
      paid.isAway = false
      try await paid.pass(seconds: 20)
      #expect(paid.bench.summary(of: call) == nil)
      #expect(paid.bench.count("ledger extend 1") > 1)
      #expect(paid.bench.count("ledger extend 2") == 0)
      try await paid.hangUp(call)
      #expect(paid.bench.summary(of: call)?.costMicro == 77_000)
    }
  }

  @Test("3.3 row 26: no ledger at settlement: the call ends without its cost; the spool settles it later")
  func awayAtSettlement() async throws {
    try await PaidBench.run("1") { paid in
      let call = try await paid.talk()
      try await paid.pass(seconds: 30)
      paid.isAway = true
      try await paid.hangUp(call)
      #expect(paid.bench.summary(of: call)?.costMicro == nil)
      #expect(paid.bench.engine.isIdle)
      #expect(try await paid.account().held == 60_000, "the money is safe meanwhile")
      try await paid.comeBack()
      #expect(try await paid.charges() == [60_000])
    }
  }

  @Test("3.3 row 27: an answer that is lost: the question again gives the first outcome")
  func lostReceipt() async throws {
    try await PaidBench.run("1") { paid in
      let call = try await paid.talk()
      try await paid.pass(seconds: 54)
      paid.bench.step(to: paid.bench.now.advanced(byMilliseconds: 1000))
      // The ledger grants, the receipt is lost.
      for (step, operation) in paid.bench.drainQuestions() {
        _ = try await paid.store.perform(paid.operation(.call(operation)))
        paid.bench.feed(.ledger(operation.call, step, .failure(LedgerUnavailable(.inputOutput, "lost"))))
      }
      try await paid.pass(seconds: 2)
      #expect(try await paid.hold(call)?.extensions == 1)
      try await paid.pass(seconds: 10)
      try await paid.hangUp(call)
      #expect(paid.bench.summary(of: call)?.costMicro == 67_000)
    }
  }

  @Test("3.3 row 37: a peer that ignores BYE costs the customer no more than the hold")
  func overrun() async throws {
    try await PaidBench.run("0.06") { paid in
      let call = try await paid.talk()
      try await paid.pass(seconds: 300)
      paid.bench.bye()
      #expect(paid.bench.summary(of: call)?.costMicro == 60_000)
      #expect(try await paid.account().posted == 0)
    }
  }

  @Test("3.3 row 38: a peer that vanished: the media timeout ends the call, charged to the last packet")
  func vanished() async throws {
    try await PaidBench.run("1") { paid in
      let call = try await paid.talk()
      try await paid.pass(seconds: 105)
      // The leg has been silent for five seconds when it says so.
      paid.bench.feed(.media(call, .silence(.far)))
      try await paid.pass(milliseconds: 24_999)
      #expect(paid.bench.summary(of: call) == nil)
      try await paid.pass(milliseconds: 1)
      #expect(paid.bench.summary(of: call)?.durationMilliseconds == 100_000)
      #expect(paid.bench.summary(of: call)?.costMicro == 100_000)
      #expect(paid.bench.summary(of: call)?.failure?.code == .mediaLost)
    }
  }

  @Test("3.3 row 38: a muted app whose way is lost has time to find another; the call is charged to its last packet")
  func vanishedMuted() async throws {
    try await PaidBench.run("1") { paid in
      let call = try await paid.talk()
      paid.bench.feed(.media(call, .soundAgain(.near)))
      paid.bench.request(.mute(call, true))
      try await paid.pass(seconds: 130)
      #expect(paid.bench.summary(of: call) == nil)
      paid.bench.feed(.media(call, .wayLost(.near, milliseconds: 30_000)))
      try await paid.pass(milliseconds: 29_999)
      #expect(paid.bench.summary(of: call) == nil)
      try await paid.pass(milliseconds: 1)
      #expect(paid.bench.summary(of: call)?.durationMilliseconds == 100_000)
      #expect(paid.bench.summary(of: call)?.failure?.code == .mediaLost)
      #expect(paid.bench.summary(of: call)?.failure?.leg == .app)
    }
  }

  @Test("3.3 row 39: on hold nothing has to come, and the call is billed on")
  func held() async throws {
    try await PaidBench.run("1") { paid in
      let call = try await paid.talk()
      paid.bench.request(.offer(call, Scene.appOffer("inactive", version: 2)))
      paid.bench.feed(.media(call, .silence(.near)))
      try await paid.pass(seconds: 100)
      #expect(paid.bench.summary(of: call) == nil)
      try await paid.hangUp(call)
      #expect(paid.bench.summary(of: call)?.costMicro == 100_000)
    }
  }

  @Test("3.3 row 41: a test number needs no credit, has a hold of zero and a record")
  func testNumber() async throws {
    try await PaidBench.run("0") { paid in
      let call = try #require(try await paid.place("+46000000000"))
      paid.bench.secured(call)
      try await paid.pass(seconds: 1)
      paid.bench.feed(.media(call, .playEnded(.near, finished: true)))
      try await paid.settle()
      #expect(paid.bench.summary(of: call)?.costMicro == 0)
      #expect(paid.bench.records.count == 1)
      #expect(try await paid.hold(call)?.amount == 0)
      // One that never ends is cut at fifteen seconds.
      let long = try #require(try await paid.place("+46000000000"))
      paid.bench.secured(long)
      try await paid.pass(seconds: 16)
      #expect(paid.bench.summary(of: long)?.durationMilliseconds == 15_000)
      #expect(paid.bench.summary(of: long)?.cause == .hungUp)
    }
  }

  @Test("3.3 rows 42 and 43: a fee without a rate must be coverable")
  func feeOnly() async throws {
    try await PaidBench.run("0.499999") { paid in
      #expect(try await paid.place("+46731234567") == nil)
      #expect(paid.bench.lastRefusal?.refusal == .insufficientCredit)
      try await paid.topUp("0.000001")
      let call = try await paid.talk("+46731234567")
      try await paid.pass(seconds: 200)
      try await paid.hangUp(call)
      #expect(paid.bench.summary(of: call)?.costMicro == 500_000)
    }
  }

  @Test("3.3 row 44: no rate, no INVITE", arguments: ["+4912345678", "+46901234567"])
  func noRate(_ number: String) async throws {
    try await PaidBench.run("1") { paid in
      let refused = try await paid.place(number)
      #expect(refused == nil)
      #expect(paid.bench.lastRefusal?.refusal == (number.hasPrefix("+49") ? .noRate : .destinationBlocked))
      #expect(paid.bench.invites.isEmpty)
    }
  }

  @Test("3.3 row 48: the longest call is cut at its length and priced as usual")
  func longest() async throws {
    var configuration = try Scene.configuration()
    configuration.limits.maximumCallSeconds = 150
    try await PaidBench.run("1", configuration: configuration) { paid in
      let call = try await paid.talk()
      try await paid.pass(seconds: 160)
      #expect(paid.bench.summary(of: call)?.durationMilliseconds == 150_000)
      #expect(paid.bench.summary(of: call)?.failure?.refusal == .durationCap)
      #expect(paid.bench.summary(of: call)?.costMicro == 150_000)
    }
  }

  @Test("3.3 row 49: a part of a second counts as one", arguments: [(60_000, 60), (60_001, 61), (59_990, 60)])
  func parts(_ milliseconds: Int, _ billed: Int64) async throws {
    try await PaidBench.run("1") { paid in
      let call = try await paid.talk()
      try await paid.pass(milliseconds: Int64(milliseconds))
      try await paid.hangUp(call)
      #expect(paid.bench.summary(of: call)?.durationMilliseconds == Int64(milliseconds))
      #expect(paid.bench.summary(of: call)?.billedSeconds == billed)
    }
  }

  @Test("3.3 row 50: the day's cap refuses an extension as missing credit does")
  func dailyCap() async throws {
    var caps = AccountCaps()
    caps.perDay = 60_000
    try await PaidBench.run("1", caps: caps) { paid in
      let call = try await paid.talk()
      try await paid.pass(seconds: 61)
      #expect(paid.bench.summary(of: call)?.failure?.refusal == .dailyCap)
      let refused = try await paid.place()
      #expect(refused == nil)
      #expect(paid.bench.lastRefusal?.refusal == .dailyCap)
    }
  }

  @Test("3.3 row 51: the cap of calls at a time counts calls that ring")
  func concurrency() async throws {
    var caps = AccountCaps()
    caps.concurrentCalls = 1
    try await PaidBench.run("1", caps: caps) { paid in
      let call = try #require(try await paid.place())
      let refused = try await paid.place()
      #expect(refused == nil)
      #expect(paid.bench.lastRefusal?.refusal == .concurrencyCap)
      try await paid.hangUp(call)
      #expect(try await paid.place() != nil)
      try await paid.hangUp(try #require(paid.bench.engine.liveCalls.first).id)
    }
  }

  @Test("3.3 row 53: a denied range is refused before any price")
  func denied() async throws {
    try await PaidBench.run("1") { paid in
      let refused = try await paid.place("+46905555555")
      #expect(refused == nil)
      #expect(paid.bench.lastRefusal?.code == .policy)
      #expect(paid.bench.lastRefusal?.refusal == .destinationBlocked)
      #expect(paid.bench.lastRefusal?.phrase == "premium-rate numbers that begin +4690 are blocked")
    }
  }

  @Test("3.3 row 54: an emergency call is refused for nothing")
  func emergency() async throws {
    try await PaidBench.run("0") { paid in
      try await paid.administer(.lock)
      let call = try await paid.talk("112")
      #expect(paid.bench.invites[0].call.target.user == "112")
      paid.bench.feed(.accountLocked(Scene.account, environment: "production"))
      try await paid.pass(seconds: 600)
      #expect(paid.bench.summary(of: call) == nil)
      try await paid.hangUp(call)
      #expect(paid.bench.summary(of: call)?.costMicro == 0)
    }
  }

  @Test("3.3 row 60: at the end of the credit the balance is not negative, and less than one step is left")
  func exhaustion() async throws {
    try await PaidBench.run("0.1235") { paid in
      let call = try await paid.talk()
      try await paid.pass(seconds: 200)
      #expect(paid.bench.summary(of: call)?.durationMilliseconds == 123_000)
      #expect(try await paid.account().posted == 500)
    }
  }

  @Test("3.3 row 63: the credit ends while another call rings: that one can still be cancelled")
  func ringing() async throws {
    try await PaidBench.run("0.12") { paid in
      let talking = try await paid.talk()
      let ringing = try #require(try await paid.place())
      try paid.bench.progress(180, 1)
      try await paid.pass(seconds: 61)
      #expect(paid.bench.summary(of: talking) != nil)
      #expect(paid.bench.engine.call(ringing)?.state == .ringing)
      try await paid.hangUp(ringing)
      #expect(paid.bench.summary(of: ringing)?.cause == .canceled)
      #expect(try await paid.account().posted == 60_000)
    }
  }

  @Test("the cut falls on the millisecond, and silences both sides first")
  func cut() async throws {
    try await PaidBench.run("0.06") { paid in
      let call = try await paid.talk()
      try await paid.pass(milliseconds: 59_999)
      let start = paid.bench.effects.count
      #expect(paid.bench.engine.nextDeadline == paid.bench.now.advanced(byMilliseconds: 1))
      try await paid.pass(milliseconds: 1)
      #expect(
        paid.bench.ladder(since: start) == [
          "media mute near", "media mute far", "sip hangUp", "media close", "ledger settle 60000", "app ended error",
          "record",
        ])
      let reasons = paid.bench.effects.compactMap { effect -> String? in
        if case .sip(.hangUp(_, let hangUp)) = effect { return hangUp.reasons.first?.text }
        return nil
      }
      #expect(reasons == ["insufficientCredit"])
      #expect(paid.bench.summary(of: call)?.failure?.code == .funds)
    }
  }
}
