import AppProtocol
import CallModel
import RoutingCore
import SDPCore
import SIPCore

/// The port of a leg that is reached through trunks: attempts one after the other, then one dialog.
///
/// ```
/// idle ──dial──▶ calling ──200──▶ answered ──▶ over
///                 │  ▲ failover    ▲      ▲
///                 └──┴─────────────┼──────┘
/// arrived ─────our 200─────────────┘
/// ```
/// A leg of a call that the trunk sent us begins with ``Phase/arrived(_:)``.
final class TrunkLeg {
  struct Attempt {
    let handle: CallHandle
    let trunk: CallTrunk
    let ticket: TrunkState.Ticket?
    let startedAt: Instant
    /// Whether another trunk could take the call.
    let hasOther: Bool
    var progress = AttemptProgress.none
    var hasLearned = false
    var name: String { trunk.trunk.name }
  }

  enum Phase {
    case idle
    /// The trunk's INVITE waits for our answer.
    case arrived(Attempt)
    case calling(Attempt)
    case answered(Attempt)
    case over
  }

  let call: CallID
  let leg: LegID
  let payer: Payer
  let terms: CallTerms
  let headers: CustomHeaders
  let callerNumber: E164Number?
  let isAnonymous: Bool
  private(set) var phase = Phase.idle
  private(set) var attempts = TrunkAttempts()
  private(set) var negotiation: OfferAnswer
  private(set) var media: LocalMedia
  /// An offer of ours is out; the direction that counts again if it is refused.
  private(set) var offered: (exchange: ExchangeID, direction: MediaDirection)?
  /// What is to be offered when the one that is out is over.
  private(set) var wantedDirection: MediaDirection?
  /// The peer's description that stands, whether it came as an answer or as an offer.
  private var remote: MessageBody?
  /// SIP's Call-ID of the last attempt.
  private(set) var sipCallID: String?
  /// Who diverted the call that this leg forwards; `nil` for a call that was asked for here.
  let diversion: Diversion?
  /// The dialog between others that the call takes the place of (RFC 3891); `nil` for none.
  var replaces: String?
  /// The registration of the telephone, where the leg is one.
  let session: SessionID?
  /// Who calls, where that is not for the trunk's rules to say.
  private let shown: OutgoingIdentity?
  /// How long it may ring, where that is not for the trunk to say.
  private let ringMilliseconds: Int64?
  /// The description that goes with our 200 to the trunk's INVITE.
  private var prepared: MessageBody?
  /// What the trunk's INVITE offers.
  private let arrivedOffer: MessageBody?
  private var hasRung = false

  /// A number of ours that forwards a call, and the caller where it may be shown.
  struct Diversion {
    let by: E164Number
    let caller: E164Number?
    /// Servers that may pass the call on.
    let maximumForwards: UInt8
    /// The Identity fields that the call came with.
    let identities: [String]
  }

  /// Handles that were hung up and have not ended yet: a CANCEL may cross an answer.
  private(set) var cancelled: Set<CallHandle> = []

  init(
    call: CallID, leg: LegID, payer: Payer, terms: CallTerms, headers: CustomHeaders, callerNumber: E164Number?,
    isAnonymous: Bool, media: LocalMedia, _ context: EngineContext, diversion: Diversion? = nil,
    ringMilliseconds: Int64? = nil, session: SessionID? = nil, shown: OutgoingIdentity? = nil
  ) {
    self.session = session
    self.shown = shown
    self.diversion = diversion
    self.ringMilliseconds = ringMilliseconds
    arrivedOffer = nil
    self.call = call
    self.leg = leg
    self.payer = payer
    self.terms = terms
    self.headers = headers
    self.callerNumber = callerNumber
    self.isAnonymous = isAnonymous
    self.media = media
    negotiation = OfferAnswer(
      sessionID: context.draw(), host: context.configuration.host, policy: .trunk(.none))
  }

