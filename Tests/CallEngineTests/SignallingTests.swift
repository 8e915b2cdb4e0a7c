import AppProtocol
import CallEngine
import CallModel
import RoutingCore
import SDPCore
import SIPCore
import Testing

@Suite("What trunks say")
struct SignallingTests {
  @Test("early media is heard, and ends after its time")
  func earlyMedia() throws {
    let bench = try Bench()
    let call = try #require(bench.place())
    try bench.progress(180)
    try bench.progress(183, sdp: true)
    #expect(bench.ladder().suffix(3) == ["media plan far sendrecv", "media stop near", "app early"])
    bench.pass(milliseconds: 89_999)
    #expect(bench.summary(of: call) == nil)
    bench.pass(milliseconds: 1)
    bench.hungUp()
    #expect(bench.summary(of: call)?.cause == .noAnswer)
    #expect(bench.count("ledger void") == 1)
    #expect(bench.count("sip hangUp") == 1)
    #expect(bench.engine.isIdle)
  }

  @Test("headers of 180, 200, failures and BYE reach the app")
  func headers() throws {
    let bench = try Bench()
    let headers = try CustomHeaders([(name: "x-ring", value: "a")])
    try bench.progress(
      180,
      {
        let call = bench.place()
        return call == nil ? 9 : 0
      }(), headers: headers)
    try bench.answer(headers: try CustomHeaders([(name: "x-ok", value: "b")]))
    bench.bye(headers: try CustomHeaders([(name: "x-bye", value: "c")]))
    var heard: [String] = []
    for event in bench.events {
      switch event {
      case .ringing(_, let headers), .accepted(_, let headers): heard += headers.map(\.name)
      case .ended(_, let summary): heard += summary.headers.map(\.name)
      default: break
      }
    }
    #expect(heard == ["x-ring", "x-ok", "x-bye"])
    bench.place()
    bench.fail(486, 1, headers: try CustomHeaders([(name: "x-busy", value: "d")]))
    guard case .ended(_, let summary)? = bench.events.last else {
      Issue.record("no end")
      return
    }
    #expect(summary.headers["x-busy"] == "d")
    #expect(summary.cause == .denied)
    #expect(summary.failure?.code == .busy)
    #expect(summary.failure?.trunk == "carrier-1")
    #expect(summary.failure?.attempts.count == 1)
  }

  struct Failover: Sendable {
    let status: Int
    let rings: Bool
    let leadsOn: Bool
  }

  @Test(
    "a failed attempt is followed by the next trunk where that can help, under the same hold",
    arguments: [
      Failover(status: 503, rings: false, leadsOn: true), Failover(status: 500, rings: true, leadsOn: true),
      Failover(status: 403, rings: false, leadsOn: true), Failover(status: 403, rings: true, leadsOn: false),
      Failover(status: 486, rings: false, leadsOn: false), Failover(status: 404, rings: false, leadsOn: false),
      Failover(status: 603, rings: false, leadsOn: false), Failover(status: 488, rings: false, leadsOn: true),
      Failover(status: 408, rings: false, leadsOn: true),
    ])
  func failover(_ failover: Failover) throws {
    let bench = try Bench()
    let call = try #require(bench.place())
    if failover.rings { try bench.progress(180) }
    bench.fail(failover.status)
    #expect(bench.invites.count == (failover.leadsOn ? 2 : 1))
    #expect((bench.summary(of: call) == nil) == failover.leadsOn)
    guard failover.leadsOn else { return }
    #expect(bench.engine.call(call)?.trunk == "carrier-2")
    #expect(bench.invites[0].handle != bench.invites[1].handle)
    bench.fail(503, 1)
    let summary = try #require(bench.summary(of: call))
    #expect(summary.failure?.attempts.map(\.trunk) == ["carrier-1", "carrier-2"])
    #expect(bench.asked.map { Bench.word($0.step, $0.operation) } == ["authorise", "void"])
    #expect(bench.engine.trunkReports.allSatisfy { $0.liveCalls == 0 })
  }

