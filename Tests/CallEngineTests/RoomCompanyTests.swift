import AppProtocol
import CallEngine
import CallModel
import SDPCore
import SIPCore
import Testing

/// Who is in a conference, what its apps are told, and what operators do to it.
@Suite("Participants of conferences") struct RoomCompanyTests {
  private static func bench() throws -> Bench {
    let bench = try Bench()
    bench.caller.followsRooms = true
    return bench
  }

  /// An app enters, and its keys are agreed.
  @discardableResult
  private static func enter(_ bench: Bench, _ session: UInt64) throws -> CallID {
    bench.session = SessionID(session)
    bench.caller.identity = try Scene.identity("user\(session)")
    bench.caller.name = "phone of \(session)"
    let call = try #require(bench.place("weekly", kind: .conference))
    bench.pass(milliseconds: 50)
    bench.secured(call)
    return call
  }

  private static func key() throws -> RoomKey {
    RoomKey(environment: "production", application: "key", conference: try ConferenceID("weekly"))
  }

  private static func room(_ bench: Bench) throws -> RoomReport? { bench.engine.room(try key()) }

  private static func order(_ bench: Bench, _ order: RoomOrder) throws {
    bench.feed(.room(try key(), order, by: "olga"))
  }

  /// Somebody is called who is to take part.
  private static func add(_ bench: Bench, _ destination: Destination, muted: Bool = false) throws {
    var origination = Origination(
      first: .conference(try ConferenceID("weekly")), second: destination, payer: bench.caller.payer)
    origination.application = "key"
    origination.beginsMuted = muted
    bench.feed(.originate(OriginationID(1), origination))
  }

  private static func phone() throws -> Destination { .phone(try E164Number(Scene.phone)) }

  /// What a session was told of who is there, one line a message.
  private static func told(_ bench: Bench, _ session: UInt64, since start: Int = 0) -> [String] {
    bench.effects.dropFirst(start).compactMap {
      guard case .app(SessionID(session), let event) = $0 else { return nil }
      switch event {
      case .members(_, let news):
        let own = news.own.map { "I am \($0): " } ?? ""
        let there = news.members.map { "\($0.participant) \($0.from.value)\($0.isMuted ? " muted" : "")" }
        return own + (there + news.left.map { "\($0) left" }).joined(separator: ", ")
      case .speakers(_, let speakers):
        return "speaking \(speakers.speaking) leads \(speakers.leads.map { "\($0)" } ?? "-")"
      default: return nil
      }
    }
  }

  // MARK: What apps are told