  /// The leg of a call that the trunk sent us. Its media come with ``prepare(_:_:)``.
  init(_ arrived: ArrivedCall, call: CallID, payer: Payer, terms: CallTerms, _ context: EngineContext) {
    diversion = nil
    ringMilliseconds = nil
    session = arrived.phone?.session
    shown = nil
    arrivedOffer = arrived.invite.offer
    self.call = call
    leg = .near
    self.payer = payer
    self.terms = terms
    headers = arrived.invite.headers
    callerNumber = nil
    isAnonymous = false
    media = LocalMedia(host: context.configuration.host, port: 0)
    negotiation = OfferAnswer(
      sessionID: context.draw(), host: context.configuration.host, policy: arrived.trunk.media)
    sipCallID = arrived.invite.callID
    phase = .arrived(
      Attempt(
        handle: arrived.handle, trunk: arrived.trunk, ticket: arrived.ticket, startedAt: context.clock, hasOther: false)
    )
  }

  var current: Attempt? {
    switch phase {
    case .arrived(let attempt), .calling(let attempt), .answered(let attempt): attempt
    case .idle, .over: nil
    }
  }

  /// Where the signalling of the telephone comes from; `nil` for a trunk.
  var telephoneHost: SIPHost? {
    guard session != nil, let trunk = current?.trunk, trunk.isTelephone else { return nil }
    return trunk.paths.first?.remote.host
  }

  /// Whether the trunk's INVITE waits for our answer.
  var isArrived: Bool {
    if case .arrived = phase { return true }
    return false
  }

  var isAnswered: Bool {
    if case .answered = phase { return true }
    return false
  }

  var plan: MediaPlan? { negotiation.plan }

  // MARK: A call that the trunk sent us

  /// Media for the caller: its offer is answered now, and the answer goes out with our 200.
  /// - Returns: Why its offer is no use.
  func prepare(_ way: LocalMedia, _ context: EngineContext) -> NegotiationRefusal? {
    guard case .arrived(let attempt) = phase else { return nil }
    media = way
    media.keyMaterial = Redacted(attempt.trunk.media.protection.contains(.sdes) ? context.newKeyMaterial() : [])
    guard let offer = arrivedOffer else { return nil }
    switch answer(offer) {
    case .success(let (body, _)): prepared = body
    case .failure(let refusal): return refusal
    }
    return nil
  }

  /// 180 to the caller, once.
  func ring(_ headers: CustomHeaders, _ context: EngineContext) {
    guard case .arrived(let attempt) = phase, !hasRung else { return }
    hasRung = true
    context.emit(.sip(.ring(attempt.handle, status: 180, body: nil, headers: headers.prefixed)))
  }

  /// Our 200 to the caller: with the answer to its offer, or with an offer where it made none.
  /// - Returns: Why no offer can be made.
  func accept(_ headers: CustomHeaders, _ context: EngineContext) -> CallFailure? {
    guard case .arrived(let attempt) = phase else { return nil }
    var body = prepared
    if body == nil {
      switch offerForPeer() {
      case .success(let offer): body = offer
      case .failure(let refusal):
        context.log(.error, call, "no offer can be made to \(attempt.name): \(refusal)")
        return CallFailure(.internal, trunk: attempt.name, leg: .trunk)
      }
    }
    phase = .answered(attempt)
    context.emit(.sip(.accept(attempt.handle, body: body, headers: headers.prefixed)))
    return nil
  }

  /// A failure response to the caller.
  func reject(_ rejection: Rejection, _ context: EngineContext) {
    guard case .arrived(let attempt) = phase else { return }
    finish(attempt, context)
    phase = .over
    context.emit(.sip(.reject(attempt.handle, rejection)))
  }

  // MARK: Dialling

