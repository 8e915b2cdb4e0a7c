import CallModel
import SIPCore

// MARK: - The layers above the agents

extension SignallingScene {
  func place(_ call: SimulatedCall) {
    let script = call.script
    let leg = call.caller
    legs[leg.party][leg.handle] = leg
    let callee = SimulatedParty.address(1 - leg.party)
    let target = SIPURI(scheme: .sip, user: "c\(call.number)", host: callee.host, port: callee.port)
    let own = SimulatedParty.address(leg.party)
    let from = NameAddress(SIPURI(scheme: .sip, user: "a\(call.number)", host: own.host))
    let direct = SimulatedParty.path(to: callee)
    let paths: [SIPPath] =
      switch script.way {
      case .direct: [direct]
      case .deadThenDirect: [SimulatedParty.path(to: SimulatedParty.address(77)), direct]
      case .located, .nowhere: []
      }
    leg.firstOffer = script.hasOffer ? description(isLarge: script.isLarge) : nil
    command(
      leg,
      .placeCall(
        leg.handle,
        OutgoingCall(
          target: target, paths: paths, identity: OutgoingIdentity(from: from), offer: leg.firstOffer,
          sessionTimer: SessionTimerPolicy(interval: script.sessionInterval), reliability: script.reliability,
          allowsTransfer: true, maximumRedirections: script.maximumRedirections,
          ringTimeoutMilliseconds: script.ringTimeout)))
    if let after = script.callerGivesUpAfter { later(after, leg, .hangUp) }
    if !isEndless(call) { later(CallScript.longest, leg, .hangUp) }
    for after in script.callerOffers { later(after, leg, .offer) }
    for after in script.callerInformations { later(after, leg, .inform) }
  }

  func isEndless(_ call: SimulatedCall) -> Bool { options.planted == .endlessCall && call.number == 1 }

  /// What an agent tells its layer above.
  func tell(_ event: UserAgentEvent, to party: Int) {
    let name = SignallingScene.name(of: event)
    counts.events[name, default: 0] += 1
    guard let handle = event.call else { return fail(nil, "an event about nothing that was asked for: \(event)") }
    if case .incoming(_, let incoming) = event { return arrive(handle, incoming, at: party) }
    guard let leg = legs[party][handle] else { return fail(nil, "\(name) for a call that nobody knows") }
    if case .ended = event, options.planted == .untoldEnd {
      planted += 1
      if planted % 10 == 0 { return }
    }
    note(leg.call) { "\(party) hears  \(SignallingScene.description(of: event))" }
    digest(name)
    if let broken = leg.hear(event, at: now) { return fail(leg.call, "agent \(party) \(name): \(broken)") }
    let call = calls[leg.call - 1]
    react(to: event, leg, call)
    compareDescriptions(call)
    if options.planted == .repeatedOffer, case .offered = event, let broken = leg.hear(event, at: now) {
      return fail(leg.call, "agent \(party) \(name): \(broken)")
    }
    if options.planted == .repeatedEnd, case .ended = event {
      planted += 1
      if planted % 10 == 0, let broken = leg.hear(event, at: now) {
        fail(leg.call, "agent \(party) \(name): \(broken)")
      }
    }
  }

  private func arrive(_ handle: CallHandle, _ incoming: IncomingCall, at party: Int) {
    guard let call = call(named: incoming.target), call.caller.party != party else {
      return fail(nil, "a call came in that nobody placed")
    }
    guard legs[party][handle] == nil else { return fail(call.number, "a call came in twice") }
    note(call.number) { "\(party) hears  incoming\(incoming.offer == nil ? " without offer" : "")" }
    digest("incoming")
    let leg = SimulatedLeg(party: party, handle: handle, call: call.number, isCaller: false)
    legs[party][handle] = leg
    call.callees.append(leg)
    guard call.callees.count <= 4 else { return fail(call.number, "the call came in \(call.callees.count) times") }
    let description = description()
    leg.answer = description
    if let offer = incoming.offer {
      leg.agreed(description, with: offer)
    }
    let script = call.script
    var at: Int64 = 0
    for ringing in script.ringings {
      at += ringing.after
      later(at, leg, .ring(status: ringing.status, hasDescription: ringing.hasDescription))
    }
    later(at + script.verdictAfter, leg, .decide)
    if !isEndless(call) { later(CallScript.longest, leg, .hangUp) }
    for after in script.calleeOffers { later(after, leg, .offer) }
    for after in script.calleeInformations { later(after, leg, .inform) }
  }

