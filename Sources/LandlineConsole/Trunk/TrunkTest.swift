import CallModel
import LandlineConfiguration
import LandlineResolver
import LandlineWire
import NIOCore
import NIOPosix
import RoutingCore
import SIPCore

/// Looks at one trunk, from its name to a call, and tells each thing it finds as it finds it.
///
/// All that happens comes through one stream of ``ProbeEvent``, and every wait has an end, so nothing can hang. It opens
/// sockets of its own on the addresses that route to the trunk, and leaves none.
final class TrunkTest {
  /// Most targets of the trunk that are tried.
  static let maximumTargets = 4
  /// Certificates that end earlier are worth a warning.
  static let expiryWarningDays = 14

  struct Settings {
    var trunk: TrunkConfiguration
    /// As it was named on the command line.
    var name: String
    /// Where the trunk was read from; `nil` for a URI.
    var file: String?
    /// What the gateway listens on; empty where that is not known.
    var listeners: [SIPListener] = []
    var nameServers: [ResolverConfiguration.Server] = []
    var timeoutMilliseconds: Int64 = 5000
    var registers = false
    var number: E164Number?
    var caller: E164Number?
    /// How long a phone may ring before the call is taken back; 0: as soon as it rings.
    var ringMilliseconds: Int64 = 15_000
    /// How long sound is listened for.
    var soundMilliseconds: Int64 = 2_000
    /// Seconds since 1970, for what expires.
    var seconds: Int
  }

  /// A place that answered.
  struct Reached {
    let path: SIPPath
    /// Of the answer to OPTIONS; `nil` where none came.
    let status: Int?
  }

  /// A challenge that a peer gave.
  struct Challenge {
    let method: String
    let challenge: DigestChallenge
  }

  let settings: Settings
  private let tell: (TrunkStep) throws -> Void
  private let sink: AsyncStream<ProbeEvent>.Continuation
  private var events: AsyncStream<ProbeEvent>.Iterator
  private var waits = 0
  private(set) var worst = TrunkStep.Verdict.ok

  var node: SIPNode?
  /// Seen in responses since the last request, by what was parsed of them.
  var lastResponse: SIPMessage?
  var challenges: [Challenge] = []
  /// A peer that challenged refused what the account answered.
  var hasRefusedAccount = false
  /// The start of what came and was no SIP.
  var strangeBytes: [TransportAddress: [UInt8]] = [:]
  /// The latest response of each target.
  var responses: [TransportAddress: SIPMessage] = [:]
  /// What the summary is made of.
  var findings = Findings()
  var nextQuery: UInt64 = 0

  init(_ settings: Settings, tell: @escaping (TrunkStep) throws -> Void) {
    self.settings = settings
    self.tell = tell
    let (stream, sink) = AsyncStream.makeStream(of: ProbeEvent.self, bufferingPolicy: .bufferingNewest(4096))
    self.sink = sink
    events = stream.makeAsyncIterator()
  }

  /// Who calls where nobody is named: a number of the trunk's own, or its user where that is one.
  static func usualCaller(of trunk: TrunkConfiguration) -> E164Number? {
    trunk.identity.ownedNumbers?.sorted().first
      ?? trunk.account.flatMap { try? E164Number($0.username.hasPrefix("+") ? $0.username : "+" + $0.username) }
  }

  var trunk: TrunkConfiguration { settings.trunk }
  var timeout: Int64 { settings.timeoutMilliseconds }
  var nextHop: SIPURI { trunk.proxies.first ?? trunk.uri }

  func report(_ step: TrunkStep) throws {
    let order: [TrunkStep.Verdict] = [.skip, .ok, .warn, .fail]
    if (order.firstIndex(of: step.verdict) ?? 0) > (order.firstIndex(of: worst) ?? 0) { worst = step.verdict }
    findings.add(step)
    try tell(step)
  }

  // MARK: The way through

  /// - Returns: The worst verdict of all steps.
  func run() async throws -> TrunkStep.Verdict {
    try report(configurationStep)
    try await lookAtTargets()
    try report(summaryStep)
    return worst
  }

  private func lookAtTargets() async throws {
    let targets = try await locate()
    var hosts: [TransportAddress: SIPHost] = [:]
    var reachable: [LocationTarget] = []
    for target in targets {
      switch LocalRoute.address(to: target.address) {
      case .success(let host):
        hosts[target.address] = host
        reachable.append(target)
      case .failure(let problem): try report(unroutable(target, problem))
      }
    }
    guard !reachable.isEmpty else { return }
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    do {
      try await look(at: reachable, from: hosts, on: group.next())
    } catch {
      try? await node?.shutdown()
      try? await group.shutdownGracefully()
      throw error
    }
    try await node?.shutdown()
    try await group.shutdownGracefully()
  }

  private func look(
    at targets: [LocationTarget], from hosts: [TransportAddress: SIPHost], on loop: any EventLoop
  ) async throws {
    let paths = try await start(targets, from: hosts, on: loop)
    var reached = try await ask(paths)
    if !reached.contains(where: { $0.status != nil }) { reached += try await askElsewhere(otherPaths(than: paths)) }
    // What answers best is what the rest is asked of; a call may go where nothing else is answered.
    guard
      let best = reached.first(where: { $0.status.map { $0 < 300 } ?? false })
        ?? reached.first(where: { $0.status.map { $0 < 500 } ?? false }) ?? reached.first(where: { $0.status != nil })
        ?? reached.first
    else {
      if settings.registers || trunk.registrationSeconds != nil {
        try report(TrunkStep(.register, .skip, "no target answers"))
      }
      if settings.number != nil { try report(TrunkStep(.call, .skip, "no target answers")) }
      return
    }
    findings.best = best
    if settings.registers || trunk.registrationSeconds != nil { try await register(best.path) }
    if best.status != nil || !challenges.isEmpty { try report(authenticationStep(best)) }
    guard let number = settings.number else { return }
    try await call(number, on: best.path)
  }

