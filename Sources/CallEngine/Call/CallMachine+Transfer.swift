import AppProtocol
import CallModel
import LedgerCore
import RoutingCore
import SDPCore
import SIPCore

// MARK: A leg gives its place to another (RFC 5589)

extension CallMachine {
  /// Times of the devices that ring: of the called side, or of the user that the call is transferred to.
  var ringTimes: RingTimes? {
    get {
      if let transfer { return transfer.ring }
      guard case .reaching(let reaching) = state else { return nil }
      return reaching.ring
    }
    set {
      if transfer != nil {
        transfer?.ring = newValue
      } else if case .reaching(var reaching) = state {
        reaching.ring = newValue
        state = .reaching(reaching)
      }
    }
  }

  /// Whether somebody is being reached: the called side, or the third of a transfer.
  var isReaching: Bool {
    switch state {
    case .reaching: true
    case .up:
      if case .ringing = transfer?.stage { true } else { false }
    case .preparing, .ending, .over: false
    }
  }

  /// Whoever is being reached will not answer.
  func reachingFailed(
    _ failure: CallFailure?, _ cause: CallEndCause? = nil, reasons: [CallFailure.Reason] = []
  ) {
    guard transfer == nil else { return transferFailed(failure) }
    farFailed(failure, cause, reasons: reasons)
  }

  // MARK: The beginning

  /// Why a leg cannot be replaced now; `nil` where it can.
  func transferRefusal(by leg: LegID) -> CallFailure? {
    guard case .up = state else {
      return CallFailure(.transfer, phrase: "the call is not answered yet", leg: .app)
    }
    guard transfer == nil else { return CallFailure(.transfer, phrase: "another transfer is under way", leg: .app) }
    guard transfers < context.limits.transfersPerCall else {
      return CallFailure(
        .limit, refusal: .concurrencyCap, phrase: "transfers of one call: \(context.limits.transfersPerCall)", leg: .app
      )
    }
    let waiting = leg == .near ? LegID.far : .near
    guard leg != .third, self[waiting].prompt == nil, self[leg].prompt == nil else {
      return CallFailure(.transfer, phrase: "the gateway's own voice is transferred to nobody", leg: .app)
    }
    guard snapshot.onHold.isEmpty else {
      return CallFailure(.transfer, phrase: "an operator has a side wait", leg: .app)
    }
    guard roomPlace == nil else {
      return CallFailure(.transfer, phrase: "a conference is transferred to nobody", leg: .app)
    }
    return nil
  }

  /// Begins to reach whom the call is transferred to.
  /// - Returns: Why it cannot be; then nothing has changed.
  func beginTransfer(
    by leg: LegID, to destination: Destination, _ way: ArrivedCall.Target.Way, consults: Bool, replaces: String? = nil
  ) -> CallFailure? {
    if let refusal = transferRefusal(by: leg) { return refusal }
    var third = Leg(id: .third, terms: nil, port: .waiting)
    switch way {
    case .refused(let failure): return failure
    case .user: break
    case .leg(var terms):
      guard terms.voice == nil else {
        return CallFailure(.transfer, phrase: "no call is transferred to the gateway's own voice", leg: .app)
      }
      guard let environment = context.environment(of: payer) else { return CallFailure(.internal) }
      do throws(CallFailure) {
        terms.velocity = try context.admit(terms, payer: payer, user: nil, in: environment)
      } catch {
        return error
      }
      third = calledLeg(.third, terms)
    }
    begin(leg, to: destination.kind, destination.text, third, consults: consults)
    transfer?.replaces = replaces
    switch way {
    case .user(let user):
      guard let application = snapshot.application ?? arrived?.application else {
        transferFailed(CallFailure(.userUnknown, leg: .app))
        return nil
      }
      context.emit(.findUser(id, application: application, user))
      context.emit(.prepare(id, MediaNeeds([third.media: .devices])))
    case .leg, .refused:
      third.bill?.authorise(context)
      context.emit(.prepare(id, MediaNeeds([third.media: .trunk])))
    }
    changed()
    return nil
  }