  @Test("a silent trunk is left in time for the next one, and the next call goes there at once")
  func silentTrunk() throws {
    let bench = try Bench()
    let call = try #require(bench.place())
    #expect(bench.invites[0].call.firstResponseMilliseconds == 1_700)
    bench.feed(
      .sip(
        .ended(
          bench.invites[0].handle, CallEnd(cause: .failed, failure: CallFailure(.transport), wasEstablished: false))))
    #expect(bench.engine.call(call)?.trunk == "carrier-2")
    #expect(bench.invites[1].call.firstResponseMilliseconds == nil, "the last one has the time of its transaction")
    let next = try #require(bench.place())
    #expect(bench.engine.call(next)?.trunk == "carrier-2")
    bench.finish()
  }

  @Test("a response that could not be read is the reason, not silence; the next trunk is tried")
  func unreadableResponse() throws {
    let bench = try Bench()
    let call = try #require(bench.place())
    let warning = UnreadableResponse(status: 200, rule: .via).warning
    for place in 0...1 {
      try #require(bench.invites.count == place + 1)
      bench.feed(
        .sip(
          .ended(
            bench.invites[place].handle,
            CallEnd(
              cause: .failed, failure: CallFailure(.protocolBroken, warning: warning, leg: .trunk),
              wasEstablished: false))))
    }
    let failure = try #require(bench.summary(of: call)?.failure)
    #expect(failure.code == .protocolBroken)
    #expect(failure.warning == warning)
    #expect(failure.trunk == "carrier-2")
    #expect(failure.attempts.map(\.code) == [.protocolBroken, .protocolBroken])
    bench.finish()
  }

  @Test("each attempt has keys of its own")
  func keys() throws {
    let trunks = [
      try Scene.trunk("a", host: 1, protection: .sdes), try Scene.trunk("b", host: 2, priority: 20, protection: .sdes),
    ]
    let bench = try Bench(Scene.configuration(trunks))
    bench.place()
    bench.fail(503)
    let offers = bench.invites.map { String(decoding: $0.call.offer?.bytes ?? [], as: UTF8.self) }
    let keys = offers.map { $0.split(separator: "\r\n").filter { $0.hasPrefix("a=crypto:") } }
    #expect(keys.count == 2)
    #expect(!keys[0].isEmpty)
    #expect(Set(keys[0]).isDisjoint(with: Set(keys[1])))
  }

  @Test("an answer without a usable session ends the call uncharged")
  func unusableAnswer() throws {
    let bench = try Bench()
    let call = try #require(bench.place())
    bench.feed(
      .sip(
        .established(
          bench.invites[0].handle,
          Answer(body: MessageBody(sessionDescription: Array("v=0".utf8)), headers: CustomHeaders()))))
    let summary = try #require(bench.summary(of: call))
    #expect(summary.failure?.code == .media)
    #expect(summary.costMicro == 0)
    #expect(bench.ladder().suffix(5) == ["sip hangUp", "media close", "ledger void", "app ended error", "record"])
  }

  @Test("a 183 whose address and codec are not those of its 200: ringback from the one, the call with the other")
  func anotherAnswer() throws {
    let bench = try Bench()
    let call = try #require(bench.place())
    bench.secured(call)
    func described(_ host: String, _ port: Int, _ format: Int) -> MessageBody {
      let lines = [
        "v=0", "o=- 5 1 IN IP4 \(host)", "s=-", "c=IN IP4 \(host)", "t=0 0", "m=audio \(port) RTP/AVP \(format)",
      ]
      return MessageBody(sessionDescription: Array(lines.map { $0 + "\r\n" }.joined().utf8))
    }
    func plan() -> MediaPlan? {
      bench.effects.reversed().lazy.compactMap { effect -> MediaPlan? in
        if case .media(_, .plan(.far, let plan)) = effect { return plan }
        return nil
      }.first
    }
    let handle = bench.invites[0].handle
    bench.feed(
      .sip(
        .progress(
          handle,
          Progress(
            status: 183, phrase: "", body: described("198.51.100.20", 5_000, 0), headers: CustomHeaders(),
            isReliable: false))))
    #expect(bench.ladder().contains("app early"))
    #expect(plan()?.remote.host?.description == "198.51.100.20" && plan()?.audio.send.codec == .pcmu)
    bench.feed(
      .sip(
        .established(handle, Answer(body: described("198.51.100.21", 6_000, 8), headers: CustomHeaders()))))
    #expect(plan()?.remote.host?.description == "198.51.100.21" && plan()?.remote.port == 6_000)
    #expect(plan()?.audio.send.codec == .pcma)
    #expect(bench.engine.call(call)?.state == .established)
    bench.finish()
  }