  /// Calls the best trunk that has not been tried.
  /// - Returns: The failure of the leg when none is left.
  func dial(_ context: EngineContext) -> CallFailure? {
    if let direct = terms.direct {
      guard attempts.count == 0 else { return failure(nil, context) }
      do throws(InvalidValue) {
        return begin(at: direct, identity: try identity(at: direct), ticket: nil, context)
      } catch {
        return CallFailure(.identity, trunk: direct.trunk.name, leg: .trunk, invalidValue: error)
      }
    }
    let states = terms.trunks.compactMap { context.state(of: $0) }
    let selection = TrunkSelection(from: states, tried: attempts.trunks, at: context.now, draw: context.draw)
    let order = terms.hasOwnOrder ? terms.trunks.filter(selection.order.contains) : selection.order
    var refusedIdentity: CallFailure?
    for (index, name) in order.enumerated() {
      guard let trunk = context.trunks[name] else { continue }
      let identity: OutgoingIdentity
      do throws(InvalidValue) {
        identity = try self.identity(at: trunk)
      } catch {
        refusedIdentity = CallFailure(.identity, trunk: name, leg: .trunk, invalidValue: error)
        continue
      }
      guard case .success(let ticket) = context.begin(at: name) else { continue }
      let hasOther =
        index + 1 < order.count && attempts.count + 1 < trunk.trunk.failover.maximumAttempts
      return begin(at: trunk, identity: identity, ticket: ticket, hasOther: hasOther, context)
    }
    if attempts.count == 0, let refusedIdentity { return refusedIdentity }
    return failure(selection, context)
  }

  private func failure(_ selection: TrunkSelection?, _ context: EngineContext) -> CallFailure {
    phase = .over
    return attempts.failure(skipped: selection, at: context.now, correlationID: call.text)
  }

  private func identity(at trunk: CallTrunk) throws(InvalidValue) -> OutgoingIdentity {
    if let shown { return shown }
    if let diversion {
      var policy = trunk.identity
      // Somebody else's number goes only where the trunk takes it; everywhere else the number of ours stands for it.
      guard trunk.inbound.takesForeignCallers, let caller = diversion.caller else {
        return try policy.identity(of: diversion.by)
      }
      policy.ownedNumbers = nil
      var identity = try policy.identity(of: caller)
      identity.diversion = NameAddress(
        SIPURI(scheme: .sip, user: policy.callerFormat.user(diversion.by), host: policy.domain),
        parameters: [SIPParameter("reason", "unconditional")])
      return identity
    }
    if let callerNumber {
      return try trunk.identity.identity(of: callerNumber, isWithheld: isAnonymous)
    }
    // Nobody to name: as a caller who wants to stay unknown, unless the trunk wants its own user (RFC 3323 section 4.1).
    if case .fixed(let user) = trunk.identity.fromUser, !isAnonymous {
      return OutgoingIdentity(
        from: NameAddress(SIPURI(scheme: .sip, user: user, host: trunk.identity.domain)))
    }
    return OutgoingIdentity(
      from: NameAddress(
        SIPURI(scheme: .sip, user: "anonymous", host: .name("anonymous.invalid")), displayName: "Anonymous"),
      privacy: isAnonymous ? ["id"] : [])
  }

  private func target(at trunk: CallTrunk) -> SIPURI {
    switch terms.destination {
    case .phone(let number):
      var uri = trunk.uri
      uri.user = trunk.identity.dialFormat.user(number)
      return uri
    case .emergency(let number):
      var uri = trunk.uri
      uri.user = number.code
      return uri
    case .sip(let address) where terms.direct == nil:
      // A host that is a trunk's goes where the trunk's calls go: its port and transport are the trunk's.
      var uri = trunk.uri
      uri.user = address.user
      if address.isSecure { uri.scheme = .sips }
      return uri
    case .sip(let address):
      return SIPURI(
        scheme: address.isSecure ? .sips : .sip, user: address.user, host: address.host, port: address.port)
    case .user, .conference: return trunk.uri
    }
  }

