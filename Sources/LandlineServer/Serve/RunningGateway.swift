import AppProtocol
import CallEngine
import CallModel
import Dispatch
public import LandlineConfiguration
import LandlineHTTP
public import LandlineNode
import LandlineResolver
import LandlineWire
public import Logging
import MediaCore
public import NIOCore
public import NodeCore
import RoutingCore
import SIPCore
public import ServiceLifecycle
import Synchronization

/// A whole gateway in one process: stores, hub, built-in far end, the doors for apps and operators. Runs as a service
/// until it is asked to end; then it drains, settles what is left, and closes everything.
public final class RunningGateway: Service {
  private struct State {
    var configuration: GatewayConfiguration
    var port: UInt16?
    var portWaiters: [CheckedContinuation<UInt16?, Never>] = []
    var isEnded = false
  }

  private let state: Mutex<State>
  private let assembly: NodeAssembly
  private let hub: CallHub
  private let farEnd: FarEnd?
  private let farEndTrunk: CallTrunk?
  private let prompts: PromptLibrary
  private let verifier: SwitchableVerifier
  private let authenticator: NodeAuthenticator
  private let metrics: MetricsRegistry
  private let log: Logger
  private let signsInLocally: Bool
  private let trunkTester: TrunkTester?

  private init(
    _ assembly: NodeAssembly, hub: CallHub, farEnd: FarEnd?, farEndTrunk: CallTrunk?, prompts: PromptLibrary,
    verifier: SwitchableVerifier, authenticator: NodeAuthenticator, metrics: MetricsRegistry, log: Logger,
    signsInLocally: Bool, trunkTester: TrunkTester?
  ) {
    state = Mutex(State(configuration: assembly.configuration))
    self.assembly = assembly
    self.hub = hub
    self.farEnd = farEnd
    self.farEndTrunk = farEndTrunk
    self.prompts = prompts
    self.verifier = verifier
    self.authenticator = authenticator
    self.metrics = metrics
    self.log = log
    self.signsInLocally = signsInLocally
    self.trunkTester = trunkTester
  }

  /// Opens stores and sockets for calls; apps and operators are let in by ``run()``.
  /// - Parameters:
  ///   - signsInLocally: whether pages on this machine are let in without a key: for development, on loopback.
  ///   - trunkTester: tests trunks for the pages; `nil` where they cannot be tested.
  /// - Throws: ``StartRefusal``, or what cannot be opened; nothing stays open then.
  public static func start(
    _ configuration: GatewayConfiguration, metrics: MetricsRegistry, on group: any EventLoopGroup, log: Logger,
    signsInLocally: Bool = false, trunkTester: TrunkTester? = nil
  ) async throws -> RunningGateway {
    for warning in configuration.warnings { log.warning("\(warning)") }
    let open = FolderCheck.findings(configuration)
    guard open.isEmpty else { throw StartRefusal(findings: open) }
    let assembly = try await NodeAssembly.open(configuration, log: log)
    warnOfAccounts(configuration, log)
    var farEnd: FarEnd?
    do {
      let loop = group.next()
      let prompts = try PromptLibrary()
      if configuration.environments.contains(where: \.hasSandboxNumbers) {
        farEnd = try await FarEnd.start(on: loop, prompts: prompts)
      }
      let farEndTrunk = try farEnd.map { try trunk(of: $0) }
      let verifier = SwitchableVerifier(verifier(configuration, assembly))
      let hub = try await CallHub.start(
        assembly.hub(farEnd: farEndTrunk, prompts: prompts), verifier: verifier, resolver: try Resolver(),
        metrics: metrics, on: loop, log: log)
      return RunningGateway(
        assembly, hub: hub, farEnd: farEnd, farEndTrunk: farEndTrunk, prompts: prompts, verifier: verifier,
        authenticator: NodeAuthenticator(configuration), metrics: metrics, log: log, signsInLocally: signsInLocally,
        trunkTester: trunkTester)
    } catch {
      await farEnd?.shutdown()
      await assembly.close()
      throw error
    }
  }

  private static func verifier(_ configuration: GatewayConfiguration, _ assembly: NodeAssembly) -> AppVerifier {
    AppVerifier(
      applications: NodeAssembly.credentials(configuration), stores: assembly.gatewayStores,
      draw: { SecureRandomNumberGenerator().next() })
  }

