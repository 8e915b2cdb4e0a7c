import CallModel
import LandlineConfiguration
import LandlineWire
import SIPCore

extension TrunkTest {
  /// One target while it is asked.
  private struct Probe {
    enum Answer {
      case outcome(QueryOutcome)
      /// Nobody listens at this UDP port.
      case refused
      case problem(TransportProblem)
      case silent
    }

    let path: SIPPath
    let query: QueryID
    var stream: StreamOpening?
    var answer: Answer?
    /// When it is given up.
    var deadline: ContinuousClock.Instant

    var isDatagram: Bool { path.remote.transport == .udp }
  }

  /// Reaches targets and asks them OPTIONS, all at once; what is found is told in their order.
  /// - Parameter isQuiet: tells of nothing.
  /// - Returns: Those where something may speak SIP.
  func ask(_ paths: [SIPPath], isQuiet: Bool = false) async throws -> [Reached] {
    let clock = ContinuousClock()
    var probes = paths.map { begin($0, at: clock.now, isQuiet: isQuiet) }
    var reached: [Reached] = []
    var told = 0
    while told < probes.count {
      let now = clock.now
      for index in probes.indices where probes[index].answer == nil && probes[index].deadline <= now {
        probes[index].answer = .silent
      }
      while told < probes.count, let answer = probes[told].answer {
        if let found = try describe(probes[told], answer, isQuiet: isQuiet) { reached.append(found) }
        told += 1
      }
      guard let next = probes.filter({ $0.answer == nil }).map(\.deadline).min() else { continue }
      let left = Int64((next - clock.now) / .milliseconds(1))
      let event = await wait(max(left, 1)) { event -> ProbeEvent? in
        switch event {
        case .agent(.queryAnswered), .refused, .problem, .opened: event
        default: nil
        }
      }
      if let event { assign(event, in: &probes, at: clock.now) }
    }
    return reached
  }

  private func begin(_ path: SIPPath, at now: ContinuousClock.Instant, isQuiet: Bool) -> Probe {
    nextQuery += 1
    let query = QueryID(nextQuery)
    strangeBytes[path.remote] = nil
    responses[path.remote] = nil
    node?.execute(
      .ping(
        query,
        OutgoingQuery(
          target: trunk.uri, routes: trunk.proxies, paths: [path], from: NameAddress(address), account: trunk.account)))
    var patience = timeout
    if path.remote.transport == .udp {
      let sink = eventSink
      let remote = path.remote
      LocalRoute.watchForRefusal(remote, milliseconds: timeout) { sink.yield(.refused(remote)) }
    } else if !isQuiet {
      // Connecting and the handshake have the timeout each; the sweep that ends them comes a little later.
      patience = 2 * timeout + 1500
    }
    return Probe(path: path, query: query, deadline: now + .milliseconds(patience))
  }

  private func assign(_ event: ProbeEvent, in probes: inout [Probe], at now: ContinuousClock.Instant) {
    func open(_ remote: TransportAddress) -> Int? {
      probes.firstIndex { $0.path.remote == remote && $0.answer == nil }
    }
    switch event {
    case .agent(.queryAnswered(let query, let outcome)):
      // Before a stream is open, what became of the stream says more.
      guard let index = probes.firstIndex(where: { $0.query == query && $0.answer == nil }),
        probes[index].isDatagram || probes[index].stream != nil
      else { return }
      probes[index].answer = .outcome(outcome)
    case .refused(let remote):
      if let index = open(remote), probes[index].isDatagram { probes[index].answer = .refused }
    case .problem(let problem):
      if let remote = problem.remote, let index = open(remote) { probes[index].answer = .problem(problem) }
    case .opened(let stream):
      guard let index = open(stream.remote) else { return }
      probes[index].stream = stream
      probes[index].deadline = now + .milliseconds(timeout)
    default: return
    }
  }

