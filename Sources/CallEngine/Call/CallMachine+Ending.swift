import AppProtocol
import CallModel
import SDPCore

// MARK: The end

extension CallMachine {
  static let normalClearing = CallFailure.Reason(protocolName: "Q.850", cause: 16, text: "Normal call clearing")

  static func cutOff(_ refusal: CallRefusal) -> CallFailure.Reason {
    CallFailure.Reason(protocolName: "Q.850", cause: 31, text: refusal.rawValue)
  }

  /// The call never comes to exist: the one who asked hears why, and nothing else.
  /// - Parameter hasMedia: Whether there may be something to give back.
  func refuse(_ failure: CallFailure, hasMedia: Bool = true) {
    guard case .preparing = state else { return }
    let failure = described(failure)
    rejectCaller(failure.endCause, failure)
    if hasMedia { order(.close) }
    leaveRoom()
    changeBills { $0.end(failure.code.rawValue, at: context.now, context) }
    if let origination { context.emit(.originated(origination, .failure(failure))) }
    if let request = caller?.openRequest { tell(.refused(request, failure)) }
    leaveApps()
    context.log(.info, id, "refused: \(failure)")
    summary.cause = failure.endCause
    summary.endedAt = context.clock
    summary.failure = failure
    snapshot.failure = failure
    note("refused: \(failure)")
    // Nobody here asked for a call that a trunk sent us: its record is all that there is to see of it.
    state = .ending(
      Ending(
        summary: summary, isTold: arrived == nil, hasRecord: arrived == nil,
        until: context.now.advanced(byMilliseconds: context.limits.lateLedgerMilliseconds)))
    concludeWhenSettled()
  }

  /// Ends the call from either side, for whatever reason, in any state: everything that is open is closed once.
  /// - Parameter billedUntil: The end of what is charged, where that is not now.
  func end(
    _ cause: CallEndCause, _ failure: CallFailure? = nil, headers: CustomHeaders = CustomHeaders(),
    reasons: [CallFailure.Reason] = [], billedUntil: MonotonicInstant? = nil
  ) {
    switch state {
    case .preparing: return refuse(failure ?? CallFailure(.cancelled))
    case .reaching, .up: break
    case .ending, .over: return
    }
    let failure = failure.map(described)
    if case .up = state { flagMissingSound() }
    abandonTransfer()
    rejectCaller(cause, failure)
    for trunk in trunks { trunk.hangUp(reasons, context) }
    leaveRing(cause, failure)
    leaveApps()
    leaveRoom()
    order(.close)
    let word = failure?.refusal?.rawValue ?? failure?.code.rawValue ?? cause.rawValue
    let end = min(billedUntil ?? context.now, context.now)
    changeBills { $0.end(word, at: end, context) }
    summary.durationMilliseconds = talkedMilliseconds(until: end)
    note("over: \(word)")
    summary.endedAt = context.clock
    summary.cause = cause
    summary.failure = failure
    summary.headers = headers
    snapshot.failure = failure
    state = .ending(
      Ending(
        summary: summary, isTold: false, hasRecord: false,
        until: context.now.advanced(byMilliseconds: context.limits.ledgerMilliseconds)))
    concludeWhenSettled()
  }

  private func leaveApps() {
    for leg in legs { self[leg.id].app?.leave() }
  }

  /// Stops the sound both ways at this instant.
  func silence() {
    for leg in legs where leg.ring == nil { order(.mute(media(of: leg.id), true)) }
  }

  /// Tells the cost when it is known, and keeps the record when nothing more can come.
  func concludeWhenSettled() {
    guard case .ending(var ending) = state else { return }
    let isSettled = (formerLegs + legs).allSatisfy { $0.bill?.isClosed ?? true }
    if isSettled, !ending.isTold { tellEnd(&ending) }
    state = .ending(ending)
    let isHungUp = trunks.allSatisfy(\.cancelled.isEmpty)
    if isSettled, isHungUp { conclude() }
  }

  private func tellEnd(_ ending: inout Ending) {
    ending.isTold = true
    if let bill = self[.far].bill ?? self[.near].bill {
      ending.summary.durationMilliseconds = bill.durationMilliseconds
      ending.summary.billedSeconds = bill.billedSeconds
    }
    // Unknown where one of the costs is.
    let costs = (formerLegs + legs).compactMap(\.bill).map(\.costMicro)
    ending.summary.costMicro = costs.contains(nil) ? nil : costs.reduce(0) { $0 + ($1 ?? 0) }
    tell(.ended(id, ending.summary))
    for leg in legs where leg.id != .near { tell(.ended(id, CallMachine.summary(ending.summary, for: leg)), leg.id) }
    snapshot.state = .ended
    snapshot.heldMicro = 0
    context.emit(.changed(snapshot))
  }

  /// What an app hears that was called: nothing of what the call costs others, nor of why their credit ended it.
  static func summary(_ summary: CallSummary, for leg: Leg) -> CallSummary {
    let failure = summary.failure.flatMap { $0.refusal == nil ? $0 : nil }
    return CallSummary(
      startedAt: summary.startedAt, progressedAt: summary.progressedAt, rungAt: summary.rungAt,
      answeredAt: summary.answeredAt, establishedAt: summary.establishedAt, endedAt: summary.endedAt,
      cause: summary.cause, failure: failure,
      durationMilliseconds: summary.durationMilliseconds, currency: summary.currency)
  }

