import AppProtocol
import CallEngine
import CallModel
import LedgerCore
import SDPCore
import SIPCore
import Testing

/// A state of a call, and how to get there.
enum Reached: String, CaseIterable, Sendable {
  case preparing, preparedOnly, authorisedOnly, dialling, trying, ringing, earlyMedia, secondAttempt, answered,
    established, lastGrant, asking, onHold, muted, silent, testProgress, testAnswered, testSpeaking, cancelling,
    settling, absent, originatingNear, originatingFar, originated, entering, inConference, calledIn, heldByOperator,
    over

  func bench() throws -> Bench {
    let bench = try Bench()
    switch self {
    case .preparing:
      bench.ledger = .silent
      bench.answersMedia = false
      bench.place()
    case .preparedOnly:
      bench.ledger = .silent
      bench.place()
    case .authorisedOnly:
      bench.answersMedia = false
      bench.place()
    case .dialling: bench.place()
    case .trying:
      bench.place()
      bench.trying()
    case .ringing:
      bench.place()
      try bench.progress(180)
    case .earlyMedia:
      bench.place()
      try bench.progress(183, sdp: true)
    case .secondAttempt:
      bench.place()
      bench.fail(503)
    case .answered:
      bench.place()
      try bench.answer()
    case .established: _ = try bench.talk()
    case .lastGrant:
      bench.plain.credit = 60_000
      _ = try bench.talk()
      bench.pass(seconds: 56)
    case .asking:
      _ = try bench.talk()
      bench.ledger = .silent
      bench.pass(seconds: 56)
    case .onHold:
      let call = try bench.talk()
      bench.request(.offer(call, Scene.appOffer("sendonly", version: 2)))
    case .muted: bench.request(.mute(try bench.talk(), true))
    case .silent: bench.feed(.media(try bench.talk(), .silence(.near)))
    case .testProgress: bench.place("+4600000000020")
    case .testAnswered:
      bench.place("+46000000000")
      bench.pass(seconds: 1)
    case .testSpeaking:
      bench.secured(bench.place("+4600000000020"))
      bench.pass(seconds: 8)
    case .cancelling:
      let call = bench.place()
      if let call { bench.request(.hangUp(call)) }
    case .settling:
      let call = try bench.talk()
      bench.ledger = .silent
      bench.request(.hangUp(call))
    case .absent:
      _ = try bench.talk()
      bench.feed(.sessionAbsent(bench.session))
    case .originatingNear: try bench.originate()
    case .originatingFar:
      try bench.originate()
      try bench.answer()
    case .originated:
      try bench.originate()
      try bench.answer()
      bench.peer = TrunkPeer()
      try bench.answer(1)
    case .entering: bench.place("weekly", kind: .conference)
    case .inConference:
      bench.caller.followsRooms = true
      let call = bench.place("weekly", kind: .conference)
      bench.pass(milliseconds: 50)
      bench.secured(call)
    case .calledIn:
      var origination = Origination(
        first: .conference(try ConferenceID("weekly")), second: .phone(try E164Number(Scene.phone)),
        payer: bench.caller.payer)
      origination.application = "key"
      bench.feed(.originate(OriginationID(1), origination))
      try bench.answer()
    case .heldByOperator:
      bench.feed(.order(CallOrderID(1), try bench.talk(), .hold(.called, true), by: "operator"))
    case .over:
      let call = try bench.talk()
      bench.request(.hangUp(call))
    }
    return bench
  }
}

extension Bench {
  func originate(_ first: String = Scene.phone, _ second: String = "+46709999999") throws {
    feed(
      .originate(
        OriginationID(1),
        Origination(
          first: .phone(try E164Number(first)), second: .phone(try E164Number(second)), payer: caller.payer)))
  }

  /// The newest call, also one that the app does not know yet.
  var newest: CallID? {
    effects.lazy.reversed().compactMap {
      if case .prepare(let call, _) = $0 { return call }
      return nil
    }.first
  }
}

/// Something that may happen at any time.
struct Happening: Sendable, CustomTestStringConvertible {
  let name: String
  let happen: @Sendable (Bench, CallID) throws -> Void
  var testDescription: String { name }

  init(_ name: String, _ happen: @escaping @Sendable (Bench, CallID) throws -> Void) {
    self.name = name
    self.happen = happen
  }

  private static func trunk(
    _ name: String, _ event: @escaping @Sendable (CallHandle, Bench) throws -> UserAgentEvent?
  ) -> Happening {
    Happening(name) { bench, _ in
      for invite in bench.invites.suffix(4) {
        if let event = try event(invite.handle, bench) { bench.feed(.sip(event)) }
      }
    }
  }