  @Test("a block by call analytics reaches the app with the address for complaints")
  func blocked() throws {
    let bench = try Bench()
    let call = try #require(bench.place())
    let redress = "v=analytics1;url=https://redress.example.com;tel=+12155551212"
    let evidence = CallFailureEvidence(
      status: 603, phrase: "Decline", reasons: [CallFailure.Reason(protocolName: "SIP", cause: 603, text: redress)])
    bench.feed(
      .sip(
        .ended(
          bench.invites[0].handle,
          CallEnd(cause: .failed, failure: CallFailure(evidence, trunk: nil), wasEstablished: false))))
    let summary = try #require(bench.summary(of: call))
    #expect(summary.failure?.code == .blocked)
    #expect(summary.failure?.reasons.first?.text == redress)
    #expect(summary.cause == .denied)
    #expect(bench.invites.count == 1, "no other trunk is tried")
  }

  @Test("a 183 that is answered by a 200 without description counts")
  func answerEarlier() throws {
    let bench = try Bench()
    let call = try #require(bench.place())
    try bench.progress(183, sdp: true)
    bench.secured(call)
    bench.feed(.sip(.established(bench.invites[0].handle, Answer(body: nil, headers: CustomHeaders()))))
    #expect(bench.engine.call(call)?.state == .established)
  }

  @Test("DTMF goes both ways; what is no key is refused by its place")
  func digits() throws {
    let bench = try Bench()
    let call = try bench.talk()
    bench.request(.sendDigits(call, "12#a"))
    #expect(bench.ladder().suffix(2) == ["app done", "media digits far 12#A"])
    bench.request(.sendDigits(call, "1x"))
    #expect(bench.lastRefusal?.invalidValue?.offset == 1)
    bench.request(.sendDigits(call, String(repeating: "1", count: 65)))
    #expect(bench.lastRefusal?.invalidValue?.rule == "keys.long")
    bench.request(.sendDigits(call, ""))
    #expect(bench.lastRefusal?.invalidValue?.rule == "keys.empty")
    bench.feed(.media(call, .digit(.far, "7", milliseconds: 120)))
    #expect(bench.ladder().last == "app digit 7")
    bench.feed(
      .sip(
        .info(
          bench.invites[0].handle,
          MessageBody(contentType: "application/dtmf-relay", bytes: Array("Signal=5\r\nDuration=160".utf8)))))
    #expect(bench.ladder().last == "app digit 5")
  }

