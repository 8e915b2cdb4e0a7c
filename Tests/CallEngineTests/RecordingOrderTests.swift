import AppProtocol
import CallEngine
import CallModel
import Testing

/// Calls and conferences that are recorded, and what becomes of it when they change.
@Suite("Recordings of calls and conferences") struct RecordingOrderTests {
  private static func record(_ bench: Bench, _ order: RecordingOrder, _ call: CallID) -> CallFailure? {
    bench.feed(.order(CallOrderID(7), call, .record(order), by: "olga"))
    let answers = bench.effects.compactMap {
      if case .ordered(CallOrderID(7), let refusal) = $0 { Optional(refusal) } else { nil }
    }
    return answers.last ?? CallFailure(.internal)
  }

  private static func media(_ bench: Bench, since start: Int) -> [String] {
    bench.ladder(since: start).filter { $0.hasPrefix("media") }.map { String($0.dropFirst(6)) }
  }

  @Test("a call is recorded once at a time, paused, and no longer; it is shown, and its story says who asked")
  func call() throws {
    let bench = try Bench()
    let call = try bench.talk()
    let start = bench.effects.count
    #expect(Self.record(bench, .pause(true), call)?.code == .recording)
    #expect(Self.record(bench, .end, call)?.code == .recording)
    #expect(Self.record(bench, .begin(RecordingOptions(.opus)), call) == nil)
    #expect(Self.record(bench, .begin(RecordingOptions(.wav)), call)?.code == .recording)
    let running = try #require(bench.engine.call(call)?.recording)
    #expect(running.options.format == .opus && !running.isPaused)
    #expect(Self.record(bench, .pause(true), call) == nil)
    #expect(Self.record(bench, .pause(true), call) == nil)
    #expect(bench.engine.call(call)?.recording?.isPaused == true)
    #expect(Self.record(bench, .pause(false), call) == nil)
    #expect(Self.record(bench, .end, call) == nil)
    #expect(bench.engine.call(call)?.recording == nil)
    #expect(
      Self.media(bench, since: start) == ["record opus", "pause recording", "resume recording", "end recording"])
    // The word that the file is closed comes when another one runs.
    #expect(Self.record(bench, .begin(RecordingOptions(.wav)), call) == nil)
    bench.feed(.media(call, .recordingEnded(running.id, .complete)))
    let second = try #require(bench.engine.call(call)?.recording)
    #expect(second.id != running.id)
    bench.request(.hangUp(call))
    bench.feed(.media(call, .recordingEnded(second.id, .complete)))
    let story = try #require(bench.records.first?.story.map(\.text))
    #expect(story.contains("olga has it recorded") && story.contains("olga ends the recording"), "\(story)")
    #expect(!story.contains { $0.hasPrefix("the recording has ended") }, "nothing went wrong")
  }

  @Test("both sides hear that they are recorded, but one that waits; a test number goes on with its own words")
  func announced() throws {
    let bench = try Bench()
    let call = try bench.talk()
    bench.feed(.order(CallOrderID(1), call, .hold(.called, true), by: "olga"))
    let start = bench.effects.count
    #expect(Self.record(bench, .begin(RecordingOptions(.opus, isAnnounced: true)), call) == nil)
    #expect(Self.media(bench, since: start) == ["record opus", "say near recorded"])
    let test = try #require(bench.place("+46000000000"))
    bench.secured(test)
    bench.pass(seconds: 2)
    let second = bench.effects.count
    #expect(Self.record(bench, .begin(RecordingOptions(.opus, isAnnounced: true)), test) == nil)
    #expect(Self.media(bench, since: second) == ["record opus"])
  }

  @Test("where the disk takes no more, the call goes on, its story says so, and the log is an error")
  func ended() throws {
    let bench = try Bench()
    let call = try bench.talk()
    #expect(Self.record(bench, .begin(RecordingOptions(.opus)), call) == nil)
    let running = try #require(bench.engine.call(call)?.recording)
    let start = bench.effects.count
    bench.feed(.media(call, .recordingEnded(running.id, .full)))
    #expect(bench.engine.call(call)?.recording == nil && bench.engine.call(call)?.state == .established)
    #expect(Self.media(bench, since: start) == ["end recording"])
    let errors = bench.effects.dropFirst(start).filter {
      if case .log(let entry) = $0 { entry.level == .error && entry.message.contains("full") } else { false }
    }
    #expect(errors.count == 1)
    #expect(Self.record(bench, .begin(RecordingOptions(.wav)), call) == nil, "another may begin")
    bench.request(.hangUp(call))
    #expect(bench.records.first?.story.contains { $0.text == "the recording has ended: full" } == true)
  }

  @Test("a trunk's rule has calls recorded from the answer on, and says so once sound flows")
  func rule() throws {
    let carrier = try Scene.trunk("carrier-1", host: 0xC633_6401, recording: RecordingOptions(.wav, isAnnounced: true))
    let bench = try Bench(try Scene.configuration([carrier]))
    let call = try #require(bench.place())
    try bench.answer()
    #expect(bench.ladder().contains("media record wav"))
    #expect(!bench.ladder().contains { $0.hasPrefix("media say") }, "nobody would hear it yet")
    bench.secured(call)
    #expect(
      bench.ladder().filter { $0.hasPrefix("media say") } == ["media say near recorded", "media say far recorded"])
    #expect(bench.engine.call(call)?.recording?.options.format == .wav)
    #expect(Self.record(bench, .end, call) == nil, "an operator may end it")
    bench.request(.hangUp(call))
    #expect(bench.records.first?.story.contains { $0.text == "the rule of trunk carrier-1 has it recorded" } == true)
  }

  @Test("a call for help is recorded by a rule, and nothing takes the place of what is said in it")
  func emergency() throws {
    let carrier = try Scene.trunk("carrier-1", host: 0xC633_6401, recording: RecordingOptions(.wav, isAnnounced: true))
    let bench = try Bench(try Scene.configuration([carrier]))
    let call = try #require(bench.place("112"))
    try bench.answer()
    bench.secured(call)
    #expect(bench.ladder().contains("media record wav"))
    #expect(!bench.ladder().contains { $0.hasPrefix("media say") })
  }

  @Test("a number's rule has its calls recorded, and says nothing where it is to be quiet")
  func numberRule() throws {
    let bench = try Bench()
    let desk = SessionID(2)
    bench.devices["bob"] = [try Bench.device(desk, "phone")]
    let row = InboundNumber(
      try E164Number("+46850000536"), application: "key", account: Scene.account,
      targets: [.init(.user(try UserID("bob")))], recording: RecordingOptions(.opus, isAnnounced: false))
    bench.feed(.numbers(environment: "production", [row]))
    _ = try bench.arrive()
    let call = try #require(bench.arrived)
    bench.say(call, .alert(offer: Scene.appOffer()), on: desk)
    #expect(!bench.ladder().contains("media record opus"), "it only rings")
    bench.secured(call, .far)
    bench.say(call, .accept(offer: nil, headers: []), on: desk)
    #expect(bench.ladder().contains("media record opus"))
    #expect(!bench.ladder().contains { $0.hasPrefix("media say") })
    try bench.askCalled(.hangUp(call))
    #expect(
      bench.records.first?.story.contains { $0.text == "the rule of +46850000536 has it recorded" } == true)
  }

  @Test("a call that rings is not recorded; of one in a conference, what comes from its participant is")
  func refused() throws {
    let bench = try Bench()
    let ringing = try #require(bench.place())
    #expect(Self.record(bench, .begin(RecordingOptions(.opus)), ringing)?.code == .recording)
    let member = try Self.enter(bench)
    let toned = Self.record(bench, .begin(RecordingOptions(.opus, hasTone: true)), member)
    #expect(toned?.code == .recording && toned?.phrase?.contains("conference") == true)
    #expect(Self.record(bench, .begin(RecordingOptions(.opus)), member) == nil)
    let recordings = bench.effects.compactMap {
      if case .media(_, .record(let recording)) = $0 { recording } else { nil }
    }
    #expect(recordings.map(\.channels) == [1])
  }

  /// Somebody takes part in a conference.
  private static func enter(_ bench: Bench, _ session: UInt64 = 1) throws -> CallID {
    bench.session = SessionID(session)
    let call = try #require(bench.place("weekly", kind: .conference))
    bench.pass(milliseconds: 50)
    bench.secured(call)
    return call
  }

  @Test("both sides hear a tone as long as they are recorded, but in a call for help")
  func tone() throws {
    let bench = try Bench()
    let call = try bench.talk()
    let start = bench.effects.count
    #expect(Self.record(bench, .begin(RecordingOptions(.opus, hasTone: true)), call) == nil)
    #expect(Self.record(bench, .end, call) == nil)
    #expect(Self.media(bench, since: start) == ["record opus", "tone true", "tone false", "end recording"])
    let help = try bench.talk("112")
    let second = bench.effects.count
    #expect(Self.record(bench, .begin(RecordingOptions(.opus, hasTone: true)), help) == nil)
    #expect(Self.media(bench, since: second) == ["record opus"])
  }

  // MARK: Apps

  /// What an app gets for its wish, and what all were told since.
  private static func ask(_ bench: Bench, _ call: CallID, _ state: RecordingState) -> (refusal: String?, told: [String])
  {
    let start = bench.effects.count
    bench.request(.record(call, state))
    var refusal: String?
    var told: [String] = []
    for case .app(let session, let event) in bench.effects.dropFirst(start) {
      switch event {
      case .refused(_, let failure): refusal = failure.phrase ?? failure.code.rawValue
      case .recording(_, let state): told.append("\(session.number) \(state.rawValue)")
      default: break
      }
    }
    return (refusal, told)
  }

  @Test("an app has its call recorded where its application may, in the application's form, and all apps are told")
  func app() throws {
    let bench = try Bench()
    let call = try bench.talk()
    #expect(Self.ask(bench, call, .on).refusal == "apps of this application have nothing recorded")
    bench.caller.recording = RecordingOptions(.wav)
    #expect(Self.ask(bench, call, .paused).refusal == "it is not recorded")
    let start = bench.effects.count
    #expect(Self.ask(bench, call, .on) == (nil, ["1 on"]))
    #expect(Self.ask(bench, call, .on) == (nil, []))
    #expect(Self.ask(bench, call, .paused) == (nil, ["1 paused"]))
    #expect(Self.ask(bench, call, .on) == (nil, ["1 on"]))
    #expect(Self.ask(bench, call, .off) == (nil, ["1 off"]))
    #expect(Self.ask(bench, call, .off) == (nil, []))
    #expect(Self.media(bench, since: start) == ["record wav", "pause recording", "resume recording", "end recording"])
    // One that an operator began is not an app's to end, but a number may be left out of it.
    #expect(Self.record(bench, .begin(RecordingOptions(.opus)), call) == nil)
    #expect(Self.ask(bench, call, .paused).told == ["1 paused"])
    #expect(Self.ask(bench, call, .off).refusal == "no app began the recording, and none may end it")
    #expect(bench.engine.call(call)?.recording?.isPaused == true)
  }

  @Test("an app has its conference recorded, and whoever comes later is told")
  func appInConference() throws {
    let bench = try Bench()
    bench.caller.recording = RecordingOptions(.opus)
    let first = try Self.enter(bench)
    #expect(Self.ask(bench, first, .on) == (nil, ["1 on"]))
    let start = bench.effects.count
    let second = try Self.enter(bench, 2)
    let told = bench.effects.dropFirst(start).filter {
      if case .app(SessionID(2), .recording(second, .on)) = $0 { true } else { false }
    }
    #expect(told.count == 1)
    #expect(Self.ask(bench, second, .paused).told.sorted() == ["1 paused", "2 paused"])
    #expect(Self.ask(bench, second, .off).told.sorted() == ["1 off", "2 off"])
  }

  @Test(
    "with tracks each participant is recorded apart too, whoever comes later as well; all are paused and ended together"
  )
  func tracks() throws {
    let bench = try Bench()
    let first = try Self.enter(bench)
    let key = RoomKey(environment: "production", application: "key", conference: try ConferenceID("weekly"))
    let acme = AccountName(unchecked: "acme")
    func order(_ order: RecordingOrder) { bench.feed(.room(key, .record(order, for: acme), by: "olga")) }
    let start = bench.effects.count
    order(.begin(RecordingOptions(.opus, hasTone: true, hasTracks: true)))
    let second = try Self.enter(bench, 2)
    let ids = [first, second].compactMap { bench.engine.call($0)?.recording?.id }
    #expect(Set(ids).count == 2)
    order(.pause(true))
    #expect([first, second].allSatisfy { bench.engine.call($0)?.recording?.isPaused == true })
    let third = try Self.enter(bench, 3)
    #expect(bench.engine.call(third)?.recording?.isPaused == true, "nothing of a pause is kept of whoever comes in it")
    order(.pause(false))
    // One that is recorded by an operator's word stays so.
    #expect(Self.record(bench, .end, third) == nil && Self.record(bench, .begin(RecordingOptions(.wav)), third) == nil)
    order(.end)
    #expect([first, second].allSatisfy { bench.engine.call($0)?.recording == nil })
    #expect(bench.engine.call(third)?.recording != nil)
    let tones = Self.media(bench, since: start).filter { $0.hasPrefix("tone") }
    #expect(tones == ["tone in room 1 true", "tone in room 1 false"])
  }

  @Test("a conference is recorded as a whole, all are told, and it ends with the conference")
  func conference() throws {
    let bench = try Bench()
    let call = try #require(bench.place("weekly", kind: .conference))
    bench.pass(milliseconds: 50)
    bench.secured(call)
    let key = RoomKey(environment: "production", application: "key", conference: try ConferenceID("weekly"))
    let acme = AccountName(unchecked: "acme")
    func order(_ order: RecordingOrder) -> CallFailure? {
      let refusal = bench.engine.room(key)?.refusal(of: .record(order, for: acme))
      bench.feed(.room(key, .record(order, for: acme), by: "olga"))
      return refusal
    }
    let start = bench.effects.count
    func told() -> [String] {
      bench.ladder(since: start).filter { $0.contains("record") && !$0.hasPrefix("app") }
    }
    #expect(order(.end)?.code == .recording && told().isEmpty)
    #expect(order(.begin(RecordingOptions(.wav, isAnnounced: true))) == nil)
    #expect(order(.begin(RecordingOptions(.wav, isAnnounced: true)))?.code == .recording)
    let running = try #require(bench.engine.room(key)?.recording)
    #expect(order(.pause(true)) == nil && bench.engine.room(key)?.recording?.isPaused == true)
    #expect(told() == ["record room 1 wav", "media say near recorded", "pause recording of room"])
    bench.session = SessionID(2)
    let late = try #require(bench.place("weekly", kind: .conference))
    bench.pass(milliseconds: 50)
    bench.secured(late)
    #expect(told().last == "media say near recorded", "whoever comes later hears it too")
    bench.request(.hangUp(late))
    bench.session = SessionID(1)
    bench.feed(.roomRecordingEnded(key, running.id, .failed))
    #expect(bench.engine.room(key)?.recording == nil && bench.engine.call(call) != nil)
    #expect(told().last == "end recording of room")
    #expect(order(.begin(RecordingOptions(.opus))) == nil)
    let second = try #require(bench.engine.room(key)?.recording)
    bench.request(.hangUp(call))
    bench.pass(seconds: 3)
    bench.feed(.roomRecordingEnded(key, second.id, .complete))
    #expect(bench.engine.room(key) == nil && bench.engine.isIdle)
  }
}
