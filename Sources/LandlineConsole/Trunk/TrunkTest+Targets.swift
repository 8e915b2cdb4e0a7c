import CallModel
import LandlineConfiguration
import LandlineGateway
import SIPCore

extension TrunkTest {
  /// Reaches one target and asks it OPTIONS.
  /// - Returns: `nil` where nothing of SIP answers.
  func test(_ path: SIPPath) async throws -> Reached? {
    let place = TrunkText.text(path.remote)
    strangeBytes = nil
    lastResponse = nil
    nextQuery += 1
    let query = QueryID(nextQuery)
    node?.execute(
      .ping(
        query,
        OutgoingQuery(
          target: trunk.uri, routes: trunk.proxies, paths: [path], from: NameAddress(address), account: trunk.account)))
    if path.remote.transport == .udp {
      let sink = eventSink
      let remote = path.remote
      LocalRoute.watchForRefusal(remote, milliseconds: timeout) { sink.yield(.refused(remote)) }
    } else {
      guard try await openStream(path, place) else { return nil }
    }
    enum Answer: Sendable {
      case outcome(QueryOutcome)
      case refused
      case problem(TransportProblem)
    }
    let answer = await wait(timeout) { event -> Answer? in
      switch event {
      case .agent(.queryAnswered(query, let outcome)): .outcome(outcome)
      case .refused(path.remote): .refused
      case .problem(let problem) where problem.remote == path.remote: .problem(problem)
      default: nil
      }
    }
    let isUDP = path.remote.transport == .udp
    switch answer {
    case .outcome(let outcome):
      guard let status = outcome.status else { return try await unanswered(path, place, nil) }
      if isUDP { try report(TrunkStep(.reachability, .ok, "answers", target: place)) }
      try report(optionsStep(outcome, status, place))
      return Reached(path: path, status: status)
    case .refused:
      try report(
        TrunkStep(
          .reachability, .fail, "nobody listens there: the port is closed", target: place,
          fix: "check host, port and transport, and that the trunk lets this address in"))
      return nil
    case .problem(let problem): return try await unanswered(path, place, problem)
    case nil: return try await unanswered(path, place, nil)
    }
  }

  /// How requests outside of calls name us.
  var address: SIPURI {
    SIPURI(scheme: .sip, user: trunk.account?.username ?? "landline", host: trunk.identity.domain)
  }

  private func unanswered(_ path: SIPPath, _ place: String, _ problem: TransportProblem?) async throws -> Reached? {
    let stranger = strangeBytes.map { String(decoding: $0.prefix { $0 >= 0x20 && $0 < 0x7F }, as: UTF8.self) }
    let kind: TrunkStep.Kind = path.remote.transport == .udp ? .reachability : .options
    if let stranger {
      try report(
        TrunkStep(
          kind, .fail, "what answers there speaks no SIP: \"\(stranger)\"", target: place,
          fix: "check the port: SIP is at 5060, or at 5061 with TLS, unless the carrier says otherwise"))
    } else if problem?.kind == .framing {
      try report(
        TrunkStep(
          kind, .fail, "what answers there speaks no SIP", target: place,
          fix: "check the port: SIP is at 5060, or at 5061 with TLS, unless the carrier says otherwise",
          facts: [("problem", .text(TransportProblem.Kind.framing.rawValue))]))
    } else if let problem, problem.kind.rawValue.hasPrefix("tls.") {
      try report(tlsFailure(problem, place))
    } else if let problem {
      try report(
        TrunkStep(
          kind, .fail, "no answer to OPTIONS: \(problem.text)", target: place,
          fix: "check that SIP is spoken at this port, and that the trunk lets this address in",
          facts: [("problem", .text(problem.kind.rawValue))]))
    } else {
      let silent = "no answer to OPTIONS in \(TrunkText.duration(timeout))"
      try report(
        TrunkStep(
          kind, .fail, silent, target: place,
          fix: path.remote.transport == .udp
            ? "a firewall, a wrong port, or a trunk that ignores addresses it does not know: ask the carrier to let "
              + "this address in"
            : "the port is open: check that SIP is spoken there, or ask the carrier to let this address in"))
    }
    return nil
  }

