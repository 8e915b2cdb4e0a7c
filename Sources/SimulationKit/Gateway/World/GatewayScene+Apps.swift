import AppProtocol
import CallModel
import NodeCore

// MARK: - Apps and the way to them

extension GatewayScene {
  func appInput(_ app: SimulatedApp, _ action: (AppSessionClient, inout [AppSessionClientEffect]) -> Void) {
    steps += 1
    touchApp(app.index)
    var effects: [AppSessionClientEffect] = []
    action(app.client, &effects)
    for effect in effects { perform(effect, app) }
    touchReach(app)
  }

  func tell(_ app: SimulatedApp, _ input: AppSessionClientInput) {
    appInput(app) { client, effects in client.handle(input, at: now, into: &effects) }
  }

  private func perform(_ effect: AppSessionClientEffect, _ app: SimulatedApp) {
    switch effect {
    case .connect(let id):
      lastConnection += 1
      let link = SimulatedLink(
        app: app.index, clientID: id, nodeID: ConnectionID(lastConnection), life: node?.life ?? 0)
      app.link = link
      schedule.add(.linkOpens(link), at: now.advanced(byMilliseconds: random.number(5...150)))
    case .send(let id, let bytes):
      guard let link = app.link, link.clientID == id else { return }
      send(.text(bytes), link, toNode: true)
    case .close(let id, let code):
      guard let link = app.link, link.clientID == id else { return }
      send(.close(code), link, toNode: true)
      app.link = nil
    case .state: break
    case .event(let event): heard(event, app)
    case .lost(let call, _):
      app.ended[call, default: 0] += 1
      note { "app \(app.index) loses call \(call)" }
    case .signAgain(let least):
      if let proof = signature(app, sequence: least) { tell(app, .proof(proof)) }
    case .keep, .draining: break
    }
  }

  func send(_ frame: SimulatedFrame, _ link: SimulatedLink, toNode: Bool) {
    guard !link.isBroken else { return }
    if case .text(let bytes) = frame { digest.add(bytes) }
    let way = toNode ? 0 : 1
    let at = max(
      link.arrivals[way], link.waitsUntil[way], now.advanced(byMicroseconds: random.number(2000...60_000)))
    link.arrivals[way] = at
    schedule.add(.frame(link, frame, toNode: toNode), at: at)
  }

  func linkOpens(_ link: SimulatedLink) {
    let app = apps[link.app]
    guard let node, node.life == link.life, node.isServing, app.isOnline(at: now) else {
      return tell(app, .closed(link.clientID, code: nil))
    }
    link.isOpen = true
    node.links[link.nodeID] = link
    handle(.door(.opened(link.nodeID, host: .ipv4(0xCB00_7101))), life: node.life)
    tell(app, .opened(link.clientID))
  }

  func arrive(_ frame: SimulatedFrame, _ link: SimulatedLink, toNode: Bool) {
    guard !link.isBroken else { return }
    let app = apps[link.app]
    if toNode {
      guard let node, node.life == link.life else { return }
      switch frame {
      case .text(let bytes): handle(.door(.text(link.nodeID, bytes)), life: node.life)
      case .pong: handle(.door(.pong(link.nodeID)), life: node.life)
      case .close:
        node.links[link.nodeID] = nil
        handle(.door(.closed(link.nodeID)), life: node.life)
      case .ping: break
      }
    } else {
      switch frame {
      case .text(let bytes): tell(app, .text(link.clientID, bytes))
      // The client's WebSocket answers by itself.
      case .ping: send(.pong, link, toNode: true)
      case .close(let code): tell(app, .closed(link.clientID, code: code))
      case .pong: break
      }
    }
  }

  /// The connection of an app breaks; each end learns of it by itself, or not at all.
  func breakLink(of app: SimulatedApp, nodeLearns: Bool = true) {
    guard let link = app.link, !link.isBroken else { return }
    link.isBroken = true
    touchReach(app)
    if random.chance(700) {
      schedule.add(.linkLost(link, atNode: false), at: now.advanced(byMilliseconds: random.number(0...3000)))
    }
    if nodeLearns, random.chance(500) {
      schedule.add(.linkLost(link, atNode: true), at: now.advanced(byMilliseconds: random.number(0...20_000)))
    }
  }

  func linkLost(_ link: SimulatedLink, atNode: Bool) {
    if atNode {
      guard let node, node.life == link.life, node.links.removeValue(forKey: link.nodeID) != nil else { return }
      handle(.door(.closed(link.nodeID)), life: node.life)
    } else {
      tell(apps[link.app], .closed(link.clientID, code: nil))
    }
  }

  // MARK: Proofs

