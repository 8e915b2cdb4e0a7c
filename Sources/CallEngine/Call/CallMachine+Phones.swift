import AppProtocol
import CallModel
import RoutingCore
import SDPCore
import SIPCore

// MARK: Telephones of a user that is called: each is an INVITE of its own, and one of the devices that ring

extension CallMachine {
  /// A telephone is to ring; first it needs ports.
  func callPhone(_ device: CalledDevice) {
    guard let host = device.phone?.path.remote.host, let leg = self[ringLeg].ring?.told(phone: device) else { return }
    addToStory(.calledOn(device: device.identity.device))
    context.emit(.prepare(id, MediaNeeds([leg: .telephone(host)])))
  }

  /// Ports for a telephone, or none.
  /// - Returns: `false` where they are for somebody else.
  func phonePrepared(_ result: Result<PreparedMedia, MediaShortage>) -> Bool {
    switch result {
    case .success(let media):
      guard let (leg, way) = media.legs.first else { return false }
      guard isReaching, let phone = self[ringLeg].ring?.phone(leg) else {
        // It is for a target or a transfer, or the telephone rings no longer.
        if awaitsMedia(leg) { return false }
        order(.detach(leg))
        return true
      }
      invite(phone, way)
      return true
    case .failure(let shortage):
      guard isReaching, let phone = self[ringLeg].ring?.phones.first(where: { $0.trunk == nil }) else {
        return false
      }
      note("no media for \(phone.name): \(shortage.rawValue)")
      leavePhone(phone.leg, [])
      endWhenNobodyRings(
        CallFailure(.congestion, phrase: "no media: \(shortage.rawValue)", retryAfterSeconds: 1, leg: .app))
      return true
    }
  }

  /// Whether ports of this name are awaited for a target or a transfer.
  private func awaitsMedia(_ leg: LegID) -> Bool {
    if has(.third), case .connecting(false, _)? = transfer?.stage { return leg == media(of: .third) }
    return leg == media(of: .far) && arrived?.connecting?.isPrepared == false
  }

  private func invite(_ phone: RingGroup.Phone, _ way: LocalMedia) {
    guard isReaching, let user = self[ringLeg].terms?.user?.user, let reach = phone.device.phone else { return }
    let peer = CallTrunk(
      telephone: phone.name, uri: reach.contact, path: reach.path, host: context.configuration.host)
    let terms = CallTerms(
      destination: .user(user), maximumSeconds: context.limits.maximumCallSeconds, direct: peer)
    let trunk = TrunkLeg(
      call: id, leg: ringLeg, payer: payer, terms: terms, headers: headers.prefixed, callerNumber: nil,
      isAnonymous: isAnonymous, media: way, context,
      ringMilliseconds: ringTimes.map { max(1000, $0.until.milliseconds(since: context.now)) },
      session: phone.device.session, shown: shownToPhones)
    self[ringLeg].ring?.called(phone.leg, trunk)
    if let failure = trunk.dial(context) {
      note("\(phone.name) cannot be called: \(failure)")
      leavePhone(phone.leg, [])
      return endWhenNobodyRings(failure)
    }
    note("INVITE to \(phone.name)")
  }

  /// Who calls, as a telephone shows it.
  private var shownToPhones: OutgoingIdentity {
    let host = context.configuration.host
    let caller = isAnonymous && arrived == nil ? CallerIdentity(kind: .anonymous, value: "", name: "") : callerShown
    let name = caller.name.isEmpty ? nil : caller.name
    let uri: SIPURI
    switch caller.kind {
    case .sip:
      let parts = caller.value.split(separator: "@", maxSplits: 1)
      let named = parts.count == 2 ? (try? SIPAddress(caller.value)) : nil
      uri = SIPURI(
        scheme: .sip, user: named?.user ?? PhoneCaller.escaped(caller.value), host: named?.host ?? host)
    case .anonymous:
      return OutgoingIdentity(
        from: NameAddress(
          SIPURI(scheme: .sip, user: "anonymous", host: .name("anonymous.invalid")), displayName: "Anonymous"))
    default: uri = SIPURI(scheme: .sip, user: PhoneCaller.escaped(caller.value), host: host)
    }
    return OutgoingIdentity(from: NameAddress(uri, displayName: name))
  }

  // MARK: What a telephone says that rings