  private func begin(_ leg: LegID, to kind: Destination.Kind, _ target: String, _ third: Leg, consults: Bool) {
    let begun = Transfer(
      by: leg, kind: kind, target: target, consults: consults,
      stage: .connecting(
        isPrepared: false, until: context.now.advanced(byMilliseconds: context.limits.ledgerMilliseconds)))
    transfer = begun
    third.media = newMedia()
    addThird(third)
    addToStory(.transferAsked(leg, target: target))
    letWait(leg: begun.waiting)
  }

  /// One of two calls whose legs leave: the other end of this one is to talk with that of the other.
  func beginLink(by leg: LegID, to other: CallMachine, _ place: LegID) {
    let policy = MediaPolicy(codecs: LinkLeg.codecs(self, leg, other, place), protection: .none)
    let link = LinkLeg(
      other: other.id,
      negotiation: OfferAnswer(sessionID: context.draw(), host: context.configuration.host, policy: policy))
    let shown = other.party(across: place)
    let third = Leg(id: .third, terms: nil, port: .link(link))
    begin(leg, to: shown.kind, shown.text, third, consults: false)
    context.emit(.prepare(id, MediaNeeds([third.media: .link])))
    changed()
  }

  /// What the two ends of a link agreed on.
  func linkAgreed() {
    guard has(.third), let plan = self[.third].link?.plan else { return }
    apply(plan, to: .third)
    thirdAnswered()
  }

  /// Who is on the other side of a leg, as whoever is put through to them is told.
  func party(across place: LegID) -> (kind: Destination.Kind, text: String) {
    let shown = callerShown(at: place == .near ? .far : .near)
    let kind: Destination.Kind =
      switch shown.kind {
      case .phone: .phone
      case .user: .user
      default: .sip
      }
    return (kind, shown.value.isEmpty ? "anonymous" : shown.value)
  }

  /// The leg that is to be put through hears a tone in place of whoever asked.
  private func letWait(leg waiting: LegID) {
    guard let transfer else { return }
    order(.part(media(of: transfer.consults ? waiting : transfer.by)))
    order(.hold(media(of: waiting)))
    // Whoever asked may have put it on hold before, as phones do.
    self[waiting].trunk?.offer(.sendAndReceive, context)
    tell(.held(id, true), waiting)
  }

  /// Ports for the third leg, or credentials for the devices that it may be.
  func transferPrepared(_ result: Result<PreparedMedia, MediaShortage>) {
    guard case .connecting(false, let until)? = transfer?.stage, has(.third) else { return }
    switch result {
    case .success(let media):
      guard let way = media.legs[self.media(of: .third)] else { return }
      transfer?.stage = .connecting(isPrepared: true, until: until)
      if self[.third].link != nil {
        self[.third].link?.media = way
        return
      }
      if let terms = self[.third].terms {
        let leg = TrunkLeg(
          call: id, leg: .third, payer: payer, terms: terms, headers: headers, callerNumber: callerNumber,
          isAnonymous: isAnonymous, media: way, context, diversion: diversion,
          ringMilliseconds: context.limits.ringMilliseconds)
        leg.replaces = transfer?.replaces
        self[.third].port = .trunk(leg)
      } else {
        calledWay = way
      }
      reachThird()
    case .failure(let shortage):
      note("no media: \(shortage.rawValue)")
      transferFailed(
        CallFailure(.congestion, phrase: "no media: \(shortage.rawValue)", retryAfterSeconds: 1, leg: .app))
    }
  }

  /// The devices of the user whom the call is transferred to.
  func transferUserFound(_ called: CalledUser) {
    guard case .connecting? = transfer?.stage, transfer?.kind == .user, transfer?.target == called.user.text else {
      return
    }
    transfer?.called = called
    reachThird()
  }

