import AppProtocol
import CallEngine
import CallModel
import LedgerCore
import RoutingCore
import SDPCore
import SIPCore
import Testing

/// An engine with everything around it played by the test: the ledger and the media answer by themselves unless told not
/// to; the clock moves only when the test moves it.
final class Bench {
  enum LedgerConduct {
    /// Answers at once from ``Bench/plain``.
    case plain
    /// Questions gather in ``Bench/asked``.
    case silent
    /// Every question fails.
    case away
  }

  let engine: CallEngine
  private(set) var now = firstInstant
  private(set) var clock = firstClock
  static let firstInstant = MonotonicInstant(milliseconds: 1_000_000)
  static let firstClock = Instant(seconds: 1_795_000_000)
  /// Everything so far, in order.
  private(set) var effects: [EngineEffect] = []
  var ledger = LedgerConduct.plain
  var plain = PlainLedger()
  var answersMedia = true
  private(set) var asked: [(step: LedgerStep, operation: CallOperation)] = []
  private var pendingSteps: [(LedgerStep, CallOperation)] = []
  /// What the ledger shall still hear when it is back.
  private var spool: [CallOperation] = []
  private var pendingMedia: [(CallID, MediaNeeds)] = []
  private var requests: UInt64 = 0
  private var pendingPayers: [CallHandle] = []
  /// Certificates that were asked for and are not told yet.
  private(set) var wantedCertificates: [(handle: CallHandle, addresses: [WebAddress])] = []
  private var pendingUsers: [(CallID, String, UserID)] = []
  /// Whether it is told at once who pays for calls that trunks send us, and who that is.
  var findsPayers = true
  var payer: Payer?
  /// The devices of users that numbers lead to.
  var devices: [String: [CalledDevice]] = [:]
  private(set) var lastArrival: UInt64 = .max
  /// Who makes the offers of calls that trunks send us.
  var callerPeer = TrunkPeer()
  var session = SessionID(1)
  var caller: AppCaller
  /// The newest INVITE and its peer.
  private(set) var invites: [(handle: CallHandle, call: OutgoingCall)] = []
  var peer = TrunkPeer()

  init(_ configuration: EngineConfiguration? = nil, seed: UInt64 = 1) throws {
    var random = SplitMix(seed: seed)
    engine = CallEngine(try configuration ?? Scene.configuration(), draw: { random.next() }, at: now)
    caller = try Scene.caller(Scene.payer(Scene.plan()))
    payer = caller.payer
  }

  // MARK: Inputs

  func feed(_ input: EngineInput) {
    var new: [EngineEffect] = []
    engine.handle(input, at: now, clock: clock, into: &new)
    collect(new)
  }

  private func collect(_ new: [EngineEffect]) {
    effects += new
    for effect in new {
      switch effect {
      case .prepare(let call, let needs): pendingMedia.append((call, needs))
      case .ledger(_, let step, let operation):
        asked.append((step, operation))
        pendingSteps.append((step, operation))
      case .sip(.placeCall(let handle, let call)): invites.append((handle, call))
      case .findPayer(let handle, _, _): pendingPayers.append(handle)
      case .findCertificates(let handle, let addresses): wantedCertificates.append((handle, addresses))
      case .findUser(let call, let application, let user): pendingUsers.append((call, application, user))
      case .app, .originated, .ordered, .media, .sip, .changed, .record, .statistics, .pinged, .log, .lock, .velocity,
        .arrived, .recordRoom:
        break
      }
    }
    respond()
  }

  /// Answers everything that is still open, and lets a call come to its end.
  func finish() {
    answersMedia = true
    ledger = .plain
    respond()
    for number in 1...4 { feed(.sessionEnded(SessionID(UInt64(number)))) }
    feed(.fenced(environment: "production"))
    respond()
    pass(seconds: 61)
    for operation in spool { _ = plain.perform(operation) }
    spool = []
  }

  /// The mixer's room that is said to be each call's own.
  static let ownRoom: UInt64 = 9_000

