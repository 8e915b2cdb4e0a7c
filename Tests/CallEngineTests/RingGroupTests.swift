import AppProtocol
import CallEngine
import CallModel
import SDPCore
import Testing

/// A call for a user with several devices. The numbers are those of the list of edge cases.
@Suite("A call for a user rings on every device, and one of them answers")
struct RingGroupTests {
  private let caller = SessionID(1)
  private let phone = SessionID(2)
  private let tablet = SessionID(3)
  private let desk = SessionID(4)
  private let accept = Bench.Word.accept(offer: Scene.appOffer())

  private func devices(_ rule: BusyRule = .device) throws -> [CalledDevice] {
    [
      try Bench.device(phone, "phone", rule: rule), try Bench.device(tablet, "tablet", rule: rule),
      try Bench.device(desk, "desk", rule: rule),
    ]
  }

  private func close(_ bench: Bench, sourceLocation: SourceLocation = #_sourceLocation) {
    bench.finish()
    let end = Invariants(bench, isOver: true)
    #expect(end.problems.isEmpty, "\(end.problems)", sourceLocation: sourceLocation)
  }

  private func refusal(_ bench: Bench, _ number: RequestNumber) -> CallFailure? {
    for case .refused(number, let failure) in bench.events { return failure }
    return nil
  }

  private func isDone(_ bench: Bench, _ number: RequestNumber) -> Bool {
    bench.events.contains { if case .done(number) = $0 { true } else { false } }
  }

  // MARK: One answers

  @Test("1: three devices ring; the middle one answers, and the others hear so in the same turn")
  func middleAnswers() throws {
    let bench = try Bench()
    let call = try #require(try bench.ring(devices: devices()))
    for session in [phone, tablet, desk] { bench.say(call, .alert(offer: nil), on: session) }
    #expect(bench.heard(caller) == ["placed", "progressing", "ringing"], "the caller hears once that it rings")
    let before = bench.effects.count
    bench.say(call, accept, on: tablet)
    let ladder = bench.ladder(since: before)
    let others = ladder.filter { $0 == "app ended otherDeviceAnswered" }
    #expect(others.count == 2)
    #expect(ladder.contains("media attach leg 2") && ladder.contains("media join leg 2"), "\(ladder)")
    for session in [phone, desk] {
      let summary = try #require(bench.summary(for: session))
      #expect(summary.cause == .otherDeviceAnswered && summary.device == "tablet" && !summary.isMissed)
    }
    bench.secured(call)
    bench.secured(call, LegID(2))
    #expect(bench.engine.call(call)?.state == .established)
    #expect(bench.heard(tablet).suffix(2) == ["answered", "established"])
    bench.pass(seconds: 5)
    bench.request(.hangUp(call))
    #expect(bench.summary(for: tablet)?.cause == .hungUp)
    #expect(bench.heard(phone).last == "ended otherDeviceAnswered", "it hears nothing after its end")
    close(bench)
  }

  @Test("2: of two that accept in one turn the first wins, and the second is too late")
  func twoAccept() throws {
    let bench = try Bench()
    let call = try #require(try bench.ring(devices: devices()))
    bench.say(call, accept, on: desk)
    let second = bench.say(call, accept, on: phone)
    #expect(refusal(bench, second)?.code == .tooLate)
    #expect(bench.summary(for: phone)?.device == "desk")
    #expect(bench.count("app accepted") == 1 && bench.count("media join leg 3") == 1)
    close(bench)
  }

  @Test("3: the winner that accepts again has the same reply")
  func acceptsAgain() throws {
    let bench = try Bench()
    let call = try #require(try bench.ring(devices: devices()))
    bench.say(call, accept, on: tablet)
    bench.say(call, accept, on: tablet)
    let answers = bench.effects.compactMap { effect -> String? in
      if case .app(tablet, .answered(_, _, let text)) = effect { text } else { nil }
    }
    #expect(answers.count == 2 && answers.first == answers.last)
    #expect(bench.count("app accepted") == 1)
    close(bench)
  }

  @Test("4: accept without any offer is refused, and all ring on")
  func acceptsWithoutOffer() throws {
    let bench = try Bench()
    let call = try #require(try bench.ring(devices: devices()))
    let number = bench.say(call, .accept(offer: nil), on: phone)
    #expect(refusal(bench, number)?.code == .message)
    bench.say(call, accept, on: desk)
    #expect(bench.engine.call(call)?.state == .answered)
    close(bench)
  }

