import CallModel
import LandlineConfiguration
import LandlineWire
import SIPCore

extension TrunkTest {
  /// Registers the account, and takes the registration back.
  func register(_ path: SIPPath) async throws {
    guard let account = trunk.account, let host = trunk.uri.host else {
      return try report(
        TrunkStep(.register, .fail, "there is no account to register", fix: "'account' in the trunk, or --user"))
    }
    nextQuery += 1
    let query = QueryID(nextQuery)
    let place = TrunkText.text(path.remote)
    let registration = OutgoingRegistration(
      registrar: SIPURI(scheme: trunk.uri.scheme, user: nil, host: host), routes: trunk.proxies, paths: [path],
      address: NameAddress(SIPURI(scheme: trunk.uri.scheme, user: account.username, host: host)),
      contactUser: account.username, account: account, expires: trunk.registrationSeconds ?? 300)
    node?.execute(.register(query, registration))
    let state = await wait(timeout) { event -> RegistrationState? in
      guard case .agent(.registration(query, let state)) = event, state != .registering else { return nil }
      return state
    }
    switch state {
    case .registered(let seconds):
      node?.execute(.unregister(query))
      let end = await wait(timeout) { event -> RegistrationState? in
        guard case .agent(.registration(query, let state)) = event else { return nil }
        return state
      }
      let details = end == .unregistered ? ["and taken back"] : ["taking it back was not answered: it ends by itself"]
      try report(
        TrunkStep(
          .register, end == .unregistered ? .ok : .warn, "registered for \(seconds) s", target: place,
          details: details, facts: [("seconds", .integer(Int64(seconds)))]))
    case .retrying(let failure, _), .failed(let failure):
      let text = TrunkTest.text(failure)
      if failure.kind == .credentials { hasRefusedAccount = true }
      try report(
        TrunkStep(
          .register, .fail, text.found, target: place, fix: text.fix,
          facts: [
            ("failure", .string(failure.kind.rawValue)),
            ("status", failure.status.map { .integer(Int64($0)) } ?? .null),
          ]))
      node?.execute(.unregister(query))
    case .registering, .unregistered, nil:
      try report(
        TrunkStep(
          .register, .fail, "no answer to REGISTER in \(TrunkText.duration(timeout))", target: place,
          fix: "ask the carrier whether this trunk registers at all, and where"))
      node?.execute(.unregister(query))
    }
  }

  private static func text(_ failure: RegistrationFailure) -> (found: String, fix: String) {
    let status = failure.status.map { " (\($0) \(TrunkText.clean(failure.phrase)))" } ?? ""
    return switch failure.kind {
    case .unreachable: ("nothing answers\(status)", "check host and port of the registrar")
    case .temporary: ("the registrar cannot do it now\(status)", "try again later, or ask the carrier")
    case .credentials:
      (
        "the credentials are refused\(status)",
        "check user, password and realm; the gateway does not try again by itself"
      )
    case .refused:
      (
        "the registrar does not want this user\(status)",
        "ask the carrier whether the user exists and may register from here"
      )
    case .malformed: ("the answer makes no sense\(status)", "the carrier's registrar is broken: show it the answer")
    }
  }

  /// What challenges said so far. Calls may be challenged though nothing else is.
  func authenticationStep(_ best: Reached) -> TrunkStep {
    let asked = challenges.first
    guard let asked else {
      return TrunkStep(
        .authentication, .skip, "nothing was challenged",
        details: trunk.account == nil ? [] : ["the account was not needed: calls may be let in by address"])
    }
    let challenge = asked.challenge
    let algorithms = unique(challenges.map { $0.challenge.algorithmToken ?? "MD5" })
    let text =
      "realm \"\(TrunkText.clean(challenge.realm))\", \(algorithms.map(TrunkText.clean).joined(separator: ", "))"
    let facts: [(String, JSONValue)] = [
      ("realm", .string(challenge.realm)), ("algorithms", .array(algorithms.map { .string($0) })),
      ("methods", .array(unique(challenges.map(\.method)).map { .string($0) })),
    ]
    guard let account = trunk.account else {
      return TrunkStep(
        .authentication, .warn, "\(asked.method) is challenged, and there are no credentials: \(text)",
        fix: "'account' with username and password-file in the trunk, or --user and --password-file", facts: facts)
    }
    if let realm = account.realm, realm != challenge.realm {
      return TrunkStep(
        .authentication, .fail, "the realm is another one: \(text)",
        fix: "set 'realm: \(TrunkText.clean(challenge.realm))', or leave it out", facts: facts)
    }
    if challenge.algorithm.map({ !account.algorithms.contains($0) }) ?? true,
      !challenges.contains(where: { $0.challenge.algorithm.map { account.algorithms.contains($0) } ?? false })
    {
      return TrunkStep(
        .authentication, .fail, "no algorithm in common: \(text)",
        fix: "allow one of them with 'algorithms'", facts: facts)
    }
    if best.status == 401 || best.status == 407 || hasRefusedAccount {
      return TrunkStep(
        .authentication, .fail, "the credentials are refused: \(text)", fix: "check username, password and realm",
        facts: facts)
    }
    return TrunkStep(.authentication, .ok, "the credentials are accepted: \(text)", facts: facts)
  }

  private func unique(_ texts: [String]) -> [String] {
    var all: [String] = []
    for text in texts where !all.contains(text) { all.append(text) }
    return all
  }
}
