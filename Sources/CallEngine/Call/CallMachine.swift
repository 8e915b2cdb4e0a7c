import AppProtocol
import CallModel
import LedgerCore
import RoutingCore
import SDPCore
import SIPCore

/// One call from the request to the record.
///
/// ```
///            media and holds            the other side answers
/// preparing ────────────────▶ reaching ────────────────────────▶ up
///     │ refused                  │ failed, given up               │ hung up, cut off
///     ▼                          ▼                                ▼
///   over ◀──────────────────── ending ◀──────────────────────────┘
///            receipts, or their time is over
/// ```
/// The states stand in ``State``; each input has one function that switches over all of them, without a default, so that a
/// pair that was forgotten does not compile.
final class CallMachine {
  enum State {
    case preparing(Preparing)
    case reaching(Reaching)
    case up(Up)
    case ending(Ending)
    case over
  }

  /// Media are reserved and holds are asked for, at the same time.
  struct Preparing {
    var media: PreparedMedia?
    var mediaUntil: MonotonicInstant
    var ledgerUntil: MonotonicInstant
  }

  /// A leg is dialled, or a number of the gateway's own is in its progress phase.
  struct Reaching {
    /// Which leg: first the near one, where that is no app.
    var leg: LegID
    var hasProgressed = false
    var isRinging = false
    var earlyMediaUntil: MonotonicInstant?
    /// The end of the progress phase of a number of the gateway's own.
    var promptUntil: MonotonicInstant?
    var ring: RingTimes?
  }

  /// Both sides are there.
  struct Up {
    var isEstablished = false
    /// Keys and sound must be there by then.
    var mediaUntil: MonotonicInstant?
  }

  /// All is hung up; receipts and late answers are awaited.
  struct Ending {
    var summary: CallSummary
    /// The owner knows how it ended; a call that was refused has told all by its refusal.
    var isTold: Bool
    var hasRecord: Bool
    var until: MonotonicInstant
  }

  /// Who asks for a call, and is its first leg.
  enum Caller {
    case app(AppLeg)
    /// Over REST: this destination is called first.
    case origination(OriginationID, CallTerms)
    /// Over REST: whom it calls takes part in a conference.
    case conference(OriginationID, RoomLeg)
    /// Over a trunk, for a number of ours; the terms are those of the caller's own leg.
    case trunk(ArrivedCall, CallTerms)
  }

  let id: CallID
  /// The order of a call that was asked for over REST.
  let origination: OriginationID?
  let context: EngineContext
  let payer: Payer
  let headers: CustomHeaders
  let callerNumber: E164Number?
  let isAnonymous: Bool
  /// Set for a call that a trunk sent us.
  var arrived: ArrivedCall?
  private let origin: CallOperation.Origin
  private var billedLegs = 0
  /// What the calling device calls itself.
  let callerName: String

  var state: State
  /// In the order of their ids: first whoever calls.
  private(set) var legs: [Leg] = []
  /// Legs of targets that were tried before the present one: their bills and cancelled INVITEs come to their ends.
  var formerLegs: [Leg] = []
  /// Telephones of the called user that ring no longer: their INVITEs come to their ends.
  var formerPhones: [TrunkLeg] = []
  /// The highest leg that media were named after.
  private var usedMedia: UInt8 = 0
  /// One leg is to give its place to another.
  var transfer: Transfer?
  /// How many were carried out.
  var transfers = 0
  /// When both sides were there; `nil` before.
  private var talkingSince: MonotonicInstant?
  /// What is prepared for the devices of a called user: each gets credentials of its own.
  var calledWay: LocalMedia?
  /// The device that declined for all.
  var declinedBy: String?
  /// Bills of legs that were added since the engine looked last.
  private var newBills: [CallID] = []
  /// Sessions that came to the call or left it, for the engine's list.
  private(set) var sessionChanges: [(session: SessionID, isMember: Bool)] = []

