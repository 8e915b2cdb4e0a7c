import CallModel

/// What a ``LocationMachine`` wants, in order.
public enum LocationEffect: Hashable, Sendable {
  case ask(DNSQuestion)
  /// The last effect.
  case finished(LocationResult)
}

/// Finds where a SIP URI lives (RFC 3263 section 4): questions out, answers in, a list of targets at the end.
///
/// ```
/// start ─ numeric host ──────────────────────────────────────────► finished
///   │ ├── port given ───────────────────────────► addresses ─────► finished
///   │ └── transport given ────────► services ────►    ▲
///   └──── neither ────► pointers ──►    │             │
///                                       └─ no SRV ────┘
/// ```
///
/// - `maddr` is refused: it would send a request for one host to another that the caller names.
/// - `sips` and `transport=tls` go over TLS only; nothing falls back from TLS.
/// - A server that fails on NAPTR or SRV (SERVFAIL and the like) counts as one without such records; servers that do
///   not answer at all end the search, as the next question would meet the same silence.
/// - NAPTR records of services other than SIP are as good as none; where all of SIP's are for transports that this node
///   lacks, there is no transport in common.
/// - An SRV answer of `.` alone says that the service is not there: no guess follows.
/// - Addresses of any range are taken; what may be called is decided elsewhere.
public struct LocationMachine: Sendable {
  /// A name to ask SRV for, and what its hosts are spoken to with.
  private struct Service: Hashable {
    let transport: SIPTransport
    let question: DNSQuestion
  }

  /// A host name and where on it.
  private struct Host: Hashable {
    let transport: SIPTransport
    let name: String
    let port: UInt16
  }

  private enum State {
    case idle
    /// NAPTR is asked.
    case pointers
    /// SRV is asked; `fallback` is used where nothing is found.
    case services([Service], fallback: SIPTransport?)
    /// A and AAAA are asked.
    case addresses([Host])
    case finished
  }

  private let uri: SIPURI
  private let policy: LocationPolicy
  private let identifiers: IdentifierSource
  private var state = State.idle
  private var waiting: Set<DNSQuestion> = []
  private var answers: [DNSQuestion: DNSAnswer] = [:]

  /// Asks nothing before ``start(into:)``; `identifiers` draws the order of SRV records of one priority.
  public init(_ uri: SIPURI, policy: LocationPolicy, identifiers: IdentifierSource) {
    self.uri = uri
    self.policy = policy
    self.identifiers = identifiers
  }

  /// Whether the result has been told.
  public var isFinished: Bool {
    if case .finished = state { return true }
    return false
  }

  /// Begins; a second call changes nothing.
  public mutating func start(into effects: inout [LocationEffect]) {
    guard case .idle = state else { return }
    guard uri.scheme != .tel, let host = uri.host else {
      return fail(.unusableURI, "a \(uri.scheme.rawValue) URI has no host", into: &effects)
    }
    guard uri.parameters["maddr"] == nil else {
      return fail(.unusableURI, "maddr is not followed", into: &effects)
    }
    let asked: SIPTransport?
    switch askedTransport() {
    case .success(let transport): asked = transport
    case .failure(let failure): return finish(.failed(failure), into: &effects)
    }

    switch host {
    case .ipv4, .ipv6:
      guard let family = host.family, policy.families.contains(family) else {
        return fail(.noSupportedTransport, "\(host) is of a family this node does not have", into: &effects)
      }
      guard let transport = asked ?? plainTransport else { return failWithoutPlainTransport(into: &effects) }
      let address = TransportAddress(transport, host, port: uri.port ?? defaultPort(transport))
      finish(.found([target(address)]), into: &effects)
    case .name(let name):
      guard DNSQuestion.isHostName(DNSQuestion.normalized(name)) else {
        return fail(.noSuchHost, name, into: &effects)
      }
      if let port = uri.port {
        guard let transport = asked ?? plainTransport else { return failWithoutPlainTransport(into: &effects) }
        askAddresses([Host(transport: transport, name: name, port: port)], into: &effects)
      } else if let asked {
        askServices([service(asked, of: name)], fallback: asked, into: &effects)
      } else {
        state = .pointers
        ask([DNSQuestion(.naptr, name)], into: &effects)
      }
    }
  }

  /// An answer; one that nobody waits for changes nothing, for it may come twice or late.
  public mutating func handle(
    _ answer: DNSAnswer, to question: DNSQuestion, into effects: inout [LocationEffect]
  ) {
    guard waiting.remove(question) != nil else { return }
    answers[question] = answer
    guard waiting.isEmpty else { return }
    switch state {
    case .idle, .finished: return
    case .pointers: readPointers(answer, into: &effects)
    case .services(let services, let fallback): readServices(services, fallback: fallback, into: &effects)
    case .addresses(let hosts): readAddresses(hosts, into: &effects)
    }
  }