  /// Everything that was asked for is there: the third is called.
  func reachThird() {
    guard case .connecting(true, _)? = transfer?.stage, has(.third) else { return }
    if self[.third].trunk != nil {
      guard self[.third].bill?.isAuthorising != true else { return }
      transfer?.stage = .ringing
      dialThird()
    } else if let called = transfer?.called {
      transfer?.stage = .ringing
      let terms = CallTerms(
        destination: .user(called.user), maximumSeconds: context.limits.maximumCallSeconds, user: called)
      let media = media(of: .third)
      replace(
        .third,
        by: Leg(id: .third, terms: terms, port: .ringing(RingGroup(called.devices, told: lastMedia)), media: media))
      for device in called.devices { list(device.session, isMember: true) }
      ringDevices(context.limits.ringMilliseconds)
    }
  }

  func dialThird() {
    guard let trunk = self[.third].trunk else { return }
    if let failure = trunk.dial(context) {
      note("no trunk: \(failure)")
      return transferFailed(failure)
    }
    note("INVITE to \(trunk.current?.name ?? "nobody")")
  }

  /// Who calls, for the devices of a user: whoever waits to be put through.
  var callerShown: CallerIdentity { callerShown(at: transfer?.waiting ?? .near) }

  func callerShown(at waiting: LegID) -> CallerIdentity {
    if waiting == .near, let from = arrived?.from { return from }
    if let app = self[waiting].app {
      return CallerIdentity(kind: .user, value: app.identity.user.text, name: waiting == .near ? callerName : "")
    }
    if let room = self[waiting].room {
      return CallerIdentity(kind: .conference, value: room.key.conference.text, name: "")
    }
    guard let destination = self[waiting].terms?.destination else {
      return CallerIdentity(kind: .anonymous, value: "", name: "")
    }
    let kind: CallerIdentity.Kind =
      switch destination {
      case .phone, .emergency: .phone
      case .sip: .sip
      case .user, .conference: .user
      }
    return CallerIdentity(kind: kind, value: destination.text, name: "")
  }

  // MARK: What the third says

  /// It rings: whoever waits hears so, and whoever asked is told.
  func thirdRang() {
    guard var transfer, !transfer.hasRung else { return }
    transfer.hasRung = true
    self.transfer = transfer
    order(.ring(media(of: transfer.consults && !transfer.isLeft ? transfer.by : transfer.waiting)))
    reportTransfer(.ringing, status: 180)
  }

  func thirdProgressed(_ progress: Progress) {
    guard let trunk = self[.third].trunk, !trunk.isAnswered else { return }
    note("\(progress.status) \(progress.phrase)")
    trunk.progressed(progress.status == 180 ? .rang : .none, status: progress.status, context)
    if let body = progress.body, case .success(let plan) = trunk.accept(body) {
      apply(plan, to: .third)
      if plan.audio.direction.receives {
        trunk.progressed(.earlyMedia, status: progress.status, context)
        // Nobody hears it before the answer; it is bounded all the same.
        let until = context.now.advanced(byMilliseconds: context.limits.earlyMediaMilliseconds)
        if transfer?.earlyMediaUntil == nil { transfer?.earlyMediaUntil = until }
      }
    }
    if progress.status == 180 || progress.status == 183 { thirdRang() }
  }

  func thirdEstablished(_ answer: Answer) {
    guard let trunk = self[.third].trunk, !trunk.isAnswered else { return }
    trunk.answered(context)
    note("200 from \(trunk.current?.name ?? "")")
    if let body = answer.body {
      switch trunk.acceptFinal(body) {
      case .success(let plan): apply(plan, to: .third)
      case .failure(let refusal): return failThirdMedia("\(refusal)")
      }
    }
    guard trunk.plan != nil else { return failThirdMedia("the answer holds no session description") }
    thirdAnswered()
  }

  private func failThirdMedia(_ problem: String) {
    note("answer not usable: \(problem)")
    transferFailed(CallFailure(.media, warning: problem, trunk: self[.third].trunk?.current?.name, leg: .trunk))
  }