  private static func trunk(of farEnd: FarEnd) throws -> CallTrunk { CallTrunk(try configuration(of: farEnd)) }

  private static func configuration(of farEnd: FarEnd) throws -> TrunkConfiguration {
    var configuration = try TrunkConfiguration(
      name: NodeAssembly.farEndTrunk, uri: uri(of: farEnd))
    // Nothing else of the file can make it rest or full.
    configuration.trunk.healthPolicy.intervalMilliseconds = 0
    return configuration
  }

  private static func uri(of farEnd: FarEnd) -> String { "sip:127.0.0.1:\(farEnd.port);transport=udp" }

  private var trunkTest: RESTService.TrunkTestStart? {
    guard let trunkTester else { return nil }
    return { name, order, tell in try await self.testTrunk(name, order, with: trunkTester, tell) }
  }

  /// - Returns: `nil` for a trunk that is not configured.
  private func testTrunk(
    _ name: String, _ order: TrunkTestOrder, with tester: TrunkTester,
    _ tell: @escaping @Sendable (TrunkTestStep) -> Void
  ) async throws -> TrunkTestStep.Outcome? {
    let configuration = state.withLock { $0.configuration }
    var trunk = configuration.trunk(name)
    if trunk == nil, name == NodeAssembly.farEndTrunk, let farEnd { trunk = try Self.configuration(of: farEnd) }
    guard let trunk else { return nil }
    return try await tester(trunk, order, configuration.listeners.map(\.listener), tell)
  }

  /// `nil` where no far end runs.
  private var inboundCall: RESTService.InboundCallStart? {
    guard let farEnd else { return nil }
    return { [hub] order in
      // A carrier of this machine reaches it over loopback, or at the address of a listener.
      guard let socket = hub.sockets.first(where: { $0.transport == .udp }) else { return nil }
      let host = socket.host == .ipv4(0) ? SIPHost.ipv4(0x7F00_0001) : socket.host
      guard case .ipv4 = host else { return nil }
      return await farEnd.call(order, at: TransportAddress(.udp, host, port: socket.port))
    }
  }

  // MARK: What the outside asks

  /// Where SIP peers reach the node.
  public var sipAddresses: [String] { hub.addresses.map { "\($0.host):\($0.port)/\($0.transport.rawValue)" } }

  /// What the REST interface can ask and do, for whoever runs the gateway in the same process.
  public var operations: any GatewayOperations { hub }

  /// The SIP URI of the built-in far end; `nil` where none runs.
  public var farEndURI: String? { farEnd.map { Self.uri(of: $0) } }

  /// The control socket of a gateway with this configuration.
  public static func controlSocket(_ configuration: GatewayConfiguration) -> String {
    configuration.state + "/control.sock"
  }

  /// What is held for calls, by its kind; for tests of what a finished call leaves behind.
  package func holdings() async throws -> [String: Int] { try await hub.holdings() }

  /// The HTTP port, once it takes connections; `nil` when the gateway has ended before.
  public func httpPort() async -> UInt16? {
    await withCheckedContinuation { continuation in
      let known = state.withLock { state -> UInt16?? in
        if let port = state.port { return .some(port) }
        if state.isEnded { return .some(nil) }
        state.portWaiters.append(continuation)
        return nil
      }
      if let known { continuation.resume(returning: known) }
    }
  }

  private func listening(_ port: UInt16?) {
    let waiters = state.withLock { state in
      if let port { state.port = port } else { state.isEnded = true }
      let waiters = state.portWaiters
      state.portWaiters = []
      return waiters
    }
    for waiter in waiters { waiter.resume(returning: port) }
  }

  /// Takes over what may change while calls are up.
  /// - Returns: what was taken over, and what waits for the next start.
  public func reload(_ configuration: GatewayConfiguration) async throws -> ConfigurationChanges {
    let changes = state.withLock { state in
      let changes = configuration.changes(since: state.configuration)
      state.configuration = configuration
      return changes
    }
    verifier.replace(Self.verifier(configuration, assembly))
    authenticator.replace(configuration)
    await hub.configure(
      NodeAssembly.settings(configuration, farEnd: farEndTrunk), numbers: NodeAssembly.numbers(configuration),
      deskPhones: NodeAssembly.deskPhones(configuration))
    try await hub.reloadCertificates(tlsClients: configuration.tlsClients)
    Self.warnOfAccounts(configuration, log)
    return changes
  }

