import AppProtocol
import CallModel
import SDPCore

// MARK: A user that is called

extension CallMachine {
  /// The devices of the called user ring, until one of them answers or their time is over.
  func ringDevices(_ milliseconds: Int64) {
    guard isReaching, let user = self[ringLeg].terms?.user else { return }
    ringTimes = RingTimes(since: context.now, until: context.now.advanced(byMilliseconds: milliseconds))
    inviteWaiting()
    endWhenNobodyRings(user.absence.failure)
  }

  /// A device that began to listen while others ring.
  func deviceListens(_ device: CalledDevice) {
    guard var ring = self[ringLeg].ring, let user = self[ringLeg].terms?.user, user.user == device.identity.user,
      user.application == device.identity.application, !ring.sessions.contains(device.session), !isCaller(device)
    else { return }
    switch state {
    case .preparing, .reaching, .up:
      // The same device on a newer session: the older one rings no longer.
      let former = ring.devices.first { $0.name == device.identity.device }
      for session in device.olderSessions { ring.forget(session) }
      ring.add(device)
      self[ringLeg].ring = ring
      list(device.session, isMember: true)
      if let former { leaveRing(former.leg, .otherDeviceAnswered) }
      inviteWaiting()
    case .ending, .over: break
    }
  }

  /// Whether it is the very device that calls.
  private func isCaller(_ device: CalledDevice) -> Bool {
    if let session = self[.near].trunk?.session { return session == device.session }
    guard let caller = caller?.identity else { return false }
    return caller.application == device.identity.application && caller.user == device.identity.user
      && caller.device == device.identity.device
  }

  /// Tells those that were not told yet, once it is their turn.
  private func inviteWaiting() {
    guard let times = ringTimes, var ring = self[ringLeg].ring, let terms = self[ringLeg].terms,
      let user = terms.user, let way = calledWay
    else { return }
    let milliseconds = times.until.milliseconds(since: context.now)
    let waiting = ring.waiting
    let next = ring.dequeueWaiting(limit: context.limits.ringingDevices)
    // More than may ring: they have no part in the call.
    for device in waiting.dropFirst(next.count) { list(device.session, isMember: false) }
    self[ringLeg].ring = ring
    for device in next where device.phone != nil { callPhone(device) }
    guard let rung = self[ringLeg].ring else { return }
    ring = rung
    for device in next where device.phone == nil {
      var media = way
      media.iceCredentials = ICECredentials(draw: context.draw)
      media.source = max(1, UInt32(truncatingIfNeeded: context.draw()))
      var policy = context.configuration.appPolicy
      policy.answersAudioLevels = roomPlace != nil
      let negotiation = OfferAnswer(
        sessionID: context.draw(), host: context.configuration.host, policy: policy)
      _ = ring.told(device, negotiation: negotiation, way: media)
      addToStory(.calledOn(device: device.identity.device))
      let invitation = Invitation(
        from: callerShown, to: user.user, number: arrived?.number?.number.description, headers: headers,
        wantsVideo: terms.wantsVideo,
        isWaiting: device.isWaiting,
        expiresAt: context.clock.advanced(byMilliseconds: milliseconds))
      context.emit(.app(device.session, .incoming(id, invitation)))
    }
    self[ringLeg].ring = ring
  }

  /// Nobody has taken the call in its time.
  func ringIsOver() {
    note("nobody answers")
    reachingFailed(
      CallFailure(.userNoAnswer, leg: .app), .noAnswer,
      reasons: [CallFailure.Reason(protocolName: "Q.850", cause: 19, text: "No answer")])
  }

  /// - Parameter failure: what is true where no device is left that could answer.
  func endWhenNobodyRings(_ failure: CallFailure) {
    guard isReaching, let ring = self[ringLeg].ring, ring.isEmpty else { return }
    reachingFailed(failure)
  }

  // MARK: What a device says

  /// What a device says that rings; each request gets exactly one reply.
  func ringing(_ leg: LegID, requests request: AppRequest, _ number: RequestNumber, _ session: SessionID) {
    switch request {
    case .alert(_, let offer): alerted(number, offer, leg, session)
    case .accept(_, let offer, let headers): accepted(number, offer, headers, leg, session)
    case .decline(_, let scope, let reason):
      reply(.done(number), to: session)
      declined(leg, scope, reason)
    // Before `accept`, whoever hangs up declines.
    case .hangUp:
      reply(.done(number), to: session)
      declined(leg, .user, .declined)
    case .offer(_, let text): offeredAgain(number, text, leg, session)
    case .mute(_, let isMuted):
      self[ringLeg].ring?[leg]?.app.isMuted = isMuted
      reply(.done(number), to: session)
    case .report: reply(.done(number), to: session)
    case .room: refuse(number, session, .message, "the call was not accepted yet")
    case .sendDigits: refuse(number, session, .message, "keys before the call was accepted")
    case .answer: refuse(number, session, .media, "no offer of the gateway is open")
    case .transfer, .join, .record, .completeTransfer, .takeBack:
      refuse(number, session, .transfer, "the call was not accepted yet")
    case .call, .listen: refuse(number, session, .internal, "no request about a call")
    }
  }

