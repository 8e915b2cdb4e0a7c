import CallEngine
import CallModel
import RoutingCore
import SIPCore

// MARK: - SIP: what comes, what goes, and what is kept of it

extension NodeCore {
  /// The node's life begins: trunks are registered with, and legs of an earlier life are ended.
  func beginSIP() {
    for (index, registration) in configuration.registrations.enumerated() {
      perform(.register(QueryID(NodeCore.firstRegistration + UInt64(index)), registration))
    }
    releaseLeftOver()
  }

  /// Ends what the last life left at the trunks.
  private func releaseLeftOver() {
    guard !configuration.leftOver.isEmpty else { return }
    log(.notice, "legs of an earlier life are ended", ["legs": "\(configuration.leftOver.count)"])
    for (index, left) in configuration.leftOver.enumerated() {
      let handle = CallHandle(NodeCore.firstRelease + UInt64(index))
      dialogs.adopt(handle, left)
      let account = settings.engine.trunks.first { $0.trunk.name == left.trunk }?.account
      guard let leg = left.leg(over: configuration.agent.addresses, account: account) else {
        log(.warning, "a leg of an earlier life cannot be ended", ["trunk": left.trunk])
        journal(dialogs.ended(handle))
        continue
      }
      perform(.release(handle, leg))
    }
  }

  func receive(_ bytes: [UInt8], from path: SIPPath) {
    let message = agent.receive(bytes, from: path, at: time.now, into: &agentEffects)
    if message.isOfStranger { effects.append(.ignoreStranger(path)) }
    if let sipCallID = message.callID {
      journal(dialogs.received(bytes, message))
      let fresh = agentEffects.lazy.compactMap { effect -> CallHandle? in
        if case .event(.incoming(let handle, _)) = effect { handle } else { nil }
      }.first
      if let fresh, freshInvites.count < NodeCore.maximumFreshInvites {
        // Its call does not exist yet.
        freshInvites[fresh] = FreshInvite(bytes: bytes, path: path)
      } else {
        trace(.message(bytes, sipCallID: sipCallID, isSent: false, path))
      }
    }
    performAgentEffects()
  }

  /// A trunk is about to be called.
  func dialled(_ handle: CallHandle, _ plan: OutgoingCall) {
    guard let sipCallID = plan.callID, let attempt = engine.attempt(handle) else { return }
    trace(
      .dialog(
        sipCallID: sipCallID, call: attempt.call, leg: attempt.leg,
        trunk: settings.engine.trunks.first { $0.trunk.name == attempt.trunk }, name: attempt.trunk))
    guard configuration.keepsJournal, attempt.trunk != configuration.innerTrunk else { return }
    let isKept = dialogs.begin(handle, sipCallID: sipCallID, trunk: attempt.trunk, at: time.clock)
    if !isKept, !isJournalFull {
      log(.warning, "the journal of dialogs is full", ["legs": "\(DialogBook.maximumLegs)"])
    }
    isJournalFull = !isKept
  }

  func perform(_ command: UserAgentCommand) {
    agent.handle(command, at: time.now, into: &agentEffects)
    performAgentEffects()
  }

  private func journal(_ entry: JournalEntry?) { if let entry { effects.append(.journal(entry)) } }

  func performAgentEffects() {
    var told: [UserAgentEffect] = []
    swap(&told, &agentEffects)
    for effect in told {
      switch effect {
      case .send(let bytes, let path, let message):
        // On disk before it is on the wire: whatever the peer has heard of can be ended by a later life.
        if message.isInvite { journal(dialogs.sent(bytes, message, on: path)) }
        trace(.message(bytes, sipCallID: message.callID, isSent: true, path))
        effects.append(.send(bytes, path, message.transaction))
      case .locate(let location, let uri):
        peerNames.ask(location, uri.host)
        effects.append(.locate(location, uri))
      case .event(let event): heard(event)
      }
    }
    told.removeAll(keepingCapacity: true)
    swap(&told, &agentEffects)
  }

  private func heard(_ event: UserAgentEvent) {
    switch event {
    case .registration(let query, let state) where query.number >= NodeCore.firstRegistration:
      log(.notice, "registration with a trunk", ["state": "\(state)"])
    case .ended(let handle, _):
      freshInvites[handle] = nil
      journal(dialogs.ended(handle))
      // Legs of an earlier life are no concern of the engine.
      let isLeftOver = (NodeCore.firstRelease..<NodeCore.firstRegistration).contains(handle.number)
      if !isLeftOver { later(.engine(.sip(event))) }
    case .incoming(let handle, let call):
      if let name = call.phone { phoneCalls(handle, call, name) } else { arrived(handle, call) }
    case .phoneBindings(let name, let bindings): registered(name, bindings)
    default: later(.engine(.sip(event)))
    }
  }
}
