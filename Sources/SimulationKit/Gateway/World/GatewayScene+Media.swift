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
      if bridge.isOfTrunk(leg) {
        node.media.remember(media.remote.port, call)
      } else if !bridge[leg].isSecured {
        schedule.add(
          .secure(life: node.life, call, leg), at: now.advanced(byMilliseconds: random.number(50...600)))
      }
      updateMedia(bridge, node)
    case .mute where isSilencing: break
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
    case .attach(let leg, _, _): oracles.attaches(leg, call, in: self)
    case .join(let leg, _): oracles.joins(leg, call, in: self)
    case .detach(let leg):
      if plants(.legLeft) { return }
      oracles.detaches(leg, call, in: self)
      bridge[leg] = SimulatedMedia.Leg()
    case .enterRoom(_, let number, _): oracles.entersRoom(number + (plants(.wrongRoom) ? 1 : 0), call, in: self)
    case .restartICE, .sendDigits, .ring, .hold, .part, .stopPlaying, .echo, .adapt,
      .deafen, .record, .pauseRecording, .endRecording, .play, .playBeneath, .playInRoom, .recordingTone,
      .toneInRoom, .shareRoom:
      break
    }
  }

  /// An app's handshake is done, where the app is there.
  func secure(_ call: CallID, _ leg: LegID, _ node: SimulatedNode) {
    guard let bridge = node.media.bridges[call], let plan = bridge[leg].plan, !bridge[leg].isSecured else { return }
    guard isOnline(plan) else {
      return schedule.add(.secure(life: node.life, call, leg), at: now.advanced(byMilliseconds: 1000))
    }
    bridge[leg].isSecured = true
    handle(.media(call, .secured(leg)), life: node.life)
    updateMedia(bridge, node)
  }

  /// Whether the app that made the offer of a plan is there.
  private func isOnline(_ plan: MediaPlan) -> Bool {
    guard let index = plan.ice.flatMap({ SimulatedApp.index(ofFragment: $0.credentials.userFragment) }),
      apps.indices.contains(index)
    else { return false }
    return apps[index].isOnline(at: now)
  }

  private func sends(_ leg: LegID, _ bridge: SimulatedMedia.Bridge) -> Bool {
    let state = bridge[leg]
    guard bridge.isOpen, let plan = state.plan, plan.audio.direction.receives else { return false }
    guard bridge.isOfTrunk(leg) else { return state.isSecured && isOnline(plan) }
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
    for leg in bridge.planned {
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