  @Test("whoever enters is told of all who are there, the others of what has changed")
  func membersAreTold() throws {
    let bench = try RoomCompanyTests.bench()
    try RoomCompanyTests.enter(bench, 1)
    bench.pass(seconds: 1)
    try RoomCompanyTests.enter(bench, 2)
    bench.pass(seconds: 1)
    let third = try RoomCompanyTests.enter(bench, 3)
    bench.pass(seconds: 1)
    bench.request(.hangUp(third))
    bench.pass(seconds: 1)
    #expect(
      RoomCompanyTests.told(bench, 1) == [
        "I am 1: 1 user1", "speaking [] leads -", "2 user2", "3 user3", "3 left",
      ])
    #expect(
      RoomCompanyTests.told(bench, 2) == ["I am 2: 1 user1, 2 user2", "speaking [] leads -", "3 user3", "3 left"])
    let names = bench.effects.compactMap {
      if case .app(SessionID(2), .members(_, let news)) = $0, news.own != nil {
        news.members.map(\.from.name)
      } else {
        nil
      }
    }
    #expect(names == [["phone of 1", "phone of 2"]])
  }

  @Test("an app without the feature is told nothing, and is told of")
  func olderAppsAreNotTold() throws {
    let bench = try RoomCompanyTests.bench()
    bench.caller.followsRooms = false
    try RoomCompanyTests.enter(bench, 1)
    bench.caller.followsRooms = true
    try RoomCompanyTests.enter(bench, 2)
    bench.pass(seconds: 1)
    #expect(RoomCompanyTests.told(bench, 1).isEmpty)
    #expect(RoomCompanyTests.told(bench, 2).first == "I am 2: 1 user1, 2 user2")
  }

  @Test("however much happens, news come at most four times a second, and none is lost")
  func newsAreCollected() throws {
    let bench = try RoomCompanyTests.bench()
    let first = try RoomCompanyTests.enter(bench, 1)
    for session in 2...9 as ClosedRange<UInt64> { try RoomCompanyTests.enter(bench, session) }
    bench.pass(seconds: 1)
    // Nine came within half a second.
    #expect(RoomCompanyTests.told(bench, 1).count { $0.contains("user") } <= 4)
    let start = bench.effects.count
    for round in 0..<40 {
      bench.feed(.media(first, .speaking(.near, round.isMultiple(of: 2))))
      bench.pass(milliseconds: 25)
    }
    bench.pass(seconds: 1)
    let told = RoomCompanyTests.told(bench, 2, since: start)
    #expect((1...5).contains(told.count), "\(told)")
    #expect(told.last == "speaking [] leads -")
  }

  @Test("many are told in messages of fifty")
  func manyAreSplit() throws {
    let bench = try RoomCompanyTests.bench()
    for session in 1...120 as ClosedRange<UInt64> { try RoomCompanyTests.enter(bench, session) }
    bench.pass(seconds: 1)
    let sizes = bench.effects.compactMap {
      if case .app(SessionID(120), .members(_, let news)) = $0 { news.members.count } else { nil }
    }
    #expect(sizes == [50, 50, 20])
    var known: [RoomMembers.Member] = []
    for case .app(SessionID(120), .members(_, let news)) in bench.effects { known = news.applied(to: known) }
    #expect(known.map(\.participant) == Array(1...120))
  }

  @Test("who speaks is told in the order in which they began, five at most, and who leads stays so in a pause")
  func speakersAreTold() throws {
    let bench = try RoomCompanyTests.bench()
    var calls: [CallID] = []
    for session in 1...7 as ClosedRange<UInt64> { calls.append(try RoomCompanyTests.enter(bench, session)) }
    bench.pass(seconds: 1)
    let start = bench.effects.count
    for call in calls.reversed() { bench.feed(.media(call, .speaking(.near, true))) }
    bench.feed(.media(calls[3], .leadsTalk(.near)))
    bench.pass(seconds: 1)
    for call in calls { bench.feed(.media(call, .speaking(.near, false))) }
    bench.pass(seconds: 1)
    let told = RoomCompanyTests.told(bench, 1, since: start)
    #expect(told.first == "speaking [7] leads -")
    #expect(told.contains("speaking [5, 4, 3, 2, 1] leads 4"))
    #expect(told.last == "speaking [] leads 4")
    bench.session = SessionID(4)
    bench.request(.hangUp(calls[3]))
    bench.pass(seconds: 1)
    #expect(RoomCompanyTests.told(bench, 1).suffix(2) == ["4 left", "speaking [] leads -"])
  }

  @Test("nothing is told to an app whose connection is lost; back again, it is told of all")
  func resumesWithAll() throws {
    let bench = try RoomCompanyTests.bench()
    try RoomCompanyTests.enter(bench, 1)
    try RoomCompanyTests.enter(bench, 2)
    bench.pass(seconds: 1)
    bench.feed(.sessionAbsent(SessionID(1)))
    let start = bench.effects.count
    try RoomCompanyTests.enter(bench, 3)
    bench.pass(seconds: 1)
    #expect(RoomCompanyTests.told(bench, 1, since: start).isEmpty)
    bench.feed(.sessionResumed(SessionID(1)))
    bench.pass(seconds: 1)
    #expect(
      RoomCompanyTests.told(bench, 1, since: start) == ["I am 1: 1 user1, 2 user2, 3 user3", "speaking [] leads -"])
  }

  @Test("an app says what it wants to be told; in any other call there is nothing to follow")
  func follows() throws {
    let bench = try RoomCompanyTests.bench()
    let call = try RoomCompanyTests.enter(bench, 1)
    bench.pass(seconds: 1)
    var start = bench.effects.count
    bench.request(.room(call, .members))
    bench.pass(seconds: 1)
    bench.feed(.media(call, .speaking(.near, true)))
    bench.pass(seconds: 1)
    #expect(RoomCompanyTests.told(bench, 1, since: start) == ["I am 1: 1 user1"])
    start = bench.effects.count
    bench.request(.room(call, .none))
    try RoomCompanyTests.enter(bench, 2)
    bench.pass(seconds: 1)
    #expect(RoomCompanyTests.told(bench, 1, since: start).isEmpty)
    bench.session = SessionID(3)
    let phone = try #require(bench.place())
    bench.request(.room(phone, .members))
    #expect(bench.lastRefusal?.code == .message)
  }

  @Test("numbers and addresses of others are masked, and whole to operators")
  func numbersAreMasked() throws {
    let bench = try RoomCompanyTests.bench()
    try RoomCompanyTests.enter(bench, 1)
    try RoomCompanyTests.add(bench, try RoomCompanyTests.phone())
    try bench.answer()
    bench.pass(seconds: 1)
    #expect(RoomCompanyTests.told(bench, 1).last == "2 +4670•••••67")
    #expect(try RoomCompanyTests.room(bench)?.participants.map(\.from.value) == ["user1", Scene.phone])
  }

  // MARK: Operators

  @Test("muted by an operator is muted, whatever the app says")
  func operatorMutes() throws {
    let bench = try RoomCompanyTests.bench()
    let call = try RoomCompanyTests.enter(bench, 1)
    bench.pass(seconds: 1)
    bench.request(.mute(call, true))
    try RoomCompanyTests.order(bench, .silence(participant: 1, true))
    bench.request(.mute(call, false))
    #expect(bench.ladder().filter { $0.hasPrefix("media mute") || $0.hasPrefix("media unmute") } == ["media mute near"])
    bench.pass(seconds: 1)
    #expect(RoomCompanyTests.told(bench, 1).last == "1 user1 muted")
    #expect(try RoomCompanyTests.room(bench)?.participants.map(\.isSilenced) == [true])
    try RoomCompanyTests.order(bench, .silence(participant: 1, false))
    bench.pass(seconds: 1)
    #expect(bench.ladder().last { $0.hasPrefix("media") } == "media unmute near")
    #expect(RoomCompanyTests.told(bench, 1).last == "1 user1")
    try RoomCompanyTests.order(bench, .deafen(participant: 1, true))
    #expect(bench.ladder().contains("media deafen near"))
    #expect(try RoomCompanyTests.room(bench)?.participants.map(\.isDeaf) == [true])
  }

  @Test("a locked conference takes nobody but those whom an operator adds")
  func locked() throws {
    let bench = try RoomCompanyTests.bench()
    try RoomCompanyTests.enter(bench, 1)
    try RoomCompanyTests.order(bench, .lock(true))
    bench.session = SessionID(2)
    #expect(bench.place("weekly", kind: .conference) == nil)
    #expect(bench.lastRefusal?.code == .roomLocked)
    try RoomCompanyTests.add(bench, try RoomCompanyTests.phone())
    try bench.answer()
    #expect(try RoomCompanyTests.room(bench)?.participants.count == 2)
    try RoomCompanyTests.order(bench, .lock(false))
    try RoomCompanyTests.enter(bench, 2)
    #expect(try RoomCompanyTests.room(bench)?.participants.map(\.number) == [1, 2, 3])
  }

  @Test("tones of coming and leaving are turned off for the room, and for whoever comes later")
  func tones() throws {
    let bench = try RoomCompanyTests.bench()
    try RoomCompanyTests.enter(bench, 1)
    try RoomCompanyTests.order(bench, .tones(false))
    try RoomCompanyTests.enter(bench, 2)
    #expect(try RoomCompanyTests.room(bench)?.hasTones == false)
    #expect(
      bench.ladder().filter { $0.hasPrefix("media enter") } == [
        "media enter near 1", "media enter near 1 without tones", "media enter near 1 without tones",
      ])
  }

  @Test("whoever is taken out hears why, and the others go on")
  func kicked() throws {
    let bench = try RoomCompanyTests.bench()
    let first = try RoomCompanyTests.enter(bench, 1)
    let second = try RoomCompanyTests.enter(bench, 2)
    bench.pass(seconds: 1)
    try RoomCompanyTests.order(bench, .kick(participant: 7))
    try RoomCompanyTests.order(bench, .kick(participant: 2))
    bench.pass(seconds: 1)
    #expect(bench.summary(of: second)?.failure?.code == .kicked)
    #expect(bench.records.first?.flags.contains(.endedByOperator) == true)
    #expect(RoomCompanyTests.told(bench, 1).last == "2 left")
    #expect(bench.engine.call(first) != nil)
  }

  @Test("end all: each app hears one end, each telephone has one hold")
  func ended() throws {
    let bench = try RoomCompanyTests.bench()
    let first = try RoomCompanyTests.enter(bench, 1)
    let second = try RoomCompanyTests.enter(bench, 2)
    try RoomCompanyTests.add(bench, try RoomCompanyTests.phone())
    try bench.answer()
    bench.pass(seconds: 10)
    // One that still rings has no part yet, and ends with them.
    try RoomCompanyTests.add(bench, .phone(try E164Number("+46709999999")))
    try bench.progress(180, 1)
    try RoomCompanyTests.order(bench, .end)
    bench.hungUp(0)
    bench.hungUp(1)
    bench.pass(seconds: 3)
    #expect(try RoomCompanyTests.room(bench) == nil)
    for call in [first, second] {
      let ends = bench.events.count { if case .ended(call, _) = $0 { true } else { false } }
      #expect(ends == 1)
    }
    #expect(bench.count("ledger authorise") == 2)
    #expect(bench.ladder().filter { $0.hasPrefix("ledger settle") } == ["ledger settle 10000"])
    #expect(bench.engine.isIdle)
  }

  @Test("whoever is alone is sent home after a quarter of an hour, and not one who has company")
  func alone() throws {
    let bench = try RoomCompanyTests.bench()
    let first = try RoomCompanyTests.enter(bench, 1)
    bench.pass(seconds: 600)
    let second = try RoomCompanyTests.enter(bench, 2)
    bench.pass(seconds: 1_000)
    #expect(bench.engine.call(first) != nil)
    bench.request(.hangUp(second))
    bench.pass(seconds: 890)
    #expect(bench.engine.call(first) != nil)
    bench.pass(seconds: 20)
    #expect(bench.summary(of: first)?.cause == .timeout)
    #expect(bench.engine.isIdle)
  }

  // MARK: Telephones and users

  @Test("a telephone that is added takes part once it answers, has a hold of its own and pays for itself alone")
  func phoneIsAdded() throws {
    let bench = try RoomCompanyTests.bench()
    let app = try RoomCompanyTests.enter(bench, 1)
    let start = bench.effects.count
    try RoomCompanyTests.add(bench, try RoomCompanyTests.phone(), muted: true)
    #expect(bench.ladder(since: start) == ["prepare", "ledger authorise", "originated", "sip INVITE"])
    try bench.progress(180)
    #expect(try RoomCompanyTests.room(bench)?.participants.count == 1)
    try bench.answer()
    let words = bench.ladder(since: start).filter { $0.hasPrefix("media") || $0.hasPrefix("ledger") }
    #expect(
      words == [
        "ledger authorise", "media plan far sendrecv", "ledger answer", "media enter far 1", "media mute far",
      ])
    #expect(try RoomCompanyTests.room(bench)?.participants.last?.isSilenced == true)
    bench.pass(seconds: 20)
    bench.bye(0)
    bench.pass(seconds: 1)
    let record = try #require(bench.records.first)
    #expect(record.call.destination == Scene.phone)
    #expect(record.summary.costMicro == 60_000, "a minute at least")
    #expect(record.story.contains { $0.text == "in conference weekly" })
    #expect(bench.engine.call(app) != nil)
    #expect(RoomCompanyTests.told(bench, 1).last == "2 left")
  }

  @Test("a telephone whose credit ends leaves alone")
  func creditEnds() throws {
    let bench = try RoomCompanyTests.bench()
    let app = try RoomCompanyTests.enter(bench, 1)
    bench.plain.credit = 60_000
    try RoomCompanyTests.add(bench, try RoomCompanyTests.phone())
    try bench.answer()
    bench.pass(seconds: 65)
    #expect(bench.records.first?.summary.failure?.code == .funds)
    #expect(bench.records.first?.summary.costMicro == 60_000)
    #expect(bench.engine.call(app) != nil)
    #expect(try RoomCompanyTests.room(bench)?.participants.count == 1)
  }

  @Test("one that does not answer gives its place back, and nothing is charged")
  func phoneDoesNotAnswer() throws {
    let bench = try RoomCompanyTests.bench()
    try RoomCompanyTests.add(bench, try RoomCompanyTests.phone())
    #expect(try RoomCompanyTests.room(bench)?.participants.isEmpty == true)
    bench.fail(486)
    #expect(try RoomCompanyTests.room(bench) == nil)
    #expect(bench.records.first?.summary.failure?.code == .busy)
    #expect(bench.records.first?.summary.costMicro == 0)
  }

  @Test(
    "either order of conference and telephone is the same; without an application, or with a test number, it is refused"
  )
  func orders() throws {
    let bench = try RoomCompanyTests.bench()
    var origination = Origination(
      first: try RoomCompanyTests.phone(), second: .conference(try ConferenceID("weekly")), payer: bench.caller.payer)
    bench.feed(.originate(OriginationID(1), origination))
    #expect(bench.invites.isEmpty)
    origination.application = "key"
    bench.feed(.originate(OriginationID(2), origination))
    #expect(bench.invites.count == 1)
    try RoomCompanyTests.add(bench, .phone(try E164Number("+46000000000")))
    try RoomCompanyTests.add(bench, .conference(try ConferenceID("other")))
    try RoomCompanyTests.add(bench, .emergency(try EmergencyNumber("112")))
    #expect(bench.invites.count == 1)
    let refusals = bench.effects.count { if case .originated(_, .failure) = $0 { true } else { false } }
    #expect(refusals == 4)
  }

  @Test("a user that is added rings on every device, and takes part with the one that accepts")
  func userIsAdded() throws {
    let bench = try RoomCompanyTests.bench()
    try RoomCompanyTests.enter(bench, 1)
    var device = try Bench.device()
    device.name = "Bob's phone"
    device.followsRooms = true
    var origination = Origination(
      first: .conference(try ConferenceID("weekly")), second: .user(try UserID("bob")), payer: bench.caller.payer)
    origination.application = "key"
    origination.called = CalledUser(application: "key", user: try UserID("bob"), devices: [device])
    bench.feed(.originate(OriginationID(1), origination))
    let invitation = try #require(bench.invitation(to: Bench.called))
    #expect(invitation.from.value == "weekly")
    let call = try #require(bench.newest)
    bench.say(call, .accept(offer: Scene.appOffer()), on: Bench.called)
    bench.pass(seconds: 1)
    #expect(RoomCompanyTests.told(bench, 2).first == "I am 2: 1 user1, 2 bob")
    #expect(RoomCompanyTests.told(bench, 1).last == "2 bob")
    #expect(bench.asked.isEmpty)
    #expect(bench.ladder().contains("media enter far 1"))
    bench.feed(.sessionEnded(Bench.called))
    bench.pass(seconds: 1)
    #expect(RoomCompanyTests.told(bench, 1).last == "2 left")
  }

  // MARK: Callers

  /// Calls for the number come to these targets.
  private static func number(_ bench: Bench, _ targets: [InboundNumber.Target]) throws {
    let row = InboundNumber(
      try E164Number("+46850000536"), application: "key", account: Scene.account, targets: targets)
    try row.check()
    bench.feed(.numbers(environment: "production", [row]))
  }

  private static func conference() throws -> InboundNumber.Target { .init(.conference(try ConferenceID("weekly"))) }

  @Test("a number brings its callers into a conference, with those who are there")
  func callerComesIn() throws {
    let bench = try RoomCompanyTests.bench()
    try RoomCompanyTests.number(bench, [try RoomCompanyTests.conference()])
    try RoomCompanyTests.enter(bench, 1)
    let handle = try bench.arrive()
    bench.pass(milliseconds: 100)
    #expect(bench.answers(handle) == ["200"])
    #expect(bench.ladder().last { $0.hasPrefix("media enter") } == "media enter near 1")
    bench.pass(seconds: 1)
    #expect(RoomCompanyTests.told(bench, 1).last == "2 +4670•••••11")
    let needs = bench.effects.compactMap { if case .prepare(_, let needs) = $0 { needs.room } else { nil } }
    #expect(needs == [1, 1])
    bench.feed(.sip(.ended(handle, CallEnd(cause: .remote, wasEstablished: true))))
    bench.pass(seconds: 1)
    #expect(RoomCompanyTests.told(bench, 1).last == "2 left")
    #expect(bench.records.first?.call.inboundNumber?.description == "+46850000536")
  }

  @Test("a locked conference turns callers away with 403, a full one with 486")
  func callerIsTurnedAway() throws {
    var configuration = try Scene.configuration()
    configuration.limits.participantsPerRoom = 2
    let bench = try Bench(configuration)
    try RoomCompanyTests.number(bench, [try RoomCompanyTests.conference()])
    try RoomCompanyTests.enter(bench, 1)
    try RoomCompanyTests.order(bench, .lock(true))
    let locked = try bench.arrive()
    #expect(bench.rejection(of: locked)?.status == 403)
    #expect(bench.rejection(of: locked)?.reasons.first?.cause == 21)
    try RoomCompanyTests.order(bench, .lock(false))
    try RoomCompanyTests.enter(bench, 2)
    let full = try bench.arrive()
    #expect(bench.rejection(of: full)?.status == 486)
    #expect(bench.rejection(of: full)?.reasons.first?.cause == 17)
    #expect(try RoomCompanyTests.room(bench)?.participants.count == 2)
  }

  @Test(
    "a conference behind a user takes the call that nobody answered; where the user answers, the place is given back")
  func conferenceIsTheLastTarget() throws {
    let bench = try RoomCompanyTests.bench()
    bench.devices["bob"] = [try Bench.device()]
    try RoomCompanyTests.number(
      bench, [.init(.user(try UserID("bob")), ringSeconds: 5), try RoomCompanyTests.conference()])
    let first = try bench.arrive()
    #expect(try RoomCompanyTests.room(bench)?.participants.isEmpty == true)
    bench.pass(seconds: 6)
    #expect(bench.answers(first).last == "200")
    #expect(try RoomCompanyTests.room(bench)?.participants.count == 1)
    bench.feed(.sip(.ended(first, CallEnd(cause: .remote, wasEstablished: true))))
    #expect(try RoomCompanyTests.room(bench) == nil)
    let second = try bench.arrive()
    let call = try #require(bench.arrived)
    bench.say(call, .accept(offer: Scene.appOffer()), on: Bench.called)
    #expect(bench.answers(second).last == "200")
    #expect(try RoomCompanyTests.room(bench) == nil)
    #expect(throws: InvalidValue.self) {
      try RoomCompanyTests.number(bench, [try RoomCompanyTests.conference(), .init(.user(try UserID("bob")))])
    }
  }

  // MARK: From seeds

  /// What an app knows by all that it was told.
  private struct View: Equatable {
    var members: [RoomMembers.Member] = []
    var speakers: RoomSpeakers?

    init(of session: UInt64, in call: CallID, _ bench: Bench) {
      for case .app(SessionID(session), let event) in bench.effects {
        switch event {
        case .members(call, let news): members = news.applied(to: members)
        case .speakers(call, let told): speakers = told
        default: break
        }
      }
    }
  }

  @Test(
    "whatever happened, half a second later each app knows exactly who is there, who is muted and who speaks",
    arguments: 1...40 as ClosedRange<UInt64>)
  func views(_ seed: UInt64) throws {
    let bench = try RoomCompanyTests.bench()
    var random = SplitMix(seed: seed)
    func draw(_ count: UInt64) -> UInt64 { random.next() % count }
    var calls: [UInt64: CallID] = [:]
    var absent: Set<UInt64> = []
    for _ in 0..<200 {
      let session = draw(12) + 1
      bench.session = SessionID(session)
      let participant = Int(draw(20)) + 1
      let isOn = draw(2) == 0
      switch (draw(9), calls[session]) {
      case (_, nil): calls[session] = try RoomCompanyTests.enter(bench, session)
      case (0, let call?): bench.request(.hangUp(call))
      case (1, let call?), (2, let call?): bench.request(.mute(call, isOn))
      case (3, _):
        bench.feed(absent.contains(session) ? .sessionResumed(SessionID(session)) : .sessionAbsent(SessionID(session)))
        absent.formSymmetricDifference([session])
      case (4, _): try RoomCompanyTests.order(bench, .silence(participant: participant, isOn))
      case (5, _): try RoomCompanyTests.order(bench, .kick(participant: participant))
      case (6, let call?): bench.request(.room(call, .speakers))
      case (7, let call?): bench.feed(.media(call, .leadsTalk(.near)))
      case (_, let call?): bench.feed(.media(call, .speaking(.near, isOn)))
      }
      bench.pass(milliseconds: Int64(draw(200)))
      calls = calls.filter { bench.engine.call($0.value) != nil }
    }
    for session in absent { bench.feed(.sessionResumed(SessionID(session))) }
    bench.pass(milliseconds: 500)
    let room = try RoomCompanyTests.room(bench)
    #expect(room?.participants.count ?? 0 == calls.count)
    for (session, call) in calls {
      let view = View(of: session, in: call, bench)
      #expect(view.members.map(\.participant) == room?.participants.map(\.number), "session \(session)")
      #expect(view.members.map(\.isMuted) == room?.participants.map { $0.isMuted || $0.isSilenced })
      let speaking = room?.participants.filter(\.isSpeaking).map(\.number) ?? []
      let told = view.speakers?.speaking ?? []
      #expect(told.allSatisfy { speaking.contains($0) } && told.count == min(speaking.count, RoomSpeakers.maximum))
      #expect(view.speakers?.leads == room?.leads)
    }
  }
}