  func signalled(_ event: UserAgentEvent, of phone: RingGroup.Phone) {
    guard isReaching, let trunk = phone.trunk else { return }
    switch event {
    case .progress(_, let progress):
      trunk.progressed(progress.status == 180 ? .rang : .none, status: progress.status, context)
      // What it says may be all that it says of its media, when it is repeated until we acknowledge it. Nobody hears it
      // before somebody answers.
      if let body = progress.body { _ = trunk.accept(body) }
      if progress.status == 180 || progress.status == 183 { rang(phone.leg) }
    case .established(_, let answer): answered(phone, trunk, answer)
    case .ended(_, let end): ended(phone, trunk, end)
    case .offered(_, let exchange, let body):
      guard let body, case .success(let (answer, _)) = trunk.answer(body) else { return refuse(exchange, 488) }
      context.emit(.sip(.answer(exchange, answer)))
    case .answered(_, _, let body): _ = trunk.accept(body)
    case .transferRequested(let handle, _, _): context.emit(.sip(.refuseTransfer(handle, status: 603)))
    case .trying, .offerRefused, .info, .transferProgress, .incoming, .queryAnswered, .registration, .phoneBindings:
      break
    }
  }

  /// The turn that takes its 200 fixes the winner, as one that takes `accept` does.
  private func answered(_ phone: RingGroup.Phone, _ trunk: TrunkLeg, _ answer: Answer) {
    trunk.answered(context)
    note("200 from \(phone.name)")
    var problem: String?
    if let body = answer.body, case .failure(let refusal) = trunk.acceptFinal(body) { problem = "\(refusal)" }
    guard problem == nil, let plan = trunk.plan else {
      let problem = problem ?? "the answer holds no session description"
      note("answer of \(phone.name) not usable: \(problem)")
      leavePhone(phone.leg, [CallFailure.Reason(protocolName: "Q.850", cause: 88, text: problem)])
      return endWhenNobodyRings(CallFailure(.media, warning: problem, trunk: phone.name, leg: .trunk))
    }
    let place = ringLeg
    guard self[place].ring?.remove(phone: phone.leg) != nil, let ring = self[place].ring else { return }
    for device in ring.devices { leaveRing(device.leg, .otherDeviceAnswered, by: phone.name) }
    leavePhones(.otherDeviceAnswered)
    for session in self[place].sessions { list(session, isMember: false) }
    countUsedMedia()
    self[place].port = .trunk(trunk)
    self[place].sound = Leg.Sound()
    self[place].media = phone.leg
    if place == .far { order(.join(phone.leg, side: .far)) }
    apply(plan, to: place)
    addToStory(.acceptedOn(device: phone.name))
    if transfer == nil { farAnswered(answer.headers) } else { thirdAnswered() }
  }

  /// It has declined, is busy or cannot be reached.
  private func ended(_ phone: RingGroup.Phone, _ trunk: TrunkLeg, _ end: CallEnd) {
    noteCrossing(end)
    _ = trunk.failed(end, context)
    leavePhone(phone.leg, [])
    switch end.failure?.sipStatus {
    case 486, 600:
      addToStory(.busyOn(device: phone.name))
      endWhenNobodyRings(CallFailure(.userBusy, sipStatus: 486, leg: .app))
    // As an app that declines for its user.
    case 603, 607, 608:
      addToStory(.declinedOn(device: phone.name))
      declinedBy = phone.name
      reachingFailed(CallFailure(.userDeclined, sipStatus: 603, leg: .app))
    // Declined, or wants no calls now: others may.
    case 480:
      addToStory(.declinedOn(device: phone.name))
      endWhenNobodyRings(CallFailure(.userDeclined, sipStatus: 480, leg: .app))
    default:
      note("\(phone.name): \(end.failure.map { "\($0)" } ?? "ended")")
      addToStory(.deviceGone(phone.name))
      endWhenNobodyRings(CallFailure(.userUnreachable, sipStatus: 480, leg: .app))
    }
  }

  // MARK: Telephones that leave

  /// A telephone rings no longer: CANCEL where it still does.
  func leavePhone(_ leg: LegID, _ reasons: [CallFailure.Reason]) {
    guard let phone = self[ringLeg].ring?.remove(phone: leg) else { return }
    if let trunk = phone.trunk {
      trunk.hangUp(reasons, context)
      formerPhones.append(trunk)
      order(.detach(leg))
    }
    list(phone.device.session, isMember: false)
  }

  /// Every telephone that rings hears that it is over, and why it need not count as missed (RFC 3326).
  func leavePhones(_ cause: CallEndCause) {
    let reasons: [CallFailure.Reason] =
      switch cause {
      case .otherDeviceAnswered:
        [CallFailure.Reason(protocolName: "SIP", cause: 200, text: "Call completed elsewhere")]
      case .denied: [CallFailure.Reason(protocolName: "SIP", cause: 603, text: "Declined elsewhere")]
      default: []
      }
    for phone in self[ringLeg].ring?.phones ?? [] { leavePhone(phone.leg, reasons) }
  }
}