  @Test("5: a device whose offer is no use ends, the others ring on; with the last one the caller's call ends too")
  func unusableOffers() throws {
    let bench = try Bench()
    let call = try #require(try bench.ring(devices: devices()))
    for session in [phone, tablet] {
      let number = bench.say(call, .accept(offer: "nonsense"), on: session)
      #expect(refusal(bench, number)?.code == .media)
      #expect(bench.summary(for: session)?.failure?.code == .media)
      #expect(bench.summary(for: caller) == nil)
    }
    bench.say(call, .alert(offer: "nonsense"), on: desk)
    #expect(bench.summary(for: caller)?.failure?.code == .media)
    close(bench)
  }

  @Test("6: an offer with accept replaces the one that came while it rang")
  func replacedOffer() throws {
    let bench = try Bench()
    let call = try #require(try bench.ring(devices: devices()))
    bench.say(call, .alert(offer: Scene.appOffer()), on: tablet)
    bench.say(call, .accept(offer: Scene.appOffer(fragment: "other", version: 2)), on: tablet)
    #expect(bench.count("media attach leg 2") == 1 && bench.count("media restart leg 2") == 1)
    #expect(bench.count("media plan leg 2 sendrecv") == 2 && bench.count("media join leg 2") == 1)
    close(bench)
  }

  @Test("at most four offer while they ring; more get their answer when they accept")
  func earlyOffers() throws {
    let bench = try Bench()
    let devices = try (2...7).map { try Bench.device(SessionID($0), "device \($0)") }
    let call = try #require(try bench.ring(devices: devices))
    for device in devices { bench.say(call, .alert(offer: Scene.appOffer()), on: device.session) }
    #expect(bench.ladder().count { $0.hasPrefix("media attach") } == 4)
    bench.say(call, accept, on: SessionID(7))
    #expect(bench.ladder().count { $0.hasPrefix("media attach") } == 5)
    #expect(bench.ladder().count { $0.hasPrefix("media detach") } == 4)
    #expect(bench.count("media join leg 6") == 1)
    for number in 5...7 { bench.feed(.sessionEnded(SessionID(UInt64(number)))) }
    close(bench)
  }

  @Test("keys and sound of the winner's media count, those of a device that has left do not")
  func mediaOfTheWinner() throws {
    let bench = try Bench()
    let call = try #require(try bench.ring(devices: devices()))
    bench.say(call, .alert(offer: Scene.appOffer()), on: phone)
    bench.say(call, .alert(offer: Scene.appOffer()), on: tablet)
    bench.secured(call)
    bench.secured(call, LegID(2))
    bench.say(call, .accept(offer: nil), on: tablet)
    #expect(bench.engine.call(call)?.state == .established, "its handshake was over while it rang")
    bench.feed(.media(call, .failed(.far, "closedByPeer")))
    bench.feed(.media(call, .silence(.far)))
    #expect(!bench.heard(tablet).contains("raise no-audio"), "that was the leg of the device that lost")
    bench.feed(.media(call, .digit(LegID(2), "7", milliseconds: 100)))
    #expect(bench.heard(caller).last == "digit 7")
    bench.request(.sendDigits(call, "3"))
    #expect(bench.count("media digits leg 2 3") == 1)
    close(bench)
  }

  @Test("the last words of a device that has left the ring change nothing, though its media had the first name")
  func lastWords() throws {
    let bench = try Bench()
    let call = try #require(try bench.ring(devices: devices()))
    for session in [phone, tablet] { bench.say(call, .alert(offer: Scene.appOffer()), on: session) }
    #expect(bench.count("media attach far") == 1)
    bench.feed(.sessionEnded(phone))
    let before = bench.effects.count
    for notice in [MediaNotice.failed(.far, "closedByPeer"), .silence(.far), .secured(.far), .firstMedia(.far)] {
      bench.feed(.media(call, notice))
    }
    #expect(bench.ladder(since: before).isEmpty)
    bench.say(call, .accept(offer: nil), on: tablet)
    #expect(bench.engine.call(call)?.state == .answered)
    close(bench)
  }

  // MARK: Nobody answers

