import AppProtocol
import CallModel
import LedgerCore
import RoutingCore
import SDPCore
import SIPCore

// MARK: From the request to the first INVITE

extension CallMachine {
  /// Asks for media and for the holds.
  /// - Parameter refusal: Why a call that a trunk sent us is not taken.
  func start(refusal: CallFailure? = nil) {
    var needs: [LegID: MediaNeeds.Port] = [:]
    for leg in legs { needs[leg.id] = leg.needs }
    if let arrived {
      note(
        arrived.phone == nil
          ? "called over trunk \(arrived.trunk.trunk.name) for \(snapshot.destination)"
          : "\(arrived.trunk.trunk.name) calls \(snapshot.destination)")
      context.emit(.arrived(snapshot, arrived.handle, sipCallID: arrived.invite.callID))
      // Devices of any target get credentials of their own, on the same ports.
      needs[.far] = .devices
    } else {
      note("asked for \(snapshot.kind.rawValue) \(snapshot.destination)")
    }
    if let refusal { return refuse(refusal, hasMedia: false) }
    let room: UInt64?
    do throws(CallFailure) {
      room = try reserveRoom()
    } catch {
      return refuse(error, hasMedia: false)
    }
    context.emit(.prepare(id, MediaNeeds(needs, room: room)))
    for leg in legs { leg.bill?.authorise(context) }
  }

  func prepared(_ result: Result<PreparedMedia, MediaShortage>) {
    switch state {
    case .preparing(var preparing):
      switch result {
      case .success(let media):
        guard legs.allSatisfy({ $0.needs == nil || media.legs[$0.id] != nil }) else {
          return refuse(CallFailure(.internal))
        }
        preparing.media = media
        ownRoom = media.ownRoom
        state = .preparing(preparing)
        proceedWhenPrepared()
      case .failure(let shortage):
        note("no media: \(shortage.rawValue)")
        refuse(
          CallFailure(
            .congestion, sipStatus: 503, phrase: "no media: \(shortage.rawValue)", retryAfterSeconds: 1, leg: .app),
          hasMedia: false)
      }
    case .reaching:
      if !phonePrepared(result) { targetPrepared(result) }
    case .up:
      if !phonePrepared(result) { transferPrepared(result) }
    // Given back by the close that crossed it.
    case .ending, .over: break
    }
  }

  func ledger(_ call: CallID, _ step: LedgerStep, _ result: Result<LedgerReceipt, LedgerUnavailable>) {
    switch state {
    case .preparing:
      switch received(call, step, result) {
      case .granted: proceedWhenPrepared()
      case .refused(let refusal): refuse(failure(of: refusal, call))
      case .nothing, .extended, .notExtended, .closed: break
      }
    case .reaching, .up:
      let verdict = received(call, step, result)
      switch verdict {
      case .extended:
        note("paid up to \(leg(billedAs: call)?.bill?.grantedSeconds ?? 0) s")
        changed()
        warnOfCredit()
      case .notExtended:
        let bill = leg(billedAs: call)?.bill
        if let rule = bill?.reachedRule {
          note("no more time: \(rule.text)")
        } else {
          addToStory(.noMoreCredit(bill?.refusal?.rawValue ?? "refused"))
        }
        warnOfCredit()
      case .granted where isOfThird(call): reachThird()
      case .refused(let refusal) where isOfThird(call): transferFailed(failure(of: refusal, call))
      case .granted where call == self[.far].bill?.call: dialTarget()
      case .refused(let refusal) where call == self[.far].bill?.call: targetRefused(failure(of: refusal, call))
      case .granted, .refused, .nothing, .closed: break
      }
    case .ending:
      _ = received(call, step, result)
      concludeWhenSettled()
    case .over: break
    }
  }

  private func received(
    _ call: CallID, _ step: LedgerStep, _ result: Result<LedgerReceipt, LedgerUnavailable>
  ) -> CallBill.Verdict {
    if case .failure(let failure) = result { note("the ledger is away: \(failure.cause.rawValue)") }
    return leg(billedAs: call)?.bill?.received(step, result, context) ?? .nothing
  }

  private func isOfThird(_ call: CallID) -> Bool { has(.third) && self[.third].bill?.call == call }

  private func leg(billedAs call: CallID) -> Leg? { (legs + formerLegs).first { $0.bill?.call == call } }