  func thirdEnded(_ ending: CallEnd) {
    guard let trunk = self[.third].trunk else { return }
    if trunk.isAnswered {
      trunk.ended(context)
      return transferFailed(ending.failure)
    }
    note("\(trunk.current?.name ?? ""): \(ending.failure.map { "\($0)" } ?? "ended")")
    switch trunk.failed(ending, context) {
    case .nextAttempt:
      transfer?.earlyMediaUntil = nil
      self[.third].sound = Leg.Sound()
      dialThird()
    case .failure(let failure): transferFailed(failure)
    }
  }

  /// The third is there: what it costs counts from now.
  func thirdAnswered() {
    guard let transfer else { return }
    answered(.third)
    note("answered by \(transfer.target)")
    guard transfer.consults, !transfer.isLeft else { return completeTransfer() }
    order(.stopPlaying(media(of: transfer.by)))
    self.transfer?.stage = .consulting
    order(.join(media(of: .third), side: transfer.waiting))
    reportTransfer(.answered, status: 200)
    welcome(.third)
    changed()
  }

  /// To an app that came to a call which stands.
  private func welcome(_ leg: LegID) {
    tell(.accepted(id, headers: CustomHeaders()), leg)
    self[leg].awaitsSound = self[leg].app != nil
    announceSound(leg)
  }

  /// Its sound can flow, where that was awaited.
  func announceSound(_ leg: LegID) {
    guard self[leg].awaitsSound, self[leg].isReady else { return }
    self[leg].awaitsSound = false
    tell(.established(id), leg)
  }

  // MARK: The end of it

  /// Whoever waited is put through, and whoever asked has left.
  func completeTransfer() {
    guard let transfer, let third = removeThird() else { return }
    let by = transfer.by
    let waiting = transfer.waiting
    let wasConsulting = if case .consulting = transfer.stage { true } else { false }
    addToStory(.transferred(target: transfer.target))
    order(.stopPlaying(media(of: waiting)))
    if !transfer.isLeft {
      reportTransfer(.completed, status: 200)
      leaveCall(by)
    }
    self.transfer = nil
    transfers += 1
    replace(by, by: third)
    order(.join(third.media, side: by))
    order(.join(media(of: waiting), side: waiting))
    tell(.held(id, false), waiting)
    tell(.transfer(id, TransferProgress(.connected, to: transfer.kind, transfer.target)), waiting)
    if let plan = third.plan { adopt(plan, of: by) }
    if !wasConsulting { welcome(by) }
    for leg in legs where leg.sound.lastSound != nil { leg.sound.lastSound = context.now }
    changed()
    warnOfCredit()
  }

  /// The third cannot be reached, has hung up, or the call is taken back: it is as it was before.
  /// - Parameter failure: `nil` where nothing went wrong.
  func transferFailed(_ failure: CallFailure?, isTakenBack: Bool = false) {
    guard let transfer, has(.third) else { return }
    let by = transfer.by
    let waiting = transfer.waiting
    let failure = failure.map(described)
    let word = isTakenBack ? "taken back" : failure.map { "\($0)" } ?? "hung up"
    if !isTakenBack { addToStory(.transferFailed(word)) } else { note("transfer taken back") }
    leaveRing(failure?.endCause ?? .canceled, failure)
    countUsedMedia()
    if let third = removeThird() {
      order(.detach(third.media))
      third.trunk?.hangUp([CallMachine.normalClearing], context)
      third.bill?.end(failure?.code.rawValue ?? "transfer", at: context.now, context)
      if let app = third.app {
        context.emit(.app(app.session, .ended(id, CallMachine.summary(endSummary(.hungUp), for: third))))
        list(app.session, isMember: false)
        third.app?.leave()
      }
      formerLegs.append(third)
    }
    guard !transfer.isLeft else {
      self.transfer = nil
      return end(failure?.endCause ?? .hungUp, failure, reasons: [CallMachine.normalClearing])
    }
    order(.stopPlaying(media(of: waiting)))
    order(.stopPlaying(media(of: by)))
    reportTransfer(isTakenBack ? .takenBack : .failed, status: CallMachine.status(of: failure), failure)
    self.transfer = nil
    order(.join(media(of: by), side: by))
    order(.join(media(of: waiting), side: waiting))
    tell(.held(id, self[by].isHolding), waiting)
    // It may have put the other side on hold before, by its own description.
    if let plan = self[by].app?.plan, plan.audio.direction != .sendAndReceive { passOn(plan, by: by) }
    for leg in legs where leg.sound.lastSound != nil { leg.sound.lastSound = context.now }
    changed()
  }