  private static func room(_ name: String, _ order: RoomOrder) -> Happening {
    Happening("an operator \(name)") { bench, _ in
      let key = RoomKey(environment: "production", application: "key", conference: try ConferenceID("weekly"))
      bench.feed(.room(key, order, by: "operator"))
    }
  }

  private static let headers = CustomHeaders()

  static let all: [Happening] = [
    Happening("the app hangs up") { $0.request(.hangUp($1)) },
    Happening("the app presses keys") { $0.request(.sendDigits($1, "10#")) },
    Happening("the app presses what is no key") { $0.request(.sendDigits($1, "!")) },
    Happening("the app holds") { $0.request(.offer($1, Scene.appOffer("inactive", version: 3))) },
    Happening("the app offers nonsense") { $0.request(.offer($1, "nonsense")) },
    Happening("the app restarts ICE") { $0.request(.offer($1, Scene.appOffer(fragment: "other", version: 4))) },
    Happening("the app answers nothing") { $0.request(.answer($1, Scene.appOffer())) },
    Happening("the app mutes") { $0.request(.mute($1, true)) },
    Happening("the app unmutes") { $0.request(.mute($1, false)) },
    Happening("the app reports") { $0.request(.report($1, ClientStatistics(figures: ["rtt": 1]))) },
    Happening("the session is absent") { bench, _ in bench.feed(.sessionAbsent(bench.session)) },
    Happening("the session is back") { bench, _ in bench.feed(.sessionResumed(bench.session)) },
    Happening("the session ends") { bench, _ in bench.feed(.sessionEnded(bench.session)) },
    Happening("an operator hangs up") { $0.feed(.hangUp($1, by: "operator")) },
    Happening("an operator presses keys") { bench, call in
      for side in CallSide.allCases { bench.feed(.order(CallOrderID(2), call, .press(side, "1#"), by: "operator")) }
    },
    Happening("an operator mutes") { bench, call in
      for side in CallSide.allCases { bench.feed(.order(CallOrderID(3), call, .mute(side, true), by: "operator")) }
    },
    Happening("an operator unmutes and takes back") { bench, call in
      for side in CallSide.allCases {
        bench.feed(.order(CallOrderID(4), call, .mute(side, false), by: "operator"))
        bench.feed(.order(CallOrderID(5), call, .hold(side, false), by: "operator"))
      }
    },
    Happening("an operator has both wait") { bench, call in
      for side in CallSide.allCases { bench.feed(.order(CallOrderID(6), call, .hold(side, true), by: "operator")) }
    },
    Happening("an operator transfers") { bench, call in
      let order = CallOrder.transfer(.called, TransferOrder(kind: .phone, target: "+46709999999"))
      bench.feed(.order(CallOrderID(7), call, order, by: "operator"))
    },
    room("locks the conference", .lock(true)), room("mutes in the conference", .silence(participant: 1, true)),
    room("deafens in the conference", .deafen(participant: 1, true)),
    room("takes somebody out of the conference", .kick(participant: 1)), room("ends the conference", .end),
    Happening("the app follows its conference") { $0.request(.room($1, .speakers)) },
    Happening("near speaks and leads") { bench, call in
      bench.feed(.media(call, .speaking(.near, true)))
      bench.feed(.media(call, .leadsTalk(.near)))
    },
    Happening("media are prepared") {
      $0.feed(.prepared($1, .success(PreparedMedia([.near: Scene.appMedia(), .far: Scene.trunkMedia()]))))
    },
    Happening("media are prepared for one leg") {
      $0.feed(.prepared($1, .success(PreparedMedia([.near: Scene.appMedia()]))))
    },
    Happening("near is secured") { $0.feed(.media($1, .secured(.near))) },
    Happening("far is secured") { $0.feed(.media($1, .secured(.far))) },
    Happening("near fails") { $0.feed(.media($1, .failed(.near, "dtls"))) },
    Happening("far fails") { $0.feed(.media($1, .failed(.far, "srtp"))) },
    Happening("first sound") { $0.feed(.media($1, .firstMedia(.near))) },
    Happening("a key comes from near") { $0.feed(.media($1, .digit(.near, "0", milliseconds: 100))) },
    Happening("a key comes from far") { $0.feed(.media($1, .digit(.far, "0", milliseconds: 100))) },
    Happening("near is silent") { $0.feed(.media($1, .silence(.near))) },
    Happening("far is silent") { $0.feed(.media($1, .silence(.far))) },
    Happening("near sounds again") { $0.feed(.media($1, .soundAgain(.near))) },
    Happening("far sounds again") { $0.feed(.media($1, .soundAgain(.far))) },
    Happening("near has no way") { $0.feed(.media($1, .wayLost(.near, milliseconds: 30_000))) },
    Happening("far has no way") { $0.feed(.media($1, .wayLost(.far, milliseconds: 30_000))) },
    Happening("near has a way again") { $0.feed(.media($1, .wayBack(.near))) },
    Happening("near moves") { $0.feed(.media($1, .moved(.near))) },
    Happening("near has a thin link") { $0.feed(.media($1, .thinLink(.near, true))) },
    Happening("far has a thin link") { $0.feed(.media($1, .thinLink(.far, true))) },
    Happening("quality near") {
      $0.feed(
        .media(
          $1,
          .quality(
            .near, .init(meanOpinionScore: 3, jitter: 40, loss: 0.1, packets: 50), sentLoss: 0.1, roundTrip: 500)))
    },
    Happening("quality far") {
      $0.feed(
        .media($1, .quality(.far, .init(meanOpinionScore: 4, jitter: 1, loss: 0, packets: 50), roundTrip: nil)))
    },
    Happening("an announcement is over") { $0.feed(.media($1, .playEnded(.near, finished: true))) },
    Happening("the media are gone") { $0.feed(.media($1, .closed)) },
    Happening("the ledger grants") {
      $0.feed(
        .ledger(
          $1, .extend(1),
          .success(
            LedgerReceipt(seq: 1, isReplay: true, outcome: .granted(seconds: 120, amount: 120_000, isFinal: false)))))
    },
    Happening("the ledger refuses more") {
      $0.feed(
        .ledger($1, .extend(1), .success(LedgerReceipt(seq: 1, isReplay: true, outcome: .refused(.insufficientCredit))))
      )
    },
    Happening("the ledger makes no sense") {
      $0.feed(.ledger($1, .extend(1), .success(LedgerReceipt(seq: 1, isReplay: false, outcome: .voided))))
    },
    Happening("the ledger is away") {
      $0.feed(.ledger($1, .extend(1), .failure(LedgerUnavailable(.busy, "busy"))))
    },
    Happening("the answer is not recorded") {
      $0.feed(.ledger($1, .answer, .failure(LedgerUnavailable(.busy, "busy"))))
    },
    Happening("an end is confirmed") {
      $0.feed(.ledger($1, .end, .success(LedgerReceipt(seq: 1, isReplay: true, outcome: .voided))))
    },
    Happening("the account changes") { bench, _ in
      bench.feed(.accountChanged(Scene.account, environment: "production"))
    },
    Happening("the account is locked") { bench, _ in
      bench.feed(.accountLocked(Scene.account, environment: "production"))
    },
    Happening("the node is fenced") { bench, _ in bench.feed(.fenced(environment: "production")) },
    Happening("a trunk is taken away") { bench, _ in
      bench.feed(.configure(try Scene.configuration([Scene.trunk("carrier-2", host: 2)])))
    },
    Happening("the node drains") { bench, _ in bench.feed(.drain) },
    trunk("100") { handle, _ in .trying(handle) },
    trunk("180") { handle, _ in
      .progress(handle, Progress(status: 180, phrase: "", body: nil, headers: headers, isReliable: false))
    },
    trunk("183 with nonsense") { handle, _ in
      .progress(
        handle,
        Progress(
          status: 183, phrase: "", body: MessageBody(sessionDescription: [1, 2, 3]), headers: headers,
          isReliable: true))
    },
    trunk("183 with sound") { handle, bench in
      guard let invite = bench.invites.first(where: { $0.handle == handle }) else { return nil }
      var peer = TrunkPeer()
      return .progress(
        handle,
        Progress(
          status: 183, phrase: "", body: try peer.answer(invite.call.offer), headers: headers, isReliable: false))
    },
    trunk("200") { handle, bench in
      guard let invite = bench.invites.first(where: { $0.handle == handle }) else { return nil }
      var peer = TrunkPeer()
      return .established(handle, Answer(body: try peer.answer(invite.call.offer), headers: headers))
    },
    trunk("200 without description") { handle, _ in .established(handle, Answer(body: nil, headers: headers)) },
    trunk("200 with nonsense") { handle, _ in
      .established(handle, Answer(body: MessageBody(sessionDescription: [118]), headers: headers))
    },
    trunk("486") { handle, _ in
      .ended(
        handle,
        CallEnd(
          cause: .failed, failure: CallFailure(CallFailureEvidence(status: 486), trunk: nil), wasEstablished: false))
    },
    trunk("503") { handle, _ in
      .ended(
        handle,
        CallEnd(
          cause: .failed, failure: CallFailure(CallFailureEvidence(status: 503), trunk: nil), wasEstablished: false))
    },
    trunk("no answer at all") { handle, _ in
      .ended(handle, CallEnd(cause: .failed, failure: CallFailure(.transport), wasEstablished: false))
    },
    trunk("BYE") { handle, _ in .ended(handle, CallEnd(cause: .remote, wasEstablished: true)) },
    trunk("the end of our own hanging up") { handle, _ in
      .ended(handle, CallEnd(cause: .local, wasEstablished: false))
    },
    trunk("re-INVITE") { handle, _ in
      var peer = TrunkPeer()
      return .offered(handle, ExchangeID(7), try peer.offer(.sendOnly))
    },
    trunk("re-INVITE without offer") { handle, _ in .offered(handle, ExchangeID(8), nil) },
    trunk("re-INVITE with nonsense") { handle, _ in
      .offered(handle, ExchangeID(9), MessageBody(sessionDescription: [1]))
    },
    trunk("an answer to nothing") { handle, _ in
      .answered(handle, ExchangeID(10), MessageBody(sessionDescription: [1]))
    },
    trunk("a refused offer") { handle, _ in .offerRefused(handle, ExchangeID(11), status: 491) },
    trunk("INFO") { handle, _ in
      .info(handle, MessageBody(contentType: "application/dtmf", bytes: Array("5".utf8)))
    },
    trunk("REFER") { handle, _ in
      .transferRequested(handle, to: NameAddress(SIPURI(scheme: .sip, user: "x", host: Scene.host)), replaces: nil)
    },
    trunk("NOTIFY") { handle, _ in .transferProgress(handle, status: 100) },
    Happening("a second passes") { bench, _ in bench.pass(seconds: 1) },
    Happening("a minute passes") { bench, _ in bench.pass(seconds: 60) },
    Happening("five hours pass") { bench, _ in bench.step(to: bench.now.advanced(byMilliseconds: 18_000_000)) },
  ]
}