  private func begin(
    at trunk: CallTrunk, identity: OutgoingIdentity, ticket: TrunkState.Ticket?, hasOther: Bool = false,
    _ context: EngineContext
  ) -> CallFailure? {
    // Each attempt is a session of its own, with keys that no other peer has seen.
    media.keyMaterial = Redacted(trunk.media.protection.contains(.sdes) ? context.newKeyMaterial() : [])
    negotiation = OfferAnswer(
      sessionID: context.draw(), host: context.configuration.host, policy: trunk.media)
    offered = nil
    remote = nil
    let offer: SessionDescription
    do throws(NegotiationRefusal) {
      offer = try negotiation.offer(from: media)
    } catch {
      if let ticket { context.release(ticket, of: trunk.trunk.name) }
      phase = .over
      context.log(.error, call, "no offer can be made to \(trunk.trunk.name): \(error)")
      return CallFailure(.internal, trunk: trunk.trunk.name, leg: .trunk)
    }
    let handle = context.newHandle(for: call)
    let sipCallID = context.newSIPCallID()
    self.sipCallID = sipCallID
    phase = .calling(
      Attempt(handle: handle, trunk: trunk, ticket: ticket, startedAt: context.clock, hasOther: hasOther))
    var plan = OutgoingCall(
      target: target(at: trunk), routes: trunk.proxies, paths: trunk.paths, identity: identity, headers: headers,
      offer: MessageBody(sessionDescription: Array(offer.text.utf8)), account: trunk.account,
      sessionTimer: trunk.sessionTimer, reliability: trunk.reliability,
      maximumRedirections: trunk.maximumRedirections,
      ringTimeoutMilliseconds: min(ringMilliseconds ?? .max, trunk.ringTimeoutMilliseconds))
    plan.callID = sipCallID
    plan.allowsTransfer = trunk.inbound.allowsTransfer
    plan.replaces = replaces
    if let diversion {
      plan.maximumForwards = diversion.maximumForwards
      plan.identities = diversion.identities
    }
    if trunk.maximumRedirections > 0 {
      let judge = RedirectionJudge(terms, payer: payer, context)
      plan.allowsRedirection = { judge?.allows($0) ?? false }
    }
    plan.makesAcquaintance = !trunk.isTelephone
    plan.reachesInternalHosts = trunk.media.reachesInternalHosts
    if hasOther { plan.firstResponseMilliseconds = context.limits.firstResponseMilliseconds }
    context.emit(.sip(.placeCall(handle, plan)))
    return nil
  }

  // MARK: What the trunk says

  /// Of the last response that ended an attempt: what the app hears when no further trunk is left.
  private(set) var lastHeaders = CustomHeaders()

  /// A provisional response of 180 to 199.
  func progressed(_ progress: AttemptProgress, status: Int, _ context: EngineContext) {
    guard case .calling(var attempt) = phase else { return }
    attempt.progress = max(attempt.progress, progress)
    learn(&attempt, .answered(status: status, retryAfterSeconds: nil), context)
    phase = .calling(attempt)
  }

  private func learn(_ attempt: inout Attempt, _ outcome: TrunkHealth.Outcome, _ context: EngineContext) {
    // What a number of the sandbox plays says nothing about the gateway's own far end.
    guard let ticket = attempt.ticket, attempt.name != CallTrunk.farEnd else { return }
    if attempt.hasLearned, case .answered(let status, _) = outcome, status < 300 { return }
    attempt.hasLearned = true
    context.learn(ticket, of: attempt.name, outcome)
  }

  func answered(_ context: EngineContext) {
    guard case .calling(var attempt) = phase else { return }
    learn(&attempt, .answered(status: 200, retryAfterSeconds: nil), context)
    attempts.addAnswered(trunk: attempt.name, startedAt: attempt.startedAt, answeredAt: context.clock)
    phase = .answered(attempt)
  }

  /// Reads the description of a 200: an answer to our offer, or what the peer has said before, be it in an offer of its
  /// own before the answer (RFC 3311 section 5.1).
  func acceptFinal(_ body: MessageBody) -> Result<MediaPlan, NegotiationRefusal> {
    if body == remote, let plan { return .success(plan) }
    return accept(body)
  }

