import AppProtocol
import CallEngine
import CallModel
import NodeCore
import SDPCore

// MARK: - Sound

extension GatewayScene {
  func prepare(_ call: CallID, _ needs: MediaNeeds, _ node: SimulatedNode) {
    oracles.change(call) { $0.prepared += 1 }
    let givesTwice = plants(.portTwice)
    let (media, problem) = node.media.prepare(call, needs, givesTwice: givesTwice)
    oracles.checked("ports")
    if let problem { fail("ports", problem) }
    let result: Result<PreparedMedia, MediaShortage> = media.map { .success($0) } ?? .failure(.ports)
    if media == nil { count("ports used up") }
    if media == nil { oracles.change(call) { $0.prepared -= 1 } }
    later(.prepared(call, result), node, microseconds: 100...5000)
  }

  func perform(_ order: MediaOrder, _ call: CallID, _ node: SimulatedNode) {
    guard let bridge = node.media.bridges[call] else { return }
    switch order {
    case .plan(let leg, let media):
      bridge[leg].plan = media
      if leg == .far { node.media.remember(media.remote.port, call) }
      if leg == .near, !bridge[.near].isSecured {
        schedule.add(
          .secure(life: node.life, call), at: now.advanced(byMilliseconds: random.number(50...600)))
      }
      updateMedia(bridge, node)
    case .mute(let leg, true):
      if leg == .far { bridge.mutedAt = bridge.mutedAt ?? now }
      oracles.change(call) { $0.mutedAt = $0.mutedAt ?? now }
    case .mute(_, false): break
    case .say(let leg, _):
      schedule.add(
        .node(life: node.life, .media(call, .playEnded(leg, finished: true))),
        at: now.advanced(byMilliseconds: 4000))
    case .close:
      oracles.closed(call, in: self)
      if plants(.forgottenClose) { return }
      node.media.close(call, at: now)
      schedule.add(.node(life: node.life, .media(call, .closed)), at: now.advanced(byMicroseconds: 500))
    case .attach, .join, .detach, .restartICE, .sendDigits, .ring, .stopPlaying, .echo: break
    }
  }

  /// The app's handshake is done, where the app is there.
  func secure(_ call: CallID, _ node: SimulatedNode) {
    guard let bridge = node.media.bridges[call], !bridge[.near].isSecured else { return }
    guard isOnline(call) else {
      return schedule.add(.secure(life: node.life, call), at: now.advanced(byMilliseconds: 1000))
    }
    bridge[.near].isSecured = true
    handle(.media(call, .secured(.near)), life: node.life)
    updateMedia(bridge, node)
  }

  private func isOnline(_ call: CallID) -> Bool { appOfCall[call].map { apps[$0].isOnline(at: now) } ?? false }

  private func sends(_ leg: LegID, _ bridge: SimulatedMedia.Bridge) -> Bool {
    let state = bridge[leg]
    guard bridge.isOpen, let plan = state.plan, plan.audio.direction.receives else { return false }
    if leg == .near { return state.isSecured && isOnline(bridge.call) }
    guard let peer = legsByPort[plan.remote.port] else { return false }
    return peer.isSending && !peer.isOver && !trunks[peer.trunk].isDead
      && !network.isCut(peer.trunk, toTrunk: false, at: now)
  }

  /// Looks at every bridge: whose sound has begun, stopped or come back.
  func updateMedia() {
    guard let node else { return }
    for call in node.media.calls {
      if let bridge = node.media.bridges[call] { updateMedia(bridge, node) }
    }
  }

  /// Looks at the bridge that a trunk's leg talks to.
  func updateMedia(of leg: SimulatedTrunk.Leg) {
    guard let node, let call = node.media.call(talkingTo: leg.port), let bridge = node.media.bridges[call] else {
      return
    }
    updateMedia(bridge, node)
  }

  private func updateMedia(_ bridge: SimulatedMedia.Bridge, _ node: SimulatedNode) {
    let call = bridge.call
    for leg in [LegID.near, .far] where bridge[leg].plan != nil {
      let flows = sends(leg, bridge)
      let isNew = bridge[leg].since == .zero
      guard flows != bridge[leg].isFlowing || isNew else { continue }
      bridge[leg].isFlowing = flows
      bridge[leg].since = now
      if flows {
        if !bridge[leg].isToldOfMedia {
          bridge[leg].isToldOfMedia = true
          later(.media(call, .firstMedia(leg)), node, microseconds: 200...200)
        }
        if bridge[leg].isSilenceTold {
          bridge[leg].isSilenceTold = false
          later(.media(call, .soundAgain(leg)), node, microseconds: 200...200)
        }
      } else {
        schedule.add(
          .silence(life: node.life, call, leg, since: now),
          at: now.advanced(byMilliseconds: SimulatedMedia.silenceMilliseconds))
      }
    }
  }

  func silence(_ call: CallID, _ leg: LegID, since: MonotonicInstant, _ node: SimulatedNode) {
    guard let bridge = node.media.bridges[call], !bridge[leg].isFlowing, bridge[leg].since == since,
      !bridge[leg].isSilenceTold
    else { return }
    bridge[leg].isSilenceTold = true
    oracles.change(call) { $0.lastSound[leg] = since }
    handle(.media(call, .silence(leg)), life: node.life)
  }
}