  /// The conference in which it has a place.
  var roomKey: RoomKey?
  /// Keys that were pressed in its conference since the engine looked last, and calls that are to hear of them.
  var roomKeys: [(key: Character, listener: CallID)] = []
  /// The mixer's room that is the call's own; `nil` before there is media.
  var ownRoom: UInt64?
  /// Others were called to be its guests.
  var hasInvited = false
  /// The recording that began because its conference is recorded with a track of each participant.
  var track: RecordingID?

  /// Whether a trunk has said anything.
  var isHeardOf = false
  var snapshot: CallSnapshot
  var summary: CallSummary
  var flags: [CallRecord.Flag] = []
  var story: [CallRecord.StoryLine] = []
  var statistics: [String: Double] = [:]
  private let startedAt: MonotonicInstant

  init(
    id: CallID, from caller: Caller, to far: CallTerms, payer: Payer, headers: CustomHeaders,
    callerNumber: E164Number?, isAnonymous: Bool, callerName: String = "", origin: CallOperation.Origin,
    _ context: EngineContext
  ) {
    self.id = id
    self.context = context
    self.payer = payer
    self.headers = headers
    self.callerNumber = callerNumber
    self.isAnonymous = isAnonymous
    self.callerName = callerName
    self.origin = origin
    var identity: AppIdentity?
    if case .app(let app) = caller { identity = app.identity }
    switch caller {
    case .origination(let order, _), .conference(let order, _): origination = order
    case .app, .trunk: origination = nil
    }
    if case .trunk(let call, _) = caller { arrived = call }
    if let phone = arrived?.phone { identity = phone.identity }
    snapshot = CallSnapshot(
      id: id, environment: payer.environment, account: payer.account, application: identity?.application,
      user: identity?.user, kind: far.destination.kind, destination: far.destination.text, state: .initiating,
      startedAt: context.clock, currency: payer.currency)
    snapshot.from = arrived?.from
    snapshot.inboundNumber = arrived?.number?.number
    snapshot.trunk = arrived?.trunk.trunk.name
    summary = CallSummary(
      startedAt: context.clock, endedAt: context.clock, cause: .none, currency: payer.currency.description)
    startedAt = context.now
    state = .preparing(
      Preparing(
        mediaUntil: context.now.advanced(byMilliseconds: context.limits.preparationMilliseconds),
        ledgerUntil: context.now.advanced(byMilliseconds: context.limits.ledgerMilliseconds)))
    switch caller {
    case .app(let app): legs = [Leg(id: .near, terms: nil, port: .app(app)), calledLeg(.far, far)]
    case .origination(_, let near): legs = [calledLeg(.near, near), calledLeg(.far, far)]
    case .conference(_, let room): legs = [Leg(id: .near, terms: nil, port: .room(room)), calledLeg(.far, far)]
    case .trunk(let arrived, let near):
      // A trunk has spoken already, and whom its call is for is decided target by target.
      isHeardOf = true
      let port = Leg.Port.trunk(TrunkLeg(arrived, call: id, payer: payer, terms: near, context))
      legs = [calledLeg(.near, near, port: port), Leg(id: .far, terms: nil, port: .waiting)]
    }
    newBills = []
    if case .planned = self[.far].port { usedMedia = LegID.far.number }
  }

  /// Names the media of another leg.
  func newMedia() -> LegID {
    countUsedMedia()
    usedMedia = usedMedia == .max ? .max : usedMedia + 1
    return LegID(usedMedia)
  }

  /// Devices that ring have names for their media of their own.
  func countUsedMedia() { usedMedia = max(usedMedia, self[ringLeg].told ?? 0) }

  /// What the media of devices of a user are called that ring next: those behind it.
  var lastMedia: UInt8 { usedMedia }