  private func alerted(_ number: RequestNumber, _ offer: String?, _ leg: LegID, _ session: SessionID) {
    do throws(UnusableOffer) {
      switch try says(.alert, leg, offer) {
      case .moved(let answer), .stayed(let answer):
        give(answer, to: leg, number, session)
        rang(leg)
      case .lacksOffer, .tooLate: refuseLate(number, session)
      }
    } catch {
      refuse(error, of: leg, number, session)
    }
  }

  /// A device alerts: the caller hears of the first. One that came late gets the time to be picked up.
  func rang(_ leg: LegID) {
    guard let times = ringTimes else { return }
    let least = context.now.advanced(byMilliseconds: context.limits.lateRingMilliseconds)
    let most = times.since.advanced(byMilliseconds: context.limits.longestRingMilliseconds)
    ringTimes?.until = max(times.until, min(least, most))
    guard case .reaching(var reaching) = state else { return thirdRang() }
    let isFirst = !reaching.hasProgressed
    reaching.hasProgressed = true
    state = .reaching(reaching)
    guard isFirst else { return }
    progressed(CustomHeaders())
    rang(CustomHeaders())
  }

  /// The turn that takes `accept` fixes the winner: the bill starts, the other devices ring no longer, and whatever comes
  /// after it finds the call answered.
  private func accepted(
    _ number: RequestNumber, _ offer: String?, _ fields: [PlaceCall.Header], _ leg: LegID, _ session: SessionID
  ) {
    let headers: CustomHeaders
    do throws(CallFailure) {
      headers = try EngineContext.headers(fields, .tokens)
    } catch {
      return reply(.refused(number, error), to: session)
    }
    do throws(UnusableOffer) {
      switch try says(.accept, leg, offer) {
      case .moved(let answer):
        give(answer, to: leg, number, session)
        join(leg)
        if transfer == nil { farAnswered(headers) } else { thirdAnswered() }
      case .stayed, .tooLate: refuseLate(number, session)
      case .lacksOffer: refuse(number, session, .message, "accept has no offer, and none came before it")
      }
    } catch {
      refuse(error, of: leg, number, session)
    }
  }

  /// The device is the called side from now on.
  private func join(_ leg: LegID) {
    let place = ringLeg
    guard var ring = self[place].ring, let winner = ring.remove(leg), let plan = winner.app.plan else { return }
    self[place].ring = ring
    for device in ring.devices { leaveRing(device.leg, .otherDeviceAnswered, by: winner.name) }
    leavePhones(.otherDeviceAnswered)
    for session in self[place].sessions { list(session, isMember: false) }
    countUsedMedia()
    self[place].port = .app(winner.app)
    self[place].sound = winner.sound
    self[place].media = leg
    // To whom a call is transferred talks with nobody before its answer has been looked at as a whole.
    if place == .far { order(.join(leg, side: .far)) }
    adopt(plan, of: place)
    addToStory(.acceptedOn(device: winner.name))
  }

  /// What an app says that has joined, or that calls: its word on a call that rings no longer.
  func late(_ request: AppRequest, _ number: RequestNumber, _ leg: LegID, _ session: SessionID) {
    switch request {
    // It crossed the answer of this very device, and changes nothing.
    case .alert where self[leg].terms != nil: reply(.done(number), to: session)
    // Said twice, because the first reply was lost: the same offer has the same answer.
    case .accept(_, let offer?, _) where self[leg].terms != nil: offered(number, offer, leg, session)
    case .accept where self[leg].terms != nil, .decline: reply(.done(number), to: session)
    default: refuseLate(number, session)
    }
  }

  /// Nobody wants the call, or not on this device.
  private func declined(_ leg: LegID, _ scope: DeclineScope, _ reason: DeclineReason) {
    guard isReaching, let device = self[ringLeg].ring?[leg] else { return }
    let failure =
      switch reason {
      case .declined: CallFailure(.userDeclined, sipStatus: 603, leg: .app)
      case .busy: CallFailure(.userBusy, sipStatus: 486, leg: .app)
      }
    addToStory(reason == .busy ? .busyOn(device: device.name) : .declinedOn(device: device.name))
    switch scope {
    case .user:
      declinedBy = device.name
      reachingFailed(failure)
    case .device:
      leaveRing(leg, failure.endCause, by: device.name)
      endWhenNobodyRings(failure)
    }
  }

  // MARK: Devices that leave

  /// A device rings no longer: the last that it hears of the call.
  func leaveRing(_ leg: LegID, _ cause: CallEndCause, by name: String? = nil, failure: CallFailure? = nil) {
    guard let device = self[ringLeg].ring?.remove(leg) else { return }
    if device.hasMedia { order(.detach(leg)) }
    tellEnd(device, cause, by: name, failure)
    list(device.app.session, isMember: false)
  }

