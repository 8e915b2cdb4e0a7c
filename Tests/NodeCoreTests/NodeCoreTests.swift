import AppProtocol
import CallEngine
import CallModel
import LedgerCore
import NodeCore
import SIPCore
import Testing

@Suite("The hall: all that one node decides")
struct NodeCoreTests {
  // MARK: Lives

  @Test("a life begins: the spool in the name of the old one, a new life, what was left; apps are let in after that")
  func begins() throws {
    let stage = try NodeStage()
    stage.feed(.start)
    guard case .bill(NodeStage.environment, .replaySpool) = stage.last.first, stage.last.count == 1 else {
      Issue.record("\(stage.last)")
      return
    }
    stage.billed(.replayed(SpoolReplay(answered: 2, waiting: 0)))
    guard case .keep(NodeStage.environment, .register(NodeStage.node, _)) = try #require(stage.last.last) else {
      Issue.record("\(stage.last)")
      return
    }
    stage.kept(.registered(.success(7)))
    guard case .keep(NodeStage.environment, .recover) = try #require(stage.last.last) else {
      Issue.record("\(stage.last)")
      return
    }
    #expect(!stage.effects.contains { if case .started = $0 { true } else { false } })
    stage.kept(.recovered(.success([])))
    #expect(stage.last.contains { if case .started = $0 { true } else { false } })
    #expect(stage.core.environment(NodeStage.environment)?.origin.epoch == 7)
    #expect(stage.core.problems.isEmpty)
  }

  @Test("a ledger that gives no life: nothing is served")
  func noLife() throws {
    let stage = try NodeStage()
    stage.feed(.start)
    stage.billed(.replayed(SpoolReplay(waiting: 3, problem: "away")))
    stage.kept(.registered(.failure(LedgerUnavailable(.missing, "gone"))))
    guard case .startFailed(NodeStage.environment, let problem) = try #require(stage.last.last) else {
      Issue.record("\(stage.last)")
      return
    }
    #expect(problem.cause == .missing)
    try stage.register()
    stage.call()
    #expect(stage.effects.allSatisfy { if case .readPayer = $0 { false } else { true } })
  }

  @Test("legs of an earlier life are ended: CANCEL or BYE goes out, and the journal hears of their end, not the engine")
  func leftOver() throws {
    let invite = """
      INVITE sip:+46701234567@198.51.100.1 SIP/2.0\r
      Via: SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bKold\r
      From: <sip:+46812345678@192.0.2.1>;tag=a\r
      To: <sip:+46701234567@198.51.100.1>\r
      Call-ID: old-call\r
      CSeq: 1 INVITE\r
      Max-Forwards: 70\r
      Contact: <sip:192.0.2.1:5060>\r
      Content-Length: 0\r
      \r\n
      """
    let answer = """
      SIP/2.0 200 OK\r
      Via: SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bKold\r
      From: <sip:+46812345678@192.0.2.1>;tag=a\r
      To: <sip:+46701234567@198.51.100.1>;tag=b\r
      Call-ID: old-call\r
      CSeq: 1 INVITE\r
      Contact: <sip:gate@198.51.100.1>\r
      Content-Length: 0\r
      \r\n
      """
    let left = JournaledLeg(
      callID: "old-call", trunk: "carrier", startedAt: Instant(seconds: 1_794_999_000), path: NodeStage.trunkPath,
      invite: Array(invite.utf8), answer: Array(answer.utf8))
    let stage = try NodeStage(leftOver: [left])
    stage.start()
    let bye = try #require(
      stage.effects.lazy.compactMap { effect -> [UInt8]? in
        if case .send(let bytes, _, _) = effect, bytes.starts(with: Array("BYE ".utf8)) { bytes } else { nil }
      }.first)
    #expect(String(decoding: bye, as: UTF8.self).contains("Call-ID: old-call"))
    #expect(
      stage.effects.contains { effect in
        if case .journal(.end(sipCallID: "old-call")) = effect { true } else { false }
      })
  }

  // MARK: Calls

  @Test("the payer is read once for all who ask, and the INVITE leaves in the turn of the receipt, on disk before")
  func dials() throws {
    let stage = try NodeStage()
    stage.start()
    try stage.register()
    stage.call()
    stage.call()
    #expect(stage.effects.count { if case .readPayer = $0 { true } else { false } } == 1)
    try stage.answerPayer()
    #expect(stage.effects.count { if case .prepare = $0 { true } else { false } } == 2)
    // Both holds of one turn are one errand.
    #expect(stage.operations.count == 2)
    #expect(stage.operations.allSatisfy { $0.uptime == stage.now.milliseconds && $0.actor == "gw-1" })
    try stage.answerMedia()
    #expect(stage.invites.isEmpty)
    stage.billed(.performed([NodeStage.granted(), NodeStage.granted()]))
    #expect(NodeStage.invites(stage.last).count == 1)
    let journal = stage.last.firstIndex { if case .journal(.invite) = $0 { true } else { false } }
    let send = stage.last.firstIndex { effect in
      if case .send(let bytes, _, _) = effect { bytes.starts(with: Array("INVITE ".utf8)) } else { false }
    }
    #expect(try #require(journal) < #require(send))
    guard case .send(let bytes, NodeStage.trunkPath, let transaction?) = stage.last[try #require(send)] else {
      Issue.record("no transaction is told")
      return
    }
    #expect(String(decoding: bytes, as: UTF8.self).contains("+46701234567"))
    // The trace is told the Call-ID that we wrote ourselves.
    #expect(
      stage.last.contains { effect in
        guard case .trace(.message(bytes, sipCallID: let callID, isSent: true, _)) = effect else { return false }
        return String(decoding: bytes, as: UTF8.self).contains("Call-ID: \(callID)\r\n")
      })
    // There is no other way: what was held is given back in the same turn.
    stage.feed(.unsent(transaction))
    guard case .call(let ended) = stage.operations.first?.request, case .void = ended.phase else {
      Issue.record("\(stage.operations)")
      return
    }
  }

  @Test("a payer that cannot be read: the app hears that billing is away, and the next call asks again")
  func noPayer() throws {
    let stage = try NodeStage()
    stage.start()
    try stage.register()
    stage.call()
    stage.feed(
      .payer(environment: NodeStage.environment, NodeStage.account, .failure(PayerUnavailable("no disk"))))
    guard case .refused(_, let failure)? = stage.events.last else {
      Issue.record("\(stage.events)")
      return
    }
    #expect(failure.refusal == .billingUnavailable)
    stage.call()
    #expect(stage.effects.count { if case .readPayer = $0 { true } else { false } } == 2)
  }

  @Test("a payer that is used is read anew before its time is over, so that no call waits for it")
  func renewsPayers() throws {
    let stage = try NodeStage()
    stage.start()
    try stage.register()
    func readings() -> Int { stage.effects.count { if case .readPayer = $0 { true } else { false } } }
    func prepared() -> Int { stage.effects.count { if case .prepare = $0 { true } else { false } } }
    stage.call()
    try stage.answerPayer()
    #expect(readings() == 1 && prepared() == 1)
    // Good for a second; the second half of it counts.
    stage.wait(milliseconds: 500)
    stage.call()
    #expect(readings() == 1 && prepared() == 2)
    // Used and read anew; what is being read is not asked for twice.
    stage.wait(milliseconds: 1)
    stage.call()
    stage.call()
    #expect(readings() == 2 && prepared() == 4)
    try stage.answerPayer()
    #expect(prepared() == 4)
    // Without the second reading its time would be over.
    stage.wait(milliseconds: 500)
    stage.call()
    #expect(readings() == 2 && prepared() == 5)
    // Its time is over while nobody has used it: the next one waits.
    stage.wait(milliseconds: 1000)
    stage.call()
    #expect(readings() == 3 && prepared() == 5)
  }

  @Test("an application of another account when its payer is known asks for that one; one that is gone is refused")
  func applicationsChange() throws {
    let stage = try NodeStage()
    stage.start()
    try stage.register()
    stage.call()
    let other = AccountName(unchecked: "other")
    stage.configure { $0[NodeStage.application]?.account = other }
    try stage.answerPayer()
    #expect(stage.last.contains { if case .readPayer(_, other) = $0 { true } else { false } })
    #expect(!stage.effects.contains { if case .prepare = $0 { true } else { false } })
    stage.configure { $0 = [:] }
    stage.feed(.payer(environment: NodeStage.environment, other, .success(try stage.payer())))
    guard case .refused(_, let failure)? = stage.events.last else {
      Issue.record("\(stage.events)")
      return
    }
    #expect(failure.refusal == .accountClosed)
  }

  @Test("a journal without room keeps no more legs until one has ended")
  func fullBook() {
    var book = DialogBook()
    let clock = Instant(seconds: 1)
    for number in 0..<DialogBook.maximumLegs {
      let isBegun = book.begin(CallHandle(UInt64(number)), sipCallID: "c\(number)", trunk: "t", at: clock)
      #expect(isBegun)
    }
    let last = CallHandle(UInt64(DialogBook.maximumLegs))
    let hasRoom = book.begin(last, sipCallID: "last", trunk: "t", at: clock)
    #expect(!hasRoom)
    // Never sent: nothing stands in the file.
    guard case nil = book.ended(CallHandle(0)) else {
      Issue.record("an end of what never began")
      return
    }
    let isBegun = book.begin(last, sipCallID: "last", trunk: "t", at: clock)
    #expect(isBegun)
  }

  @Test("what a commit does not take is told once, wherever it stands in it")
  func failuresInCommits() throws {
    let stage = try NodeStage()
    stage.start()
    try stage.register()
    stage.call()
    stage.call()
    try stage.answerPayer()
    stage.billed(.performed([NodeStage.granted(), .failure(LedgerUnavailable(.busy, "away"))]))
    #expect(stage.logged.count { $0 == "the ledger is away" } == 1)
  }

  @Test("a node that is behind refuses calls before anything is done for them")
  func overload() throws {
    let stage = try NodeStage { $0.limits.callsPerSession = 100 }
    stage.start()
    try stage.register()
    stage.call()
    try stage.answerPayer()
    stage.overload()
    let before = stage.effects.count
    for _ in 0..<50 { stage.call() }
    let after = stage.effects.dropFirst(before)
    #expect(
      stage.events.contains { if case .refused(_, let failure) = $0 { failure.code == .congestion } else { false } })
    #expect(after.count { if case .trace(.request) = $0 { true } else { false } } == AdmissionGate.narrowestWindow - 1)
  }

  @Test("a node that drains takes no call, says so, and ends with the last one")
  func drains() throws {
    let stage = try NodeStage()
    stage.start()
    try stage.register()
    try stage.dial()
    stage.feed(.drain)
    #expect(stage.core.isDraining && stage.core.problems == ["the node drains"])
    let dialled = stage.invites.count
    stage.call()
    #expect(stage.invites.count == dialled)
    #expect(stage.core.liveCalls.count == 1)
    guard case .refused? = stage.events.last else {
      Issue.record("\(stage.events)")
      return
    }
    stage.feed(.hangUp(try #require(stage.core.liveCalls.first).id, by: "operator"))
    #expect(stage.core.liveCalls.isEmpty)
  }

  @Test("a session that comes back finds its call, and the record tells of it")
  func comesBack() throws {
    let stage = try NodeStage()
    stage.start()
    try stage.register()
    try stage.dial()
    stage.loseConnection()
    stage.wait(milliseconds: 1_000)
    stage.comeBack()
    stage.wait(milliseconds: 1_000)
    #expect(stage.core.sessionCount == 1)
    let call = try #require(stage.core.liveCalls.first)
    stage.feed(.hangUp(call.id, by: "operator"))
    stage.billed(.performed([.success(LedgerReceipt(seq: 2, isReplay: false, outcome: .voided))]))
    stage.feed(.media(call.id, .closed))
    // The record waits a while for what the app has measured.
    stage.wait(milliseconds: 40_000)
    let records = stage.effects.compactMap { if case .record(let record) = $0 { record } else { nil } }
    let record = try #require(records.first)
    #expect(record.story.map(\.text).contains("the app is back"))
  }

  @Test("a session that does not come back ends its call")
  func staysAway() throws {
    let stage = try NodeStage()
    stage.start()
    try stage.register()
    try stage.dial()
    stage.loseConnection()
    stage.wait(milliseconds: 20_000)
    #expect(stage.core.liveCalls.count == 1)
    stage.wait(milliseconds: 20_000)
    #expect(stage.core.liveCalls.isEmpty)
    #expect(stage.core.sessionCount == 0)
  }

  // MARK: The ledger is away

  @Test("what may wait goes to disk, in order; nobody hears before it is there; then the spool goes first")
  func spool() throws {
    let stage = try NodeStage()
    stage.start()
    try stage.register()
    try stage.dial()
    stage.feed(.hangUp(try #require(stage.core.liveCalls.first).id, by: "operator"))
    let end = try #require(stage.operations.first)
    stage.billed(.performed([.failure(LedgerUnavailable(.busy, "away"))]))
    guard case .bill(_, .spool(let operations)) = try #require(stage.last.last) else {
      Issue.record("\(stage.last)")
      return
    }
    #expect(operations == [end])
    #expect(!stage.effects.contains { if case .billed(_, .end, _, _) = $0 { true } else { false } })
    stage.billed(.spooled(waiting: 1, problem: nil))
    #expect(stage.effects.contains { if case .billed(_, .end, .failure, _) = $0 { true } else { false } })
    #expect(stage.core.spooledOperations == 1 && stage.core.problems == ["1 operations wait for their ledger"])

    // The next call finds the ledger away still: refused, and nothing was asked of the ledger but the spool.
    stage.call()
    guard case .bill(_, .replaySpool) = try #require(stage.last.last) else {
      Issue.record("\(stage.last)")
      return
    }
    stage.billed(.replayed(SpoolReplay(waiting: 1, problem: "away")))
    guard case .refused(_, let failure)? = stage.events.last else {
      Issue.record("\(stage.events)")
      return
    }
    #expect(failure.refusal == .billingUnavailable)
    // Nobody knows whether the hold was made: what gives it back waits behind the first.
    guard case .bill(_, .replaySpool) = try #require(stage.last.last) else {
      Issue.record("\(stage.last)")
      return
    }
    stage.billed(.replayed(SpoolReplay(waiting: 1, problem: "away")))
    guard case .bill(_, .spool(let given)) = try #require(stage.last.last), case .call(let void) = given.first?.request,
      case .void = void.phase
    else {
      Issue.record("\(stage.last)")
      return
    }
    stage.billed(.spooled(waiting: 2, problem: nil))

    // A beat that is heard tries again.
    stage.wait(milliseconds: 1000)
    stage.wait(milliseconds: 1000)
    stage.kept(.beaten(.success(true)))
    #expect(stage.last.contains { if case .bill(_, .replaySpool) = $0 { true } else { false } })
    stage.billed(.replayed(SpoolReplay(answered: 2, waiting: 0)))
    #expect(stage.core.problems.isEmpty && stage.core.isBilled)
  }

  // MARK: The life at the ledger

  private func errand(_ stage: NodeStage) -> KeepingErrand? {
    stage.last.lazy.compactMap { if case .keep(_, let errand) = $0 { errand } else { nil } }.last
  }

  @Test("twice a second it is looked at accounts with live calls, once a second the node beats")
  func beats() throws {
    let stage = try NodeStage()
    stage.start()
    stage.wait(milliseconds: 500)
    // No call: nothing to look at.
    #expect(errand(stage) == nil)
    stage.wait(milliseconds: 500)
    guard case .beat(NodeStage.node, epoch: 7, _, let uptime)? = errand(stage) else {
      Issue.record("\(stage.last)")
      return
    }
    #expect(uptime == stage.now.milliseconds)
    // One at a time.
    stage.wait(milliseconds: 5000)
    #expect(errand(stage) == nil)
    stage.kept(.beaten(.success(true)))
    try stage.register()
    try stage.dial()
    stage.wait(milliseconds: 1000)
    stage.kept(.beaten(.success(true)))
    for _ in 0..<2 {
      guard case .readAccounts([NodeStage.account])? = errand(stage) else {
        Issue.record("\(stage.last)")
        return
      }
      stage.kept(.accounts(.success([])))
      stage.wait(milliseconds: 500)
    }
  }

  @Test("every fifth beat settles the calls of dead nodes, every 3,600th forgets what may be forgotten")
  func recoversAndPrunes() throws {
    let stage = try NodeStage()
    stage.start()
    var beats = 0
    var recoveries: [Int] = []
    var prunes: [Int] = []
    for _ in 0..<7300 {
      stage.wait(milliseconds: 500)
      while let errand = errand(stage) {
        switch errand {
        case .beat:
          beats += 1
          stage.kept(.beaten(.success(true)))
        case .recover:
          recoveries.append(beats)
          stage.kept(.recovered(.success([])))
        case .prune:
          prunes.append(beats)
          stage.kept(.pruned(problem: nil))
        case .register, .readAccounts: Issue.record("\(errand)")
        }
      }
    }
    #expect(beats == 3650)
    #expect(recoveries == Array(stride(from: 5, through: 3650, by: 5)))
    #expect(prunes == [3600])
  }

  @Test("a node that was declared dead ends its calls and is not ready")
  func fenced() throws {
    let stage = try NodeStage()
    stage.start()
    try stage.register()
    try stage.dial()
    stage.wait(milliseconds: 1000)
    stage.kept(.beaten(.success(false)))
    #expect(stage.core.liveCalls.isEmpty)
    #expect(stage.logged.contains("the node was declared dead"))
    #expect(stage.core.problems == ["environment production: the node was declared dead"])
  }

  @Test("a ledger that does not hear the beat is a problem until it does")
  func deaf() throws {
    let stage = try NodeStage()
    stage.start()
    stage.wait(milliseconds: 500)
    stage.wait(milliseconds: 500)
    stage.kept(.beaten(.failure(LedgerUnavailable(.busy, "locked"))))
    #expect(stage.core.problems.count == 1)
    stage.wait(milliseconds: 500)
    stage.wait(milliseconds: 500)
    stage.kept(.beaten(.success(true)))
    #expect(stage.core.problems.isEmpty)
  }

  // MARK: Accounts

  private static func row(posted: MicroUnits, revision: Int64, _ status: AccountStatus = .open) -> LedgerAccount {
    LedgerAccount(
      id: 5, name: NodeStage.account.text, kind: .prepaid, currency: .eur, posted: posted, revision: revision,
      status: status, createdAt: Instant(seconds: 1))
  }

  @Test("what becomes of an account is told to its calls: locked ends them, spent credit alone changes nothing")
  func accounts() throws {
    let stage = try NodeStage()
    stage.start()
    try stage.register()
    try stage.dial()
    func look(_ row: LedgerAccount) {
      for _ in 0..<20 {
        switch errand(stage) {
        case .beat?: stage.kept(.beaten(.success(true)))
        case .recover?: stage.kept(.recovered(.success([])))
        case .readAccounts?: return stage.kept(.accounts(.success([row])))
        case .register?, .prune?, nil: stage.wait(milliseconds: 500)
        }
      }
      Issue.record("nobody looked")
    }
    look(Self.row(posted: 100, revision: 1))
    look(Self.row(posted: 90, revision: 1))
    look(Self.row(posted: 900, revision: 1))
    #expect(stage.core.liveCalls.count == 1)
    look(Self.row(posted: 900, revision: 2, .locked))
    #expect(stage.core.liveCalls.isEmpty)
  }

  @Test("an account that was locked before its call began ends nothing: what counts is the change")
  func lockedBefore() throws {
    let stage = try NodeStage()
    stage.start()
    try stage.register()
    try stage.dial()
    stage.wait(milliseconds: 1000)
    stage.kept(.beaten(.success(true)))
    for _ in 0..<3 {
      stage.kept(.accounts(.success([Self.row(posted: 1, revision: 1, .locked)])))
      stage.wait(milliseconds: 500)
      if case .beat? = errand(stage) { stage.kept(.beaten(.success(true))) }
    }
    #expect(stage.core.liveCalls.count == 1)
  }
}