  @Test("7: a caller that hangs up before any device was told: none ever hears of it")
  func hangUpBefore() throws {
    let bench = try Bench()
    bench.answersMedia = false
    _ = try bench.ring(devices: devices())
    let call = try #require(bench.newest)
    bench.request(.hangUp(call))
    bench.answersMedia = true
    bench.feed(.drain)
    #expect(bench.count("app incoming") == 0)
    for session in [phone, tablet, desk] { #expect(bench.heard(session).isEmpty) }
    close(bench)
  }

  @Test("a caller that hangs up while it rings: canceled and missed for each device")
  func hangUpWhileRinging() throws {
    let bench = try Bench()
    let call = try #require(try bench.ring(devices: devices()))
    bench.say(call, .alert(offer: Scene.appOffer()), on: phone)
    bench.request(.hangUp(call))
    for session in [phone, tablet, desk] {
      let summary = try #require(bench.summary(for: session))
      #expect(summary.cause == .canceled && summary.isMissed && summary.device == nil)
    }
    let late = bench.say(call, accept, on: phone)
    #expect(refusal(bench, late)?.code == .tooLate)
    close(bench)
  }

  @Test("9: a decline of one device stops it alone; of the last one, or for the user, it ends the call")
  func declines() throws {
    let bench = try Bench()
    let call = try #require(try bench.ring(devices: devices()))
    bench.say(call, .decline(.declined, .device), on: phone)
    #expect(bench.summary(for: phone)?.cause == .denied && bench.summary(for: caller) == nil)
    bench.say(call, .decline(.declined, .device), on: tablet)
    bench.say(call, .decline(.busy, .device), on: desk)
    #expect(bench.summary(for: caller)?.cause == .denied)
    #expect(bench.summary(for: caller)?.failure?.code == .userBusy, "the last word counts")
    close(bench)
    let other = try Bench()
    let second = try #require(try other.ring(devices: devices()))
    let number = other.say(second, .decline(.declined), on: tablet)
    #expect(isDone(other, number))
    for session in [phone, tablet, desk] {
      let summary = try #require(other.summary(for: session))
      #expect(summary.cause == .denied && summary.device == "tablet" && !summary.isMissed)
    }
    let late = other.say(second, accept, on: phone)
    #expect(refusal(other, late)?.code == .tooLate, "decline, then accept: denied")
    close(other)
  }

  @Test("accept, then a decline of another device: it is done, and changes nothing")
  func declineAfterAccept() throws {
    let bench = try Bench()
    let call = try #require(try bench.ring(devices: devices()))
    bench.say(call, accept, on: phone)
    let number = bench.say(call, .decline(.declined), on: desk)
    #expect(isDone(bench, number))
    #expect(bench.engine.call(call)?.state == .answered)
    close(bench)
  }

  @Test("nobody there, in each way that can be: the caller hears which")
  func absences() throws {
    for (absence, code, cause) in [
      (CalledUser.Absence.unknown, CallFailureCode.userUnknown, CallEndCause.error),
      (.unreachable, .userUnreachable, .noAnswer), (.incapable, .capabilityRemote, .error),
    ] {
      let bench = try Bench()
      _ = try #require(try bench.ring(devices: [], absence: absence))
      #expect(bench.summary(for: caller)?.failure?.code == code && bench.summary(for: caller)?.cause == cause)
      #expect(bench.records.count == 1, "it is a call that can be explained")
      close(bench)
    }
  }

  // MARK: Busy

  /// Bob's phone is in a call with alice.
  private func talking(_ rule: BusyRule) throws -> Bench {
    let bench = try Bench()
    let call = try #require(try bench.ring(devices: [Bench.device(phone, "phone", rule: rule)]))
    bench.say(call, accept, on: phone)
    bench.session = SessionID(9)
    return bench
  }

  @Test("10: all devices in calls: busy, and none rings")
  func allBusy() throws {
    let bench = try talking(.device)
    _ = try #require(try bench.ring(devices: [Bench.device(phone, "phone")]))
    #expect(bench.summary(for: SessionID(9))?.failure?.code == .userBusy)
    #expect(bench.summary(for: SessionID(9))?.cause == .denied)
    #expect(bench.count("app incoming") == 1)
    bench.feed(.sessionEnded(SessionID(9)))
    close(bench)
  }

  @Test("a device in a call does not ring, and the others do; an older session of it counts as well")
  func oneBusy() throws {
    let bench = try talking(.device)
    let newer = try Bench.device(SessionID(5), "phone", older: [phone])
    _ = try #require(try bench.ring(devices: [newer, Bench.device(tablet, "tablet")]))
    #expect(bench.heard(SessionID(5)).isEmpty)
    #expect(bench.heard(tablet) == ["incoming"])
    bench.feed(.sessionEnded(SessionID(9)))
    close(bench)
  }

  @Test("11: with the rule 'waiting' it rings all the same, is told so, and both calls may be up")
  func waiting() throws {
    let bench = try talking(.waiting)
    let call = try #require(try bench.ring(devices: [Bench.device(phone, "phone", rule: .waiting)]))
    let invitations = bench.effects.compactMap { effect -> Invitation? in
      if case .app(phone, .incoming(_, let invitation)) = effect { invitation } else { nil }
    }
    #expect(invitations.map(\.isWaiting) == [false, true])
    bench.say(call, accept, on: phone)
    #expect(bench.engine.liveCalls.count { $0.state == .answered } == 2)
    bench.feed(.sessionEnded(SessionID(9)))
    close(bench)
  }

  @Test("with the rule 'user' one call of any device makes all of them busy")
  func userBusy() throws {
    let bench = try talking(.user)
    _ = try #require(
      try bench.ring(devices: [Bench.device(tablet, "tablet", rule: .user)], sessions: [phone]))
    #expect(bench.summary(for: SessionID(9))?.failure?.code == .userBusy)
    bench.feed(.sessionEnded(SessionID(9)))
    close(bench)
  }