  /// The same hosts over transports that none of the targets has, at the usual port or the one that the URI names.
  private func otherPaths(than paths: [SIPPath]) -> [SIPPath] {
    guard let node, trunk.uri.scheme == .sip else { return [] }
    let listeners = node.configuration.listeners
    var name: String?
    if case .name(let text)? = nextHop.host { name = text }
    var others: [SIPPath] = []
    for path in paths {
      guard let host = listeners.first(where: { $0.id == path.listener })?.host else { continue }
      for listener in listeners where listener.host == host {
        let transport = listener.transport
        guard !paths.contains(where: { $0.remote.transport == transport && $0.remote.host == path.remote.host }) else {
          continue
        }
        // TLS has a port of its own, the two others share one.
        let isNamed = nextHop.port != nil && transport != .tls && path.remote.transport != .tls
        let remote = TransportAddress(
          transport, path.remote.host, port: isNamed ? path.remote.port : transport.usualPort)
        guard others.count < TrunkTest.maximumTargets, !others.contains(where: { $0.remote == remote }) else {
          continue
        }
        others.append(
          SIPPath(
            listener: listener.id, remote: remote, serverName: path.remote.transport == .tls ? path.serverName : name))
      }
    }
    return others
  }

  /// Opens sockets on every address that leads to a target.
  private func start(
    _ targets: [LocationTarget], from hosts: [TransportAddress: SIPHost], on loop: any EventLoop
  ) async throws -> [SIPPath] {
    var listeners: [SIPListener] = []
    var paths: [SIPPath] = []
    for target in targets {
      guard let host = hosts[target.address] else { continue }
      // The other transports may be asked later.
      for transport in [SIPTransport.udp, .tcp, .tls]
      where !listeners.contains(where: { $0.transport == transport && $0.host == host }) {
        // Over TLS the peer comes back on the connection it has: there is no certificate to accept another one with.
        listeners.append(
          SIPListener(
            id: ListenerID(UInt16(listeners.count + 1)), transport: transport, host: host, port: 0,
            advertisedPort: transport == .tls ? 5061 : nil, accepts: transport != .tls))
      }
      guard
        let listener = listeners.first(where: { $0.transport == target.address.transport && $0.host == host })
      else { continue }
      paths.append(SIPPath(listener: listener.id, remote: target.address, serverName: target.serverName))
    }
    var limits = TransportLimits.standard
    limits.connectTimeoutMilliseconds = timeout
    limits.handshakeTimeoutMilliseconds = timeout
    var tls = TLSClientPolicies()
    if let policy = trunk.tls { tls.standard = policy }
    let sink = sink
    let configuration = SIPNode.Configuration(listeners: listeners, tlsClients: tls, limits: limits)
    node = try await SIPNode.start(configuration, on: loop) { _ in ProbeEvents(sink) }
    return paths
  }

  // MARK: Waiting

  var eventSink: AsyncStream<ProbeEvent>.Continuation { sink }

  /// Waits for an event that `choose` makes something of.
  /// - Returns: `nil` where the time is over first.
  func wait<Value: Sendable>(_ milliseconds: Int64, for choose: (ProbeEvent) -> Value?) async -> Value? {
    waits += 1
    let number = waits
    let sink = sink
    let timer = Task {
      try await Task.sleep(for: .milliseconds(milliseconds))
      // Again and again: a flood of a peer may push one out.
      while true {
        sink.yield(.deadline(number))
        try await Task.sleep(for: .milliseconds(100))
      }
    }
    defer { timer.cancel() }
    let clock = ContinuousClock()
    let end = clock.now + .milliseconds(milliseconds)
    while let event = await events.next() {
      if case .message(let bytes, let path) = event { note(bytes, path) }
      if case .deadline(number) = event { return nil }
      if let value = choose(event) { return value }
      // An earlier wait's deadline that was still on its way, or a peer that never stops.
      if clock.now >= end { return nil }
    }
    return nil
  }

  /// Keeps what the agent does not tell.
  private func note(_ bytes: [UInt8], _ path: SIPPath) {
    guard case .success(let scanned) = SIPGate.inspect(bytes, transport: path.remote.transport),
      case .success(let message) = MessageParser.values(of: scanned)
    else {
      if strangeBytes.count < TrunkTest.maximumTargets * 2 { strangeBytes[path.remote] = Array(bytes.prefix(80)) }
      return
    }
    guard let status = message.status else { return }
    lastResponse = message
    if responses.count < TrunkTest.maximumTargets * 4 || responses[path.remote] != nil {
      responses[path.remote] = message
    }
    guard status == 401 || status == 407 else { return }
    for text in message.values("WWW-Authenticate") + message.values("Proxy-Authenticate") {
      if let challenge = try? DigestChallenge(parsing: text), challenges.count < 64 {
        challenges.append(Challenge(method: message.cseq.method.rawValue, challenge: challenge))
      }
    }
  }
}
