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
    var side: CallSide
    var hasProgressed = false
    var isRinging = false
    var earlyMediaUntil: MonotonicInstant?
    /// The end of a local progress phase.
    var localUntil: MonotonicInstant?
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

  /// What is known of the sound of one side.
  struct Sound {
    /// Keys are there, or packets came.
    var isReady = false
    /// Whether a packet of sound has come.
    var hasCome = false
    /// Whether the last plan has sound flow both ways: nobody is on hold.
    var isTalking = false
    /// Set while a side is silent: when its last packet came, or when it was last allowed not to send any.
    var lastSound: MonotonicInstant?
  }

  /// Who asked for the call.
  enum Owner {
    case app
    case origination(OriginationID)
  }

  let id: CallID
  let owner: Owner
  let context: EngineContext
  let payer: Payer
  let headers: CustomHeaders
  let callerNumber: E164Number?
  let isAnonymous: Bool
  let nearTerms: CallTerms?
  let farTerms: CallTerms

  var state: State
  var app: AppLeg?
  var nearLeg: TrunkLeg?
  var farLeg: TrunkLeg?
  var local: LocalAnswer?
  var nearBill: CallBill?
  var farBill: CallBill
  var nearSound = Sound()
  var farSound = Sound()
  /// The other side put the call on hold.
  var isHeld = false

  /// Whether a trunk has said anything.
  var isHeardOf = false
  var snapshot: CallSnapshot
  var summary: CallSummary
  var flags: [CallRecord.Flag] = []
  var story: [CallRecord.StoryLine] = []
  var statistics: [String: Double] = [:]
  var monitor = QualityMonitor()
  var nearQuality: CallQuality.Direction?
  var farQuality: CallQuality.Direction?
  private let startedAt: MonotonicInstant

  init(
    id: CallID, owner: Owner, app: AppLeg?, payer: Payer, headers: CustomHeaders, callerNumber: E164Number?,
    isAnonymous: Bool, near: CallTerms?, far: CallTerms, origin: CallOperation.Origin, _ context: EngineContext
  ) {
    self.id = id
    self.owner = owner
    self.app = app
    self.context = context
    self.payer = payer
    self.headers = headers
    self.callerNumber = callerNumber
    self.isAnonymous = isAnonymous
    nearTerms = near
    farTerms = far
    local = far.test.map { LocalAnswer($0) }
    func bill(_ call: CallID, _ terms: CallTerms, linked: CallID?) -> CallBill {
      CallBill(
        call: call, payer: payer, origin: origin,
        CallOperation.Authorisation(
          destination: terms.destination.text, country: terms.country, rating: terms.rating,
          seconds: context.limits.firstGrantSeconds, maximumSeconds: terms.maximumSeconds,
          isEmergency: terms.isEmergency, linkedCall: linked,
          defaultCountries: terms.isGivenAway
            ? nil : context.environment(of: payer)?.defaultCountries(of: payer.account)),
        isGivenAway: terms.isGivenAway, velocity: terms.velocity, limits: context.limits)
    }
    nearBill = near.map { bill(id, $0, linked: nil) }
    farBill =
      near == nil
      ? bill(id, far, linked: nil) : bill(CallID(unchecked: id.text + CallMachine.secondSuffix), far, linked: id)
    snapshot = CallSnapshot(
      id: id, environment: payer.environment, account: payer.account, application: app?.identity.application,
      user: app?.identity.user, kind: far.destination.kind, destination: far.destination.text, state: .initiating,
      startedAt: context.clock, currency: payer.currency)
    summary = CallSummary(
      startedAt: context.clock, endedAt: context.clock, cause: .none, currency: payer.currency.description)
    startedAt = context.now
    state = .preparing(
      Preparing(
        mediaUntil: context.now.advanced(byMilliseconds: context.limits.preparationMilliseconds),
        ledgerUntil: context.now.advanced(byMilliseconds: context.limits.ledgerMilliseconds)))
  }

  /// Ends the ledger's name of the second leg of a call between two destinations.
  static let secondSuffix = "-2"

  /// Ledger names of the call's legs.
  var billedCalls: [CallID] { [nearBill?.call, farBill.call].compactMap { $0 } }

  /// Whether it waits for media and holds, or for the first word of anybody who was called.
  var isPreparing: Bool {
    switch state {
    case .preparing: true
    case .reaching: local == nil && !isHeardOf
    case .up, .ending, .over: false
    }
  }

  var isOver: Bool {
    if case .over = state { return true }
    return false
  }

  // MARK: Words

  func addToStory(_ event: CallRecord.StoryLine.Event) { note(event.text) }

  /// A line of the call's story.
  func note(_ text: String) {
    guard story.count < CallRecord.maximumStoryLines else { return }
    story.append(
      CallRecord.StoryLine(
        milliseconds: max(0, context.now.milliseconds(since: startedAt)), text: CallFailure.shortened(text)))
  }

  func tell(_ event: AppEvent) {
    guard let app else { return }
    context.emit(.app(app.session, event))
  }

  func reply(_ event: AppEvent, to session: SessionID) { context.emit(.app(session, event)) }

  func order(_ order: MediaOrder) { context.emit(.media(id, order)) }

  func changed() {
    snapshot.heldMicro = (nearBill?.heldMicro ?? 0) + farBill.heldMicro
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
      correlationID: id.text, invalidValue: failure.invalidValue)
  }

  var allAttempts: [CallAttempt] { (nearLeg?.attempts.attempts ?? []) + (farLeg?.attempts.attempts ?? []) }

  // MARK: Parts by side

  func leg(_ side: CallSide) -> TrunkLeg? { side == .near ? nearLeg : farLeg }

  func side(of handle: CallHandle) -> CallSide? {
    if nearLeg?.current?.handle == handle { return .near }
    if farLeg?.current?.handle == handle { return .far }
    return nil
  }

  func sound(_ side: CallSide) -> Sound { side == .near ? nearSound : farSound }

  func changeSound(_ side: CallSide, _ change: (inout Sound) -> Void) {
    if side == .near { change(&nearSound) } else { change(&farSound) }
  }

  func plan(_ side: CallSide) -> MediaPlan? {
    switch side {
    case .near: app?.negotiation.plan ?? nearLeg?.plan
    case .far: farLeg?.plan
    }
  }

  /// Sends a plan to the media, and notes what it says.
  func apply(_ plan: MediaPlan, to side: CallSide) {
    order(.plan(side, plan))
    // From hold back to talk: the time of silence starts now.
    let isTalking = plan.direction == .sendAndReceive
    if isTalking, !sound(side).isTalking {
      changeSound(side) { $0.lastSound = $0.lastSound.map { _ in context.now } }
    }
    changeSound(side) { $0.isTalking = isTalking }
    if side == .near {
      snapshot.nearCodec = plan.send.codec.rawValue
    } else {
      snapshot.farCodec = plan.send.codec.rawValue
    }
    // Keys that came with the description, or none, need no handshake.
    if case .dtls = plan.protection {} else { changeSound(side) { $0.isReady = true } }
  }

  /// Notes of which side no packet of sound ever came, though it was allowed to send.
  func flagMissingSound() {
    for (side, flag) in [(CallSide.near, CallRecord.Flag.noSoundFromCaller), (.far, .noSoundFromCalled)] {
      // The gateway's own voice comes over no network.
      if side == .far, local != nil { continue }
      guard !sound(side).hasCome, plan(side)?.direction.receives ?? true else { continue }
      flags.append(flag)
    }
  }

  /// Whether a side is supposed to send. On hold nobody has to, whichever end holds: music is a courtesy.
  func mustSend(_ side: CallSide) -> Bool {
    sound(side).isTalking && (side == .far || !(app?.isMuted ?? false))
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
      consider(nearBill?.cutAt)
      consider(nearBill?.askAt)
      consider(farBill.cutAt)
      consider(farBill.askAt)
    }
    switch state {
    case .preparing(let preparing):
      if preparing.media == nil { consider(preparing.mediaUntil) }
      if isAuthorising { consider(preparing.ledgerUntil) }
    case .reaching(let reaching):
      consider(reaching.earlyMediaUntil)
      consider(reaching.localUntil)
      if nearLeg != nil { consider(deadSide?.at) }
      considerBills()
    case .up(let up):
      if !up.isEstablished { consider(up.mediaUntil) }
      consider(local?.playUntil)
      consider(deadSide?.at)
      considerBills()
    case .ending(let ending): consider(ending.until)
    case .over: break
    }
    return next
  }

  var isAuthorising: Bool {
    func waits(_ bill: CallBill) -> Bool {
      if case .authorising = bill.phase { return true }
      return false
    }
    return waits(farBill) || nearBill.map(waits) ?? false
  }

  /// The side that has been silent longest, and when that is too long.
  ///
  /// `start` is the answer: before it nobody has to speak.
  var deadSide: (side: CallSide, start: MonotonicInstant, since: MonotonicInstant, at: MonotonicInstant)? {
    var first: (CallSide, MonotonicInstant)?
    // Nobody has to speak before there is somebody to hear it.
    guard let start = farBill.answeredAt ?? nearBill?.answeredAt else { return nil }
    for side in CallSide.allCases where mustSend(side) {
      guard let lastSound = sound(side).lastSound else { continue }
      let since = max(lastSound, start)
      if first.map({ since < $0.1 }) ?? true { first = (side, since) }
    }
    return first.map {
      ($0.0, start, $0.1, $0.1.advanced(byMilliseconds: context.limits.deadMediaMilliseconds))
    }
  }
}