  @Test("a device that only rings is not busy")
  func ringingIsNotBusy() throws {
    let bench = try Bench()
    _ = try #require(try bench.ring(devices: [Bench.device(phone, "phone")]))
    bench.session = SessionID(9)
    _ = try #require(try bench.ring(devices: [Bench.device(phone, "phone")]))
    #expect(bench.count("app incoming") == 2)
    bench.feed(.sessionEnded(SessionID(9)))
    close(bench)
  }

  // MARK: Devices that come and go

  @Test("17: a device that comes late rings at least 15 s, and no ring passes 75 s")
  func lateDevices() throws {
    let bench = try Bench()
    let call = try #require(try bench.ring(devices: [Bench.device(phone, "phone")]))
    bench.say(call, .alert(offer: nil), on: phone)
    var session: UInt64 = 20
    // Whoever comes just before the end gets fifteen seconds more, but not for ever.
    while bench.summary(for: caller) == nil, session < 40 {
      bench.pass(seconds: 10)
      guard bench.summary(for: caller) == nil else { break }
      session += 1
      let device = try Bench.device(SessionID(session), "device \(session)")
      bench.feed(.deviceListens(device))
      bench.say(call, .alert(offer: nil), on: device.session)
    }
    #expect(bench.clock == Bench.firstClock.advanced(byMilliseconds: 80_000), "looked at every ten seconds")
    let summary = try #require(bench.summary(for: caller))
    #expect(summary.endedAt == Bench.firstClock.advanced(byMilliseconds: 75_000))
    #expect(summary.failure?.code == .userNoAnswer)
    #expect(bench.summary(for: phone)?.cause == .timeout && bench.summary(for: phone)?.isMissed == true)
    for number in 20...session { bench.feed(.sessionEnded(SessionID(number))) }
    close(bench)
  }

  @Test("the same device on a newer session rings there, and no longer on the older one")
  func newerSession() throws {
    let bench = try Bench()
    let call = try #require(try bench.ring(devices: [Bench.device(phone, "phone")]))
    bench.feed(.deviceListens(try Bench.device(SessionID(5), "phone", older: [phone])))
    #expect(bench.summary(for: phone)?.cause == .otherDeviceAnswered)
    #expect(bench.heard(SessionID(5)) == ["incoming"])
    bench.say(call, accept, on: SessionID(5))
    #expect(bench.engine.call(call)?.state == .answered)
    bench.feed(.deviceListens(try Bench.device(SessionID(6), "phone", older: [phone, SessionID(5)])))
    #expect(bench.heard(SessionID(6)).isEmpty, "nobody is rung for a call that is answered")
    bench.feed(.sessionEnded(SessionID(5)))
    close(bench)
  }

  @Test("the calling device does not ring for a call to its own user, though it begins to listen; the others do")
  func oneself() throws {
    let bench = try Bench()
    bench.caller.identity = try Scene.identity("bob")
    bench.caller.identity.device = "laptop"
    _ = try #require(try bench.ring(devices: [Bench.device(phone, "phone")]))
    bench.feed(.deviceListens(try Bench.device(SessionID(8), "laptop", older: [caller])))
    #expect(bench.heard(SessionID(8)).isEmpty)
    bench.feed(.deviceListens(try Bench.device(SessionID(8), "phone", user: "carol")))
    #expect(bench.heard(SessionID(8)).isEmpty, "another user's device has no part in it")
    bench.feed(.deviceListens(try Bench.device(SessionID(8), "tablet")))
    #expect(bench.heard(SessionID(8)) == ["incoming"])
    bench.feed(.sessionEnded(SessionID(8)))
    close(bench)
  }