  private func respond() {
    while findsPayers, !pendingPayers.isEmpty { feed(.payerFound(pendingPayers.removeFirst(), payer)) }
    while !pendingUsers.isEmpty {
      let (call, application, user) = pendingUsers.removeFirst()
      let devices = devices[user.text] ?? []
      feed(
        .userFound(
          call,
          CalledUser(application: application, user: user, devices: devices, sessions: devices.map(\.session))))
    }
    while answersMedia, !pendingMedia.isEmpty {
      let (call, needs) = pendingMedia.removeFirst()
      var legs: [LegID: LocalMedia] = [:]
      for (leg, port) in needs.legs {
        legs[leg] =
          port == .app || port == .devices ? Scene.appMedia() : Scene.trunkMedia(port: leg == .near ? 31_000 : 30_000)
      }
      feed(.prepared(call, .success(PreparedMedia(legs, ownRoom: Bench.ownRoom))))
    }
    while ledger != .silent, !pendingSteps.isEmpty {
      let (step, operation) = pendingSteps.removeFirst()
      if ledger == .away {
        switch operation.phase {
        case .answer, .settle, .void: spool.append(operation)
        case .authorise, .extend, .recover: break
        }
        feed(.ledger(operation.call, step, .failure(LedgerUnavailable(.busy, "as the test asked"))))
      } else {
        feed(.ledger(operation.call, step, .success(plain.perform(operation))))
      }
    }
  }

  /// The oldest question of this step that was not answered is answered now.
  func answerLedger(_ step: LedgerStep) {
    guard let index = pendingSteps.firstIndex(where: { $0.0 == step }) else { return }
    let (step, operation) = pendingSteps.remove(at: index)
    feed(.ledger(operation.call, step, .success(plain.perform(operation))))
  }

  /// Questions without an answer yet, removed for somebody else to answer.
  func drainQuestions() -> [(LedgerStep, CallOperation)] {
    defer { pendingSteps = [] }
    return pendingSteps
  }

  /// Lets time pass; the engine wakes whenever it asked to.
  func pass(milliseconds: Int64) {
    let target = now.advanced(byMilliseconds: milliseconds)
    while let next = engine.nextDeadline, next <= target {
      step(to: max(next, now))
    }
    step(to: target, wakes: false)
  }

  func pass(seconds: Int64) { pass(milliseconds: seconds * 1000) }

  /// Moves the clock, and wakes the engine if that is asked.
  func step(to instant: MonotonicInstant, wakes: Bool = true) {
    now = instant
    clock = Bench.firstClock.advanced(byMilliseconds: now.milliseconds(since: Bench.firstInstant))
    guard wakes else { return }
    var new: [EngineEffect] = []
    engine.advance(to: now, clock: clock, into: &new)
    collect(new)
  }

  // MARK: The app

  @discardableResult
  func request(_ request: AppRequest) -> RequestNumber {
    requests += 1
    let number = RequestNumber(requests)
    feed(.request(session, number, request, caller))
    return number
  }

  @discardableResult
  func place(
    _ target: String = Scene.phone, kind: Destination.Kind = .phone, headers: [PlaceCall.Header] = [],
    callerNumber: String? = nil, offer: String = Scene.appOffer()
  ) -> CallID? {
    let number = request(
      .call(PlaceCall(kind: kind, target: target, headers: headers, offer: offer, callerNumber: callerNumber)))
    return placed(number)
  }

  // MARK: The app that is called

  /// The session that calls from app to app are for.
  static let called = SessionID(2)

  /// A device of the user that calls from app to app are for.
  static func device(
    _ session: SessionID = called, _ name: String = "phone", rule: BusyRule = .device, user: String = "bob",
    older: [SessionID] = []
  ) throws -> CalledDevice {
    var identity = try Scene.identity(user)
    identity.device = name
    return CalledDevice(session: session, identity: identity, olderSessions: older, busyRule: rule)
  }

  /// Places a call to a user.
  @discardableResult
  func ring(
    price: RateSnapshot? = nil, offer: String = Scene.appOffer(), headers: [PlaceCall.Header] = [],
    devices: [CalledDevice]? = nil, absence: CalledUser.Absence = .unreachable, sessions: [SessionID] = [],
    wantsVideo: Bool = false
  ) throws -> CallID? {
    let devices = try devices ?? [Bench.device()]
    var user = CalledUser(
      application: try Scene.identity("bob").application, user: try UserID("bob"), devices: devices,
      sessions: sessions + devices.map(\.session), absence: absence)
    user.price = price
    requests += 1
    let number = RequestNumber(requests)
    feed(
      .callUser(
        session, number,
        PlaceCall(kind: .user, target: "bob", headers: headers, offer: offer, wantsVideo: wantsVideo), caller, user))
    return placed(number)
  }

