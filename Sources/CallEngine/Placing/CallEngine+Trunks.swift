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
      guard let call = context.handles[handle] else {
        // The caller gave up while its payer was being read.
        if case .ended = event {
          arrivals[handle] = nil
          phoneArrivals[handle] = nil
        }
        return
      }
      if case .transferRequested(_, let target, let replaces) = event {
        return transferRequested(handle, of: call, to: target, replaces: replaces)
      }
      with(call) { $0.signalled(event, of: handle) }
    case .incoming(let handle, let call): arrived(handle, call)
    case .queryAnswered(let query, let outcome): pinged(query, outcome)
    case .registration, .phoneBindings: break
    }
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