  @Test("sessions that end leave the ring one by one; with the last the user cannot be reached")
  func sessionsEnd() throws {
    let bench = try Bench()
    let call = try #require(try bench.ring(devices: devices()))
    bench.say(call, .alert(offer: Scene.appOffer()), on: phone)
    bench.feed(.sessionEnded(phone))
    #expect(bench.count("media detach far") == 1)
    bench.feed(.sessionAbsent(tablet))
    bench.feed(.sessionEnded(tablet))
    #expect(bench.summary(for: caller) == nil)
    bench.feed(.sessionEnded(desk))
    #expect(bench.summary(for: caller)?.failure?.code == .userUnreachable)
    #expect(bench.summary(for: caller)?.cause == .noAnswer)
    bench.finish()
    #expect(bench.engine.isIdle)
  }

  // MARK: Glare

  @Test("who calls the user that is just ringing here is told of that call instead")
  func crossed() throws {
    let bench = try Bench()
    let call = try #require(try bench.ring(devices: devices()))
    // Bob's phone calls alice at the same moment.
    bench.session = phone
    let alice = try #require(bench.caller.identity.user as UserID?)
    bench.caller.identity = try Scene.identity("bob")
    bench.feed(
      try .callUser(
        phone, RequestNumber(900), PlaceCall(kind: .user, target: alice.text, offer: Scene.appOffer()), bench.caller,
        CalledUser(
          application: bench.caller.identity.application, user: alice,
          devices: [Bench.device(caller, "laptop", user: alice.text)])))
    let crossed = try #require(refusal(bench, RequestNumber(900)))
    #expect(crossed.code == .crossed && crossed.correlationID == call.text)
    #expect(bench.engine.liveCalls.count == 1)
    close(bench)
  }

  // MARK: The rest

  @Test("18: it rings on while the gateway drains")
  func drain() throws {
    let bench = try Bench()
    let call = try #require(try bench.ring(devices: devices()))
    bench.feed(.drain)
    bench.say(call, accept, on: desk)
    #expect(bench.engine.call(call)?.state == .answered)
    close(bench)
  }

  @Test("19: headers go both ways under any names, and wrong ones are named")
  func headers() throws {
    let bench = try Bench()
    let call = try #require(
      try bench.ring(headers: [.init(name: "order", value: "42"), .init(name: "x-a", value: "b")], devices: devices()))
    let invitation = try #require(bench.invitation(to: tablet))
    #expect(invitation.headers["order"] == "42" && invitation.headers["x-a"] == "b")
    let wrong = bench.say(
      call, .accept(offer: Scene.appOffer(), headers: [.init(name: "b d", value: "1")]), on: tablet)
    #expect(refusal(bench, wrong)?.code == .header)
    #expect(bench.engine.call(call)?.answeredAt == nil, "it rings on")
    bench.say(call, .accept(offer: Scene.appOffer(), headers: [.init(name: "room", value: "7")]), on: tablet)
    guard case .accepted(_, let told)? = bench.events.first(where: { Bench.word($0) == "accepted" }) else {
      Issue.record("nobody accepted")
      return
    }
    #expect(told["room"] == "7")
    close(bench)
  }

  @Test("a caller that offers video is told to the devices, and its sound is carried")
  func video() throws {
    let bench = try Bench()
    _ = try #require(try bench.ring(devices: devices(), wantsVideo: true))
    #expect(bench.invitation(to: phone)?.wantsVideo == true)
    close(bench)
  }

  @Test("20: both hang up in one turn: one end each")
  func bothHangUp() throws {
    let bench = try Bench()
    let call = try #require(try bench.ring(devices: devices()))
    bench.say(call, accept, on: phone)
    bench.request(.hangUp(call))
    try bench.askCalled(.hangUp(call))
    #expect(bench.heard(caller).count { $0.hasPrefix("ended") } == 1)
    #expect(bench.heard(phone).count { $0.hasPrefix("ended") } == 1)
    close(bench)
  }
}