  func verify(_ registration: Registration) -> RegistrationVerdict {
    guard let app = apps.first(where: { $0.user == registration.user && $0.device == registration.device }),
      registration.application == GatewayScene.applicationKey(app.account), let user = try? UserID(registration.user)
    else {
      return .refused
    }
    let identity = AppIdentity(
      application: registration.application, user: user, device: registration.device,
      capabilities: registration.capabilities)
    switch registration.proof {
    case .signature(let signature, let sequence):
      guard
        RegistrationSignature.isValid(
          signature, user: registration.user, application: registration.application, sequence: sequence,
          secret: GatewayScene.applicationSecret)
      else { return .refused }
      let last = sequences[registration.user] ?? 0
      guard sequence > last else { return last == .max ? .refused : .sequenceTooLow(least: last + 1) }
      sequences[registration.user] = sequence
      let id = StoredCredential.id(
        application: registration.application, user: registration.user, device: registration.device, isBounded: false)
      let credential = DeviceCredential.make(id: id, expiresAt: nil) { random.next() }
      credentials[id] = credential.stored(
        application: registration.application, user: user, device: registration.device)
      oracles.plant(credential.secret.exposed, isTold: true)
      return .accepted(identity, credential)
    case .credential(let id, let secret):
      guard let stored = credentials[id], stored.matches(secret: secret) else { return .refused }
      return .accepted(identity, nil)
    case .token: return .refused
    }
  }

  // MARK: What a person does

  func start(_ app: SimulatedApp) {
    guard let proof = signature(app, sequence: UInt64(1 + app.index)) else { return }
    tell(
      app,
      .start(
        Registration(
          application: GatewayScene.applicationKey(app.account), user: app.user, device: app.device,
          proof: proof, capabilities: [.calling], profile: app.profile)))
  }

  private func signature(_ app: SimulatedApp, sequence: UInt64) -> Registration.Proof? {
    let text = RegistrationSignature.compute(
      user: app.user, application: GatewayScene.applicationKey(app.account), sequence: sequence,
      secret: GatewayScene.applicationSecret)
    if text == nil { fail("set-up", "no SHA-1 here") }
    return text.map { .signature($0, sequence: sequence) }
  }

  /// Asks for a call, as soon as the session stands.
  func place(_ call: GatewayPlan.Call, tries: Int) {
    if call.isInvited, let conference = call.conference { return invite(call, conference) }
    let app = apps[call.app]
    guard !app.isGone, !isQuiet else { return }
    var number: RequestNumber?
    let request = PlaceCall(
      kind: call.conference != nil ? .conference : call.isForUser ? .user : .phone, target: call.target,
      headers: [.init(name: Self.planHeader, value: "\(call.number)")],
      offer: app.offer(), callerNumber: nil)
    appInput(app) { client, effects in number = client.send(.call(request), at: now, into: &effects) }
    guard let number else {
      guard tries < 30 else { return }
      return schedule.add(.place(call.number, tries: tries + 1), at: now.advanced(byMilliseconds: 1000))
    }
    report.calls += 1
    app.requests[number] = call.number
    note { "app \(app.index) asks for call \(call.number) to \(call.target)" }
    for (after, deed) in call.deeds {
      schedule.add(.appDeed(call.number, deed), at: now.advanced(byMilliseconds: after))
    }
  }

  func perform(_ deed: GatewayPlan.Deed, _ number: Int) {
    let app = apps[plan.calls[number - 1].app]
    guard !app.isGone else { return }
    guard let call = app.calls[number] else {
      if case .hangUp = deed { app.wantsHangUp.insert(number) }
      return
    }
    guard app.client.liveCalls.contains(call) else { return }
    let request: AppRequest =
      switch deed {
      case .hangUp: .hangUp(call)
      case .hold(let holds): .offer(call, app.offer(holds ? "sendonly" : "sendrecv"))
      case .digits(let keys): .sendDigits(call, keys)
      case .mute(let isMuted): .mute(call, isMuted)
      case .report: .report(call, ClientStatistics(figures: ["jitter": 1]))
      }
    appInput(app) { client, effects in _ = client.send(request, at: now, into: &effects) }
  }

  private func heard(_ event: AppEvent, _ app: SimulatedApp) {
    switch event {
    case .placed(let number, let call, _):
      reply(number, app)
      guard let planned = app.requests[number] else { return }
      app.calls[planned] = call
      note { "app \(app.index) has call \(planned) as \(call)" }
      if app.wantsHangUp.contains(planned) { perform(.hangUp, planned) }
    case .done(let number), .answered(let number, _, _):
      reply(number, app)
      wordTaken(number, app)
    case .refused(let number, let failure):
      reply(number, app)
      wordRefused(number, app)
      if failure.code == .networkTimeout, let word = app.words[number], word.isAccept { app.doubtful.insert(word.call) }
      if app.requests[number] != nil {
        report.refusals[failure.code.rawValue, default: 0] += 1
        refusalNames[failure.refusal?.rawValue ?? failure.code.rawValue, default: 0] += 1
      }
      note { "app \(app.index) is refused \(number.value): \(failure.code.rawValue)" }
    case .ended(let call, let summary):
      app.ended[call, default: 0] += 1
      app.rings[call]?.end = summary
      note { "app \(app.index) hears the end of \(call): \(summary.cause.rawValue) \(summary.durationMilliseconds) ms" }
    case .incoming(let call, let invitation): rings(call, invitation, app)
    case .accepted, .established, .progressing, .ringing, .earlyMedia, .price, .creditEnds, .digit, .held, .transfer,
      .offered, .quality, .warning, .speakers, .recording:
      break
    case .members(let call, let members): oracles.members(members, call, app, in: self)
    }
  }

  private func reply(_ number: RequestNumber, _ app: SimulatedApp) {
    app.replies[number, default: 0] += 1
    oracles.checked("replies")
    if app.replies[number, default: 0] > 1 { fail("replies", "request \(number.value) has two replies") }
  }
}