  /// What a device says to a call for its user.
  enum Word: Sendable {
    case alert(offer: String?)
    case accept(offer: String?, headers: [PlaceCall.Header] = [])
    case decline(DeclineReason, DeclineScope = .user)

    func request(_ call: CallID) -> AppRequest {
      switch self {
      case .alert(let offer): .alert(call, offer: offer)
      case .accept(let offer, let headers): .accept(call, offer: offer, headers: headers)
      case .decline(let reason, let scope): .decline(call, scope, reason)
      }
    }
  }

  /// A device says something to the call.
  @discardableResult
  func say(_ call: CallID?, _ word: Word, on session: SessionID = called) -> RequestNumber {
    requests += 1
    let number = RequestNumber(requests)
    if let call { feed(.request(session, number, word.request(call), caller)) }
    return number
  }

  /// The app that is called asks what any app may.
  @discardableResult
  func askCalled(_ request: AppRequest) throws -> RequestNumber {
    requests += 1
    let number = RequestNumber(requests)
    var caller = caller
    caller.identity = try Scene.identity("bob")
    feed(.request(Bench.called, number, request, caller))
    return number
  }

  /// A call from app to app, accepted, with sound both ways.
  func talkToApp(price: RateSnapshot? = nil) throws -> CallID {
    let call = try #require(try ring(price: price))
    say(call, .accept(offer: Scene.appOffer()))
    for leg in [LegID.near, .far] { secured(call, leg) }
    speak(call)
    return call
  }

  /// What one session heard, one word each.
  func heard(_ session: SessionID) -> [String] {
    effects.compactMap {
      switch $0 {
      case .app(session, let event): Bench.word(event)
      default: nil
      }
    }
  }

  func invitation(to session: SessionID) -> Invitation? {
    for case .app(session, .incoming(_, let invitation)) in effects { return invitation }
    return nil
  }

  func summary(for session: SessionID) -> CallSummary? {
    for case .app(session, .ended(_, let summary)) in effects { return summary }
    return nil
  }

  func placed(_ number: RequestNumber) -> CallID? {
    for event in events { if case .placed(number, let id, _) = event { return id } }
    return nil
  }

  /// What the app heard, of all sessions.
  var events: [AppEvent] {
    effects.compactMap {
      if case .app(_, let event) = $0 { return event }
      return nil
    }
  }

  var lastRefusal: CallFailure? {
    events.lazy.reversed().compactMap {
      if case .refused(_, let failure) = $0 { return failure }
      return nil
    }.first
  }

  func summary(of call: CallID?) -> CallSummary? {
    for event in events { if case .ended(call, let summary) = event { return summary } }
    return nil
  }

  // MARK: A trunk that calls us

  /// An INVITE comes from the first trunk.
  @discardableResult
  func arrive(
    _ user: String = "+46850000536", from: String = "+46701111111", network: String? = nil, isAnonymous: Bool = false,
    offer: MediaDirection? = .sendAndReceive, host: UInt32 = 0xC633_6401, diversions: Int = 0,
    headers: CustomHeaders = CustomHeaders(), identities: [String] = []
  ) throws -> CallHandle {
    lastArrival -= 1
    var callerPeer = callerPeer
    let handle = CallHandle(lastArrival)
    func address(_ user: String) -> NameAddress {
      NameAddress(SIPURI(scheme: .sip, user: user, host: .ipv4(host)))
    }
    let target = SIPURI(scheme: .sip, user: user, host: Scene.host)
    var call = IncomingCall(
      target: target, to: NameAddress(target),
      caller: PresentedCaller(
        presented: isAnonymous ? nil : address(from), network: network.map(address), isAnonymous: isAnonymous),
      headers: headers, offer: try offer.map { try callerPeer.offer($0) },
      path: SIPPath(listener: ListenerID(1), remote: TransportAddress(.udp, .ipv4(host), port: 5060)),
      callID: "in-\(handle.number)")
    call.requestURI = target
    call.diversions = diversions
    call.from = address(from)
    call.identities = identities
    feed(.sip(.incoming(handle, call)))
    return handle
  }

  /// The newest call that a trunk sent us.
  var arrived: CallID? {
    effects.lazy.reversed().compactMap {
      if case .arrived(let call, _, _) = $0 { return call.id }
      return nil
    }.first
  }

  /// How a call that a trunk sent us was refused.
  func rejection(of handle: CallHandle) -> Rejection? {
    effects.lazy.compactMap { if case .sip(.reject(handle, let rejection)) = $0 { rejection } else { nil } }.last
  }