  // MARK: Streams

  private func openStream(_ path: SIPPath, _ place: String) async throws -> Bool {
    enum Outcome: Sendable {
      case opened(StreamOpening)
      case failed(TransportProblem)
    }
    // Connecting and the handshake have the timeout each; the sweep that ends them comes a little later.
    let outcome = await wait(2 * timeout + 1500) { event -> Outcome? in
      switch event {
      case .opened(let stream) where stream.remote == path.remote: .opened(stream)
      case .problem(let problem) where problem.remote == path.remote: .failed(problem)
      default: nil
      }
    }
    switch outcome {
    case .opened(let stream):
      try report(
        TrunkStep(
          .reachability, .ok, "connected in \(stream.connectMilliseconds) ms", target: place,
          facts: [("milliseconds", .integer(stream.connectMilliseconds))]))
      if let handshake = stream.handshake { try report(tlsStep(handshake, place)) }
      return true
    case .failed(let problem):
      guard problem.kind.rawValue.hasPrefix("tls.") else {
        try report(
          TrunkStep(
            .reachability, .fail, problem.text, target: place,
            fix: "check host, port and transport, and that the trunk lets this address in",
            facts: [("problem", .text(problem.kind.rawValue))]))
        return false
      }
      try report(TrunkStep(.reachability, .ok, "connected", target: place))
      try report(tlsFailure(problem, place))
      return false
    case nil:
      try report(
        TrunkStep(
          .reachability, .fail, "no connection in \(TrunkText.duration(timeout))", target: place,
          fix: "check host and port, and that the trunk lets this address in"))
      return false
    }
  }

  // MARK: TLS

  private func tlsStep(_ handshake: TLSHandshake, _ place: String) -> TrunkStep {
    let identity =
      trunk.tls?.identity == nil ? "no client certificate was shown" : "our certificate was ready to be shown"
    let version = "TLS \(handshake.version ?? "?") in \(handshake.milliseconds) ms"
    guard let certificate = handshake.certificate else {
      return TrunkStep(.tls, .ok, version, target: place, details: [identity])
    }
    let days = days(until: certificate)
    let trust: String
    switch trunk.tls?.trust ?? .system {
    case .system: trust = "the chain leads to an authority of this system"
    case .authorities: trust = "the chain leads to a configured authority"
    case .fingerprints: trust = "the certificate is the pinned one, whatever its names and dates"
    }
    let isSoon = days < TrunkTest.expiryWarningDays
    return TrunkStep(
      .tls, isSoon ? .warn : .ok, "\(version), the certificate is good for \(days) days more", target: place,
      details: TrunkTest.details(certificate) + [trust, identity],
      fix: isSoon ? "the trunk's certificate must be renewed before it ends; then calls over TLS stop" : nil,
      facts: facts(handshake, certificate, days))
  }

  private func tlsFailure(_ problem: TransportProblem, _ place: String) -> TrunkStep {
    let certificate = problem.handshake?.certificate
    var facts: [(String, JSONValue)] = [("problem", .text(problem.kind.rawValue))]
    if let handshake = problem.handshake, let certificate {
      facts += self.facts(handshake, certificate, days(until: certificate))
    }
    return TrunkStep(
      .tls, .fail, problem.text, target: place, details: certificate.map(TrunkTest.details) ?? [],
      fix: TrunkTest.fix(problem.kind), facts: facts)
  }

  private static func fix(_ kind: TransportProblem.Kind) -> String {
    switch kind {
    case .certificateUntrusted:
      "name the authority with 'authorities' (--ca FILE), or pin the certificate with 'fingerprints' (--pin SHA256); "
        + "otherwise the trunk must send its whole chain"
    case .certificateExpired: "the trunk must renew its certificate"
    case .certificateNotYetValid: "set the clocks of both ends right"
    case .certificateName:
      "use the name of the certificate as host of the trunk's URI, or set 'wildcard-names: true' where only a wildcard is missing"
    case .certificateFingerprint: "where the trunk has renewed its certificate: pin the fingerprint that was found"
    case .rejectedByPeer, .certificateMissing: "give the certificate that the trunk knows with 'certificate' and 'key'"
    case .version: "the trunk must speak TLS 1.2 or 1.3"
    case .notTLS: "name the port of TLS, 5061 as a rule, or another transport"
    case .handshakeTimeout: "check that TLS is spoken at this port"
    default: "ask the carrier which TLS versions, cipher suites and certificates it wants"
    }
  }

