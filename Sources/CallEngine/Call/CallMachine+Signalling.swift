import AppProtocol
import CallModel
import RoutingCore
import SDPCore
import SIPCore

// MARK: What the trunks say

extension CallMachine {
  /// An event of one of the call's handles.
  func signalled(_ event: UserAgentEvent, of handle: CallHandle) {
    isHeardOf = true
    if let phone = self[ringLeg].ring?.phone(of: handle) { return signalled(event, of: phone) }
    if leg(of: handle) == .third {
      switch event {
      case .progress(_, let progress): return thirdProgressed(progress)
      case .established(_, let answer): return thirdEstablished(answer)
      case .ended(_, let end): return thirdEnded(end)
      default: break
      }
    }
    switch event {
    case .progress(_, let progress): progressed(handle, progress)
    case .established(_, let answer): established(handle, answer)
    case .ended(_, let end): ended(handle, end)
    case .offered(_, let exchange, let body): offered(handle, exchange, body)
    case .answered(_, _, let body): answered(handle, body)
    case .offerRefused(_, let exchange, let status): offerRefused(handle, exchange, status)
    case .info(_, let body): informed(handle, body)
    // Whom a trunk asks us to call is found before it comes here.
    case .transferRequested: refuseTransfer(handle, 603)
    // Of calls and questions that are none of a call that we placed.
    // A 100 says that a trunk is there, and nothing of the device that is called.
    case .trying, .transferProgress, .incoming, .queryAnswered, .registration, .phoneBindings: break
    }
  }

  private func progressed(_ handle: CallHandle, _ progress: Progress) {
    switch state {
    case .reaching(var reaching):
      guard let leg = leg(of: handle), let trunk = self[leg].trunk, !trunk.isAnswered else { return }
      note("\(progress.status) \(progress.phrase)")
      trunk.progressed(progress.status == 180 ? .rang : .none, status: progress.status, context)
      guard leg == .far else { return }
      var hasSound = false
      if let body = progress.body {
        switch trunk.accept(body) {
        case .success(let plan):
          apply(plan, to: .far)
          hasSound = plan.audio.direction.receives
        case .failure(let refusal): note("early answer not usable: \(refusal)")
        }
      }
      if hasSound {
        trunk.progressed(.earlyMedia, status: progress.status, context)
        if reaching.isRinging, self[.near].room == nil { order(.stopPlaying(.near)) }
        reaching.isRinging = false
        if reaching.earlyMediaUntil == nil {
          reaching.earlyMediaUntil = context.now.advanced(byMilliseconds: context.limits.earlyMediaMilliseconds)
          note("early media")
          tell(.earlyMedia(id))
        }
      }
      // The callee's device is there once it alerts, or sends sound (183); queues and diversions (181, 182) say less.
      let isThere = progress.status == 180 || progress.status == 183
      let isFirst = isThere && !reaching.hasProgressed
      if isThere { reaching.hasProgressed = true }
      state = .reaching(reaching)
      if isFirst || (progress.status == 183 && !progress.headers.isEmpty) { progressed(progress.headers) }
      if progress.status == 180 { rang(progress.headers) }
    // It crossed our CANCEL, or the 200.
    case .preparing, .up, .ending, .over: break
    }
  }

  private func established(_ handle: CallHandle, _ answer: Answer) {
    switch state {
    case .reaching(let reaching):
      guard let leg = leg(of: handle), leg == reaching.leg, let trunk = self[leg].trunk, !trunk.isAnswered else {
        return
      }
      trunk.answered(context)
      note("200 from \(trunk.current?.name ?? "")")
      if let body = answer.body {
        switch trunk.acceptFinal(body) {
        case .success(let plan): apply(plan, to: leg)
        case .failure(let refusal): return failMedia(trunk, "\(refusal)")
        }
      }
      guard trunk.plan != nil else { return failMedia(trunk, "the answer holds no session description") }
      if leg == .far, arrived != nil { order(.join(media(of: .far), side: .far)) }
      if leg == .near {
        answered(leg)
        reachFar()
        ringLocally()
      } else {
        farAnswered(answer.headers)
      }
    // We hung up: the agent ends the call, nobody is charged. What it tells at its end says that the answer crossed.
    case .preparing, .up, .ending, .over: break
    }
  }

