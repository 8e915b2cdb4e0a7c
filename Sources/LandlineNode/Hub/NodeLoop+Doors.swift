import AppProtocol
import CallEngine
import CallModel
import LandlineWire
import Logging
import MediaCore
import NodeCore
import SIPCore

// MARK: - What comes in: from apps, media threads, SIP and operators

extension NodeLoop {
  /// The bell: apps have their turn.
  func rang() {
    rungAt = nil
    let entries = inbox.nextBatch()
    let now = NodeClock.now()
    let waited = entries.reduce(Int64(0)) { longest, entry in
      guard case .text(_, _, let arrival) = entry else { return longest }
      return max(longest, now.microseconds(since: arrival))
    }
    // That none of them waited tells nothing.
    if waited > AdmissionGate.lateMicroseconds { handle(.waited(NodeClock.observation(delayMicroseconds: waited))) }
    for entry in entries { handle(entry) }
  }

  func handle(_ entry: HubInbox.Entry) {
    switch entry {
    case .opened(let id, let connection, let host):
      guard !isStopped else { return connection.close(code: 1001, reason: "the gateway stops") }
      connections[id] = connection
      handle(.door(.opened(id, host: host)))
    case .text(let text, let connection, _):
      meter.appMessage(isIncoming: true)
      handle(.door(.text(connection, text)))
    case .violated(let connection, let closeCode, let problem):
      handle(.door(.violation(connection, closeCode: closeCode, problem)))
    case .ponged(let connection): handle(.door(.pong(connection)))
    case .clogged(let connection): handle(.door(.clogged(connection)))
    case .closed(let connection):
      guard connections.removeValue(forKey: connection) != nil else { return }
      handle(.door(.closed(connection)))
    }
  }

  func media(_ events: [MediaLoopEvent]) {
    let now = NodeClock.unixMicroseconds()
    for event in events where !media.keepSound(event.event, of: event.bridge) {
      let call = media.call(of: event.bridge)
      if let call { traces?.media(call, event.event, at: now) }
      guard let notice = HubMedia.notice(event.event) else { continue }
      if let call { handle(.media(call, notice)) }
      if case .closed = event.event { media.forget(event.bridge) }
    }
    completeWaiters()
  }

  func originate(_ order: OriginateOrder, answer: @escaping @Sendable (Result<CallID, CallFailure>) -> Void) {
    guard !isStopped else { return answer(.failure(.noNewCalls)) }
    let id = OriginationID(nextOrigination)
    nextOrigination += 1
    originations[id] = answer
    handle(.originate(id, order))
  }

  func order(
    _ order: CallOrder, _ call: CallID, by actor: String, answer: @escaping @Sendable (CallFailure?) -> Void
  ) {
    guard !isStopped else { return answer(.noNewCalls) }
    let id = CallOrderID(nextOrder)
    nextOrder += 1
    orders[id] = answer
    handle(.order(id, call, order, by: actor))
  }
}

// MARK: - What is said in calls and conferences

extension NodeLoop {
  /// - Parameter name: for the call's story.
  func say(
    _ sound: PlayableSound, _ name: String, in place: SayingPlace, by actor: String,
    answer: @escaping @Sendable (SayingOutcome) -> Void
  ) {
    guard !isStopped else { return answer(.refused(.noNewCalls)) }
    let prepared = media.prepare(sound, name)
    // The orders are carried out before this returns.
    defer { media.forget(prepared) }
    let told: @Sendable (CallFailure?) -> Void = { refusal in
      answer(refusal.map { .refused($0) } ?? .said(milliseconds: prepared.milliseconds))
    }
    switch place {
    case .call(let call, _, let sides): order(.say(prepared, to: sides), call, by: actor, answer: told)
    case .beneath(let call, _): order(.sayBeneath(prepared), call, by: actor, answer: told)
    case .conference(let room):
      guard let report = core.room(room) else { return answer(.unknown) }
      if let refusal = report.refusal(of: .say(prepared)) { return answer(.refused(refusal)) }
      handle(.room(room, .say(prepared), by: actor))
      answer(.said(milliseconds: prepared.milliseconds))
    }
  }
}

extension NodeLoop: SIPTransportsDelegate {
  func received(_ bytes: [UInt8], from path: SIPPath) {
    meter.sip(bytes)
    handle(.sip(bytes, path))
  }

  func failed(_ transaction: TransactionID) { handle(.unsent(transaction)) }

  func report(_ problem: TransportProblem) {
    log.log(
      level: problem.kind == .stranger ? .notice : .debug, "sip transport", metadata: ["problem": "\(problem)"])
    traces?.problem(problem, at: NodeClock.unixMicroseconds())
  }

  func knows(_ host: SIPHost) -> Bool { core.knows(host) }
}