  private func conclude() {
    guard case .ending(let ending) = state else { return }
    state = .over
    for trunk in trunks { trunk.forgetCancelled(context) }
    guard !ending.hasRecord else { return }
    var record = CallRecord(call: snapshot, summary: ending.summary)
    record.callerNumber = (arrived?.number == nil ? callerNumber : arrived?.from.number)?.description
    record.attempts = allAttempts
    record.sipCallID = trunks.compactMap(\.sipCallID).last
    record.story = story
    record.clientStatistics = statistics
    record.meanScoreNear = self[observed].monitor.meanScoreNear
    record.meanScoreFar = self[observed].monitor.meanScoreFar
    record.flags = flags
    context.emit(.record(record))
  }

  // MARK: Time

  /// Does what is due.
  func advance() {
    switch state {
    case .preparing(let preparing):
      if isAuthorising, preparing.ledgerUntil <= context.now {
        note("the ledger does not answer")
        return refuse(CallFailure(CallRefusal.billingUnavailable))
      }
      if preparing.media == nil, preparing.mediaUntil <= context.now {
        refuse(CallFailure(.congestion, sipStatus: 503, phrase: "no media in time", retryAfterSeconds: 1, leg: .app))
      }
    case .reaching(let reaching):
      if advanceMoney() || advanceDeadMedia() { return }
      if let until = arrived?.connecting?.until, until <= context.now {
        arrived?.connecting = nil
        return farFailed(CallFailure(CallRefusal.billingUnavailable))
      }
      if let until = reaching.earlyMediaUntil, until <= context.now {
        return farFailed(
          CallFailure(.noAnswer, leg: .trunk),
          reasons: [CallFailure.Reason(protocolName: "Q.850", cause: 19, text: "No answer")])
      }
      if let until = reaching.promptUntil, until <= context.now { promptOutcome() }
      if let until = reaching.ring?.until, until <= context.now { ringIsOver() }
    case .up(let up):
      if advanceMoney() || advanceDeadMedia() { return }
      if !up.isEstablished, let until = up.mediaUntil, until <= context.now {
        addToStory(.noMediaInTime)
        let leg = self[.near].sound.isReady ? LegID.far : .near
        // Charged like a call that was hung up now: who waits must not pay less than who does not.
        return end(.error, neverReady(leg, nil), reasons: [CallMachine.normalClearing])
      }
      if let until = self[.far].prompt?.playUntil, until <= context.now {
        order(.stopPlaying(.near))
        end(.hungUp)
      }
      advanceTransfer()
    case .ending(var ending):
      guard ending.until <= context.now else { return }
      changeBills { $0.giveUp(context) }
      for former in formerLegs { former.bill?.giveUp(context) }
      if !ending.isTold { tellEnd(&ending) }
      state = .ending(ending)
      conclude()
    case .over: break
    }
  }

  /// Asks for more, or cuts the call off when what was granted is used up.
  /// - Returns: Whether the call is over.
  private func advanceMoney() -> Bool {
    for leg in legs where cut(leg.bill) || cutWhenLongEnough(leg) { return true }
    changeBills { if let askAt = $0.askAt, askAt <= context.now { $0.advance(context) } }
    return false
  }

  private func cut(_ bill: CallBill?) -> Bool {
    guard let bill, let cutAt = bill.cutAt, cutAt <= context.now else { return false }
    silence()
    let reason = bill.cutReason
    if self[.far].prompt != nil, reason == .durationCap {
      end(.hungUp)
    } else {
      note("cut off: \(reason.rawValue)")
      let failure = CallFailure(reason)
      end(failure.endCause, failure, reasons: [CallMachine.cutOff(reason)], billedUntil: cutAt)
    }
    return true
  }

  /// Also a call that nobody pays for comes to its end.
  private func cutWhenLongEnough(_ leg: Leg) -> Bool {
    guard let until = leg.lastsUntil, until <= context.now else { return false }
    silence()
    note("cut off: \(CallRefusal.durationCap.rawValue)")
    let failure = CallFailure(CallRefusal.durationCap)
    end(failure.endCause, failure, reasons: [CallMachine.cutOff(.durationCap)], billedUntil: until)
    return true
  }

  /// Ends a call whose sound, or an app's way, has been away for too long. A leg that has sent has vanished with its last
  /// packet, and the call is charged up to that; without any sound it is charged from the answer to the end, like one that
  /// was hung up.
  private func advanceDeadMedia() -> Bool {
    guard let dead = deadLeg, dead.at <= context.now else { return false }
    var hasSent = self[dead.id].sound.hasCome && dead.since > dead.start
    if case .up(let up) = state, !up.isEstablished { hasSent = false }
    let billedUntil = hasSent ? dead.since : nil
    let away = legs.map(\.id).filter { isAway($0) }
    for leg in away { addToStory(.dead(leg)) }
    // While an app has no way to the gateway nothing goes to the other side either, which may wait for it.
    let failure =
      if let app = legs.first(where: { $0.app != nil && !$0.sound.isReady }) {
        neverReady(app.id, nil)
      } else {
        CallFailure(
          .mediaLost, phrase: away.count > 1 ? "nothing comes from the calling side, nor from the called side" : nil,
          leg: self[dead.id].side)
      }
    end(
      .error, failure, reasons: [CallMachine.normalClearing], billedUntil: billedUntil)
    return true
  }
}