  /// What a caller over a trunk heard, one word each.
  func answers(_ handle: CallHandle) -> [String] {
    effects.compactMap {
      switch $0 {
      case .sip(.ring(handle, let status, _, _)): "\(status)"
      case .sip(.accept(handle, _, _)): "200"
      case .sip(.reject(handle, let rejection)):
        "\(rejection.status)/\(rejection.reasons.first?.cause.map(String.init) ?? "-")"
      case .sip(.hangUp(handle, _)): "BYE"
      default: nil
      }
    }
  }

  // MARK: The trunk

  func trying(_ index: Int = 0) { feed(.sip(.trying(invites[index].handle))) }

  func progress(
    _ status: Int, _ index: Int = 0, sdp: Bool = false, headers: CustomHeaders = CustomHeaders()
  ) throws {
    let body = sdp ? try peer.answer(invites[index].call.offer) : nil
    feed(
      .sip(
        .progress(
          invites[index].handle,
          Progress(status: status, phrase: "", body: body, headers: headers, isReliable: false))))
  }

  func answer(_ index: Int = 0, headers: CustomHeaders = CustomHeaders()) throws {
    let body = try peer.answer(invites[index].call.offer)
    feed(.sip(.established(invites[index].handle, Answer(body: body, headers: headers))))
  }

  func fail(_ status: Int, _ index: Int = 0, headers: CustomHeaders = CustomHeaders(), retryAfter: Int? = nil) {
    let failure = CallFailure(
      CallFailureEvidence(status: status, phrase: "No", retryAfterSeconds: retryAfter), trunk: nil)
    feed(
      .sip(
        .ended(
          invites[index].handle,
          CallEnd(cause: .failed, failure: failure, headers: headers, wasEstablished: false))))
  }

  func bye(_ index: Int = 0, headers: CustomHeaders = CustomHeaders()) {
    feed(.sip(.ended(invites[index].handle, CallEnd(cause: .remote, headers: headers, wasEstablished: true))))
  }

  /// The agent's word that a hung up call is over; `crossing`: an answer came after the CANCEL.
  func hungUp(_ index: Int = 0, crossing: Bool = false) {
    feed(
      .sip(
        .ended(
          invites[index].handle, CallEnd(cause: .local, wasEstablished: false, crossedAnswer: crossing))))
  }

  // MARK: Media

  func secured(_ call: CallID?, _ leg: LegID = .near) {
    guard let call else { return }
    feed(.media(call, .secured(leg)))
  }

  /// Places a call, has it answered and secured.
  func talk(_ target: String = Scene.phone) throws -> CallID {
    let call = try #require(place(target))
    let index = invites.count - 1
    secured(call)
    try progress(180, index)
    try answer(index)
    speak(call)
    return call
  }

  /// The first packet of sound of either leg.
  func speak(_ call: CallID) {
    for leg in [LegID.near, .far] { feed(.media(call, .firstMedia(leg))) }
  }

  // MARK: Looking

  /// One word an effect, for tests that compare ladders.
  func ladder(since start: Int = 0) -> [String] { effects.dropFirst(start).compactMap { Bench.word($0) } }

  static func word(_ effect: EngineEffect) -> String? {
    switch effect {
    case .app(_, let event): "app \(word(event))"
    case .originated(_, .success): "originated"
    case .originated(_, .failure(let failure)): "originated \(failure.code.rawValue)"
    case .prepare: "prepare"
    case .media(_, let order): "media \(word(order))"
    case .recordRoom(_, .begin(let recording, let room)): "record room \(room) \(recording.format.rawValue)"
    case .recordRoom(_, .pause(let isOn)): isOn ? "pause recording of room" : "resume recording of room"
    case .recordRoom(_, .end): "end recording of room"
    case .ledger(_, let step, let operation): "ledger \(word(step, operation))"
    case .sip(let command): "sip \(word(command))"
    case .changed: nil
    case .record: "record"
    case .statistics: "statistics"
    case .lock(_, _, let reason): "lock \(reason)"
    case .velocity(let rule, _): "rule \(rule.text)"
    case .ordered, .pinged, .log, .arrived, .findPayer, .findUser, .findCertificates: nil
    }
  }