  /// - Returns: `nil` where nothing can be sent, or what is there speaks no SIP.
  private func describe(_ probe: Probe, _ answer: Probe.Answer, isQuiet: Bool) throws -> Reached? {
    let (path, place) = (probe.path, TrunkText.text(probe.path.remote))
    var status: Int?
    if case .outcome(let outcome) = answer { status = outcome.status }
    if isQuiet { return status.map { Reached(path: path, status: $0) } }
    if probe.isDatagram {
      if case .refused = answer {
        try report(
          TrunkStep(
            .reachability, .fail, "nobody listens there: the port is closed", target: place,
            fix: "check host, port and transport, and that the trunk lets this address in"))
        return nil
      }
      if status != nil { try report(TrunkStep(.reachability, .ok, "answers", target: place)) }
    } else {
      guard let stream = probe.stream else {
        var problem: TransportProblem?
        if case .problem(let found) = answer { problem = found }
        try reportClosed(problem, place, path)
        return nil
      }
      try report(
        TrunkStep(
          .reachability, .ok, "connected in \(stream.connectMilliseconds) ms", target: place,
          facts: [("milliseconds", .integer(stream.connectMilliseconds))]))
      if let handshake = stream.handshake { try report(tlsStep(handshake, place)) }
    }
    if case .outcome(let outcome) = answer, let status {
      try report(optionsStep(outcome, status, path))
      return Reached(path: path, status: status)
    }
    var problem: TransportProblem?
    if case .problem(let found) = answer { problem = found }
    return try unanswered(path, place, problem) ? Reached(path: path, status: nil) : nil
  }

  /// Other transports of the same host, where none of the trunk's own targets answers: one of them may be what was meant.
  /// - Returns: Those that answer.
  func askElsewhere(_ paths: [SIPPath]) async throws -> [Reached] {
    guard !paths.isEmpty else { return [] }
    let reached = try await ask(paths, isQuiet: true)
    for found in reached {
      let transport = found.path.remote.transport.rawValue
      let isKnown =
        settings.listeners.isEmpty || settings.listeners.contains { $0.transport == found.path.remote.transport }
      try report(
        TrunkStep(
          .transport, .warn, "OPTIONS is answered over \(transport) (\(found.status.map(String.init) ?? "-"))",
          target: TrunkText.text(found.path.remote),
          fix: "name the transport in the trunk's URI: \(TrunkText.text(uri(over: found.path.remote)))"
            + (isKnown ? "" : "; and add a listener with 'transport: \(transport)'"),
          facts: [("transport", .string(transport))]))
    }
    if reached.isEmpty {
      let names = paths.map { TrunkText.text($0.remote) }.joined(separator: ", ")
      try report(TrunkStep(.transport, .skip, "no answer over other transports either: \(names)"))
    }
    return reached
  }

  /// The trunk's URI with the transport and port of an address that answers.
  func uri(over remote: TransportAddress) -> SIPURI {
    var uri = trunk.uri
    if uri.scheme == .sip {
      uri.parameters.removeAll { $0.name.lowercased() == "transport" }
      uri.parameters.append(SIPParameter("transport", remote.transport.rawValue))
    }
    if trunk.uri.port != nil || remote.port != remote.transport.usualPort { uri.port = remote.port }
    return uri
  }

  /// How requests outside of calls name us.
  var address: SIPURI {
    SIPURI(scheme: .sip, user: trunk.account?.username ?? "landline", host: trunk.identity.domain)
  }