  private func days(until certificate: CertificateFacts) -> Int {
    Int((Double(certificate.validUntil - settings.seconds) / 86_400).rounded(.down))
  }

  private static func details(_ certificate: CertificateFacts) -> [String] {
    let names = certificate.names.map(TrunkText.clean).joined(separator: ", ")
    return [
      "subject \(certificate.subject ?? "without name"), issued by \(certificate.issuer ?? "nobody named")",
      names.isEmpty ? "it names no host" : "it names \(names)",
      "SHA-256 \(TrunkText.hexadecimal(certificate.fingerprint))",
    ]
  }

  private func facts(
    _ handshake: TLSHandshake, _ certificate: CertificateFacts, _ days: Int
  ) -> [(String, JSONValue)] {
    [
      ("version", handshake.version.map { .text($0) } ?? .null), ("milliseconds", .integer(handshake.milliseconds)),
      ("subject", certificate.subject.map { .text($0) } ?? .null),
      ("issuer", certificate.issuer.map { .text($0) } ?? .null),
      ("names", .array(certificate.names.map { .text($0) })), ("days_left", .integer(Int64(days))),
      ("sha256", .text(TrunkText.hexadecimal(certificate.fingerprint))),
    ]
  }

  // MARK: OPTIONS

  private func optionsStep(_ outcome: QueryOutcome, _ status: Int, _ place: String) -> TrunkStep {
    let phrase = TrunkText.clean(outcome.phrase)
    let line = "\(status)\(phrase.isEmpty ? "" : " \(phrase)") in \(outcome.roundTripMilliseconds) ms"
    var details: [String] = []
    let server = lastResponse.flatMap { $0.value("Server") ?? $0.value("User-Agent") }.map(TrunkText.clean)
    if let server { details.append("server \(server)") }
    if !outcome.allow.isEmpty {
      details.append("allows \(outcome.allow.prefix(32).map(TrunkText.clean).joined(separator: ", "))")
    }
    let facts: [(String, JSONValue)] = [
      ("status", .integer(Int64(status))), ("milliseconds", .integer(outcome.roundTripMilliseconds)),
      ("server", server.map { .text($0) } ?? .null), ("allow", .array(outcome.allow.prefix(32).map { .text($0) })),
      ("challenged", .boolean(outcome.wasChallenged || status == 401 || status == 407)),
    ]
    func step(_ verdict: TrunkStep.Verdict, _ text: String, fix: String? = nil) -> TrunkStep {
      TrunkStep(.options, verdict, text, target: place, details: details, fix: fix, facts: facts)
    }
    switch status {
    case 200..<300: return step(.ok, line)
    case 401, 407: return step(.ok, "alive: it wants credentials (\(line))")
    case 403:
      return step(
        .warn, "alive, but refuses (\(line))",
        fix: "ask the carrier whether this address is let in; some refuse OPTIONS alone and take calls")
    case 408, 502, 504:
      return step(
        .fail, "a proxy answers for a trunk that does not (\(line))",
        fix: "the carrier must look at what is behind its proxy; try another target")
    case 503:
      let wait = lastResponse?.value("Retry-After").map { ", again after \(TrunkText.clean($0)) s" } ?? ""
      return step(.warn, "alive, and takes no calls now\(wait) (\(line))", fix: "try again later, or ask the carrier")
    case 500...: return step(.warn, "alive, but something is wrong with it (\(line))", fix: "ask the carrier")
    default: return step(.ok, "alive: it does not like OPTIONS (\(line))")
    }
  }
}
