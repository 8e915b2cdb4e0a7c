import CallModel
import SIPCore

// MARK: - What must hold

extension SignallingScene {
  /// While both sides are up and negotiate nothing, each believes what the other does.
  func compareDescriptions(_ call: SimulatedCall) {
    guard call.damages == 0 else { return }
    let up = call.callees.filter(\.isUp)
    guard call.caller.isUp, up.count == 1, let callee = up.first, !call.caller.isNegotiating, !callee.isNegotiating
    else {
      return
    }
    guard call.caller.local != callee.remote || call.caller.remote != callee.local else {
      call.descriptionsDifferSince = nil
      return
    }
    let since = call.descriptionsDifferSince ?? now
    call.descriptionsDifferSince = since
    // The answer to a refresh is on its way, which the side that refreshes knows nothing of.
    guard !call.hasMovedOn || now.milliseconds(since: since) > SignallingScene.longestDifference else { return }
    fail(
      call.number,
      "the sides believe in different sessions: \(line(call.caller.local)) with \(line(call.caller.remote)) here, "
        + "\(line(callee.local)) with \(line(callee.remote)) there")
  }

  private func line(_ body: MessageBody?) -> String {
    guard let body else { return "none" }
    let lines = String(decoding: body.bytes, as: UTF8.self).split(separator: "\r\n")
    return lines.dropFirst().prefix(2).joined(separator: " ")
  }

  /// What the end of one side says of the other, as soon as it is told.
  func checkEnd(of leg: SimulatedLeg, _ call: SimulatedCall) {
    compareDescriptions(call)
    guard let end = leg.end else { return }
    switch end.cause {
    case .local:
      if leg.hungUpAt == nil, leg.rejectedWith == nil {
        fail(call.number, "agent \(leg.party) says that we hung up, and nobody did")
      }
    case .remote:
      let others = leg.isCaller ? call.callees : [call.caller]
      // Only an end over there sends BYE or CANCEL; a caller that gives up has not heard its own end yet.
      let isExplained = others.contains { $0.end != nil || $0.hungUpAt != nil || isRingTimeDue($0, call) }
      if !isExplained { fail(call.number, "agent \(leg.party) was hung up on by nobody") }
    case .failed: break
    }
    if leg.isCaller, leg.establishedAt == nil, let status = end.failure?.sipStatus,
      CallScript.ownStatuses.contains(status), !call.callees.contains(where: { $0.rejectedWith == status })
    {
      fail(call.number, "the call failed with \(status), which nobody sent")
    }
    for information in leg.informations {
      let senders = leg.isCaller ? call.callees : [call.caller]
      if !senders.contains(where: { $0.sentInformations.contains(information) }) {
        fail(call.number, "an INFO arrived that nobody sent")
      }
    }
  }

  /// Whether the caller's agent may have given up by itself: CANCEL for a ring time, a path without answer, or an offer
  /// without answer.
  private func isRingTimeDue(_ caller: SimulatedLeg, _ call: SimulatedCall) -> Bool {
    caller.isCaller
      && (call.isUncooperative || now.milliseconds >= call.script.startsAt + min(4000, call.script.ringTimeout))
  }

  /// Everything is over: nothing may be left, and the two stories must fit.
  func checkRest() {
    for party in parties {
      let left = party.agent.holdings.filter { $0.value != 0 }
      guard left.isEmpty else {
        let what = left.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        return fail(nil, "agent \(party.index) still holds \(what)")
      }
      let counters = party.agent.counters
      guard counters.calls == 0, counters.dialogs == 0, counters.transactions == 0 else {
        return fail(nil, "agent \(party.index) still counts something")
      }
      guard counters.unbuildable == 0 else {
        return fail(nil, "agent \(party.index) could not build \(counters.unbuildable) messages")
      }
    }
    for call in calls where violation == nil { checkStories(call) }
  }

  private func checkStories(_ call: SimulatedCall) {
    let caller = call.caller
    let sides = ([caller] + call.callees).map(\.summary).joined(separator: " / ")
    counts.outcomes[sides, default: 0] += 1
    digest(sides)
    for leg in [caller] + call.callees where leg.end == nil {
      return fail(call.number, "agent \(leg.party) never told the end: \(sides)")
    }
    let established = call.callees.filter { $0.establishedAt != nil }
    if caller.establishedAt != nil, !established.isEmpty { counts.established += 1 }
    // The answer comes before either side is up, and the caller's ACK before the callee is.
    if let up = caller.establishedAt, !call.callees.contains(where: { $0.acceptedAt.map { $0 <= up } ?? false }) {
      return fail(call.number, "up at the caller, and nobody accepted: \(sides)")
    }
    for callee in established {
      let answered = [caller.establishedAt, caller.endedAt].compactMap { $0 }.min()
      guard let answered, let up = callee.establishedAt, answered <= up else {
        return fail(call.number, "up at the callee before the caller acknowledged: \(sides)")
      }
    }
    if established.count > 1 { return fail(call.number, "up more than once: \(sides)") }
    if call.losses == 0, !call.isUncooperative { checkUndisturbed(call, sides) }
  }

  /// Rules that only a loss could excuse.
  private func checkUndisturbed(_ call: SimulatedCall, _ sides: String) {
    let caller = call.caller
    for callee in call.callees where callee.acceptedAt != nil && callee.establishedAt == nil {
      // A request of the callee's that met the end of the caller's side.
      if callee.end?.failure?.sipStatus == 481, let gone = caller.endedAt, let end = callee.endedAt, gone <= end {
        continue
      }
      guard callee.end?.cause != .failed else {
        return fail(call.number, "accepted, and its ACK never came though nothing was lost: \(sides)")
      }
    }
    if caller.establishedAt != nil {
      guard let callee = call.callees.first(where: { $0.acceptedAt != nil }), let mine = caller.end,
        let his = callee.end
      else { return }
      // One side hangs up and the other hears of it, or both hang up at once.
      let causes = (mine.cause, his.cause)
      switch causes {
      case (.local, .remote), (.remote, .local), (.local, .local): break
      // A request that met the end before the BYE did.
      case (.failed, .local) where mine.failure?.sipStatus == 481: break
      case (.local, .failed) where his.failure?.sipStatus == 481: break
      default: return fail(call.number, "the ends do not fit though nothing was lost: \(sides)")
      }
      guard let first = caller.endedAt, let second = callee.endedAt else { return }
      if abs(first.milliseconds(since: second)) > SignallingScene.longestDifference {
        fail(call.number, "one side went on for \(abs(first.milliseconds(since: second))) ms: \(sides)")
      }
      return
    }
    guard let end = caller.end else { return }
    if end.failure?.code == .transport, !call.isUnlocatable {
      return fail(call.number, "failed for the network though nothing was lost: \(sides)")
    }
    if let callee = call.callees.last, callee.end?.cause == .local, let status = callee.rejectedWith,
      callee.hungUpAt == nil, end.cause == .failed, end.failure?.code != .noAnswer, status != 302, status != 503,
      end.failure?.sipStatus != status
    {
      fail(call.number, "rejected with \(status), failed otherwise: \(sides)")
    }
  }
}