  @Test("hold of the app is passed on; hold of the other side is told")
  func hold() throws {
    let bench = try Bench()
    let call = try bench.talk()
    var start = bench.effects.count
    bench.request(.offer(call, Scene.appOffer("sendonly", version: 2)))
    #expect(
      bench.ladder(since: start) == ["app answered", "media plan near recvonly", "sip offer"])
    let handle = bench.invites[0].handle
    func offers() -> [(ExchangeID, MessageBody)] {
      bench.effects.compactMap { effect in
        if case .sip(.offer(_, let exchange, let body)) = effect { return (exchange, body) }
        return nil
      }
    }
    let held = try #require(offers().last)
    #expect(String(decoding: held.1.bytes, as: UTF8.self).contains("a=sendonly"))
    start = bench.effects.count
    bench.feed(.sip(.answered(handle, held.0, try bench.peer.answer(held.1))))
    #expect(bench.ladder(since: start) == ["media plan far sendonly"])
    // Nobody sends while it lasts: that is no dead call.
    bench.feed(.media(call, .silence(.far)))
    bench.pass(seconds: 40)
    #expect(bench.summary(of: call) == nil)
    bench.request(.offer(call, Scene.appOffer("sendrecv", version: 3)))
    #expect(bench.ladder().last == "sip offer")
    bench.feed(.sip(.offerRefused(handle, try #require(offers().last).0, status: 488)))
    start = bench.effects.count
    bench.feed(.sip(.offered(handle, ExchangeID(1), try bench.peer.offer(.sendOnly))))
    #expect(bench.ladder(since: start).first == "sip answer")
    #expect(bench.ladder(since: start).suffix(2) == ["media plan far inactive", "app held true"], "both hold")
    #expect(bench.count("ledger authorise") == 1)
  }

  @Test("a re-INVITE that holds and one that takes back")
  func heldByPeer() throws {
    let bench = try Bench()
    let call = try bench.talk()
    let handle = bench.invites[0].handle
    func offer(_ direction: MediaDirection) throws -> [String] {
      let start = bench.effects.count
      bench.feed(.sip(.offered(handle, ExchangeID(1), try bench.peer.offer(direction))))
      for effect in bench.effects.dropFirst(start) {
        if case .sip(.answer(_, let body)) = effect { _ = try bench.peer.accept(body) }
      }
      return bench.ladder(since: start)
    }
    #expect(try offer(.sendOnly) == ["sip answer", "media plan far recvonly", "app held true"])
    #expect(try offer(.inactive) == ["sip answer", "media plan far inactive"])
    bench.feed(.media(call, .silence(.far)))
    bench.pass(seconds: 45)
    #expect(bench.summary(of: call) == nil)
    #expect(try offer(.sendAndReceive) == ["sip answer", "media plan far sendrecv", "app held false"])
    // From here on it has to send.
    bench.pass(seconds: 29)
    #expect(bench.summary(of: call) == nil)
    bench.pass(seconds: 1)
    #expect(bench.summary(of: call)?.failure?.code == .mediaLost)
  }

  @Test("an app that went on hold while it rang is on hold after the answer")
  func heldWhileRinging() throws {
    let bench = try Bench()
    let call = try #require(bench.place())
    try bench.progress(180)
    bench.request(.offer(call, Scene.appOffer("inactive", version: 2)))
    #expect(bench.count("sip offer") == 0)
    try bench.answer()
    #expect(bench.count("sip offer") == 1)
  }

  @Test("held by the other side, which plays no music: the call stays")
  func heldInSilence() throws {
    let bench = try Bench()
    let call = try bench.talk()
    bench.feed(.sip(.offered(bench.invites[0].handle, ExchangeID(1), try bench.peer.offer(.sendOnly))))
    bench.feed(.media(call, .silence(.far)))
    bench.pass(seconds: 600)
    #expect(bench.engine.call(call)?.state == .established)
  }

  /// What leaves an app without having to send.
  enum Quiet: CaseIterable { case muted, onHold }

  @Test("an app that need not send is dead without a way to it, unless it finds another", arguments: Quiet.allCases)
  func wayLost(_ quiet: Quiet) throws {
    let bench = try Bench()
    let call = try bench.talk()
    switch quiet {
    case .muted: bench.request(.mute(call, true))
    case .onHold: bench.request(.offer(call, Scene.appOffer("inactive", version: 2)))
    }
    bench.feed(.media(call, .silence(.near)))
    bench.pass(seconds: 600)
    for isBack in [true, false] {
      bench.feed(.media(call, .wayLost(.near, milliseconds: 30_000)))
      bench.pass(seconds: 29)
      #expect(bench.summary(of: call) == nil)
      if isBack { bench.feed(.media(call, .wayBack(.near))) }
      if isBack { bench.pass(seconds: 600) }
    }
    bench.pass(seconds: 1)
    #expect(bench.summary(of: call)?.failure?.code == .mediaLost)
    #expect(bench.summary(of: call)?.failure?.leg == .app)
    let story = bench.records.last { $0.call.id == call }?.story.compactMap(\.event) ?? []
    #expect(
      story.filter { $0 != .held }.suffix(4) == [.wayLost(.near), .wayBack(.near), .wayLost(.near), .dead(.near)])
  }

  @Test("a lost way counts from when it was told first; a trunk has none to lose, and another address is no loss")
  func wayOfTrunk() throws {
    let bench = try Bench()
    let call = try bench.talk()
    bench.feed(.media(call, .wayLost(.far, milliseconds: 30_000)))
    bench.feed(.media(call, .moved(.near)))
    bench.feed(.media(call, .moved(.far)))
    bench.pass(seconds: 60)
    #expect(bench.engine.call(call)?.state == .established)
    for _ in 0..<2 { bench.feed(.media(call, .wayLost(.near, milliseconds: 30_000))) }
    bench.pass(seconds: 29)
    bench.feed(.media(call, .wayLost(.near, milliseconds: 59_000)))
    bench.pass(seconds: 1)
    let story = bench.records.last { $0.call.id == call }?.story.compactMap(\.event) ?? []
    #expect(story.suffix(4) == [.moved(.near), .moved(.far), .wayLost(.near), .dead(.near)])
  }

  @Test("sound that stays away behind a way that is back has its time from there")
  func soundAfterWay() throws {
    let bench = try Bench()
    let call = try bench.talk()
    bench.feed(.media(call, .failed(.near, "consentLost")))
    bench.feed(.media(call, .wayLost(.near, milliseconds: 2_000)))
    bench.pass(seconds: 20)
    bench.feed(.media(call, .wayBack(.near)))
    bench.pass(seconds: 5)
    bench.feed(.media(call, .silence(.near)))
    bench.pass(seconds: 24)
    #expect(bench.summary(of: call) == nil)
    bench.pass(seconds: 1)
    #expect(bench.summary(of: call)?.failure?.code == .mediaLost)
  }

  @Test("the cause names both sides where both are away")
  func bothDead() throws {
    let bench = try Bench()
    let call = try bench.talk()
    bench.feed(.media(call, .silence(.far)))
    bench.pass(seconds: 10)
    bench.request(.mute(call, true))
    bench.feed(.media(call, .silence(.near)))
    bench.feed(.media(call, .wayLost(.near, milliseconds: 0)))
    bench.pass(seconds: 20)
    let failure = try #require(bench.summary(of: call)?.failure)
    #expect(failure.leg == .trunk && failure.phrase == "nothing comes from the calling side, nor from the called side")
    let story = bench.records.last { $0.call.id == call }?.story.compactMap(\.event) ?? []
    #expect(story.suffix(2) == [.dead(.near), .dead(.far)])
  }

  @Test("an app that does not speak before the answer is not dead; one that never speaks is, and pays to the end")
  func neverSpoke() throws {
    let bench = try Bench()
    let call = try #require(bench.place())
    bench.secured(call)
    try bench.progress(180)
    bench.feed(.media(call, .silence(.near)))
    bench.pass(seconds: 60)
    #expect(bench.summary(of: call) == nil)
    try bench.answer()
    #expect(bench.count("app raise no-audio") == 1)
    bench.pass(seconds: 30)
    #expect(bench.summary(of: call)?.failure?.leg == .app)
    #expect(bench.summary(of: call)?.durationMilliseconds == 30_000)
    #expect(bench.summary(of: call)?.costMicro ?? 0 > 0)
    #expect(
      bench.records.last { $0.call.id == call }?.flags == [.noSoundFromCaller, .noSoundFromCalled])
  }

