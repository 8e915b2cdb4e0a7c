import AppProtocol
import CallEngine
import CallModel
import LedgerCore
import RoutingCore
import SDPCore
import SIPCore
import Testing

@Suite("A call from app to app")
struct AppCallTests {
  private let caller = SessionID(1)
  private let called = Bench.called
  private let accept = Bench.Word.accept(offer: Scene.appOffer())

  /// Has all come to its end, and looks whether the books are right.
  private func close(_ bench: Bench, sourceLocation: SourceLocation = #_sourceLocation) {
    bench.finish()
    let end = Invariants(bench, isOver: true)
    #expect(end.problems.isEmpty, "\(end.problems)", sourceLocation: sourceLocation)
  }

  private func price(_ text: String = "46701234567") throws -> RateSnapshot {
    try Rating.quote(
      try NumberDigits(text), plan: Scene.plan(), account: .eur, denyRanges: .none, at: Bench.firstClock)
  }

  private func refusal(_ bench: Bench, _ number: RequestNumber) -> CallFailure? {
    for case .refused(number, let failure) in bench.events { return failure }
    return nil
  }

  private func isDone(_ bench: Bench, _ number: RequestNumber) -> Bool {
    bench.events.contains { if case .done(number) = $0 { true } else { false } }
  }

  // MARK: It comes about