  /// A leg that is called, or that the number's account pays for, with its bill where it has a price.
  func calledLeg(_ leg: LegID, _ terms: CallTerms, port: Leg.Port? = nil) -> Leg {
    let port =
      port ?? terms.voice.map { Leg.Port.prompt(PromptLeg($0)) } ?? terms.user.map { .ringing(RingGroup($0.devices)) }
      ?? terms.room.map { .room(RoomLeg(key: $0)) } ?? .planned
    guard let rating = terms.rating else { return Leg(id: leg, terms: terms, port: port) }
    billedLegs += 1
    let isFirst = billedLegs == 1
    let billed = isFirst ? id : CallID(unchecked: "\(id.text)-\(billedLegs)")
    newBills.append(billed)
    let bill = CallBill(
      call: billed, payer: payer, origin: origin,
      CallOperation.Authorisation(
        destination: terms.destination.text, country: terms.country, rating: rating,
        seconds: context.limits.firstGrantSeconds, maximumSeconds: terms.maximumSeconds,
        isEmergency: terms.isEmergency, linkedCall: isFirst ? nil : id,
        defaultCountries: terms.isGivenAway
          ? nil : context.environment(of: payer)?.defaultCountries(of: payer.account)),
      isGivenAway: terms.isGivenAway, velocity: terms.velocity, limits: context.limits)
    return Leg(id: leg, terms: terms, port: port, bill: bill)
  }

  /// Another party in a leg's place; the one that was there comes to its end by itself.
  func replace(_ place: LegID, by leg: Leg) {
    leg.id = place
    legs[Int(place.number)] = leg
    // What an operator wanted was about whoever was there.
    for side in CallSide.allCases where side.leg == place { snapshot.muted.remove(side) }
  }

  /// A leg to which another is transferred stands behind the two that talk.
  func addThird(_ leg: Leg) { if legs.count == 2 { legs.append(leg) } }

  func removeThird() -> Leg? { legs.count > 2 ? legs.removeLast() : nil }

  /// Ledger names of the call's legs: the call's own, then `-2` behind it for a second leg that is billed.
  var billedCalls: [CallID] { (formerLegs + legs).compactMap { $0.bill?.call } }

  /// Whether it waits for media and holds, or for the first word of anybody who was called.
  var isPreparing: Bool {
    switch state {
    case .preparing: true
    case .reaching: self[.far].trunk != nil && !isHeardOf
    case .up, .ending, .over: false
    }
  }

  /// Whether all is hung up.
  var isEnding: Bool {
    switch state {
    case .preparing, .reaching, .up: false
    case .ending, .over: true
    }
  }

  var isOver: Bool {
    if case .over = state { return true }
    return false
  }

  // MARK: Words

  func addToStory(_ event: CallRecord.StoryLine.Event) { note(event.text) }

  /// The called side is there: from here on two talk.
  func beganTalking() { talkingSince = context.now }

  /// Milliseconds from the first answer; 0 where there was none.
  func talkedMilliseconds(until end: MonotonicInstant) -> Int64 {
    max(0, talkingSince.map { end.milliseconds(since: $0) } ?? 0)
  }

  /// A line of the call's story.
  func note(_ text: String) {
    guard story.count < CallRecord.maximumStoryLines else { return }
    story.append(
      CallRecord.StoryLine(
        milliseconds: max(0, context.now.milliseconds(since: startedAt)), text: CallFailure.shortened(text)))
  }

  /// Tells the app of a leg.
  func tell(_ event: AppEvent, _ leg: LegID = .near) {
    guard let app = self[leg].app else { return }
    context.emit(.app(app.session, event))
  }

  func reply(_ event: AppEvent, to session: SessionID) { context.emit(.app(session, event)) }

  func order(_ order: MediaOrder) { context.emit(.media(id, order)) }

  /// What the media of a leg are called.
  func media(of leg: LegID) -> LegID { self[leg].media }

  func changed() {
    snapshot.heldMicro = legs.reduce(.zero) { $0 + ($1.bill?.heldMicro ?? .zero) }
    context.emit(.changed(snapshot))
  }

  func enter(_ state: CallState) {
    snapshot.state = max(snapshot.state, state)
    changed()
  }

