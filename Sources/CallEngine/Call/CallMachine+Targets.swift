import AppProtocol
import CallModel
import LedgerCore
import RoutingCore
import SDPCore
import SIPCore

// MARK: A call that came in over a trunk: its caller, and the targets of the number that it called

extension CallMachine {
  /// Whether a trunk waits for our answer to its INVITE.
  var isCallerWaiting: Bool { self[.near].trunk?.isArrived ?? false }

  /// The caller's media are there, and its own price is held: the first target's turn.
  func callerPrepared(_ media: PreparedMedia) {
    guard case .preparing = state, let near = self[.near].trunk, let way = media.legs[.near] else { return }
    if let refusal = near.prepare(way, context) {
      return refuse(
        CallFailure(
          .media, sipStatus: refusal.sipStatus, warning: refusal.warning?.text ?? "\(refusal)",
          trunk: near.current?.name, leg: .trunk))
    }
    calledWay = media.legs[.far]
    state = .reaching(Reaching(leg: .far))
    changed()
    if arrived?.number?.answersFirst ?? false {
      answerTrunkCaller(CustomHeaders())
      ringLocally()
    }
    reachTarget()
  }

  /// Whoever's turn it is.
  private func reachTarget() {
    guard case .reaching = state, let arrived else { return }
    // Its targets are numbers of ours that lead nowhere.
    guard let target = arrived.target else { return farFailed(CallFailure(.numberUnserved)) }
    switch target.way {
    case .user(let user):
      guard let application = arrived.application else { return farFailed(CallFailure(.numberUnserved)) }
      note("target \(arrived.turn + 1): user \(user)")
      context.emit(.findUser(id, application: application, user))
    case .leg(let terms) where terms.room != nil:
      note("target \(arrived.turn + 1): conference \(terms.destination.text)")
      reachRoom(terms)
    case .leg(let terms):
      note("target \(arrived.turn + 1): \(terms.destination.kind.rawValue) \(terms.destination.text)")
      connect(terms)
    case .refused(let failure):
      note("target \(arrived.turn + 1) cannot be called: \(failure)")
      farFailed(failure)
    }
  }

  /// The devices of a user whose turn it is.
  func userFound(_ called: CalledUser) {
    if transfer != nil { return transferUserFound(called) }
    guard case .reaching = state, let arrived, case .waiting = self[.far].port, let target = arrived.target,
      case .user(let user) = target.way, user == called.user
    else { return }
    // Whoever calls does not ring, also where somebody calls the own user.
    let called = without(arrived.phone?.session, called)
    let terms = CallTerms(
      destination: .user(user), maximumSeconds: context.limits.maximumCallSeconds, user: called)
    replace(.far, by: Leg(id: .far, terms: terms, port: .ringing(RingGroup(called.devices, told: lastMedia))))
    for device in called.devices { list(device.session, isMember: true) }
    ringDevices(target.ringMilliseconds)
  }

  private func without(_ session: SessionID?, _ called: CalledUser) -> CalledUser {
    guard let session else { return called }
    var called = called
    called.devices.removeAll { $0.session == session }
    return called
  }

  // MARK: Legs over trunks

  /// Asks for ports and for the hold of a leg over a trunk; the gateway's own voice needs neither.
  private func connect(_ terms: CallTerms) {
    var terms = terms
    if let environment = context.environment(of: payer) {
      do throws(CallFailure) {
        terms.velocity = try context.admit(terms, payer: payer, user: arrived?.phone?.person, in: environment)
      } catch {
        return farFailed(error)
      }
    }
    replace(.far, by: calledLeg(.far, terms))
    self[.far].bill?.authorise(context)
    guard terms.voice == nil else { return reachFar() }
    self[.far].media = newMedia()
    arrived?.connecting = ArrivedCall.Connecting(
      until: context.now.advanced(byMilliseconds: context.limits.ledgerMilliseconds))
    context.emit(.prepare(id, MediaNeeds([media(of: .far): .trunk])))
  }