  /// Reads an answer to our offer.
  func accept(_ body: MessageBody) -> Result<MediaPlan, NegotiationRefusal> {
    guard let description = try? SessionDescription(parsing: body.bytes) else { return .failure(.answerShape) }
    do throws(NegotiationRefusal) {
      let plan = try negotiation.accept(description)
      remote = body
      return .success(plan)
    } catch {
      return .failure(error)
    }
  }

  /// What follows an attempt that failed before the answer.
  enum Consequence {
    case nextAttempt
    case failure(CallFailure)
  }

  func failed(_ end: CallEnd, _ context: EngineContext) -> Consequence {
    guard case .calling(var attempt) = phase else { return .failure(CallFailure(.internal, leg: .trunk)) }
    let failure = end.failure ?? CallFailure(.declined, leg: .trunk)
    lastHeaders = end.headers
    guard end.failure != nil, failure.domain == .sip else {
      // Ended by the peer before its answer, or not placed by the agent itself: the next trunk would fare no better.
      learn(&attempt, .abandoned, context)
      finish(attempt, context)
      phase = .over
      return .failure(failure)
    }
    // Silence, or what came could not be read: there is no status that a decision could be made of.
    let isUnheard = failure.code == .transport || failure.code == .protocolBroken
    let attemptEnd: AttemptEnd
    if let status = failure.sipStatus {
      attemptEnd = .response(
        CallFailureEvidence(
          status: status, phrase: failure.phrase ?? "", reasons: failure.reasons,
          retryAfterSeconds: failure.retryAfterSeconds, redress: failure.redress, hasRung: attempt.progress >= .rang,
          hasRingTimerFired: failure.code == .noAnswer && status == 487))
      learn(&attempt, .answered(status: status, retryAfterSeconds: failure.retryAfterSeconds), context)
    } else {
      attemptEnd = .timedOut
      let unreached: TrunkHealth.Outcome = attempt.hasOther ? .unheard : .timedOut
      // A ring that nobody took says nothing against the trunk.
      learn(&attempt, isUnheard ? unreached : .answered(status: 180, retryAfterSeconds: nil), context)
    }
    finish(attempt, context)
    attempts.add(
      trunk: attempt.name, startedAt: attempt.startedAt, endedAt: context.clock, end: attemptEnd,
      code: isUnheard ? failure.code : .transport, warning: failure.warning)
    let decision = attempt.trunk.trunk.failover.decision(
      after: attemptEnd, progress: attempt.progress, attempts: attempts.count)
    phase = .idle
    if decision.triesNextTrunk, failure.code != .noAnswer { return .nextAttempt }
    phase = .over
    // What the agent itself found, without a response, keeps its class.
    guard failure.sipStatus != nil || isUnheard else {
      return .failure(
        CallFailure(
          failure.code, reasons: failure.reasons, trunk: attempt.name, attempts: attempts.attempts, leg: .trunk))
    }
    return .failure(attempts.failure(at: context.now, correlationID: failure.correlationID))
  }

  private func finish(_ attempt: Attempt, _ context: EngineContext) {
    context.handles[attempt.handle] = nil
    if let ticket = attempt.ticket { context.release(ticket, of: attempt.name) }
  }

  /// The peer, or the agent, has ended the dialog.
  func ended(_ context: EngineContext) {
    guard let attempt = current else { return }
    finish(attempt, context)
    phase = .over
  }

  /// Hangs up whatever is open; once.
  func hangUp(_ reasons: [CallFailure.Reason], _ context: EngineContext) {
    switch phase {
    case .calling(var attempt):
      learn(&attempt, .abandoned, context)
      if let ticket = attempt.ticket { context.release(ticket, of: attempt.name) }
      attempts.add(
        trunk: attempt.name, startedAt: attempt.startedAt, endedAt: context.clock,
        end: .response(CallFailureEvidence(status: 487, wasCancelledByCaller: true)))
      cancelled.insert(attempt.handle)
      context.emit(.sip(.hangUp(attempt.handle, HangUp(reasons: reasons))))
    case .answered(let attempt):
      finish(attempt, context)
      context.emit(.sip(.hangUp(attempt.handle, HangUp(reasons: reasons))))
    // A call that the trunk sent us and nobody took gets its response from ``reject(_:_:)``.
    case .arrived(let attempt):
      finish(attempt, context)
      context.emit(.sip(.reject(attempt.handle, Rejection(480))))
    case .idle, .over: break
    }
    phase = .over
  }