  @Test(
    "never established: charged from the answer to the end, whichever of the two times is over first, or hung up",
    arguments: [(5_000, nil), (60_000, nil), (60_000, 5_000)] as [(Int64, Int64?)])
  func neverEstablished(_ mediaSetUpMilliseconds: Int64, _ hungUpAfter: Int64?) throws {
    var configuration = try Scene.configuration()
    configuration.limits.mediaSetUpMilliseconds = mediaSetUpMilliseconds
    let bench = try Bench(configuration)
    let call = try #require(bench.place())
    try bench.answer()
    bench.pass(milliseconds: 4_000)
    bench.feed(.media(call, .firstMedia(.far)))
    bench.pass(milliseconds: 1_000)
    if hungUpAfter != nil { bench.request(.hangUp(call)) }
    bench.pass(milliseconds: 10_000)
    if mediaSetUpMilliseconds > 15_000, hungUpAfter == nil { bench.feed(.media(call, .silence(.far))) }
    bench.pass(seconds: 25)
    let summary = try #require(bench.summary(of: call))
    let seconds = hungUpAfter.map { $0 / 1000 } ?? (mediaSetUpMilliseconds > 15_000 ? 40 : 5)
    if hungUpAfter == nil {
      // Without a way to the app nothing goes to the other side, which is not to blame for its silence.
      #expect(summary.failure?.code == .networkMedia && summary.failure?.leg == .app)
    }
    #expect(summary.durationMilliseconds == seconds * 1000)
    #expect(summary.costMicro ?? 0 > 0)
    #expect(bench.records.last { $0.call.id == call }?.flags == [.noSoundFromCaller])
  }

