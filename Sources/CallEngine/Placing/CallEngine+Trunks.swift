import CallModel
import RoutingCore
import SIPCore

// MARK: Trunks and what they send of themselves

extension CallEngine {
  func signalled(_ event: UserAgentEvent) {
    switch event {
    case .trying(let handle), .progress(let handle, _), .established(let handle, _), .ended(let handle, _),
      .offered(let handle, _, _), .answered(let handle, _, _), .offerRefused(let handle, _, _), .info(let handle, _),
      .transferRequested(let handle, _, _), .transferProgress(let handle, _):
      // What comes for a handle that is forgotten crossed our hanging up.
      guard let call = context.handles[handle] else { return }
      with(call) { $0.signalled(event, of: handle) }
    case .incoming(let handle, let call): refuse(call, handle)
    case .queryAnswered(let query, let outcome): pinged(query, outcome)
    case .registration: break
    }
  }

  /// Calls from outside have nobody to go to: 403 for strangers, 480 for a number of ours, 404 for any other.
  private func refuse(_ call: IncomingCall, _ handle: CallHandle) {
    guard admission.admits(preparing: preparing) else {
      let seconds = admission.refuse(at: context.now)
      return context.emit(.sip(.reject(handle, Rejection(503, retryAfterSeconds: seconds))))
    }
    // The built-in far end calls nobody: what comes from this host is no trunk's for its sake.
    let trunk = configuration.trunks.lazy.filter { $0.trunk.name != CallTrunk.farEnd }.first { trunk in
      trunk.uri.host == call.path.remote.host || trunk.paths.contains { $0.remote.host == call.path.remote.host }
    }
    guard let trunk else {
      context.log(.warning, nil, "an INVITE came from \(call.path.remote.host), which is no trunk's address")
      return context.emit(.sip(.reject(handle, Rejection(403))))
    }
    let isOurs =
      CallEngine.number(of: call.target).map { number in
        configuration.trunks.contains { $0.identity.ownedNumbers?.contains(number) ?? false }
      } ?? false
    context.log(.info, nil, "a call from trunk \(trunk.trunk.name) is refused: \(isOurs ? "480" : "404")")
    context.emit(.sip(.reject(handle, Rejection(isOurs ? 480 : 404))))
  }

  /// The number that a URI's user part is, with or without `+`.
  static func number(of uri: SIPURI) -> E164Number? {
    guard let user = uri.user else { return nil }
    return try? E164Number(user.hasPrefix("+") ? user : "+" + user)
  }

  // MARK: Pings

  func advance(trunk name: String) {
    let isDue = context.changeHealth(of: name) { $0.health.advance(to: context.now, into: &$1) }
    guard isDue, let trunk = context.trunks[name] else { return }
    lastQuery += 1
    let query = QueryID(lastQuery)
    pings[query] = (name, context.now)
    context.emit(
      .sip(
        .ping(
          query,
          OutgoingQuery(
            target: trunk.uri, routes: trunk.proxies, paths: trunk.paths,
            from: NameAddress(SIPURI(scheme: .sip, user: "landline", host: trunk.identity.domain)),
            account: trunk.account))))
  }

  private func pinged(_ query: QueryID, _ outcome: QueryOutcome) {
    guard let (name, sentAt) = pings.removeValue(forKey: query) else { return }
    if context.trunks[name] != nil {
      roundTrips[name] = outcome.status == nil ? nil : context.now.microseconds(since: sentAt)
      context.emit(.pinged(trunk: name, microseconds: roundTrips[name]))
    }
    let health: TrunkHealth.Outcome
    switch (outcome.status, outcome.failure) {
    case (let status?, _): health = .answered(status: status, retryAfterSeconds: nil)
    case (nil, .transport): health = .transportFailed
    case (nil, .timeout), (nil, .missingAcknowledgement), (nil, nil): health = .timedOut
    }
    context.changeHealth(of: name) { $0.health.pingEnded(health, at: context.now, into: &$1) }
  }
}