  /// Why a hold was refused, with what whoever asks can do about it.
  private func failure(of refusal: CallRefusal, _ call: CallID) -> CallFailure {
    let leg = leg(billedAs: call)
    if let rule = leg?.bill?.reachedRule { return EngineContext.failure(rule) }
    let terms = leg?.terms
    if refusal == .destinationBlocked { return CallFailure(refusal, phrase: terms.flatMap(blockedNumbers)) }
    guard refusal == .countryNotAllowed, let code = terms?.country else { return CallFailure(refusal) }
    let allowed = payer.countries ?? context.environment(of: payer)?.defaultCountries(of: payer.account) ?? []
    let list = Set(allowed + [code]).sorted().map { "\($0)" }.joined(separator: ",")
    return CallFailure(
      refusal.code, refusal: refusal, leg: .app,
      invalidValue: InvalidValue(
        kind: "destination", rule: "country.allowed", offset: nil,
        problem: "account \(payer.account) may not call country code \(code)",
        accepted: allowed.isEmpty
          ? "no country yet; landline account set-cap \(payer.account) --countries \(list) allows it"
          : "country codes \(allowed.map { "\($0)" }.joined(separator: ", ")); "
            + "landline account set-cap \(payer.account) --countries \(list) allows it as well"))
  }

  /// Which numbers are blocked, the one that was dialled among them.
  private func blockedNumbers(_ terms: CallTerms) -> String? {
    guard case .phone(let number) = terms.destination, let plan = payer.plan,
      let digits = try? NumberDigits(number.digits)
    else { return nil }
    return Rating.explain(
      digits, plan: plan, account: payer.currency, denyRanges: payer.denyRanges, at: context.clock
    ).blockedNumbers
  }

  /// Both questions have their answers: the app gets its own, so that ICE and DTLS finish while it rings.
  private func proceedWhenPrepared() {
    guard case .preparing(let preparing) = state, let media = preparing.media, !isAuthorising else { return }
    if arrived != nil { return callerPrepared(media) }
    if let origination {
      context.emit(.originated(origination, .success(id)))
    } else {
      guard let near = media.legs[.near], answerCaller(near) else { return }
    }
    // A conference calls nobody and is there: whom it is to be joined with comes next.
    let first = origination == nil || roomPlace == .near ? LegID.far : .near
    state = .reaching(Reaching(leg: first))
    changed()
    for leg in legs {
      guard let terms = leg.terms, let way = media.legs[leg.id] else { continue }
      if leg.ring != nil { calledWay = way }
      guard case .planned = leg.port else { continue }
      self[leg.id].port = .trunk(
        TrunkLeg(
          call: id, leg: leg.id, payer: payer, terms: terms, headers: headers, callerNumber: callerNumber,
          isAnonymous: isAnonymous, media: way, context))
    }
    if first == .far { reachFar() } else { dial(.near) }
  }

  private func answerCaller(_ media: LocalMedia) -> Bool {
    guard var app = caller, let request = app.openRequest else { return false }
    do throws(NegotiationRefusal) {
      guard let answer = try app.join(from: media) else { return false }
      self[.near].app = app
      tell(.placed(request, id, answer: answer.text))
      apply(answer.plan, to: .near)
    } catch {
      refuse(CallFailure(.media, sipStatus: error.sipStatus, warning: "\(error)", leg: .app))
      return false
    }
    if let price = price() { tell(.price(id, price)) }
    return true
  }

  private func price() -> CallPrice? {
    guard let snapshot = self[.far].terms?.snapshot else { return nil }
    let tariff = snapshot.segment(at: context.clock).tariff
    let first = tariff.tiers.first
    return CallPrice(
      currency: snapshot.currency.description, ratePerMinuteNano: first?.ratePerMinute ?? .zero,
      connectionFeeMicro: tariff.fee.roundedUp, initialSeconds: tariff.initial,
      incrementSeconds: first?.increment ?? 1, secondsAvailable: self[.far].bill?.grantedSeconds ?? 0)
  }

  // MARK: Dialling

  func dial(_ leg: LegID) {
    guard let trunk = self[leg].trunk else { return }
    if let failure = trunk.dial(context) {
      note("no trunk: \(failure)")
      return farFailed(failure, headers: trunk.lastHeaders)
    }
    note("INVITE to \(trunk.current?.name ?? "nobody")")
    snapshot.trunk = trunk.current?.name
    changed()
  }