  private func failMedia(_ trunk: TrunkLeg, _ problem: String) {
    note("answer not usable: \(problem)")
    end(
      .error, CallFailure(.media, warning: problem, trunk: trunk.current?.name, leg: .trunk),
      reasons: [CallFailure.Reason(protocolName: "Q.850", cause: 88, text: problem)])
  }

  /// A CANCEL of ours crossed the answer, whoever gave up: the trunk may have a call to bill that nobody here pays for.
  func noteCrossing(_ ending: CallEnd) {
    guard ending.crossedAnswer, !flags.contains(.cancelRace) else { return }
    note("the answer crossed our CANCEL")
    flags.append(.cancelRace)
  }

  private func isCancelled(_ handle: CallHandle) -> Bool {
    trunks.contains { $0.cancelled.contains(handle) }
  }

  private func ended(_ handle: CallHandle, _ ending: CallEnd) {
    if formerPhones.contains(where: { $0.cancelled.contains(handle) }) {
      noteCrossing(ending)
      for phone in formerPhones { phone.cancelledEnded(handle, context) }
      return concludeWhenSettled()
    }
    switch state {
    case .reaching(let reaching):
      for former in formerLegs { former.trunk?.cancelledEnded(handle, context) }
      guard let leg = leg(of: handle), let trunk = self[leg].trunk else { return }
      if trunk.isArrived { return callerLeft(ending) }
      if trunk.isAnswered {
        // The first of two destinations does not wait for the second.
        trunk.ended(context)
        return endedByPeer(ending, leg)
      }
      guard leg == reaching.leg else { return }
      noteCrossing(ending)
      note("\(trunk.current?.name ?? ""): \(ending.failure.map { "\($0)" } ?? "ended")")
      switch trunk.failed(ending, context) {
      case .nextAttempt: tryNext(leg)
      case .failure(let failure): farFailed(failure, headers: ending.headers)
      }
    case .up:
      for former in formerLegs { former.trunk?.cancelledEnded(handle, context) }
      guard let leg = leg(of: handle) else { return }
      self[leg].trunk?.ended(context)
      if leavesToTransfer(leg) { return }
      endedByPeer(ending, leg)
    case .ending:
      if isCancelled(handle) { noteCrossing(ending) }
      for trunk in trunks { trunk.cancelledEnded(handle, context) }
      concludeWhenSettled()
    case .preparing:
      if leg(of: handle) == .near { callerLeft(ending) }
    case .over: break
    }
  }

  /// The attempt that failed leaves nothing behind that the next one could be taken for.
  private func tryNext(_ leg: LegID) {
    guard case .reaching(var reaching) = state else { return }
    reaching.earlyMediaUntil = nil
    state = .reaching(reaching)
    self[leg].sound = Leg.Sound()
    dial(leg)
  }

  private func endedByPeer(_ ending: CallEnd, _ leg: LegID) {
    switch ending.cause {
    case .failed:
      let failure = ending.failure ?? CallFailure(.protocolBroken, leg: .trunk)
      end(.error, failure, headers: ending.headers)
    case .remote, .local:
      if leg == .near, arrived != nil {
        note("the caller hangs up")
      } else {
        let reason = ending.reasons.first.map { "\($0.protocolName) \($0.cause.map(String.init) ?? "-")" }
        addToStory(.hungUp(reason: reason))
      }
      end(.hungUp, headers: ending.headers)
    }
  }

  // MARK: Changes of the session