  /// Every device that still rings hears how the call ended, and nothing of what it costs others.
  func leaveRing(_ cause: CallEndCause, _ failure: CallFailure?) {
    leavePhones(cause)
    guard let devices = self[ringLeg].ring?.removeAll() else { return }
    let told: CallEndCause =
      switch cause {
      // To the one that rang, nobody who answered is a time that is over.
      case .noAnswer: .timeout
      // Whoever called is gone: as if it had hung up.
      case .error where failure?.code == .networkLost: .canceled
      default: cause
      }
    for device in devices {
      tellEnd(device, told, by: declinedBy, told == .error ? failure.flatMap { $0.refusal == nil ? $0 : nil } : nil)
      list(device.app.session, isMember: false)
    }
  }

  private func tellEnd(
    _ device: RingGroup.Device, _ cause: CallEndCause, by name: String?, _ failure: CallFailure?
  ) {
    context.emit(
      .app(
        device.app.session,
        .ended(
          id,
          CallSummary(
            startedAt: summary.startedAt, progressedAt: summary.progressedAt, rungAt: summary.rungAt,
            endedAt: context.clock, cause: cause, failure: failure, currency: payer.currency.description,
            isMissed: cause != .otherDeviceAnswered && cause != .denied, device: name))))
  }

  /// The session of a device is over that may still answer.
  func ringingSessionEnded(_ session: SessionID) {
    switch state {
    case .preparing, .reaching, .up:
      guard self[ringLeg].ring != nil else { return }
      if let leg = self[ringLeg].ring?.leg(of: session), let device = self[ringLeg].ring?[leg] {
        addToStory(.deviceGone(device.name))
        leaveRing(leg, .error, failure: CallFailure(.networkLost, leg: .app))
      }
      self[ringLeg].ring?.forget(session)
      list(session, isMember: false)
      endWhenNobodyRings(CallFailure(.userUnreachable, sipStatus: 480, leg: .app))
    case .ending, .over: break
    }
  }

  // MARK: Offers

  /// Why an offer cannot be answered, and the status that says so.
  private struct UnusableOffer: Error {
    let problem: String
    let status: Int
  }

  private enum Word {
    case alert, accept, offer
  }

  /// Has a device say something that may come with an offer. An early offer beyond the limit is passed over: `accept`
  /// brings another.
  private func says(_ word: Word, _ leg: LegID, _ offer: String?) throws(UnusableOffer) -> AppLeg.Step {
    guard var device = self[ringLeg].ring?[leg], let earlyOffers = self[ringLeg].ring?.earlyOffers else {
      return .tooLate
    }
    var description: SessionDescription?
    if let offer {
      do throws(InvalidSessionDescription) {
        description = try SessionDescription(parsing: offer)
      } catch {
        throw UnusableOffer(problem: "\(error)", status: 400)
      }
    }
    if word == .alert, !device.hasMedia, earlyOffers >= context.limits.earlyOffers { description = nil }
    do throws(NegotiationRefusal) {
      let step =
        switch word {
        case .alert: try device.app.alert(description, draw: context.draw)
        case .accept: try device.app.accept(description, draw: context.draw)
        case .offer: try device.app.offer(description, draw: context.draw)
        }
      self[ringLeg].ring?[leg] = device
      return step
    } catch {
      throw UnusableOffer(problem: "\(error)", status: error.sipStatus)
    }
  }

  /// Sends a device the answer to its offer, where it made one, and gives it media.
  private func give(_ answer: AppLeg.Answer?, to leg: LegID, _ number: RequestNumber, _ session: SessionID) {
    guard let answer else { return reply(.done(number), to: session) }
    if let device = self[ringLeg].ring?[leg], !device.hasMedia, let credentials = device.way.iceCredentials {
      self[ringLeg].ring?[leg]?.hasMedia = true
      order(.attach(leg, credentials, source: device.way.source ?? 0))
    }
    if let restart = answer.restart { order(.restartICE(leg, restart)) }
    reply(.answered(number, id, answer.text), to: session)
    order(.plan(leg, answer.plan))
  }

  /// Another offer of a device that rings, as after a change of its network.
  private func offeredAgain(
    _ number: RequestNumber, _ text: String, _ leg: LegID, _ session: SessionID
  ) {
    do throws(UnusableOffer) {
      switch try says(.offer, leg, text) {
      case .moved(let answer), .stayed(let answer): give(answer, to: leg, number, session)
      case .lacksOffer: refuse(number, session, .media, "the first offer goes with alert or accept")
      case .tooLate: refuseLate(number, session)
      }
    } catch {
      refuse(number, session, .media, error.problem)
    }
  }

  /// With what a device offers no call can come about there; others ring on.
  private func refuse(_ offer: UnusableOffer, of leg: LegID, _ number: RequestNumber, _ session: SessionID) {
    refuse(number, session, .media, offer.problem)
    guard let device = self[ringLeg].ring?[leg] else { return }
    note("offer of \(device.name) not usable: \(offer.problem)")
    let failure = CallFailure(.media, sipStatus: offer.status, warning: offer.problem, leg: .app)
    leaveRing(leg, .error, failure: failure)
    endWhenNobodyRings(failure)
  }
}
