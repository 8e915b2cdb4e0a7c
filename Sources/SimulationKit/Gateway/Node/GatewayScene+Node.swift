import AppProtocol
import CallEngine
import CallModel
import LedgerCore
import NodeCore
import SIPCore

// MARK: - The node: what it is told, and what becomes of its effects

extension GatewayScene {
  /// What the node's clocks show.
  var time: NodeTime { NodeTime(now: now, clock: clock) }

  func handle(_ input: NodeInput, life: Int) {
    guard let node, node.life == life else { return }
    touchNode()
    steps += 1
    var effects: [NodeEffect] = []
    node.core.handle(input, at: time, into: &effects)
    var touchesRooms = false
    for effect in effects where violation == nil {
      perform(effect, node)
      if case .media(_, .enterRoom) = effect { touchesRooms = true }
      if case .media(_, .close) = effect { touchesRooms = true }
    }
    if touchesRooms, violation == nil { oracles.checkRooms(in: self) }
  }

  /// Something that the node hears a little later.
  func later(_ input: NodeInput, _ node: SimulatedNode, microseconds: ClosedRange<Int64>) {
    schedule.add(.node(life: node.life, input), at: now.advanced(byMicroseconds: random.number(microseconds)))
  }

  private func perform(_ effect: NodeEffect, _ node: SimulatedNode) {
    switch effect {
    case .started: node.isServing = true
    case .startFailed: restart()
    case .sendText(let connection, let text):
      guard let link = node.links[connection] else { return }
      oracles.appFrame(text, in: self)
      for frame in tampered(text, link) { send(.text(frame), link, toNode: false) }
    case .ping(let connection): if let link = node.links[connection] { send(.ping, link, toNode: false) }
    case .close(let connection, let code, _):
      if let link = node.links.removeValue(forKey: connection) { send(.close(code), link, toNode: false) }
    case .verify(let id, let registration, _):
      later(.door(.verified(id, verify(registration))), node, microseconds: 1000...40_000)
    case .send(let bytes, let path, _):
      guard let index = trunks.indices.first(where: { SimulatedTrunk.address($0) == path.remote }) else {
        return fail("network", "a message for a way that does not exist")
      }
      if !isSuppressed(bytes) { relay(bytes, trunk: index, toTrunk: true) }
    case .locate: fail("network", "a question where a trunk lives")
    case .fetch: fail("network", "a certificate is to be fetched, and no trunk verifies callers")
    case .ignoreStranger: fail("network", "a trunk is taken for a stranger")
    case .prepare(let call, let needs): prepare(call, needs, node)
    case .media(let call, let order): perform(order, call, node)
    case .bill(_, let errand): carryOut(errand, node)
    case .keep(_, let errand): carryOut(errand, node)
    case .lookUpUser(let person):
      later(
        .userLookedUp(person, isKnown: apps.contains { $0.user == person.user.text }), node, microseconds: 100...3000)
    case .readPayer(let environment, let account):
      let payer = Payer(
        environment: environment, account: account, currency: .eur, plan: ratePlan, denyRanges: denyRanges)
      later(.payer(environment: environment, account, .success(payer)), node, microseconds: 100...3000)
    case .changed(let snapshot): oracles.changed(snapshot, in: self)
    case .record(let record): observe(record, node)
    case .trace(let entry): observe(entry, node)
    case .velocity: count("rule of an hour reached")
    case .log(let entry): observe(entry)
    case .recordRoom: fail("media", "a conference is recorded, and none is called")
    case .originated(_, .success(let call)): oracles.change(call) { $0.placed += 1 }
    case .ordered, .originated, .statistics, .keepTrace, .journal, .billed: break
    }
  }

  private func observe(_ entry: TraceEntry, _ node: SimulatedNode) {
    switch entry {
    case .began(let snapshot):
      oracles.began(snapshot, life: node.life)
    case .told(let session, let event):
      oracles.told(session, event, in: self)
      if case .ended = event, plants(.endTwice) { oracles.told(session, event, in: self) }
    case .dialog(let sipCallID, let call, _, _, _): oracles.dials(sipCallID, call, life: node.life, in: self)
    case .request, .sessionEnded, .message, .plan, .invited, .joined: break
    }
  }

  private func observe(_ entry: NodeLogEntry) {
    let facts = entry.facts.map { " \($0.name)=\($0.value)" }.joined()
    let message = entry.message + facts + (plants(.secretInLog) ? " " + GatewayScene.trunkPassword : "")
    note { "log \(entry.level) \(message)" }
    digest.add(message)
    oracles.secrets(Array(message.utf8), .log, in: self)
    if entry.level == .error { logErrors += 1 }
  }
}