  // MARK: Transport (RFC 3263 section 4.1)

  /// The transport that the URI names; `nil` where it leaves the choice.
  private func askedTransport() -> Result<SIPTransport?, LocationFailure> {
    func lacking(_ subject: String) -> Result<SIPTransport?, LocationFailure> {
      .failure(LocationFailure(.noSupportedTransport, subject))
    }
    func owned(_ transport: SIPTransport) -> Result<SIPTransport?, LocationFailure> {
      policy.has(transport) ? .success(transport) : lacking("this node has no \(transport.rawValue)")
    }
    if uri.scheme == .sips, !policy.has(.tls) { return lacking("a sips URI needs tls, which this node does not have") }
    guard let parameter = uri.parameters["transport"] else { return .success(nil) }
    let written = (parameter.value ?? "").utf8.map(MessageCharacter.lowercase)
    switch (String(decoding: written, as: UTF8.self), uri.scheme) {
    case ("tls", _), ("tcp", .sips): return owned(.tls)
    case ("udp", .sips): return lacking("a sips URI cannot go over udp")
    case ("udp", _): return owned(.udp)
    case ("tcp", _): return owned(.tcp)
    default: return lacking("the transport parameter names none of udp, tcp and tls")
    }
  }

  /// The transport where neither the URI nor DNS says one: TLS for sips, else UDP, and TCP on a node without UDP.
  private var plainTransport: SIPTransport? {
    uri.scheme == .sips ? .tls : [.udp, .tcp].first(where: policy.has)
  }

  private mutating func failWithoutPlainTransport(into effects: inout [LocationEffect]) {
    fail(.noSupportedTransport, "this node has neither udp nor tcp", into: &effects)
  }

  private func defaultPort(_ transport: SIPTransport) -> UInt16 { transport == .tls ? 5061 : 5060 }

  private func service(_ transport: SIPTransport, of name: String) -> Service {
    let prefix =
      switch transport {
      case .udp: "_sip._udp."
      case .tcp: "_sip._tcp."
      case .tls: "_sips._tcp."
      }
    return Service(transport: transport, question: DNSQuestion(.srv, prefix + name))
  }

  // MARK: NAPTR

  private mutating func readPointers(_ answer: DNSAnswer, into effects: inout [LocationEffect]) {
    guard case .name(let name) = uri.host else { return }
    let records: [NAPTRRecord]
    switch answer {
    case .timedOut: return fail(.nameServersUnreachable, name, into: &effects)
    case .naptr(let found): records = found
    case .notFound, .serverFailure, .srv, .addresses: records = []
    }
    // Other applications use NAPTR under the same name.
    let ofSIP = records.filter { record in
      let services = lowercase(record.services)
      return services.hasPrefix("sip+") || services.hasPrefix("sips+")
    }
    guard !ofSIP.isEmpty else {
      let transports = uri.scheme == .sips ? [.tls] : policy.transports
      return askServices(transports.map { service($0, of: name) }, fallback: plainTransport, into: &effects)
    }
    let usable = ofSIP.compactMap { record -> (record: NAPTRRecord, service: Service)? in
      guard let transport = transport(of: record) else { return nil }
      let question = DNSQuestion(.srv, record.replacement)
      guard DNSQuestion.isHostName(question.name) else { return nil }
      return (record, Service(transport: transport, question: question))
    }
    // A higher order is never looked at once a lower one can be used (RFC 3403 section 4.1).
    guard let order = usable.map(\.record.order).min() else {
      return fail(.noSupportedTransport, "\(name) offers none that this node has", into: &effects)
    }
    let chosen = usable.enumerated()
      .filter { $0.element.record.order == order }
      .sorted { ($0.element.record.preference, $0.offset) < ($1.element.record.preference, $1.offset) }
      .prefix(max(1, policy.services)).map(\.element.service)
    askServices(chosen, fallback: chosen.first?.transport, into: &effects)
  }

  /// The transport of a record this node can follow.
  private func transport(of record: NAPTRRecord) -> SIPTransport? {
    guard lowercase(record.flags) == "s", record.regularExpression.isEmpty else { return nil }
    let transport: SIPTransport
    switch lowercase(record.services) {
    case "sip+d2u" where uri.scheme == .sip: transport = .udp
    case "sip+d2t" where uri.scheme == .sip: transport = .tcp
    case "sips+d2t": transport = .tls
    default: return nil
    }
    return policy.has(transport) ? transport : nil
  }

  private func lowercase(_ text: String) -> String {
    String(decoding: text.utf8.map(MessageCharacter.lowercase), as: UTF8.self)
  }