  /// A call that was cancelled is over at last.
  func cancelledEnded(_ handle: CallHandle, _ context: EngineContext) {
    cancelled.remove(handle)
    context.handles[handle] = nil
  }

  /// Nobody waits for cancelled calls any longer.
  func forgetCancelled(_ context: EngineContext) {
    for handle in cancelled { context.handles[handle] = nil }
    cancelled = []
  }

  // MARK: Changes inside the dialog

  /// Answers an offer of the peer.
  func answer(_ offer: MessageBody) -> Result<(body: MessageBody, plan: MediaPlan), NegotiationRefusal> {
    let isYielding = negotiation.isOfferPending
    if isYielding { yield() }
    guard let description = try? SessionDescription(parsing: offer.bytes) else { return .failure(.noAudio) }
    do throws(NegotiationRefusal) {
      let (answer, plan) = try negotiation.answer(description, from: media)
      remote = offer
      if isYielding { offered = nil }
      return .success((MessageBody(sessionDescription: Array(answer.text.utf8)), plan))
    } catch {
      return .failure(error)
    }
  }

  /// An offer of the peer is here although one of ours is open: ours has not left the agent and never will. What it asks
  /// for goes into the answer; where there is none, it is offered again.
  private func yield() {
    negotiation.withdrawOffer()
    if wantedDirection == nil, offered != nil { wantedDirection = negotiation.direction }
  }

  /// The offer that the peer asked for; it says what one of ours that is open would have said.
  func offerForPeer() -> Result<MessageBody, NegotiationRefusal> {
    if negotiation.isOfferPending {
      negotiation.withdrawOffer()
      offered = nil
    }
    do throws(NegotiationRefusal) {
      return .success(MessageBody(sessionDescription: Array(try negotiation.offer(from: media).text.utf8)))
    } catch {
      return .failure(error)
    }
  }

  /// Offers the peer another direction: hold and resume.
  func offer(_ direction: MediaDirection, _ context: EngineContext) {
    guard case .answered(let attempt) = phase else { return }
    guard offered == nil, !negotiation.isOfferPending else {
      wantedDirection = direction
      return
    }
    wantedDirection = nil
    guard negotiation.direction != direction else { return }
    let former = negotiation.direction
    negotiation.direction = direction
    do throws(NegotiationRefusal) {
      let offer = try negotiation.offer(from: media)
      let exchange = context.newExchange()
      offered = (exchange, former)
      context.emit(
        .sip(.offer(attempt.handle, exchange, MessageBody(sessionDescription: Array(offer.text.utf8)))))
    } catch {
      negotiation.direction = former
      context.log(.warning, call, "hold cannot be passed on: \(error)")
    }
  }

  /// An offer was refused: the session is as it was before. One of ours that gave way to the peer's is settled already.
  func offerRefused(_ exchange: ExchangeID, _ context: EngineContext) {
    guard exchange.number <= EngineContext.lastForeignExchange || offered?.exchange == exchange else {
      if let wantedDirection { offer(wantedDirection, context) }
      return
    }
    exchangeEnded(accepted: false, context)
  }

  /// The exchange that was open is over.
  /// - Parameter accepted: Otherwise the session is as it was before.
  func exchangeEnded(accepted: Bool, _ context: EngineContext) {
    if !accepted {
      negotiation.withdrawOffer()
      if let offered { negotiation.direction = offered.direction }
    }
    offered = nil
    if let wantedDirection { offer(wantedDirection, context) }
  }
}