  /// The far side's turn.
  func reachFar() {
    guard case .reaching(var reaching) = state else { return }
    reaching.leg = .far
    if self[.far].ring != nil {
      state = .reaching(reaching)
      return ringDevices(context.limits.ringMilliseconds)
    }
    if self[.far].room != nil {
      reaching.hasProgressed = true
      reaching.promptUntil = context.now.advanced(byMilliseconds: PromptLeg.shortProgressMilliseconds)
      state = .reaching(reaching)
      return progressed(CustomHeaders())
    }
    guard let prompt = self[.far].prompt else {
      state = .reaching(reaching)
      return dial(.far)
    }
    reaching.hasProgressed = true
    reaching.promptUntil = context.now.advanced(byMilliseconds: prompt.progressMilliseconds)
    state = .reaching(reaching)
    // A number that refuses at once has nothing that alerts.
    if prompt.progressMilliseconds > 0 { progressed(CustomHeaders()) }
    if prompt.rings { rang(CustomHeaders()) }
  }

  /// The progress phase of a conference, or of a number of the gateway's own, is over.
  func promptOutcome() {
    if self[.far].room != nil { return farAnswered(CustomHeaders()) }
    guard let prompt = self[.far].prompt else { return }
    if case .failure(let code, let status) = prompt.outcome {
      let failure = CallFailure(code, sipStatus: status, leg: snapshot.kind == .user ? .app : .trunk)
      return farFailed(failure)
    }
    farAnswered(CustomHeaders())
  }

  func progressed(_ headers: CustomHeaders) {
    if summary.progressedAt == nil { summary.progressedAt = context.clock }
    tell(.progressing(id, headers: headers))
    enter(.progressing)
    // A telephone hears of no early sound: it makes its own ringing tone.
    if arrived?.phone != nil { ringTrunkCaller(headers) }
  }

  func rang(_ headers: CustomHeaders) {
    if summary.rungAt == nil {
      summary.rungAt = context.clock
      addToStory(.rings)
    }
    tell(.ringing(id, headers: headers))
    enter(.ringing)
    if isCallerWaiting { ringTrunkCaller(headers) } else { ringLocally() }
  }

  /// Our own ringing tone, while nothing else is to be heard.
  func ringLocally() {
    guard case .reaching(var reaching) = state, !reaching.isRinging, reaching.earlyMediaUntil == nil else { return }
    reaching.isRinging = true
    state = .reaching(reaching)
    // In a conference nobody waits for whom it calls.
    if self[.near].room == nil { order(.ring(.near)) }
  }

  /// The side that was called is there: the bill starts.
  func farAnswered(_ headers: CustomHeaders) {
    guard case .reaching(let reaching) = state else { return }
    answerTrunkCaller(headers)
    // Where no answer can be made for the caller, the call is over.
    guard case .reaching = state else { return }
    answered(.far)
    beganTalking()
    summary.answeredAt = context.clock
    snapshot.answeredAt = context.clock
    note("answered")
    if reaching.isRinging, self[.near].room == nil { order(.stopPlaying(.near)) }
    state = .up(
      Up(mediaUntil: context.now.advanced(byMilliseconds: context.limits.mediaSetUpMilliseconds)))
    tell(.accepted(id, headers: headers))
    enter(.answered)
    enterRoom()
    recordByRule()
    // An app went on hold while it rang.
    for leg in legs {
      if let plan = leg.app?.plan, plan.audio.direction != .sendAndReceive { passOn(plan, by: leg.id) }
    }
    for leg in legs where leg.sound.lastSound != nil && mustSend(leg.id) { warn(.noSound, true, leg.id) }
    establishWhenReady()
    warnOfCredit()
  }

  /// A leg that was called is there: what it costs counts from now.
  func answered(_ leg: LegID) {
    self[leg].answeredAt = context.now
    self[leg].bill?.answer(context)
  }

  /// Sound can flow both ways.
  func establishWhenReady() {
    guard case .up(var up) = state, !up.isEstablished, legs.allSatisfy(\.isReady) else { return }
    up.isEstablished = true
    up.mediaUntil = nil
    state = .up(up)
    summary.establishedAt = context.clock
    note("established")
    for leg in legs { tell(.established(id), leg.id) }
    enter(.established)
    switch self[.far].prompt?.begin(at: context.now) {
    case .words(let words): order(.say(.near, words))
    case .echo: order(.echo(.near))
    case nil: break
    }
    announceRunningRecording()
  }

  /// Tells the app when its credit ends, and when it no longer does.
  func warnOfCredit() {
    guard let bill = self[.far].bill, let cutAt = bill.cutAt, !bill.isFree else { return }
    let ends = bill.isFinal || bill.refusal != nil || bill.reachedRule != nil
    if ends {
      self[.far].bill?.hasWarned = true
      let left = max(0, cutAt.microseconds(since: context.now))
      tell(.creditEnds(id, inSeconds: Int((left + 999_999) / 1_000_000)))
    } else if bill.hasWarned {
      self[.far].bill?.hasWarned = false
      tell(.creditEnds(id, inSeconds: nil))
    }
  }
}