  private func react(to event: UserAgentEvent, _ leg: SimulatedLeg, _ call: SimulatedCall) {
    switch event {
    case .established:
      guard leg.isCaller, !isEndless(call) else { break }
      later(call.script.callerHangsUpAfter, leg, .hangUp)
      if let after = call.script.transfersAfter { later(after, leg, .transfer) }
    case .offered(_, let exchange, let body):
      if body != nil, body == leg.remote { call.hasMovedOn = true }
      guard !isEndless(call) else { return later(10, leg, .answer(exchange)) }
      switch call.random.weighted([80, 14, 6]) {
      case 0:
        later(
          call.random.one(0, call.random.number(0...200), call.random.number(0...3000), call.random.number(0...25_000)),
          leg, .answer(exchange))
      case 1: later(call.random.one(0, call.random.number(0...2000)), leg, .refuse(exchange))
      default: call.isUncooperative = true
      }
    case .transferRequested:
      later(call.random.number(0...2000), leg, .answerTransfer(call.random.chance(700)))
    case .ended:
      checkEnd(of: leg, call)
    default: break
    }
  }

  /// What the layer above does; about a call that is over it does nothing, but that it may hang up once more.
  func perform(_ deed: Deed, by leg: SimulatedLeg) {
    let call = calls[leg.call - 1]
    if leg.end != nil, !call.random.chance(50) { return }
    let handle = leg.handle
    switch deed {
    case .ring(let status, let hasDescription):
      guard leg.acceptedAt == nil, leg.rejectedWith == nil else { return }
      let body = hasDescription ? leg.answer : nil
      if body != nil, leg.local == nil { leg.firstOffer = body }
      command(leg, .ring(handle, status: status, body: body, headers: CustomHeaders()))
    case .decide: decide(leg, call)
    case .hangUp:
      if leg.end == nil {
        leg.hungUpAt = leg.hungUpAt ?? now
        // The ACK goes out without the answer that it owes.
        if leg.isCaller, !call.script.hasOffer, leg.isNegotiating { call.isUncooperative = true }
      }
      command(leg, .hangUp(handle, HangUp()))
    case .offer:
      guard leg.end == nil else { return }
      let exchange = nextExchange()
      let body = description()
      leg.offered(exchange, body)
      command(leg, .offer(handle, exchange, body))
    case .answer(let exchange): answer(exchange, leg, call)
    case .refuse(let exchange):
      guard leg.end == nil, leg.refused(exchange) else { return }
      // An offer in answer to an INVITE without one cannot be refused but by the end.
      if !call.script.hasOffer { call.isUncooperative = true }
      command(leg, .refuse(exchange, status: call.random.one(488, 415, 480), warning: nil))
    case .inform:
      guard leg.end == nil else { return }
      let body = information()
      leg.sentInformations.insert(body.bytes)
      command(leg, .sendInfo(handle, body))
    case .transfer:
      command(
        leg, .transfer(handle, to: NameAddress(SIPURI(scheme: .sip, user: "elsewhere", host: .ipv4(0xC000_0201)))))
    case .answerTransfer(let accepts):
      guard accepts else { return command(leg, .refuseTransfer(handle, status: 603)) }
      command(leg, .acceptTransfer(handle))
      later(call.random.number(0...2000), leg, .reportTransfer(180))
      later(call.random.number(0...20_000), leg, .reportTransfer(call.random.one(200, 486)))
    case .reportTransfer(let status): command(leg, .reportTransfer(handle, status: status))
    }
  }