  /// What whoever asked for a transfer is told of one that failed.
  static func status(of failure: CallFailure?) -> Int {
    guard let failure else { return 487 }
    if let status = failure.sipStatus, (300...699).contains(status) { return status }
    return ArrivedCall.rejection(failure, nil).status
  }

  /// The leg that asked leaves before the third has answered: the transfer goes on without it.
  /// - Returns: Whether there is one that does.
  func leavesToTransfer(_ leg: LegID) -> Bool {
    guard let transfer, transfer.by == leg, !transfer.isLeft else { return false }
    if case .consulting = transfer.stage {
      completeTransfer()
      return true
    }
    note("whoever asked for the transfer leaves")
    leaveCall(leg)
    self.transfer?.isLeft = true
    if transfer.hasRung, transfer.consults { order(.ring(media(of: transfer.waiting))) }
    replace(leg, by: Leg(id: leg, terms: nil, port: .waiting))
    return true
  }

  /// A leg's part in the call is over, and the call is not.
  private func leaveCall(_ place: LegID) {
    let leg = self[place]
    order(.detach(leg.media))
    leg.trunk?.hangUp([CallMachine.normalClearing], context)
    leg.bill?.end("transferred", at: context.now, context)
    if let app = leg.app {
      let summary = endSummary(.transferred)
      context.emit(
        .app(app.session, .ended(id, leg.id == .near ? summary : CallMachine.summary(summary, for: leg))))
      list(app.session, isMember: false)
      leg.app?.leave()
    }
    formerLegs.append(leg)
  }

  /// How the call went for a leg that leaves it before its end.
  private func endSummary(_ cause: CallEndCause) -> CallSummary {
    var summary = summary
    summary.endedAt = context.clock
    summary.cause = cause
    summary.durationMilliseconds = talkedMilliseconds(until: context.now)
    // What it costs in the end is not known before the call is over.
    summary.costMicro = nil
    return summary
  }

  /// Tells whoever asked how it goes: an app by an event, a trunk by NOTIFY (RFC 3515 section 2.4.5).
  private func reportTransfer(_ step: TransferProgress.Step, status: Int, _ failure: CallFailure? = nil) {
    guard let transfer, !transfer.isLeft else { return }
    switch self[transfer.by].port {
    case .app: tell(.transfer(id, TransferProgress(step, to: transfer.kind, transfer.target, failure)), transfer.by)
    case .trunk(let trunk):
      guard let handle = trunk.current?.handle else { return }
      context.emit(.sip(.reportTransfer(handle, status: status)))
    case .waiting, .planned, .ringing, .prompt, .link, .room: break
    }
  }

  /// The call ends while a transfer is under way.
  func abandonTransfer() {
    guard transfer != nil else { return }
    reportTransfer(.failed, status: 487)
    transfer = nil
  }

  /// What is due.
  func advanceTransfer() {
    guard let transfer else { return }
    switch transfer.stage {
    case .connecting(_, let until) where until <= context.now:
      transferFailed(CallFailure(CallRefusal.billingUnavailable))
    case .ringing:
      if let until = transfer.ring?.until, until <= context.now { return ringIsOver() }
      if let until = transfer.earlyMediaUntil, until <= context.now {
        transferFailed(CallFailure(.noAnswer, leg: .trunk))
      }
    case .connecting, .consulting: break
    }
  }
}