@Suite("Every state with everything that can happen")
struct StateTableTests {
  @Test("keeps every call's books: one end, one record, one close, one end of the hold", arguments: Reached.allCases)
  func pairs(_ state: Reached) throws {
    for happening in Happening.all {
      let bench = try state.bench()
      let call = try #require(bench.newest)
      try happening.happen(bench, call)
      let meanwhile = Invariants(bench, isOver: false)
      #expect(meanwhile.problems.isEmpty, "\(state), \(happening.name): \(meanwhile.problems)")
      // The same again, and after it everything comes to its end.
      try happening.happen(bench, call)
      bench.finish()
      let end = Invariants(bench, isOver: true)
      #expect(end.problems.isEmpty, "\(state), \(happening.name) twice: \(end.problems)")
    }
  }

  @Test("in random order, from seeds", arguments: 1...20 as ClosedRange<UInt64>)
  func random(_ seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    // What ends the fun for good is left to the table.
    let happenings = Happening.all.filter { !["the node drains", "a trunk is taken away"].contains($0.name) }
    for round in 0..<10 {
      let bench = try Bench(seed: seed &* 1000 &+ UInt64(round))
      bench.plain.credit = MicroUnits(.random(in: 0...400_000, using: &random))
      for _ in 0..<100 {
        bench.session = SessionID(UInt64.random(in: 1...4, using: &random))
        bench.ledger = [.plain, .plain, .plain, .silent, .away].randomElement(using: &random) ?? .plain
        bench.answersMedia = Int.random(in: 0..<10, using: &random) > 0
        switch Int.random(in: 0..<10, using: &random) {
        case 0: bench.place()
        case 1: bench.place("+4600000000020")
        case 2: try bench.originate()
        default:
          guard let happening = happenings.randomElement(using: &random), let call = bench.newest else { continue }
          try happening.happen(bench, call)
        }
        bench.pass(milliseconds: Int64.random(in: 0...3000, using: &random))
      }
      let meanwhile = Invariants(bench, isOver: false)
      #expect(meanwhile.problems.isEmpty, "seed \(seed), round \(round): \(meanwhile.problems)")
      bench.finish()
      let end = Invariants(bench, isOver: true)
      #expect(end.problems.isEmpty, "seed \(seed), round \(round): \(end.problems)")
      if !end.problems.isEmpty { return }
    }
  }
}