  private func decide(_ leg: SimulatedLeg, _ call: SimulatedCall) {
    guard leg.end == nil else { return }
    let script = call.script
    func reject(_ rejection: Rejection) {
      leg.rejectedWith = rejection.status
      command(leg, .reject(leg.handle, rejection))
    }
    switch isEndless(call) ? .accept : script.verdict {
    case .accept:
      leg.acceptedAt = now
      // Once the session has changed, the first answer is history.
      let body = leg.local ?? leg.answer
      if leg.local == nil { leg.firstOffer = body }
      if !isEndless(call) { later(script.calleeHangsUpAfter, leg, .hangUp) }
      if let after = script.meetsAfter {
        for both in [leg, call.caller] {
          if script.meeting != .hangUps { later(after, both, .offer) }
          if script.meeting != .offers { later(after, both, .hangUp) }
        }
      }
      command(leg, .accept(leg.handle, body: body, headers: CustomHeaders()))
    case .reject(let status): reject(Rejection(status))
    case .redirect:
      // The next target is the same place; it answers there as its script says, but does not redirect for ever.
      let here = SimulatedParty.address(leg.party)
      guard call.callees.count < 2 else { return reject(Rejection(486)) }
      reject(
        Rejection(
          302,
          contacts: [NameAddress(SIPURI(scheme: .sip, user: "r\(call.number)", host: here.host, port: here.port))]))
    case .hangUp:
      leg.hungUpAt = now
      command(leg, .hangUp(leg.handle, HangUp()))
    case .silence: break
    }
  }

  private func answer(_ exchange: ExchangeID, _ leg: SimulatedLeg, _ call: SimulatedCall) {
    guard leg.end == nil else { return }
    // Who refreshes says nothing new, and is told nothing new most of the time.
    let current = leg.local
    let body = current.flatMap { call.random.chance(300) ? nil : $0 } ?? description()
    guard leg.answered(exchange, with: body) else { return }
    command(leg, .answer(exchange, body))
    compareDescriptions(call)
  }

  // MARK: - Names

  static func name(of command: UserAgentCommand) -> String {
    switch command {
    case .placeCall(_, let plan): "place\(plan.offer == nil ? " without offer" : "")"
    case .release: "release"
    case .hangUp: "hang up"
    case .ring(_, let status, let body, _): "ring \(status)\(body == nil ? "" : " sdp")"
    case .accept: "accept"
    case .reject(_, let rejection): "reject \(rejection.status)"
    case .answer(let exchange, _): "answer \(exchange.number & 0xFFFF)"
    case .refuse(let exchange, let status, _): "refuse \(exchange.number & 0xFFFF) with \(status)"
    case .offer(_, let exchange, _): "offer \(exchange.number & 0xFFFF)"
    case .sendInfo: "inform"
    case .transfer: "transfer"
    case .allowTransfers: "allow transfers"
    case .acceptTransfer: "accept transfer"
    case .refuseTransfer: "refuse transfer"
    case .reportTransfer(_, let status): "report transfer \(status)"
    case .ping, .register, .unregister, .phones: "query"
    case .located: "located"
    }
  }

  static func name(of event: UserAgentEvent) -> String {
    switch event {
    case .trying: "trying"
    case .progress: "progress"
    case .established: "established"
    case .ended: "ended"
    case .incoming: "incoming"
    case .offered(_, _, let body): body == nil ? "offer wanted" : "offered"
    case .answered: "answered"
    case .offerRefused: "offer refused"
    case .info: "information"
    case .transferRequested: "transfer requested"
    case .transferProgress: "transfer progress"
    case .queryAnswered: "query answered"
    case .registration: "registration"
    case .phoneBindings: "bindings"
    }
  }

  static func description(of event: UserAgentEvent) -> String {
    switch event {
    case .progress(_, let progress):
      "progress \(progress.status)\(progress.body == nil ? "" : " sdp")\(progress.isReliable ? " reliable" : "")"
    case .established(_, let answer): "established\(answer.body == nil ? "" : " sdp")"
    case .ended(_, let end):
      "ended \(end.cause) \(end.failure.map { "\($0.code.rawValue) \($0.sipStatus ?? 0)" } ?? "")"
    case .offered(_, let exchange, _), .answered(_, let exchange, _):
      "\(name(of: event)) \(exchange.number & 0xFFFF)"
    case .offerRefused(_, let exchange, let status): "offer \(exchange.number & 0xFFFF) refused with \(status)"
    default: name(of: event)
    }
  }
}

extension UserAgentEvent {
  /// `nil` for what is no call.
  fileprivate var call: CallHandle? {
    switch self {
    case .trying(let call), .progress(let call, _), .established(let call, _), .ended(let call, _),
      .incoming(let call, _), .offered(let call, _, _), .answered(let call, _, _), .offerRefused(let call, _, _),
      .info(let call, _), .transferRequested(let call, _, _), .transferProgress(let call, _):
      call
    case .queryAnswered, .registration, .phoneBindings: nil
    }
  }
}
