import AppProtocol
import CallEngine
import CallModel
import LedgerCore
import RoutingCore
import SDPCore
import SIPCore
import Testing

@Suite("A call is transferred: by its app or by a trunk, at once or after talking, and taken back where nobody answers")
struct TransferTests {
  private let bob = SessionID(2)
  private let accept = Bench.Word.accept(offer: Scene.appOffer())
  private static let number = "+46850000536"

  /// Trunks of which the phones behind it may transfer.
  private static func configuration(allows: Bool = true) throws -> EngineConfiguration {
    let trunk = try Scene.trunk("carrier-1", host: 0xC633_6401)
    return try Scene.configuration([
      CallTrunk(
        trunk: trunk.trunk, uri: trunk.uri, identity: trunk.identity, media: trunk.media,
        inbound: InboundTrunkPolicy(allowsTransfer: allows))
    ])
  }

  private func bench(allows: Bool = true) throws -> Bench {
    let bench = try Bench(try TransferTests.configuration(allows: allows))
    bench.devices["bob"] = [try Bench.device()]
    bench.feed(
      .numbers(
        environment: "production",
        [
          InboundNumber(
            try E164Number(TransferTests.number), application: "key", account: Scene.account,
            targets: [.init(.user(try UserID("bob")))])
        ]))
    return bench
  }

  private func close(_ bench: Bench, sourceLocation: SourceLocation = #_sourceLocation) {
    bench.finish()
    let end = Invariants(bench, isOver: true)
    #expect(end.problems.isEmpty, "\(end.problems)", sourceLocation: sourceLocation)
  }

  private func refer(_ bench: Bench, _ handle: CallHandle, to user: String, replaces: TransferReplaces? = nil) {
    bench.feed(
      .sip(
        .transferRequested(
          handle, to: NameAddress(SIPURI(scheme: .sip, user: user, host: .ipv4(0xC633_6401))), replaces: replaces)))
  }

  /// What was said by SIP of transfers, and of calls that end.
  private func sip(_ bench: Bench, since start: Int = 0) -> [String] {
    let words = ["202", "NOTIFY", "refuseTransfer", "hangUp", "INVITE"]
    return bench.ladder(since: start).filter { line in line.hasPrefix("sip ") && words.contains { line.contains($0) } }
  }

  private func target(_ number: String = "+46701234567") -> TransferOrder {
    TransferOrder(kind: .phone, target: number)
  }

  // MARK: An app transfers

