import CallModel
import NodeCore
import SDPCore
import SIPCore

// MARK: - Carriers and the way to them

extension GatewayScene {
  func trunk(_ index: Int, _ command: UserAgentCommand) {
    trunkInput(index) { agent, effects in agent.handle(command, at: now, into: &effects) }
  }

  func trunkInput(_ index: Int, _ action: (UserAgent, inout [UserAgentEffect]) -> Void) {
    guard !trunks[index].isDead else { return }
    steps += 1
    touchTrunk(index)
    var effects: [UserAgentEffect] = []
    action(trunks[index].agent, &effects)
    for effect in effects {
      switch effect {
      case .send(let bytes, _, _): relay(bytes, trunk: index, toTrunk: false)
      case .event(let event): heard(event, trunk: trunks[index])
      case .locate: break
      }
    }
  }

  /// Puts a datagram on the network between the gateway and a trunk.
  func relay(_ bytes: [UInt8], trunk index: Int, toTrunk: Bool) {
    digest.add(bytes)
    note { "\(toTrunk ? "gateway → trunk" : "trunk → gateway") \(index) \(GatewayScene.firstLine(bytes))" }
    if toTrunk { oracles.gatewaySent(bytes, in: self) }
    for delay in network.deliveries(index, toTrunk: toTrunk, at: now) {
      schedule.add(
        .datagram(bytes, trunk: index, toTrunk: toTrunk), at: now.advanced(byMicroseconds: delay))
    }
    // A proxy behind the trunk has forked the call: a second phone answers as well.
    if !toTrunk, let fork = forked(bytes, trunk: index) {
      count("second 200")
      for delay in network.deliveries(index, toTrunk: false, at: now) {
        schedule.add(
          .datagram(fork, trunk: index, toTrunk: false), at: now.advanced(byMicroseconds: delay + 30_000))
      }
    }
  }

  func arrive(_ bytes: [UInt8], trunk index: Int, toTrunk: Bool) {
    if toTrunk {
      trunkInput(index) { agent, effects in
        agent.receive(
          bytes, from: SimulatedTrunk.path(to: SimulatedTrunk.gatewayAddress), at: now, into: &effects)
      }
    } else if let node {
      oracles.gatewayHeard(bytes, in: self, life: node.life)
      handle(.sip(bytes, SimulatedTrunk.path(to: SimulatedTrunk.address(index))), life: node.life)
    }
  }

  private func forked(_ bytes: [UInt8], trunk index: Int) -> [UInt8]? {
    guard !forks.isEmpty, WireScan.isSuccess(bytes), let scan = WireScan(bytes, methods: []), scan.status == 200,
      !scan.toTag.isEmpty, forks.contains(scan.callID), forkedCalls.insert(scan.callID).inserted
    else { return nil }
    var text = String(decoding: bytes, as: UTF8.self)
    guard let range = text.firstRange(of: scan.toTag) else { return nil }
    text.replaceSubrange(range, with: String(scan.toTag.reversed()))
    return Array(text.utf8)
  }

  // MARK: What a carrier hears

  private func heard(_ event: UserAgentEvent, trunk: SimulatedTrunk) {
    switch event {
    case .incoming(let handle, let call): incoming(handle, call, trunk)
    case .established(let handle, let answer):
      guard let leg = trunk.legs[handle] else { return }
      leg.isUp = true
      if let body = answer.body, leg.negotiation.isOfferPending { _ = leg.accept(body) }
      if leg.holdsLeft > 0 { later(leg.callee.holdsAfter, leg, .hold) }
    case .ended(let handle, _):
      guard let leg = trunk.legs.removeValue(forKey: handle) else { return }
      leg.isOver = true
      leg.isSending = false
      updateMedia(of: leg)
      forget(leg)
    case .offered(let handle, let exchange, let body):
      guard let leg = trunk.legs[handle] else { return }
      guard let body else {
        if let offer = leg.makeOffer(leg.negotiation.direction) { self.trunk(trunk.index, .answer(exchange, offer)) }
        return
      }
      if !leg.callee.refusesOffers, let answer = leg.answer(body) {
        self.trunk(trunk.index, .answer(exchange, answer))
      } else {
        self.trunk(trunk.index, .refuse(exchange, status: 488, warning: nil))
      }
    case .answered(let handle, _, let body):
      guard let leg = trunk.legs[handle] else { return }
      _ = leg.accept(body)
      offerOver(leg)
    case .offerRefused(let handle, _, _):
      guard let leg = trunk.legs[handle] else { return }
      leg.negotiation.withdrawOffer()
      offerOver(leg)
    case .trying, .progress, .info, .transferRequested, .transferProgress, .queryAnswered, .registration,
      .phoneBindings:
      break
    }
  }

  private func offerOver(_ leg: SimulatedTrunk.Leg) {
    leg.offered = nil
    if leg.holdsLeft > 0 { later(leg.callee.holdsEvery, leg, .hold) }
  }