  /// - Returns: Whether something that speaks SIP may be there all the same.
  private func unanswered(_ path: SIPPath, _ place: String, _ problem: TransportProblem?) throws -> Bool {
    let stranger = strangeBytes[path.remote].map {
      String(decoding: $0.prefix { $0 >= 0x20 && $0 < 0x7F }, as: UTF8.self)
    }
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
          facts: [("problem", .string(TransportProblem.Kind.framing.rawValue))]))
    } else if let problem, problem.kind.rawValue.hasPrefix("tls.") {
      try report(tlsFailure(problem, path))
    } else if let problem {
      try report(
        TrunkStep(
          kind, .fail, "no answer to OPTIONS: \(problem.text)", target: place,
          fix: "check that SIP is spoken at this port, and that the trunk lets this address in",
          facts: [("problem", .string(problem.kind.rawValue))]))
    } else {
      // Some trunks answer calls and nothing else: then the call decides.
      let goesOn = settings.number != nil
      try report(
        TrunkStep(
          kind, goesOn ? .warn : .fail,
          "no answer to OPTIONS in \(TrunkText.duration(timeout))" + (goesOn ? "; the call is tried all the same" : ""),
          target: place,
          fix: path.remote.transport == .udp
            ? "a firewall, a wrong port, or a trunk that ignores addresses it does not know: ask the carrier to let "
              + "this address in" + (goesOn ? "" : "; some answer calls alone: --number +46701234567 tries one")
            : "the port is open: check that SIP is spoken there, or ask the carrier to let this address in"))
      return true
    }
    return false
  }

  // MARK: Streams

  /// A stream that did not open.
  private func reportClosed(_ problem: TransportProblem?, _ place: String, _ path: SIPPath) throws {
    guard let problem else {
      return try report(
        TrunkStep(
          .reachability, .fail, "no connection in \(TrunkText.duration(timeout))", target: place,
          fix: "check host and port, and that the trunk lets this address in"))
    }
    guard problem.kind.rawValue.hasPrefix("tls.") else {
      return try report(
        TrunkStep(
          .reachability, .fail, problem.text, target: place,
          fix: "check host, port and transport, and that the trunk lets this address in",
          facts: [("problem", .string(problem.kind.rawValue))]))
    }
    try report(TrunkStep(.reachability, .ok, "connected", target: place))
    try report(tlsFailure(problem, path))
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

  /// The TLS library stops at the first fault; the certificate that it saw may have more, and all have to be mended.
  private func tlsFailure(_ problem: TransportProblem, _ path: SIPPath) -> TrunkStep {
    let certificate = problem.handshake?.certificate
    var facts: [(String, JSONValue)] = [("problem", .string(problem.kind.rawValue))]
    if let handshake = problem.handshake, let certificate {
      facts += self.facts(handshake, certificate, days(until: certificate))
    }
    var faults = [(problem.kind, problem.text)]
    if let certificate, problem.kind.isAboutCertificate {
      for fault in self.faults(of: certificate, path) where fault.0 != problem.kind { faults.append(fault) }
    }
    facts.append(("faults", .array(faults.map { .string($0.0.rawValue) })))
    return TrunkStep(
      .tls, .fail, faults.map(\.1).joined(separator: "; "), target: TrunkText.text(path.remote),
      details: certificate.map(TrunkTest.details) ?? [],
      fix: faults.map { TrunkTest.fix($0.0) }.joined(separator: "; "), facts: facts)
  }

  /// What is wrong with a certificate whatever else is: its dates, its names, who signed it.
  private func faults(of certificate: CertificateFacts, _ path: SIPPath) -> [(TransportProblem.Kind, String)] {
    var faults: [(TransportProblem.Kind, String)] = []
    if case .fingerprints = trunk.tls?.trust { return faults }
    let days = days(until: certificate)
    if certificate.validUntil < settings.seconds {
      faults.append((.certificateExpired, "the peer's certificate expired \(-days - 1) days ago"))
    }
    if certificate.validFrom > settings.seconds {
      faults.append((.certificateNotYetValid, "the peer's certificate is not valid yet"))
    }
    let wanted = (path.serverName ?? "\(path.remote.host)").lowercased()
    let names = certificate.names.map { $0.lowercased() }
    let label = wanted.firstIndex(of: ".").map { "*" + wanted[$0...] }
    if !names.contains(wanted), !(label.map(names.contains) ?? false) {
      let shown = certificate.names.isEmpty ? "no host" : certificate.names.map(TrunkText.clean).joined(separator: ", ")
      faults.append((.certificateName, "the certificate names \(shown), not \(TrunkText.clean(wanted))"))
    }
    if let subject = certificate.subject, subject == certificate.issuer {
      faults.append((.certificateUntrusted, "the certificate signs itself"))
    }
    return faults
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
      ("version", .string(optional: handshake.version)), ("milliseconds", .integer(handshake.milliseconds)),
      ("subject", .string(optional: certificate.subject)),
      ("issuer", .string(optional: certificate.issuer)),
      ("names", .array(certificate.names.map { .string($0) })), ("days_left", .integer(Int64(days))),
      ("sha256", .string(TrunkText.hexadecimal(certificate.fingerprint))),
    ]
  }

  // MARK: OPTIONS

  private func optionsStep(_ outcome: QueryOutcome, _ status: Int, _ path: SIPPath) -> TrunkStep {
    let place = TrunkText.text(path.remote)
    let lastResponse = responses[path.remote]
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
      ("server", .string(optional: server)), ("allow", .array(outcome.allow.prefix(32).map { .string($0) })),
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

extension TransportProblem.Kind {
  /// A fault of the peer's certificate.
  fileprivate var isAboutCertificate: Bool {
    switch self {
    case .certificateUntrusted, .certificateExpired, .certificateNotYetValid, .certificateName: true
    default: false
    }
  }
}

extension SIPTransport {
  /// The port where a URI names none (RFC 3261 section 19.1.2).
  var usualPort: UInt16 { self == .tls ? 5061 : 5060 }
}