  @Test("at once: the other side waits with a tone, is put through with the answer, and the app is out of the call")
  func blind() throws {
    let bench = try bench()
    let call = try bench.talk()
    let start = bench.effects.count
    bench.request(.transfer(call, target()))
    let ladder = bench.ladder(since: start)
    #expect(ladder.contains("media part near") && ladder.contains("media hold far"), "\(ladder)")
    #expect(bench.invites.count == 2 && bench.plain.granted.count == 2, "a leg like any other: held and dialled")
    try bench.progress(180, 1)
    try bench.answer(1)
    #expect(
      bench.heard(bench.session).suffix(4) == ["done", "transfer ringing", "transfer completed", "ended transferred"])
    #expect(bench.ladder(since: start).filter { $0.hasPrefix("media join") } == ["media join leg 2", "media join far"])
    #expect(bench.engine.call(call)?.state == .established, "the call goes on without the app")
    bench.pass(seconds: 60)
    bench.bye(1)
    let record = try #require(bench.records.first)
    #expect(record.summary.cause == .hungUp && record.attempts.count == 2)
    #expect(record.story.contains { $0.event == .transferAsked(.near, target: "+46701234567") })
    #expect(record.story.contains { $0.event == .transferred(target: "+46701234567") })
    #expect(record.summary.durationMilliseconds == 60_000, "both legs are charged to the end: \(record.summary)")
    close(bench)
  }

  @Test("nobody answers: the app hears why, and talks with the other side again")
  func takenBackByItself() throws {
    let bench = try bench()
    let call = try bench.talk()
    bench.request(.transfer(call, target()))
    let start = bench.effects.count
    bench.fail(486, 1)
    #expect(bench.heard(bench.session).last == "transfer failed sip.busy")
    let media = bench.ladder(since: start).filter { $0.hasPrefix("media") }
    #expect(media == ["media detach leg 2", "media stop far", "media stop near", "media join near", "media join far"])
    #expect(bench.engine.call(call)?.state == .established)
    bench.request(.hangUp(call))
    #expect(bench.summary(of: call)?.cause == .hungUp)
    close(bench)
  }

  @Test(
    "the app leaves before the answer: the transfer goes on, and the call ends where it fails",
    arguments: [true, false])
  func leavesEarly(answers: Bool) throws {
    let bench = try bench()
    let call = try bench.talk()
    bench.request(.transfer(call, target()))
    bench.request(.hangUp(call))
    #expect(bench.heard(bench.session).last == "ended transferred")
    #expect(bench.engine.call(call) != nil)
    if answers {
      try bench.answer(1)
      #expect(bench.engine.call(call)?.state == .established)
      bench.bye(0)
    } else {
      bench.fail(486, 1)
    }
    #expect(bench.records.first?.summary.cause == (answers ? .hungUp : .denied))
    close(bench)
  }

  @Test("after talking: the app talks with the third while the other side waits, and puts it through")
  func consults() throws {
    let bench = try bench()
    let call = try bench.talk()
    let start = bench.effects.count
    bench.request(.transfer(call, TransferOrder(kind: .phone, target: "+46701234567", consults: true)))
    #expect(bench.ladder(since: start).contains("media part far"))
    try bench.progress(180, 1)
    #expect(bench.ladder(since: start).contains("media ring near"))
    try bench.answer(1)
    #expect(bench.heard(bench.session).last == "transfer answered")
    bench.request(.sendDigits(call, "12#"))
    #expect(bench.ladder(since: start).contains("media digits leg 2 12#"), "keys go to whom it talks with")
    bench.request(.completeTransfer(call))
    #expect(bench.heard(bench.session).suffix(2) == ["transfer completed", "ended transferred"])
    #expect(bench.engine.call(call)?.state == .established)
    bench.bye(0)
    close(bench)
  }

  @Test("after talking, the call is taken back, or the third hangs up: as it was before", arguments: [true, false])
  func takenBack(byApp: Bool) throws {
    let bench = try bench()
    let call = try bench.talk()
    bench.request(.transfer(call, TransferOrder(kind: .phone, target: "+46701234567", consults: true)))
    try bench.answer(1)
    if byApp { bench.request(.takeBack(call)) } else { bench.bye(1) }
    #expect(bench.heard(bench.session).contains(byApp ? "transfer taken-back" : "transfer failed"))
    #expect(sip(bench).filter { $0 == "sip hangUp" }.count == (byApp ? 1 : 0))
    #expect(bench.engine.call(call)?.state == .established)
    #expect(bench.plain.openHolds == 1, "the third's hold is settled")
    close(bench)
  }

  @Test("to a user: its devices ring, one answers, the others hear so")
  func toUser() throws {
    let bench = try bench()
    let tablet = SessionID(3)
    bench.devices["bob"] = [try Bench.device(), try Bench.device(tablet, "tablet")]
    let call = try bench.talk()
    bench.request(.transfer(call, TransferOrder(kind: .user, target: "bob")))
    #expect(bench.invitation(to: bob)?.from == CallerIdentity(kind: .phone, value: Scene.phone, name: ""))
    bench.say(call, .alert(offer: Scene.appOffer()), on: tablet)
    #expect(bench.heard(bench.session).last == "transfer ringing")
    bench.say(call, accept, on: bob)
    #expect(bench.heard(tablet).last == "ended otherDeviceAnswered")
    #expect(bench.heard(bench.session).last == "ended transferred")
    #expect(bench.heard(bob) == ["incoming", "answered", "accepted"], "no keys yet")
    bench.secured(call, LegID(3))
    #expect(bench.heard(bob).last == "established")
    bench.request(.report(call, ClientStatistics(figures: ["jitter": 0.01])))
    #expect(bench.heard(bench.session).last == "done")
    #expect(bench.engine.call(call) != nil)
    try bench.askCalled(.hangUp(call))
    #expect(bench.summary(for: bob)?.cause == .hungUp)
    close(bench)
  }

  @Test("to a user who declines, or who has no device: the call comes back", arguments: [true, false])
  func userDeclines(hasDevice: Bool) throws {
    let bench = try bench()
    if !hasDevice { bench.devices["bob"] = [] }
    let call = try bench.talk()
    bench.request(.transfer(call, TransferOrder(kind: .user, target: "bob")))
    if hasDevice { bench.say(call, .decline(.declined), on: bob) }
    #expect(
      bench.heard(bench.session).last == "transfer failed \(hasDevice ? "gw.userDeclined" : "gw.userUnreachable")")
    #expect(bench.engine.call(call)?.state == .established)
    close(bench)
  }

  @Test("a user who is called transfers the caller, who hears whom it talks with")
  func calledTransfers() throws {
    let bench = try bench()
    let call = try bench.talkToApp()
    try bench.askCalled(.transfer(call, target()))
    try bench.answer()
    #expect(bench.summary(for: bob)?.cause == .transferred)
    #expect(bench.heard(bench.session).suffix(2) == ["held false", "transfer connected"])
    bench.request(.hangUp(call))
    #expect(bench.summary(for: bench.session)?.cause == .hungUp)
    close(bench)
  }

  @Test("the other side hangs up while it waits: all is over")
  func waitingLeaves() throws {
    let bench = try bench()
    let call = try bench.talk()
    bench.request(.transfer(call, target()))
    bench.bye(0)
    #expect(bench.summary(of: call)?.cause == .hungUp)
    #expect(sip(bench).last == "sip hangUp", "the third is called no longer")
    bench.hungUp(1)
    close(bench)
  }

  @Test("what cannot be transferred is refused with the reason, and nothing has changed")
  func refusals() throws {
    let bench = try bench()
    let ringing = try #require(bench.place())
    bench.request(.transfer(ringing, target()))
    #expect(bench.lastRefusal?.code == .transfer)
    bench.request(.hangUp(ringing))
    let call = try bench.talk()
    let holds = bench.plain.openHolds
    for (order, code) in [
      (target("+4670"), CallFailureCode.number), (TransferOrder(kind: .phone, target: "112"), .policy),
      (TransferOrder(kind: .conference, target: "room"), .capabilityRemote), (target("+46000000000"), .transfer),
    ] {
      bench.request(.transfer(call, order))
      #expect(bench.lastRefusal?.code == code, "\(order.target): \(String(describing: bench.lastRefusal))")
    }
    bench.request(.completeTransfer(call))
    #expect(bench.lastRefusal?.code == .transfer)
    bench.request(.takeBack(call))
    #expect(bench.lastRefusal?.code == .transfer)
    #expect(bench.plain.openHolds == holds && bench.engine.call(call)?.state == .established)
    bench.request(.transfer(call, target()))
    bench.request(.transfer(call, target()))
    #expect(bench.lastRefusal?.code == .transfer, "one at a time")
    close(bench)
  }

  @Test("without credit for the third leg the call comes back")
  func noCredit() throws {
    let bench = try bench()
    let call = try bench.talk()
    bench.plain.credit = 0
    bench.request(.transfer(call, target()))
    #expect(bench.heard(bench.session).last == "transfer failed gw.funds")
    #expect(bench.invites.count == 1, "nobody was dialled")
    close(bench)
  }

  // MARK: Two calls of an app

  @Test("two calls are joined: sound goes from one to the other, and both end together")
  func joined() throws {
    let bench = try bench()
    let first = try bench.talk()
    let second = try bench.talk("+46701234567")
    let start = bench.effects.count
    bench.request(.join(first, with: second))
    #expect(bench.heard(bench.session).filter { $0 == "ended transferred" }.count == 2)
    let joins = bench.ladder(since: start).filter { $0.hasPrefix("media join") || $0.hasPrefix("media plan") }
    #expect(
      joins == [
        "media plan leg 2 sendrecv", "media join leg 2", "media join far", "media plan leg 2 sendrecv",
        "media join leg 2", "media join far",
      ])
    #expect(bench.engine.liveCalls.count == 2)
    bench.pass(seconds: 90)
    #expect(bench.engine.liveCalls.count == 2, "a link is never dead by itself")
    bench.bye(0)
    #expect(bench.engine.liveCalls.isEmpty && bench.records.count == 2)
    #expect(sip(bench).last == "sip hangUp", "the other call's phone hears BYE")
    close(bench)
  }

  @Test("a call is not joined with itself, nor with one of somebody else")
  func notJoined() throws {
    let bench = try bench()
    let call = try bench.talk()
    bench.request(.join(call, with: call))
    #expect(bench.lastRefusal?.code == .address)
    bench.request(.join(call, with: CallID(unchecked: "nothing")))
    #expect(bench.lastRefusal?.code == .address)
    #expect(bench.engine.call(call)?.state == .established)
    close(bench)
  }

  // MARK: A trunk transfers

  @Test("REFER of a trunk that may: 202, then 180 and 200 by NOTIFY, then BYE")
  func refer() throws {
    let bench = try bench()
    let call = try bench.talk()
    let start = bench.effects.count
    refer(bench, bench.invites[0].handle, to: "+46701234567")
    #expect(bench.invites[0].call.allowsTransfer, "Allow names REFER")
    try bench.progress(180, 1)
    try bench.answer(1)
    #expect(
      sip(bench, since: start) == ["sip 202", "sip INVITE", "sip NOTIFY 180", "sip NOTIFY 200", "sip hangUp"])
    #expect(bench.heard(bench.session).suffix(3) == ["held true", "held false", "transfer connected"])
    bench.request(.hangUp(call))
    close(bench)
  }

  @Test("REFER to a number of ours rings its user; to one that is busy, the caller comes back")
  func referInside() throws {
    let bench = try bench()
    let tablet = SessionID(3)
    bench.devices["bob"] = [try Bench.device(tablet, "tablet")]
    let handle = try bench.arrive()
    let call = try #require(bench.arrived)
    bench.say(call, accept, on: tablet)
    bench.devices["bob"] = [try Bench.device()]
    refer(bench, handle, to: "0046850000536")
    bench.say(call, .decline(.busy), on: bob)
    #expect(sip(bench).suffix(2) == ["sip 202", "sip NOTIFY 486"])
    #expect(bench.engine.call(call) != nil)
    close(bench)
  }

  @Test(
    "REFER to a number in any spelling of a URI",
    arguments: [
      SIPURI(scheme: .tel, user: "+46701234567", host: nil), SIPURI(scheme: .tel, user: "+46-70-123-45-67", host: nil),
      SIPURI(scheme: .sip, user: "%2B46701234567", host: .ipv4(0xC633_6401)),
      SIPURI(scheme: .sips, user: "0046701234567", host: .ipv4(0xC633_6401)),
    ])
  func spellings(_ uri: SIPURI) throws {
    let bench = try bench()
    let call = try bench.talk()
    bench.feed(.sip(.transferRequested(bench.invites[0].handle, to: NameAddress(uri), replaces: nil)))
    #expect(sip(bench).suffix(2) == ["sip 202", "sip INVITE"], "\(sip(bench))")
    #expect(bench.invites.count == 2 && bench.invites[1].call.target.user == bench.invites[0].call.target.user)
    bench.request(.hangUp(call))
    close(bench)
  }

  @Test("REFER to a tel URI that is no number names nobody")
  func noNumber() throws {
    let bench = try bench()
    let call = try bench.talk()
    let target = NameAddress(SIPURI(scheme: .tel, user: "112-x", host: nil))
    bench.feed(.sip(.transferRequested(bench.invites[0].handle, to: target, replaces: nil)))
    #expect(sip(bench).last == "sip refuseTransfer 404" && bench.engine.call(call)?.state == .established)
    close(bench)
  }

  @Test("REFER of a trunk that may not is refused, and Allow does not name it")
  func mayNot() throws {
    let bench = try bench(allows: false)
    let call = try bench.talk()
    #expect(!bench.invites[0].call.allowsTransfer)
    refer(bench, bench.invites[0].handle, to: "+46701234567")
    #expect(sip(bench).last == "sip refuseTransfer 603")
    #expect(bench.engine.call(call)?.state == .established)
    close(bench)
  }

  @Test("REFER to where the account may not call: 202, and NOTIFY says no")
  func noPrice() throws {
    let bench = try bench()
    let call = try bench.talk()
    refer(bench, bench.invites[0].handle, to: "+99912345678")
    #expect(sip(bench).last?.hasPrefix("sip NOTIFY") ?? false, "\(sip(bench))")
    #expect(bench.invites.count == 1 && bench.engine.call(call)?.state == .established)
    close(bench)
  }

  @Test("a phone behind a trunk hangs up after its REFER: the transfer goes on")
  func referThenBye() throws {
    let bench = try bench()
    let call = try bench.talk()
    refer(bench, bench.invites[0].handle, to: "+46701234567")
    bench.bye(0)
    #expect(bench.engine.call(call) != nil)
    try bench.answer(1)
    #expect(!sip(bench).contains { $0.contains("NOTIFY 200") }, "nobody is there to hear it")
    #expect(bench.heard(bench.session).last == "transfer connected")
    bench.request(.hangUp(call))
    close(bench)
  }

  @Test("REFER with Replaces of another call of the same trunk joins the two")
  func attended() throws {
    let bench = try bench()
    let first = try bench.talk()
    let handle = try bench.arrive()
    let second = try #require(bench.arrived)
    bench.say(second, accept, on: bob)
    bench.feed(.media(second, .firstMedia(.near)))
    bench.secured(second, .far)
    let start = bench.effects.count
    refer(bench, bench.invites[0].handle, to: "any", replaces: .call(handle))
    #expect(sip(bench, since: start) == ["sip 202", "sip NOTIFY 200", "sip hangUp", "sip NOTIFY 200", "sip hangUp"])
    #expect(bench.engine.liveCalls.count == 2)
    #expect(bench.heard(bench.session).last == "transfer connected" && bench.heard(bob).last == "transfer connected")
    bench.request(.hangUp(first))
    #expect(bench.summary(for: bob)?.cause == .hungUp)
    close(bench)
  }

  @Test("REFER with Replaces of a dialog elsewhere goes out with that Replaces")
  func foreignReplaces() throws {
    let bench = try bench()
    let call = try bench.talk()
    refer(bench, bench.invites[0].handle, to: "+46701234567", replaces: .foreign("1@x;to-tag=2;from-tag=3"))
    #expect(bench.invites[1].call.replaces == "1@x;to-tag=2;from-tag=3")
    try bench.answer(1)
    bench.request(.hangUp(call))
    close(bench)
  }

  @Test("REFER with Replaces of a call that is over: 481")
  func goneReplaces() throws {
    let bench = try bench()
    let call = try bench.talk()
    refer(bench, bench.invites[0].handle, to: "any", replaces: .call(CallHandle(99)))
    #expect(sip(bench).last == "sip refuseTransfer 481")
    bench.request(.hangUp(call))
    close(bench)
  }

  @Test("eight transfers of one call, and no ninth")
  func limit() throws {
    let bench = try bench()
    let call = try bench.talk()
    for number in 1...8 {
      refer(bench, bench.invites[number - 1].handle, to: "+46701234567")
      try bench.answer(number)
    }
    refer(bench, bench.invites[8].handle, to: "+46701234567")
    #expect(sip(bench).suffix(2) == ["sip 202", "sip NOTIFY 403"])
    #expect(bench.engine.call(call)?.state == .established)
    bench.request(.hangUp(call))
    close(bench)
  }

  // MARK: Any two things, in any order

  enum Thing: String, CaseIterable, Sendable {
    case answers, rings, fails, thirdHangsUp, appHangsUp, otherHangsUp, takesBack, completes, appGone, ledgerAway, time,
      operatorEnds, locked, transfersAgain
  }

  @Test(
    "any three things that can happen to a transfer leave the books and the media in order", arguments: Thing.allCases)
  func matrix(first: Thing) throws {
    for second in Thing.allCases {
      for third in Thing.allCases {
        for consults in [false, true] {
          for isUser in [false, true] {
            let bench = try bench()
            let call = try bench.talk()
            bench.request(
              .transfer(
                call,
                TransferOrder(
                  kind: isUser ? .user : .phone, target: isUser ? "bob" : "+46701234567", consults: consults)))
            for thing in [first, second, third] { try perform(thing, on: bench, call, isUser: isUser) }
            bench.finish()
            let end = Invariants(bench, isOver: true)
            if !end.problems.isEmpty {
              Issue.record("\(first), \(second), \(third), consults \(consults), user \(isUser): \(end.problems)")
              return
            }
          }
        }
      }
    }
  }

  private func perform(_ thing: Thing, on bench: Bench, _ call: CallID, isUser: Bool) throws {
    let index = bench.invites.count - 1
    switch thing {
    case .answers:
      if isUser { bench.say(call, accept, on: bob) } else if index > 0 { try bench.answer(index) }
    case .rings:
      if isUser {
        bench.say(call, .alert(offer: Scene.appOffer()), on: bob)
      } else if index > 0 {
        try bench.progress(180, index)
      }
    case .fails: if isUser { bench.say(call, .decline(.busy), on: bob) } else if index > 0 { bench.fail(486, index) }
    case .thirdHangsUp:
      if isUser { try bench.askCalled(.hangUp(call)) } else if index > 0 { bench.bye(index) }
    case .appHangsUp: bench.request(.hangUp(call))
    case .otherHangsUp: bench.bye(0)
    case .takesBack: bench.request(.takeBack(call))
    case .completes: bench.request(.completeTransfer(call))
    case .appGone: bench.feed(.sessionEnded(bench.session))
    case .ledgerAway: bench.ledger = .away
    case .time: bench.pass(seconds: 50)
    case .operatorEnds: bench.feed(.hangUp(call, by: "operator"))
    case .locked: bench.feed(.accountLocked(Scene.account, environment: "production"))
    case .transfersAgain: bench.request(.transfer(call, target()))
    }
  }
}