  private func offered(_ handle: CallHandle, _ exchange: ExchangeID, _ body: MessageBody?) {
    switch state {
    case .reaching, .up:
      guard let leg = leg(of: handle), let trunk = self[leg].trunk else { return refuse(exchange, 481) }
      guard let body else {
        // The peer wants our offer; what it agrees to comes as an answer.
        switch trunk.offerForPeer() {
        case .success(let offer): context.emit(.sip(.answer(exchange, offer)))
        case .failure(let refusal): refuse(exchange, refusal.sipStatus)
        }
        return
      }
      switch trunk.answer(body) {
      case .success(let (answer, plan)):
        context.emit(.sip(.answer(exchange, answer)))
        apply(plan, to: leg)
        noteHold(by: leg, plan, wants: trunk.negotiation.direction)
      case .failure(let refusal):
        note("offer of the trunk refused: \(refusal)")
        refuse(exchange, refusal.sipStatus, refusal.warning?.text)
      }
    case .preparing, .ending, .over: refuse(exchange, 481)
    }
  }

  func refuse(_ exchange: ExchangeID, _ status: Int, _ warning: String? = nil) {
    context.emit(.sip(.refuse(exchange, status: status, warning: warning)))
  }

  /// The peer of a leg holds us where it takes no sound that we would send.
  func noteHold(by leg: LegID, _ plan: MediaPlan, wants direction: MediaDirection) {
    guard case .up = state else { return }
    let holds = direction.sends && !plan.audio.direction.sends
    guard holds != self[leg].isHolding else { return }
    self[leg].isHolding = holds
    if leg == .far { addToStory(holds ? .held : .takenBack) }
    guard let other = partner(of: leg) else { return }
    // It has to send from here on.
    if !holds, self[other].app != nil {
      self[other].sound.lastSound = self[other].sound.lastSound.map { _ in context.now }
    }
    tell(.held(id, holds), other)
  }

  private func answered(_ handle: CallHandle, _ body: MessageBody) {
    switch state {
    case .reaching, .up:
      guard let leg = leg(of: handle), let trunk = self[leg].trunk else { return }
      switch trunk.accept(body) {
      case .success(let plan):
        apply(plan, to: leg)
        noteHold(by: leg, plan, wants: trunk.negotiation.direction)
        trunk.exchangeEnded(accepted: true, context)
      case .failure(let refusal):
        note("answer of the trunk not usable: \(refusal)")
        trunk.exchangeEnded(accepted: false, context)
      }
      establishWhenReady()
    case .preparing, .ending, .over: break
    }
  }

  private func offerRefused(_ handle: CallHandle, _ exchange: ExchangeID, _ status: Int) {
    switch state {
    case .reaching, .up:
      guard let leg = leg(of: handle) else { return }
      note("offer refused by the trunk: \(status)")
      self[leg].trunk?.offerRefused(exchange, context)
    case .preparing, .ending, .over: break
    }
  }

  // MARK: The rest

  private func informed(_ handle: CallHandle, _ body: MessageBody) {
    switch state {
    case .reaching, .up:
      guard let leg = leg(of: handle), case .key(let key) = DTMFInfo.read(body) else { return }
      passKey(key.key, milliseconds: key.durationMilliseconds, from: leg)
    case .preparing, .ending, .over: break
    }
  }

  /// A trunk asks for a transfer (RFC 3515).
  func transferRequested(
    _ handle: CallHandle, to destination: Destination, _ way: ArrivedCall.Target.Way, replaces: String?
  ) {
    guard let leg = leg(of: handle), leg != .third else { return refuseTransfer(handle, 603) }
    // 202 goes out before anything that it leads to is told by NOTIFY.
    context.emit(.sip(.acceptTransfer(handle)))
    guard let failure = beginTransfer(by: leg, to: destination, way, consults: false, replaces: replaces) else {
      return
    }
    addToStory(.transferFailed("\(failure)"))
    context.emit(.sip(.reportTransfer(handle, status: CallMachine.status(of: failure))))
  }

  func refuseTransfer(_ handle: CallHandle, _ status: Int) {
    switch state {
    case .reaching, .up:
      note("transfer refused: \(status)")
      context.emit(.sip(.refuseTransfer(handle, status: status)))
    case .preparing, .ending, .over: break
    }
  }
}