  static func word(_ event: AppEvent) -> String {
    switch event {
    case .placed: "placed"
    case .incoming: "incoming"
    case .done: "done"
    case .answered: "answered"
    case .refused(_, let failure): "refused \(failure.code.rawValue)"
    case .progressing: "progressing"
    case .ringing: "ringing"
    case .earlyMedia: "early"
    case .accepted: "accepted"
    case .established: "established"
    case .price: "price"
    case .creditEnds(_, let seconds): "credit \(seconds.map(String.init) ?? "-")"
    case .digit(_, let digit, _): "digit \(digit)"
    case .held(_, let isHeld): "held \(isHeld)"
    case .transfer(_, let progress):
      "transfer \(progress.step.rawValue)" + (progress.failure.map { " \($0.code.rawValue)" } ?? "")
    case .offered: "offered"
    case .quality: "quality"
    case .warning(_, let warning, let isRaised): "\(isRaised ? "raise" : "clear") \(warning.rawValue)"
    case .members: "members"
    case .speakers: "speakers"
    case .recording: "recording"
    case .ended(_, let summary): "ended \(summary.cause.rawValue)"
    }
  }

  static func word(_ order: MediaOrder) -> String {
    switch order {
    case .plan(let leg, let plan): "plan \(leg) \(plan.audio.direction.rawValue)"
    case .attach(let leg, _, _): "attach \(leg)"
    case .join(let leg, _): "join \(leg)"
    case .detach(let leg): "detach \(leg)"
    case .echo(let leg): "echo \(leg)"
    case .restartICE(let leg, _): "restart \(leg)"
    case .sendDigits(let leg, let digits): "digits \(leg) \(digits)"
    case .mute(let leg, let isMuted): "\(isMuted ? "mute" : "unmute") \(leg)"
    case .say(let leg, let words): "say \(leg) \(words.map(\.rawValue).joined(separator: "+"))"
    case .adapt(let leg, let heard): "adapt \(leg) \(heard.loss)"
    case .enterRoom(let leg, let room, let hasTones): "enter \(leg) \(room)\(hasTones ? "" : " without tones")"
    case .deafen(let leg, let isOn): "\(isOn ? "deafen" : "undeafen") \(leg)"
    case .part(let leg): "part \(leg)"
    case .hold(let leg): "hold \(leg)"
    case .ring(let leg): "ring \(leg)"
    case .stopPlaying(let leg): "stop \(leg)"
    case .record(let recording): "record \(recording.format.rawValue)"
    case .pauseRecording(let isOn): isOn ? "pause recording" : "resume recording"
    case .endRecording: "end recording"
    case .play(let leg, let sound): "play \(leg) \(sound)"
    case .playBeneath(let sound): "play beneath \(sound.map { "\($0)" } ?? "nothing")"
    case .recordingTone(let isOn): "tone \(isOn)"
    case .toneInRoom(let room, let isOn): "tone in room \(room) \(isOn)"
    case .shareRoom(let isOn): "share room \(isOn)"
    case .playInRoom(let room, let sound): "play in room \(room) \(sound.map { "\($0)" } ?? "nothing")"
    case .close: "close"
    }
  }

  static func word(_ step: LedgerStep, _ operation: CallOperation) -> String {
    switch operation.phase {
    case .authorise: "authorise"
    case .answer: "answer"
    case .extend(let number, _): "extend \(number)"
    case .settle(let milliseconds, _, _): "settle \(milliseconds)"
    case .void: "void"
    case .recover: "recover"
    }
  }

  static func word(_ command: UserAgentCommand) -> String {
    switch command {
    case .placeCall: "INVITE"
    case .hangUp: "hangUp"
    case .reject(_, let rejection): "reject \(rejection.status)"
    case .answer: "answer"
    case .refuse(_, let status, _): "refuse \(status)"
    case .offer: "offer"
    case .refuseTransfer(_, let status): "refuseTransfer \(status)"
    case .acceptTransfer: "202"
    case .reportTransfer(_, let status): "NOTIFY \(status)"
    case .allowTransfers: "allow"
    case .ping: "OPTIONS"
    case .ring(_, let status, _, _): "ring \(status)"
    case .accept: "accept"
    case .release, .sendInfo, .transfer, .register, .unregister, .phones,
      .located:
      "unexpected"
    }
  }

  var records: [CallRecord] {
    effects.compactMap {
      if case .record(let record) = $0 { return record }
      return nil
    }
  }

  func count(_ word: String) -> Int { ladder().count { $0 == word } }
}