  @Test("rings, is accepted with an offer, and is heard both ways; no ledger hears of it")
  func lateOffer() throws {
    let bench = try Bench()
    let call = try #require(
      try bench.ring(headers: [PlaceCall.Header(name: "message", value: "hello")]))
    let invitation = try #require(bench.invitation(to: called))
    #expect(invitation.from == CallerIdentity(kind: .user, value: "alice", name: ""))
    #expect(invitation.user.text == "bob" && !invitation.isWaiting && !invitation.wantsVideo)
    #expect(invitation.headers["message"] == "hello")
    #expect(invitation.expiresAt == bench.clock.advanced(byMilliseconds: 45_000))
    bench.say(call, .alert(offer: nil))
    #expect(bench.engine.call(call)?.state == .ringing)
    #expect(bench.count("media attach far") == 0, "before it offers a device costs no media")
    var headers = CustomHeaders()
    try headers.append(name: "id", value: "7", names: .tokens)
    bench.say(call, .accept(offer: Scene.appOffer(), headers: [PlaceCall.Header(name: "id", value: "7")]))
    #expect(bench.engine.call(call)?.state == .answered)
    bench.secured(call)
    #expect(bench.engine.call(call)?.state == .answered)
    bench.secured(call, .far)
    bench.speak(call)
    #expect(bench.engine.call(call)?.state == .established)
    #expect(bench.heard(caller) == ["placed", "progressing", "ringing", "accepted", "established"])
    #expect(bench.heard(called) == ["incoming", "done", "answered", "established"])
    guard case .accepted(_, let told)? = bench.events.first(where: { Bench.word($0) == "accepted" }) else { return }
    #expect(told == headers)
    guard case .prepare(_, let needs)? = bench.effects.first(where: { Bench.word($0) == "prepare" }) else { return }
    #expect(needs.legs == [.near: .app, .far: .devices])
    bench.pass(seconds: 90)
    bench.request(.hangUp(call))
    #expect(bench.asked.isEmpty)
    #expect(bench.summary(for: caller)?.cause == .hungUp)
    #expect(bench.summary(for: called)?.cause == .hungUp)
    #expect(bench.summary(for: called)?.durationMilliseconds == 90_000)
    #expect(bench.summary(for: caller)?.costMicro == 0)
    #expect(bench.records.first?.call.kind == .user)
    #expect(bench.records.first?.call.farCodec == "opus")
    close(bench)
  }

  @Test("with an offer while it rings, media are set up then, and neither side hears the other before it is accepted")
  func earlyOffer() throws {
    let bench = try Bench()
    let call = try #require(try bench.ring())
    let start = bench.effects.count
    bench.say(call, .alert(offer: Scene.appOffer()))
    #expect(
      bench.ladder(since: start) == [
        "media attach far", "app answered", "media plan far sendrecv", "app progressing", "app ringing",
        "media ring near",
      ])
    bench.secured(call)
    bench.secured(call, .far)
    bench.request(.sendDigits(call, "1"))
    bench.feed(.media(call, .digit(.far, "2", milliseconds: 100)))
    bench.feed(.media(call, .digit(.near, "3", milliseconds: 100)))
    #expect(bench.count("media digits far 1") == 0, "keys do not go where nobody is")
    #expect(!bench.heard(caller).contains("digit 2") && !bench.heard(called).contains("digit 3"))
    let accepting = bench.effects.count
    bench.say(call, .accept(offer: nil))
    #expect(
      bench.ladder(since: accepting) == [
        "app done", "media join far", "media stop near", "app accepted", "app established", "app established",
      ])
    close(bench)
  }

  @Test("a first offer may also come with a second alert, and accept may replace it")
  func laterOffers() throws {
    let bench = try Bench()
    let call = try #require(try bench.ring())
    bench.say(call, .alert(offer: nil))
    bench.say(call, .alert(offer: nil))
    bench.say(call, .alert(offer: Scene.appOffer()))
    bench.say(call, .alert(offer: Scene.appOffer("sendrecv", fragment: "other", version: 2)))
    #expect(bench.count("media restart far") == 1)
    #expect(bench.count("media attach far") == 1)
    bench.say(call, .accept(offer: Scene.appOffer("sendrecv", fragment: "third", version: 3)))
    #expect(bench.count("media restart far") == 2)
    #expect(bench.count("media plan far sendrecv") == 3)
    #expect(bench.count("app ringing") == 1, "the caller hears once that it rings")
    #expect(bench.engine.call(call)?.state == .answered)
    close(bench)
  }

  @Test("accept without any offer is refused, and it rings on; accept twice has the same answer")
  func accepts() throws {
    let bench = try Bench()
    let call = try #require(try bench.ring())
    let early = bench.say(call, .accept(offer: nil))
    #expect(refusal(bench, early)?.code == .message)
    #expect(bench.engine.call(call)?.answeredAt == nil)
    bench.say(call, accept)
    bench.say(call, accept)
    let answers = bench.effects.compactMap { effect -> String? in
      if case .app(called, .answered(_, _, let text)) = effect { text } else { nil }
    }
    #expect(answers.count == 2 && answers.first == answers.last)
    #expect(bench.count("app accepted") == 1)
    let late = bench.say(call, .decline(.declined))
    #expect(isDone(bench, late))
    #expect(bench.engine.call(call)?.state == .answered, "a decline that crossed the answer changes nothing")
    close(bench)
  }

  // MARK: It does not come about

  @Test(
    "that is declined ends as denied, for both",
    arguments: [(DeclineReason.declined, CallFailureCode.userDeclined, 603), (.busy, .userBusy, 486)])
  func declines(_ reason: DeclineReason, _ code: CallFailureCode, _ status: Int) throws {
    let bench = try Bench()
    let call = try #require(try bench.ring(price: price()))
    bench.say(call, .alert(offer: nil))
    let number = bench.say(call, .decline(reason))
    #expect(isDone(bench, number))
    let summary = try #require(bench.summary(for: caller))
    #expect(summary.cause == .denied && summary.failure?.code == code && summary.failure?.sipStatus == status)
    #expect(summary.failure?.leg == .app)
    let told = try #require(bench.summary(for: called))
    #expect(told.cause == .denied && told.failure == nil && told.device == "phone" && !told.isMissed)
    #expect(bench.count("ledger void") == 1 && bench.count("ledger answer") == 0)
    let tooLate = bench.say(call, accept)
    #expect(refusal(bench, tooLate)?.code == .tooLate)
    let again = bench.say(call, .decline(reason))
    #expect(isDone(bench, again), "a decline always has what it wants")
    #expect(bench.records.map(\.call.answeredAt) == [nil])
    close(bench)
  }

  @Test("is declined by a hang-up before it is accepted")
  func hangUpWhileRinging() throws {
    let bench = try Bench()
    let call = try #require(try bench.ring())
    let number = try bench.askCalled(.hangUp(call))
    #expect(isDone(bench, number))
    #expect(bench.summary(for: caller)?.failure?.code == .userDeclined)
    close(bench)
  }

  @Test("its caller gives up while it rings, and both hear of it")
  func callerGivesUp() throws {
    let bench = try Bench()
    let call = try #require(try bench.ring(price: price()))
    bench.say(call, .alert(offer: Scene.appOffer()))
    bench.request(.hangUp(call))
    #expect(bench.summary(for: caller)?.cause == .canceled)
    #expect(bench.summary(for: called)?.cause == .canceled)
    #expect(bench.heard(called).last == "ended canceled")
    #expect(bench.count("ledger void") == 1 && bench.count("ledger answer") == 0)
    close(bench)
  }

  @Test("hang-up first, then accept: canceled, nothing is billed, accept is too late", arguments: [true, false])
  func hangUpThenAccept(_ isSettled: Bool) throws {
    let bench = try Bench()
    let call = try #require(try bench.ring(price: price()))
    // The receipt may still be on its way: the call is known then, or no longer.
    if !isSettled { bench.ledger = .silent }
    bench.request(.hangUp(call))
    let number = bench.say(call, accept)
    #expect(refusal(bench, number)?.code == .tooLate)
    #expect(bench.count("app accepted") == 0 && bench.count("ledger answer") == 0)
    close(bench)
    #expect(bench.summary(for: caller)?.cause == .canceled && bench.summary(for: called)?.cause == .canceled)
    #expect(bench.records.count == 1)
  }

  @Test("accept first, then hang-up: hung up for both, and billed from the one to the other")
  func acceptThenHangUp() throws {
    let bench = try Bench()
    let call = try #require(try bench.ring(price: price()))
    bench.pass(seconds: 10)
    bench.say(call, accept)
    bench.pass(seconds: 3)
    bench.request(.hangUp(call))
    #expect(bench.summary(for: caller)?.cause == .hungUp && bench.summary(for: called)?.cause == .hungUp)
    #expect(bench.count("ledger answer") == 1 && bench.count("ledger settle 3000") == 1)
    #expect(bench.summary(for: caller)?.costMicro == 60_000)
    #expect(bench.summary(for: called)?.costMicro == 0, "what the caller pays is nobody else's business")
    close(bench)
  }

  @Test("rings for 45 seconds: then nobody answered, and accept is too late")
  func ringLimit() throws {
    let bench = try Bench()
    let call = try #require(try bench.ring())
    bench.say(call, .alert(offer: nil))
    bench.pass(milliseconds: 44_999)
    #expect(bench.summary(for: caller) == nil)
    bench.step(to: bench.now.advanced(byMilliseconds: 1), wakes: false)
    let number = bench.say(call, accept)
    #expect(refusal(bench, number) != nil, "what was due happened before it")
    #expect(bench.summary(for: caller)?.cause == .noAnswer)
    #expect(bench.summary(for: caller)?.failure?.code == .userNoAnswer)
    #expect(bench.summary(for: called)?.cause == .timeout)
    close(bench)
  }

  @Test("an answered call has no ring limit")
  func timerIsDead() throws {
    let bench = try Bench()
    let call = try bench.talkToApp()
    bench.pass(seconds: 600)
    #expect(bench.engine.call(call)?.state == .established)
    close(bench)
  }

  @Test("an offer that is no use ends it as long as it rings, and nothing after that", arguments: [true, false])
  func unusableOffer(_ isAlert: Bool) throws {
    let bench = try Bench()
    let call = try #require(try bench.ring())
    let noCodec = Scene.appOffer().replacing("SAVPF 111 0 8 101", with: "SAVPF 99")
    let number = bench.say(
      call, isAlert ? .alert(offer: noCodec) : .accept(offer: "nonsense"))
    #expect(refusal(bench, number)?.code == .media)
    #expect(bench.summary(for: caller)?.failure?.code == .media)
    #expect(bench.summary(for: called)?.cause == .error)
    let second = try bench.talkToApp()
    bench.say(second, .accept(offer: "nonsense"))
    #expect(bench.engine.call(second)?.state == .established)
    close(bench)
  }

  @Test("is refused where nobody has looked for devices")
  func withoutDevices() throws {
    let bench = try Bench()
    bench.place("bob", kind: .user)
    #expect(bench.lastRefusal?.code == .capabilityRemote)
    #expect(bench.count("app incoming") == 0)
  }

  // MARK: Sessions

  @Test("its called app may be away while it rings, and takes the call when it is back")
  func absence() throws {
    let bench = try Bench()
    let call = try #require(try bench.ring())
    bench.feed(.sessionAbsent(called))
    bench.pass(seconds: 20)
    bench.feed(.sessionResumed(called))
    #expect(bench.count("app incoming") == 1)
    bench.say(call, accept)
    #expect(bench.engine.call(call)?.state == .answered)
    #expect(bench.count("app accepted") == 1)
    close(bench)
  }

  @Test("its called app's session ends before anybody accepts: it cannot be reached", arguments: [true, false])
  func sessionEnds(_ isLost: Bool) throws {
    let bench = try Bench()
    _ = try #require(try bench.ring(price: price()))
    if isLost { bench.feed(.sessionAbsent(called)) }
    bench.feed(.sessionEnded(called))
    #expect(bench.summary(for: caller)?.cause == .noAnswer)
    #expect(bench.summary(for: caller)?.failure?.code == .userUnreachable)
    #expect(bench.count("ledger void") == 1)
    close(bench)
  }

  @Test("its called app is gone before it was told: the user cannot be reached, and nobody is invited")
  func gonePreparing() throws {
    let bench = try Bench()
    bench.answersMedia = false
    #expect(try bench.ring() == nil)
    let call = try #require(bench.newest)
    let early = bench.say(call, accept)
    #expect(refusal(bench, early) != nil, "who was not told cannot answer")
    bench.feed(.sessionEnded(called))
    bench.answersMedia = true
    bench.feed(.drain)
    #expect(bench.summary(for: caller)?.failure?.code == .userUnreachable)
    #expect(bench.count("app incoming") == 0 && bench.summary(for: called) == nil)
    close(bench)
  }

  @Test("a session of either end ends it, by its goodbye or its loss", arguments: [true, false], [true, false])
  func sessionEndsTalk(_ isCaller: Bool, _ isLost: Bool) throws {
    let bench = try Bench()
    _ = try bench.talkToApp()
    let session = isCaller ? caller : called
    if isLost {
      bench.feed(.sessionAbsent(session))
      bench.pass(seconds: 10)
    }
    bench.feed(.sessionEnded(session))
    for session in [caller, called] {
      #expect(bench.summary(for: session)?.cause == (isLost ? .error : .hungUp))
      #expect(bench.summary(for: session)?.failure?.code == (isLost ? .networkLost : nil))
    }
    close(bench)
  }

  @Test("its caller's session is lost while it rings: canceled for the other")
  func callerLost() throws {
    let bench = try Bench()
    _ = try #require(try bench.ring())
    bench.feed(.sessionEnded(caller))
    #expect(bench.summary(for: called)?.cause == .canceled)
    close(bench)
  }

  // MARK: While it is up

  @Test("either app holds the other and takes it back", arguments: [true, false])
  func hold(_ isCaller: Bool) throws {
    let bench = try Bench()
    let call = try bench.talkToApp()
    let (leg, other) = isCaller ? ("near", called) : ("far", caller)
    func offer(_ direction: String, _ version: Int) throws {
      let request = AppRequest.offer(call, Scene.appOffer(direction, version: version))
      if isCaller { bench.request(request) } else { try bench.askCalled(request) }
    }
    try offer("sendonly", 2)
    #expect(bench.count("media plan \(leg) recvonly") == 1)
    #expect(bench.heard(other).last == "held true")
    // The one that is held need not send: it is not dead.
    let held: LegID = isCaller ? .far : .near
    bench.feed(.media(call, .silence(held)))
    bench.pass(seconds: 60)
    #expect(bench.engine.call(call)?.state == .established)
    #expect(!bench.heard(other).contains("raise no-audio"))
    try offer("sendrecv", 3)
    #expect(bench.heard(other).last == "held false")
    bench.pass(milliseconds: 29_999)
    #expect(bench.engine.call(call)?.state == .established)
    bench.pass(milliseconds: 1)
    #expect(bench.summary(for: other)?.failure?.code == .mediaLost)
    #expect(bench.summary(for: other)?.failure?.leg == .app)
    close(bench)
  }

  @Test("an app that is on hold as it accepts holds the caller")
  func holdAtAccept() throws {
    let bench = try Bench()
    let call = try #require(try bench.ring())
    bench.say(call, .accept(offer: Scene.appOffer("sendonly")))
    #expect(bench.heard(caller) == ["placed", "accepted", "held true"])
    close(bench)
  }

  @Test("the called app restarts ICE, presses keys, mutes itself, and hears keys")
  func perLeg() throws {
    let bench = try Bench()
    let call = try bench.talkToApp()
    try bench.askCalled(.offer(call, Scene.appOffer(fragment: "other", version: 2)))
    #expect(bench.count("media restart far") == 1 && bench.count("media restart near") == 0)
    try bench.askCalled(.sendDigits(call, "12"))
    #expect(bench.count("media digits near 12") == 1)
    #expect(bench.heard(caller).suffix(2) == ["digit 1", "digit 2"])
    bench.request(.sendDigits(call, "3"))
    #expect(bench.count("media digits far 3") == 1)
    #expect(bench.heard(called).last == "digit 3")
    bench.feed(.media(call, .digit(.near, "4", milliseconds: 100)))
    bench.feed(.media(call, .digit(.far, "5", milliseconds: 100)))
    #expect(bench.heard(called).last == "digit 4")
    #expect(bench.heard(caller).last == "digit 5")
    try bench.askCalled(.mute(call, true))
    bench.feed(.media(call, .silence(.far)))
    bench.pass(seconds: 60)
    #expect(bench.engine.call(call)?.state == .established, "a muted app need not send")
    try bench.askCalled(.mute(call, false))
    bench.pass(seconds: 30)
    #expect(bench.summary(for: caller)?.failure?.code == .mediaLost)
    close(bench)
  }

  @Test("quality and warnings are told to each app of its own sound")
  func quality() throws {
    let bench = try Bench()
    let call = try bench.talkToApp()
    func second(_ leg: LegID, _ score: Double) {
      bench.feed(
        .media(
          call, .quality(leg, .init(meanOpinionScore: score, jitter: 5, loss: 0, packets: 50), roundTrip: 50)))
    }
    second(.far, 4.3)
    second(.near, 4.1)
    second(.far, 4.3)
    func last(_ session: SessionID) -> CallQuality? {
      bench.effects.reversed().lazy.compactMap {
        if case .app(session, .quality(_, let quality)) = $0 { return quality }
        return nil
      }.first
    }
    #expect(last(caller)?.sent.meanOpinionScore == 4.1 && last(caller)?.received.meanOpinionScore == 4.3)
    #expect(last(called)?.sent.meanOpinionScore == 4.3 && last(called)?.received.meanOpinionScore == 4.1)
    #expect(bench.engine.call(call)?.quality == last(caller), "the call's own is the caller's")
    bench.feed(.media(call, .silence(.far)))
    #expect(bench.heard(called).last == "raise no-audio")
    bench.feed(.media(call, .soundAgain(.far)))
    #expect(bench.heard(called).last == "clear no-audio")
    #expect(!bench.heard(caller).contains("raise no-audio"))
    close(bench)
    #expect(bench.records.first?.meanScoreNear == 4.1)
  }

  @Test("the called app hangs up")
  func calledHangsUp() throws {
    let bench = try Bench()
    let call = try bench.talkToApp(price: price())
    bench.pass(seconds: 61)
    try bench.askCalled(.hangUp(call))
    #expect(bench.summary(for: caller)?.cause == .hungUp && bench.summary(for: called)?.cause == .hungUp)
    #expect(bench.count("ledger settle 61000") == 1)
    #expect(bench.records.first?.story.contains { $0.event == .hungUp(reason: nil) } == true)
    close(bench)
  }

  @Test("media of the called app that are never set up end it as that app's own way")
  func noMedia() throws {
    let bench = try Bench()
    let call = try #require(try bench.ring())
    bench.secured(call)
    bench.say(call, accept)
    bench.pass(seconds: 15)
    #expect(bench.summary(for: caller)?.failure?.code == .networkMedia)
    #expect(bench.summary(for: caller)?.failure?.leg == .app)
    close(bench)
  }

  @Test("credit that ends cuts it off; the called app hears no more than that it is over")
  func creditEnds() throws {
    let bench = try Bench()
    bench.plain.credit = 60_000
    let call = try bench.talkToApp(price: price())
    #expect(bench.heard(caller).contains("price") && !bench.heard(called).contains("price"))
    bench.pass(seconds: 60)
    #expect(bench.engine.call(call) == nil)
    #expect(bench.summary(for: caller)?.failure?.refusal == .insufficientCredit)
    #expect(bench.summary(for: called)?.failure == nil)
    #expect(!bench.heard(called).contains { $0.hasPrefix("credit") })
    close(bench)
  }

  @Test("lasts as long as any call, also where nobody pays")
  func longest() throws {
    let bench = try Bench()
    _ = try bench.talkToApp()
    bench.pass(seconds: 14_399)
    #expect(bench.summary(for: caller) == nil)
    bench.pass(seconds: 1)
    #expect(bench.summary(for: caller)?.failure?.refusal == .durationCap)
    close(bench)
  }

  // MARK: Whatever happens

  /// What either end, the media and the time may do to such a call.
  private static let happenings: [Happening] =
    Happening.all + [
      Happening("it alerts") { $0.say($1, .alert(offer: nil)) },
      Happening("it alerts with an offer") { $0.say($1, .alert(offer: Scene.appOffer())) },
      Happening("it accepts with an offer") { $0.say($1, .accept(offer: Scene.appOffer())) },
      Happening("it accepts without an offer") { $0.say($1, .accept(offer: nil)) },
      Happening("it accepts nonsense") { $0.say($1, .accept(offer: "nonsense")) },
      Happening("it declines") { $0.say($1, .decline(.declined)) },
      Happening("it hangs up") { try $0.askCalled(.hangUp($1)) },
      Happening("it holds") { try $0.askCalled(.offer($1, Scene.appOffer("inactive", version: 3))) },
      Happening("it presses keys") { try $0.askCalled(.sendDigits($1, "10#")) },
      Happening("it mutes") { try $0.askCalled(.mute($1, true)) },
      Happening("its session is absent") { bench, _ in bench.feed(.sessionAbsent(Bench.called)) },
      Happening("its session is back") { bench, _ in bench.feed(.sessionResumed(Bench.called)) },
      Happening("its session ends") { bench, _ in bench.feed(.sessionEnded(Bench.called)) },
    ]

  private static func bench(_ state: String, isBilled: Bool) throws -> Bench {
    let bench = try Bench()
    let price = try isBilled ? AppCallTests().price() : nil
    if state == "preparing" { bench.answersMedia = false }
    let call = try bench.ring(price: price)
    switch state {
    case "alerting": bench.say(call, .alert(offer: nil))
    case "alertingEarly": bench.say(call, .alert(offer: Scene.appOffer()))
    case "accepted": bench.say(call, .accept(offer: Scene.appOffer()))
    case "talking":
      bench.say(call, .accept(offer: Scene.appOffer()))
      for leg in [LegID.near, .far] { bench.secured(call, leg) }
    case "ending":
      bench.ledger = .silent
      bench.say(call, .decline(.busy))
    default: break
    }
    return bench
  }

  @Test(
    "keeps its books: one end for each app, one record, one close, one end of the hold or none",
    arguments: ["preparing", "invited", "alerting", "alertingEarly", "accepted", "talking", "ending"], [true, false])
  func pairs(_ state: String, _ isBilled: Bool) throws {
    for happening in AppCallTests.happenings {
      let bench = try AppCallTests.bench(state, isBilled: isBilled)
      let call = try #require(bench.newest)
      for _ in 1...2 {
        try happening.happen(bench, call)
        let meanwhile = Invariants(bench, isOver: false)
        #expect(meanwhile.problems.isEmpty, "\(state), \(happening.name): \(meanwhile.problems)")
      }
      bench.finish()
      let end = Invariants(bench, isOver: true)
      #expect(end.problems.isEmpty, "\(state), \(happening.name) twice: \(end.problems)")
      // A leg to a telephone, which the call did not have, has a price.
      if happening.name == "an operator transfers" { continue }
      #expect(bench.asked.isEmpty == !isBilled, "\(state), \(happening.name): \(bench.asked.count) operations")
    }
  }

  @Test("keeps its books in random order, from seeds", arguments: 1...10 as ClosedRange<UInt64>)
  func random(_ seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let happenings = AppCallTests.happenings.filter {
      !["the node drains", "a trunk is taken away"].contains($0.name)
    }
    for round in 0..<5 {
      let bench = try Bench(seed: seed &* 1000 &+ UInt64(round))
      for _ in 0..<100 {
        bench.ledger = [.plain, .plain, .silent, .away].randomElement(using: &random) ?? .plain
        bench.answersMedia = Int.random(in: 0..<10, using: &random) > 0
        if Int.random(in: 0..<6, using: &random) == 0 {
          try bench.ring(price: Bool.random(using: &random) ? price() : nil)
        } else if let happening = happenings.randomElement(using: &random), let call = bench.newest {
          try happening.happen(bench, call)
        }
        bench.pass(milliseconds: Int64.random(in: 0...3000, using: &random))
      }
      bench.finish()
      let end = Invariants(bench, isOver: true)
      #expect(end.problems.isEmpty, "seed \(seed), round \(round): \(end.problems)")
      if !end.problems.isEmpty { return }
    }
  }
}