  /// Ports for the leg of the target whose turn it is.
  func targetPrepared(_ result: Result<PreparedMedia, MediaShortage>) {
    guard arrived?.connecting?.isPrepared == false else { return }
    switch result {
    case .success(let media):
      guard let terms = self[.far].terms, let way = media.legs[self.media(of: .far)] else { return }
      arrived?.connecting?.isPrepared = true
      self[.far].port = .trunk(
        TrunkLeg(
          call: id, leg: .far, payer: payer, terms: terms, headers: headers, callerNumber: callerNumber,
          isAnonymous: isAnonymous, media: way, context, diversion: diversion,
          ringMilliseconds: arrived?.target?.ringMilliseconds))
      dialTarget()
    case .failure(let shortage):
      note("no media: \(shortage.rawValue)")
      farFailed(CallFailure(.congestion, phrase: "no media: \(shortage.rawValue)", retryAfterSeconds: 1, leg: .app))
    }
  }

  /// Who is shown to the trunk that a call is forwarded over.
  var diversion: TrunkLeg.Diversion? {
    guard let arrived, let number = arrived.number else { return nil }
    return TrunkLeg.Diversion(
      by: number.number, caller: isAnonymous ? nil : arrived.from.number,
      maximumForwards: max(1, min(arrived.invite.maximumForwards, 70)) - 1, identities: arrived.invite.identities)
  }

  /// Both questions have their answers.
  func dialTarget() {
    guard arrived?.connecting?.isPrepared == true, self[.far].bill?.isAuthorising != true else { return }
    arrived?.connecting = nil
    dial(.far)
  }

  /// The hold of a target's leg was refused.
  func targetRefused(_ failure: CallFailure) { farFailed(failure) }

  // MARK: From one target to the next

  /// The side that is called will not answer: the next target's turn, or the end.
  func farFailed(
    _ failure: CallFailure?, _ cause: CallEndCause? = nil, headers: CustomHeaders = CustomHeaders(),
    reasons: [CallFailure.Reason] = []
  ) {
    let cause = cause ?? failure?.endCause ?? .error
    guard case .reaching(var reaching) = state, let arrived, arrived.leadsOn(after: failure) else {
      return end(cause, failure, headers: headers, reasons: reasons)
    }
    note("\(failure.map { "\($0)" } ?? cause.rawValue): the next target")
    leaveRing(cause, failure)
    let former = self[.far]
    former.trunk?.hangUp(reasons, context)
    if former.trunk != nil { order(.detach(former.media)) }
    former.bill?.end(failure?.code.rawValue ?? cause.rawValue, at: context.now, context)
    countUsedMedia()
    formerLegs.append(former)
    replace(.far, by: Leg(id: .far, terms: nil, port: .waiting))
    reaching.ring = nil
    reaching.earlyMediaUntil = nil
    reaching.promptUntil = nil
    state = .reaching(reaching)
    self.arrived?.connecting = nil
    self.arrived?.turn += 1
    reachTarget()
  }

  // MARK: The caller

  /// Our 200: from here on the number's account pays for the caller's leg.
  func answerTrunkCaller(_ headers: CustomHeaders) {
    guard let near = self[.near].trunk, near.isArrived else { return }
    if let failure = near.accept(headers, context) {
      // No offer of ours can be made: nothing that the caller could have done otherwise.
      return end(.error, failure)
    }
    if let plan = near.plan { apply(plan, to: .near) }
    answered(.near)
  }

  /// The caller hears that it rings; once.
  func ringTrunkCaller(_ headers: CustomHeaders) { self[.near].trunk?.ring(headers, context) }

  /// The caller gave up before anybody answered, or its INVITE came to nothing.
  func callerLeft(_ ending: CallEnd) {
    self[.near].trunk?.ended(context)
    if ending.cause == .failed {
      let failure = ending.failure ?? CallFailure(.protocolBroken, leg: .trunk)
      return end(.error, failure)
    }
    addToStory(.callerGaveUp)
    if case .preparing = state { return refuse(CallFailure(.cancelled, leg: .trunk)) }
    end(.canceled, headers: ending.headers, reasons: [CallMachine.normalClearing])
  }

  /// What the caller gets in place of an answer.
  func rejectCaller(_ cause: CallEndCause, _ failure: CallFailure?) {
    guard isCallerWaiting else { return }
    let rejection =
      cause == .hungUp || cause == .canceled && failure == nil
      ? Rejection(480, reasons: [CallMachine.normalClearing])
      : arrived?.phone == nil
        ? ArrivedCall.rejection(failure, arrived?.number) : ArrivedCall.rejection(ofPhone: failure)
    self[.near].trunk?.reject(rejection, context)
  }
}