  /// The failure with what the engine knows of it.
  func described(_ failure: CallFailure) -> CallFailure {
    CallFailure(
      failure.code, refusal: failure.refusal, sipStatus: failure.sipStatus, phrase: failure.phrase,
      reasons: failure.reasons, warning: failure.warning, retryAfterSeconds: failure.retryAfterSeconds,
      trunk: failure.trunk, attempts: failure.attempts.isEmpty ? allAttempts : failure.attempts, leg: failure.leg,
      correlationID: id.text, invalidValue: failure.invalidValue, redress: failure.redress)
  }

  var allAttempts: [CallAttempt] { trunks.flatMap(\.attempts.attempts) }

  // MARK: Legs

  /// Near and far are there from the call's beginning to its end.
  subscript(_ leg: LegID) -> Leg { legs[Int(leg.number)] }

  func has(_ leg: LegID) -> Bool { legs.indices.contains(Int(leg.number)) }

  /// The app that calls; `nil` in a call between two destinations.
  var caller: AppLeg? { self[.near].app }

  /// Nobody is kept from help, whatever stands against a call.
  var isEmergency: Bool { self[.far].terms?.isEmergency ?? false }

  /// Legs that go over trunks, once they are called.
  var trunks: [TrunkLeg] { (formerLegs + legs).compactMap(\.trunk) + formerPhones }

  /// Sessions of the apps that have a part in it, of those that may still answer too.
  var sessions: [SessionID] { legs.flatMap(\.sessions) }

  /// A session came to the call, or left it before its end.
  func list(_ session: SessionID, isMember: Bool) { sessionChanges.append((session, isMember)) }

  func drainSessionChanges() -> [(session: SessionID, isMember: Bool)] {
    guard !sessionChanges.isEmpty else { return [] }
    defer { sessionChanges = [] }
    return sessionChanges
  }

  func drainNewBills() -> [CallID] {
    guard !newBills.isEmpty else { return [] }
    defer { newBills = [] }
    return newBills
  }

  /// Whether the app of a session is one of the two that talk, or will: not one that only rings.
  func occupies(_ session: SessionID) -> Bool {
    switch state {
    case .preparing, .reaching, .up: legs.contains { $0.app?.session == session || $0.trunk?.session == session }
    case .ending, .over: false
    }
  }

  /// Whom a leg talks with; `nil` while a transfer has it wait. A mixer will have more than one.
  func partner(of leg: LegID) -> LegID? {
    if let transfer { return transfer.partner(of: leg) }
    return leg == .near ? .far : .near
  }

  /// The leg whose devices ring, where any do.
  var ringLeg: LegID { has(.third) ? .third : .far }

  func leg(of handle: CallHandle) -> LegID? { legs.first { $0.trunk?.current?.handle == handle }?.id }

  /// The same change to the bill of each leg that is charged.
  func changeBills(_ change: (inout CallBill) -> Void) {
    for leg in legs {
      guard var bill = leg.bill else { continue }
      change(&bill)
      leg.bill = bill
    }
  }

  /// Whether a leg is supposed to send: not while it is on hold, whichever end holds. A trunk that is held is told so by an
  /// offer; an app hears of it and keeps its description.
  func mustSend(_ leg: LegID) -> Bool {
    let other = partner(of: leg).map { self[$0] }
    return self[leg].mustSend && !(self[leg].app != nil && other?.app != nil && isHeld(leg))
  }

  /// Whether the other side takes no sound of a leg.
  func isHeld(_ leg: LegID) -> Bool { partner(of: leg).map { self[$0].isHolding } ?? false }

  /// Sends a plan to the media, and notes what it says.
  func apply(_ plan: MediaPlan, to leg: LegID) {
    order(.plan(media(of: leg), plan))
    adopt(plan, of: leg)
  }