  @Test("an offer of the trunk before its answer: the 200 that stands on it is no answer to ours")
  func offerBeforeAnswer() throws {
    let bench = try Bench()
    let call = try #require(bench.place())
    bench.secured(call)
    try bench.progress(183, sdp: true)
    let offer = try bench.peer.offer(.sendOnly)
    bench.feed(.sip(.offered(bench.invites[0].handle, ExchangeID(1), offer)))
    bench.feed(.sip(.established(bench.invites[0].handle, Answer(body: offer, headers: CustomHeaders()))))
    #expect(bench.engine.call(call)?.state == .established)
    #expect(bench.ladder().last { $0.hasPrefix("media plan far") } == "media plan far recvonly")
  }

  @Test(
    "hold from both sides at once: ours gives way to the trunk's, and what it asked for is not lost",
    arguments: [true, false])
  func holdGlare(isUsable: Bool) throws {
    let bench = try Bench()
    let call = try bench.talk()
    let handle = bench.invites[0].handle
    bench.request(.offer(call, Scene.appOffer("sendonly", version: 2)))
    let exchange = bench.effects.lazy.compactMap { effect -> ExchangeID? in
      if case .sip(.offer(_, let exchange, _)) = effect { return exchange }
      return nil
    }.first
    let theirs =
      isUsable ? try bench.peer.offer(.sendOnly) : MessageBody(sessionDescription: Array("nonsense".utf8))
    bench.feed(.sip(.offered(handle, ExchangeID(1), theirs)))
    bench.feed(.sip(.offerRefused(handle, try #require(exchange), status: 491)))
    // The answer to theirs says that we hold as well; where there was none, ours is made anew.
    #expect(
      bench.ladder().last { $0.hasPrefix("media plan far") } == "media plan far \(isUsable ? "inactive" : "sendrecv")")
    #expect(bench.count("sip offer") == (isUsable ? 1 : 2))
    #expect(bench.count("sip refuse 488") == (isUsable ? 0 : 1))
  }

  @Test("what the agent cannot place is no fault of the trunk")
  func agentRefuses() throws {
    let bench = try Bench()
    let call = try #require(bench.place())
    bench.feed(
      .sip(
        .ended(
          bench.invites[0].handle,
          CallEnd(cause: .failed, failure: CallFailure(.limit, leg: .trunk), wasEstablished: false))))
    #expect(bench.summary(of: call)?.failure?.code == .limit)
    #expect(bench.invites.count == 1)
  }

  @Test("an offer of the peer that holds nothing usable is refused and changes nothing")
  func unusableOffer() throws {
    let bench = try Bench()
    let call = try bench.talk()
    bench.feed(
      .sip(
        .offered(bench.invites[0].handle, ExchangeID(1), MessageBody(sessionDescription: Array("nonsense".utf8)))))
    #expect(bench.ladder().last == "sip refuse 488")
    bench.feed(.sip(.offered(bench.invites[0].handle, ExchangeID(2), nil)))
    #expect(bench.ladder().last == "sip answer")
    #expect(bench.engine.call(call)?.state == .established)
    bench.feed(
      .sip(
        .transferRequested(
          bench.invites[0].handle, to: NameAddress(SIPURI(scheme: .sip, user: "x", host: Scene.host)), replaces: nil)))
    #expect(bench.ladder().last == "sip refuseTransfer 603")
  }

  @Test("an ICE restart of the app gets new credentials of ours")
  func restart() throws {
    let bench = try Bench()
    let call = try bench.talk()
    let start = bench.effects.count
    bench.request(.offer(call, Scene.appOffer(fragment: "new1", version: 2)))
    #expect(bench.ladder(since: start) == ["media restart near", "app answered", "media plan near sendrecv"])
  }

  @Test("calls from outside: strangers 403, our numbers 480, others 404")
  func incoming() throws {
    let ours = try E164Number(Scene.ours)
    let bench = try Bench(Scene.configuration([Scene.trunk("a", host: 0xC633_6401, owned: [ours])]))
    func call(_ host: UInt32, _ user: String) -> String? {
      let target = SIPURI(scheme: .sip, user: user, host: Scene.host)
      bench.feed(
        .sip(
          .incoming(
            CallHandle(.max),
            IncomingCall(
              target: target, to: NameAddress(target), caller: PresentedCaller(presented: nil, isAnonymous: true),
              headers: CustomHeaders(), offer: nil,
              path: SIPPath(listener: ListenerID(0), remote: TransportAddress(.udp, .ipv4(host), port: 5070)),
              callID: "x"))))
      return bench.ladder().last { $0.hasPrefix("sip reject") }
    }
    #expect(call(0x0101_0101, Scene.ours) == "sip reject 403")
    #expect(call(0xC633_6401, Scene.ours) == "sip reject 480")
    #expect(call(0xC633_6401, "46850000001") == "sip reject 480")
    #expect(call(0xC633_6401, "nobody") == "sip reject 404")
  }

  @Test("pings tell which trunk is alive; a dead one is passed over")
  func pings() throws {
    let bench = try Bench(
      Scene.configuration([
        Scene.trunk("a", host: 1, pings: true), Scene.trunk("b", host: 2, priority: 20, pings: false),
      ]))
    bench.pass(milliseconds: 0)
    for _ in 0..<3 {
      let query = bench.effects.lazy.reversed().compactMap { effect -> QueryID? in
        if case .sip(.ping(let query, _)) = effect { return query }
        return nil
      }.first
      bench.feed(
        .sip(
          .queryAnswered(
            try #require(query),
            QueryOutcome(
              status: nil, phrase: "", allow: [], failure: .timeout, roundTripMilliseconds: 0, path: nil,
              wasChallenged: false))))
      bench.pass(seconds: 5)
    }
    #expect(bench.count("sip OPTIONS") == 4)
    let silent = bench.effects.filter { if case .pinged(trunk: "a", microseconds: nil) = $0 { true } else { false } }
    #expect(silent.count == 3)
    #expect(bench.engine.trunkReports.first?.standing == "down")
    bench.place()
    #expect(bench.engine.liveCalls.first?.trunk == "b")
  }

  @Test("no trunk at all is a failure with the reasons")
  func noTrunk() throws {
    let full = TrunkCapacity.Limits(concurrentCalls: 0)
    let bench = try Bench(Scene.configuration([Scene.trunk("a", host: 1, limits: full)]))
    let call = try #require(bench.place())
    let summary = try #require(bench.summary(of: call))
    #expect(summary.failure?.code == .noRoute)
    #expect(summary.failure?.phrase?.contains("cap of 0 calls") == true)
    #expect(bench.count("ledger void") == 1)
  }
}