  // MARK: SRV (RFC 3263 section 4.2)

  private mutating func askServices(
    _ services: [Service], fallback: SIPTransport?, into effects: inout [LocationEffect]
  ) {
    // A name that has no room for the prefix has no such record.
    let askable = services.filter { $0.question.name.utf8.count <= DNSQuestion.maximumNameBytes }
    state = .services(askable, fallback: fallback)
    guard !askable.isEmpty else { return readServices([], fallback: fallback, into: &effects) }
    ask(askable.map(\.question), into: &effects)
  }

  private mutating func readServices(
    _ services: [Service], fallback: SIPTransport?, into effects: inout [LocationEffect]
  ) {
    guard case .name(let name) = uri.host else { return }
    var hosts: [Host] = []
    var isRefused = false
    var hasTimedOut = false
    for service in services {
      switch answers[service.question] {
      case .srv(let records):
        let ordered = ServiceOrder.ordered(
          records.filter(isUsable), limit: policy.recordsOfService, identifiers: identifiers)
        hosts += ordered.map {
          Host(transport: service.transport, name: DNSQuestion.normalized($0.target), port: $0.port)
        }
        if records.contains(where: { DNSQuestion.normalized($0.target).isEmpty }) { isRefused = true }
      case .timedOut: hasTimedOut = true
      case .notFound, .serverFailure, .naptr, .addresses, nil: break
      }
    }
    if !hosts.isEmpty {
      askAddresses(hosts, into: &effects)
    } else if hasTimedOut {
      fail(.nameServersUnreachable, name, into: &effects)
    } else if isRefused {
      fail(.noSupportedTransport, "\(name) says that it does not offer the service", into: &effects)
    } else if let fallback {
      askAddresses([Host(transport: fallback, name: name, port: defaultPort(fallback))], into: &effects)
    } else {
      failWithoutPlainTransport(into: &effects)
    }
  }

  private func isUsable(_ record: SRVRecord) -> Bool {
    record.port != 0 && DNSQuestion.isHostName(DNSQuestion.normalized(record.target))
  }

  // MARK: A and AAAA

  private mutating func askAddresses(_ hosts: [Host], into effects: inout [LocationEffect]) {
    var seen: Set<String> = []
    let taken = hosts.filter { seen.contains($0.name) || (seen.count < policy.hosts && seen.insert($0.name).inserted) }
    state = .addresses(taken)
    let questions = taken.flatMap { host in policy.families.map { question(host, $0) } }
    guard !questions.isEmpty else {
      return fail(.noSupportedTransport, "this node has no address family", into: &effects)
    }
    ask(questions, into: &effects)
  }

  private func question(_ host: Host, _ family: AddressFamily) -> DNSQuestion {
    DNSQuestion(family == .ipv4 ? .a : .aaaa, host.name)
  }

  private mutating func readAddresses(_ hosts: [Host], into effects: inout [LocationEffect]) {
    var targets: [LocationTarget] = []
    var seen: Set<TransportAddress> = []
    var hasFailed = false
    for host in hosts {
      for family in policy.families {
        switch answers[question(host, family)] {
        case .addresses(let found):
          for address in found.lazy.filter({ $0.family == family }).prefix(max(0, policy.addressesOfHost)) {
            let place = TransportAddress(host.transport, address, port: host.port)
            guard targets.count < policy.targets, seen.insert(place).inserted else { continue }
            targets.append(target(place))
          }
        case .timedOut, .serverFailure: hasFailed = true
        case .notFound, .naptr, .srv, nil: break
        }
      }
    }
    if !targets.isEmpty {
      finish(.found(targets), into: &effects)
    } else {
      let name = uri.host.map(\.description) ?? ""
      fail(hasFailed ? .nameServersUnreachable : .noSuchHost, name, into: &effects)
    }
  }

  private func target(_ address: TransportAddress) -> LocationTarget {
    LocationTarget(address, serverName: address.transport == .tls ? uri.host.map(\.unbracketed) : nil)
  }

  // MARK: Effects

  /// Asks each question once in the life of the machine.
  private mutating func ask(_ questions: [DNSQuestion], into effects: inout [LocationEffect]) {
    for question in questions where waiting.insert(question).inserted { effects.append(.ask(question)) }
  }

  private mutating func fail(_ kind: LocationFailure.Kind, _ subject: String, into effects: inout [LocationEffect]) {
    finish(.failed(LocationFailure(kind, subject)), into: &effects)
  }

  private mutating func finish(_ result: LocationResult, into effects: inout [LocationEffect]) {
    state = .finished
    waiting = []
    answers = [:]
    effects.append(.finished(result))
  }
}