  private func incoming(_ handle: CallHandle, _ call: IncomingCall, _ trunk: SimulatedTrunk) {
    let number = call.headers["x-n"].flatMap { Int($0) } ?? 1
    var callee = plan.calls[min(max(number, 1), plan.calls.count) - 1].callee
    if isQuiet { callee.conduct = .refuses }
    let leg = SimulatedTrunk.Leg(
      handle, trunk: trunk.index, number: number, port: newPort(), callee: callee, offer: call.offer)
    trunk.legs[handle] = leg
    legsByPort[leg.port] = leg
    if callee.conduct == .forks { forks.insert(call.callID) }
    switch callee.conduct {
    case .deaf: count("black hole")
    case .refuses:
      self.trunk(
        trunk.index,
        .reject(handle, Rejection(callee.status, retryAfterSeconds: callee.status == 503 ? 3 : nil)))
    case .earlyThenAnswers, .earlyOnly: later(callee.ringsAfter, leg, .early)
    case .answers, .rings, .forks: later(callee.ringsAfter, leg, .ring)
    case .wrongDescription: later(callee.ringsAfter, leg, .answer)
    }
  }

  /// Ports of trunks, each for one leg at a time.
  private func newPort() -> Int {
    repeat { lastPort = lastPort >= 65_000 ? 38_000 : lastPort + 2 } while legsByPort[lastPort] != nil
    return lastPort
  }

  func forget(_ leg: SimulatedTrunk.Leg) {
    if legsByPort[leg.port] === leg { legsByPort[leg.port] = nil }
  }

  private func later(_ milliseconds: Int64, _ leg: SimulatedTrunk.Leg, _ deed: SimulatedTrunk.Deed) {
    schedule.add(.trunkDeed(leg, deed), at: now.advanced(byMilliseconds: max(0, milliseconds)))
  }

  /// What the one who is called does.
  func perform(_ deed: SimulatedTrunk.Deed, _ leg: SimulatedTrunk.Leg) {
    guard !leg.isOver, !trunks[leg.trunk].isDead else { return }
    switch deed {
    case .ring:
      trunk(leg.trunk, .ring(leg.handle, status: 180, body: nil, headers: CustomHeaders()))
      if leg.callee.conduct != .rings { later(leg.callee.answersAfter, leg, .answer) }
    case .early:
      count("early media")
      leg.isSending = true
      trunk(leg.trunk, .ring(leg.handle, status: 183, body: leg.answer(leg.offer), headers: CustomHeaders()))
      if leg.callee.conduct == .earlyThenAnswers { later(leg.callee.answersAfter, leg, .answer) }
    case .answer: answer(leg)
    case .hangUp:
      guard !leg.hasVanished else { return }
      trunk(leg.trunk, .hangUp(leg.handle, HangUp()))
    case .vanish:
      count("no BYE")
      leg.hasVanished = true
      leg.isSending = false
      updateMedia(of: leg)
    case .hold:
      guard leg.isUp, leg.offered == nil, leg.holdsLeft > 0, !leg.hasVanished else { return }
      count("hold by the trunk")
      leg.holdsLeft -= 1
      leg.isHolding.toggle()
      let exchange = trunks[leg.trunk].newExchange()
      guard !leg.negotiation.isOfferPending, let offer = leg.makeOffer(leg.isHolding ? .sendOnly : .sendAndReceive)
      else { return }
      leg.offered = exchange
      trunk(leg.trunk, .offer(leg.handle, exchange, offer))
    }
  }

  private func answer(_ leg: SimulatedTrunk.Leg) {
    var body = leg.negotiation.plan == nil ? leg.answer(leg.offer) : leg.localBody
    if leg.callee.conduct == .wrongDescription {
      count("wrong description")
      let texts = [
        "v=0\r\no=- 1 1 IN IP4 198.51.100.1\r\ns=-\r\nt=0 0\r\nm=audio 0 RTP/AVP 8\r\n", "nothing of the kind",
        "v=0\r\no=- 1 1 IN IP4 198.51.100.1\r\ns=-\r\nc=IN IP4 198.51.100.1\r\nt=0 0\r\nm=audio 4000 RTP/AVP 96\r\na=rtpmap:96 X/8000\r\n",
      ]
      body = MessageBody(sessionDescription: Array(texts[leg.number % texts.count].utf8))
    }
    leg.isSending = true
    leg.hasAccepted = true
    trunk(leg.trunk, .accept(leg.handle, body: body, headers: CustomHeaders()))
    if let after = leg.callee.hangsUpAfter { later(after, leg, .hangUp) }
    if let after = leg.callee.vanishesAfter { later(after, leg, .vanish) }
    updateMedia(of: leg)
  }

  private static func firstLine(_ bytes: [UInt8]) -> String {
    String(decoding: bytes.prefix { $0 != 0x0D }.prefix(80), as: UTF8.self)
      + (WireScan(bytes, methods: ["INVITE", "BYE", "ACK", "CANCEL", "UPDATE", "PRACK"]).map {
        " \($0.sequence) \($0.sequenceMethod) \($0.callID.prefix(6)) \($0.toTag.prefix(6))"
      } ?? "")
  }
}

extension SimulatedTrunk.Leg {
  /// Its description as it was last sent.
  var localBody: MessageBody? {
    negotiation.localDescription.map { MessageBody(sessionDescription: Array($0.text.utf8)) }
  }
}