  /// Names accounts that cannot pay: their calls would be refused one by one.
  private static func warnOfAccounts(_ configuration: GatewayConfiguration, _ log: Logger) {
    for finding in AccountCheck.findings(configuration) {
      log.warning(
        "\(finding.problem)", metadata: ["key": "\(finding.place)", "fix": "\(finding.fix ?? "")"])
    }
  }

  // MARK: Running

  /// Lets apps and operators in until the task group is asked to end.
  public func run() async throws {
    let configuration = state.withLock { $0.configuration }
    defer { listening(nil) }
    var services: [any Service] = [Closing(gateway: self)]
    var door = NodeAssembly.door(configuration.http)
    door.signsInLocally = signsInLocally
    let httpDoor = try HTTPDoor(
      configuration: door, acceptor: hub, operations: hub, authenticator: authenticator, metrics: metrics, logger: log,
      applications: { [authenticator] in authenticator.applications($0) },
      testTrunk: trunkTest, placeInboundCall: inboundCall,
      onListening: { [weak self, prompts] port in
        self?.listening(port)
        // No call waits for them, and no start: the media threads find them made.
        DispatchQueue.global(qos: .utility).async { prompts.prepare() }
      })
    // One count of each host, whichever way it guesses.
    let requests = httpDoor.requests
    hub.onRefusedProof { host in requests?.countRefusedProof(host, .appRefusedProofs) }
    services.append(httpDoor)
    services.append(
      try HTTPDoor(
        configuration: HTTPDoorConfiguration(socket: Self.controlSocket(configuration)), acceptor: hub,
        operations: hub,
        authenticator: LocalOperator(environments: configuration.environments.map(\.name)), metrics: metrics,
        logger: log, applications: { [authenticator] in authenticator.applications($0) },
        placeInboundCall: inboundCall))
    services.append(Draining(gateway: self))
    // Ended in reverse order: first the calls, then the doors, then what they stand on.
    // Whatever fails: everything that is open is closed in order.
    let group = ServiceGroup(
      configuration: .init(
        services: services.map { .init(service: $0, failureTerminationBehavior: .gracefullyShutdownGroup) }, logger: log
      ))
    try await withGracefulShutdownHandler {
      try await group.run()
    } onGracefulShutdown: {
      Task { await group.triggerGracefulShutdown() }
    }
  }

  /// Waits for live calls before anything else ends.
  private struct Draining: NamedService {
    let gateway: RunningGateway

    func run() async throws {
      try await gracefulShutdown()
      let milliseconds = gateway.state.withLock { $0.configuration.drainMilliseconds }
      let hub = gateway.hub
      await hub.drain()
      let live = await hub.liveCalls(environment: nil).count
      gateway.log.notice("draining", metadata: ["calls": "\(live)", "seconds": "\(milliseconds / 1000)"])
      let left = await hub.waitUntilIdle(milliseconds: milliseconds)
      if left > 0 { gateway.log.warning("calls are ended", metadata: ["calls": "\(left)"]) }
      // While the doors are open: apps hear how their calls ended and what they cost, then goodbye.
      await hub.endCalls()
      await hub.endSessions()
    }
  }

  /// Closes everything when the doors are closed.
  private struct Closing: NamedService {
    let gateway: RunningGateway

    func run() async throws {
      try await gracefulShutdown()
      await gateway.hub.shutDown()
      await gateway.farEnd?.shutdown()
      await gateway.assembly.close()
      gateway.log.notice("ended")
    }
  }
}

/// A verifier that a reload can replace.
final class SwitchableVerifier: RegistrationVerifier {
  private let current: Mutex<AppVerifier>

  init(_ verifier: AppVerifier) { current = Mutex(verifier) }

  func replace(_ verifier: AppVerifier) { current.withLock { $0 = verifier } }

  func verify(_ registration: Registration, clock: Instant) async -> RegistrationVerdict {
    await current.withLock { $0 }.verify(registration, clock: clock)
  }

  func knows(_ user: UserID, application: String) async -> Bool? {
    await current.withLock { $0 }.knows(user, application: application)
  }
}