  /// What a plan says of a leg.
  func adopt(_ plan: MediaPlan, of leg: LegID) {
    // From hold back to talk: the time of silence starts now.
    let isTalking = plan.audio.direction == .sendAndReceive
    if isTalking, !self[leg].sound.isTalking {
      self[leg].sound.lastSound = self[leg].sound.lastSound.map { _ in context.now }
    }
    self[leg].sound.isTalking = isTalking
    if leg == .near { snapshot.nearCodec = plan.audio.send.codec.rawValue }
    if leg == .far { snapshot.farCodec = plan.audio.send.codec.rawValue }
    // Keys that came with the description, or none, need no handshake.
    if case .dtls = plan.protection {} else { self[leg].sound.isReady = true }
  }

  /// Notes of which leg no packet of sound ever came, though it was allowed to send.
  func flagMissingSound() {
    for (leg, flag) in [(LegID.near, CallRecord.Flag.noSoundFromCaller), (.far, .noSoundFromCalled)] {
      guard self[leg].needs != nil, !self[leg].sound.hasCome, self[leg].plan?.audio.direction.receives ?? true else {
        continue
      }
      flags.append(flag)
    }
  }

  // MARK: Times

  /// When ``advance()`` is due.
  var nextDeadline: MonotonicInstant? {
    var next: MonotonicInstant?
    func consider(_ deadline: MonotonicInstant?) {
      guard let deadline else { return }
      next = next.map { min($0, deadline) } ?? deadline
    }
    func considerBills() {
      for leg in legs {
        consider(leg.bill?.cutAt)
        consider(leg.bill?.askAt)
        consider(leg.lastsUntil)
      }
    }
    switch state {
    case .preparing(let preparing):
      if preparing.media == nil { consider(preparing.mediaUntil) }
      if isAuthorising { consider(preparing.ledgerUntil) }
    case .reaching(let reaching):
      consider(reaching.earlyMediaUntil)
      consider(reaching.promptUntil)
      consider(reaching.ring?.until)
      if self[.near].answeredAt != nil { consider(deadLeg?.at) }
      consider(arrived?.connecting?.until)
      considerBills()
    case .up(let up):
      if !up.isEstablished { consider(up.mediaUntil) }
      consider(self[.far].prompt?.playUntil)
      consider(deadLeg?.at)
      consider(transfer?.until)
      considerBills()
    case .ending(let ending): consider(ending.until)
    case .over: break
    }
    return next
  }

  var isAuthorising: Bool { legs.contains { $0.bill?.isAuthorising ?? false } }

  /// When a call ends for want of sound, and for which leg.
  struct DeadLeg {
    let id: LegID
    /// The answer: before it nobody has to speak, for there is nobody to hear it.
    let start: MonotonicInstant
    /// When the leg's last packet came, or the answer.
    let since: MonotonicInstant
    /// When that is too long.
    let at: MonotonicInstant
  }

  /// The leg whose silence, or lost way, is first too long.
  var deadLeg: DeadLeg? {
    var first: DeadLeg?
    guard let start = legs.lazy.compactMap(\.answeredAt).last else { return nil }
    func consider(_ leg: LegID, since: MonotonicInstant, from: MonotonicInstant) {
      let at = max(from, start).advanced(byMilliseconds: context.limits.deadMediaMilliseconds)
      if let first, first.at <= at { return }
      first = DeadLeg(id: leg, start: start, since: max(since, start), at: at)
    }
    for leg in legs {
      if let lastSound = leg.sound.lastSound, mustSend(leg.id) { consider(leg.id, since: lastSound, from: lastSound) }
      // Nothing need be said on hold or muted, but there has to be a way on which it could be.
      if let lost = leg.sound.lostWay { consider(leg.id, since: lost.lastPacket, from: lost.noticedAt) }
    }
    return first
  }

  /// Whether nothing comes from a leg that should, whether or not that has lasted too long.
  func isAway(_ leg: LegID) -> Bool {
    let sound = self[leg].sound
    return sound.lostWay != nil || sound.lastSound != nil && mustSend(leg)
  }
}
