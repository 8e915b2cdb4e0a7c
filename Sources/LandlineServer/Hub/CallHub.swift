public import AppProtocol
public import CallEngine
public import CallModel
public import CallStory
import LandlineGateway
public import LandlineResolver
import LedgerCore
public import Logging
public import NIOCore
import RoutingCore
public import SIPCore
import Synchronization

/// The heart of a running node: apps, calls, SIP, media and ledgers joined on one event loop. Media has threads of its
/// own; ledgers and proofs answer from theirs; everything else about a call happens on the loop.
public final class CallHub: Sendable {
  /// Most changes that wait for one reader of ``callChanges()``.
  static let watchedChanges = 1024
  private static let stopSeconds: Int64 = 5

  public let eventLoop: any EventLoop
  private let loop: NIOLoopBound<HubLoop>
  private let node: SIPNode
  private let media: [MediaLoop]
  private let resolver: Resolver?
  private let keepers: [EnvironmentKeeper]
  private let lines: [String: LedgerLine]
  private let records: RecordLine
  private let meter: HubMeter
  private let inbox: HubInbox
  private let environments: [HubEnvironment]
  private let log: Logger
  private let version: String
  private let name: String
  private let startedAt = NodeClock.wallClock()
  private let measuring = Mutex<Task<Void, Never>?>(nil)
  /// What the door counts requests with.
  private let requests = Mutex<RequestLimit?>(nil)
  private let connections = Atomic<UInt64>(1)
  private let isClosed = Atomic<Bool>(false)

  private init(
    _ configuration: HubConfiguration, eventLoop: any EventLoop, loop: NIOLoopBound<HubLoop>, node: SIPNode,
    media: [MediaLoop], resolver: Resolver?, keepers: [EnvironmentKeeper], lines: [String: LedgerLine],
    records: RecordLine, meter: HubMeter, inbox: HubInbox, log: Logger
  ) {
    self.meter = meter
    self.inbox = inbox
    self.eventLoop = eventLoop
    self.loop = loop
    self.node = node
    self.media = media
    self.resolver = resolver
    self.keepers = keepers
    self.lines = lines
    self.records = records
    environments = configuration.environments
    version = configuration.version
    name = configuration.node
    self.log = log
  }

  /// What a start has opened so far.
  private struct Opened {
    var bell: LoopBell?
    var media: [MediaLoop] = []
    var exporter: NIOLoopBound<HEPExporter>?
    var loop: NIOLoopBound<HubLoop>?

    /// Gives all of it back, and waits until it is.
    func close(on eventLoop: any EventLoop) async {
      let (loop, exporter) = (loop, exporter)
      // Fails only when the loop has ended, and its channels with it.
      try? await eventLoop.submit {
        if let loop { loop.value.stop() }
        exporter?.value.close()
      }.get()
      bell?.close()
      await MediaLoop.shutDown(media)
    }
  }

  /// Opens the sockets and starts everything.
  /// - Parameter resolver: `nil` to reach numeric addresses only. It ends with the hub, or with a start that fails.
  /// - Throws: what cannot be opened; nothing stays open then.
  public static func start(
    _ configuration: HubConfiguration, verifier: any RegistrationVerifier, resolver: Resolver?,
    metrics: MetricsRegistry, on eventLoop: any EventLoop, log: Logger
  ) async throws -> CallHub {
    var opened = Opened()
    do {
      return try await start(
        configuration, verifier: verifier, resolver: resolver, metrics: metrics, on: eventLoop, log: log,
        opened: &opened)
    } catch {
      await opened.close(on: eventLoop)
      resolver?.shutDown()
      throw error
    }
  }

  private static func start(
    _ configuration: HubConfiguration, verifier: any RegistrationVerifier, resolver: Resolver?,
    metrics: MetricsRegistry, on eventLoop: any EventLoop, log: Logger, opened: inout Opened
  ) async throws -> CallHub {
    var configuration = configuration
    // The ledgers first: a call that cannot be billed must not start, and what an earlier life left is settled before.
    var keepers: [EnvironmentKeeper] = []
    for environment in configuration.environments {
      let keeper = EnvironmentKeeper(environment, log: log)
      let epoch = try await keeper.register()
      keepers.append(keeper)
      for index in configuration.engine.environments.indices
      where configuration.engine.environments[index].name == environment.name {
        configuration.engine.environments[index].origin = .init(node: environment.node, epoch: epoch)
      }
    }
    let lines = Dictionary(
      uniqueKeysWithValues: configuration.environments.map { environment in
        (environment.name, LedgerLine(environment.stores.ledger, spool: environment.spool, log: log))
      })
    let receiver = HubReceiver()
    let bell = try await LoopBell.open(on: eventLoop) { receiver.rang() }
    opened.bell = bell
    let inbox = HubInbox(bell)
    for (index, settings) in configuration.media.enumerated() {
      opened.media.append(
        try MediaLoop.start(settings, name: "media-\(index)") { events in
          eventLoop.execute { receiver.deliver(events) }
        })
    }
    let media = opened.media
    let records = RecordLine(log: log)
    let meter = HubMeter(metrics)
    let settings = configuration
    let loops = media
    var exporter: NIOLoopBound<HEPExporter>?
    if let hep = settings.hep {
      exporter = try await HEPExporter.open(hep, node: settings.node, on: eventLoop, log: log)
      opened.exporter = exporter
    }
    let bound = try await eventLoop.submit { [exporter] in
      let journal = try settings.dialogJournal.map { path in
        try DialogJournal(path: path, at: NodeClock.wallClock(), log: log)
      }
      let hubMedia = HubMedia(
        loops, certificate: settings.certificate, prompts: settings.prompts, on: eventLoop, log: log)
      let loop = HubLoop(
        settings, lines: lines, verifier: verifier, media: hubMedia, meter: meter, exporter: exporter?.value,
        journal: journal, inbox: inbox, on: eventLoop, log: log)
      return NIOLoopBound(loop, eventLoop: eventLoop)
    }.get()
    opened.loop = bound
    let locator: any SIPLocator = resolver.map { ResolverLocator($0) } ?? LiteralLocator()
    let node = try await SIPNode.start(configuration.sip, on: eventLoop, locator: locator) { _ in
      HubDelegate(bound.value, meter: meter, log: log)
    }
    let hub = CallHub(
      configuration, eventLoop: eventLoop, loop: bound, node: node, media: media, resolver: resolver,
      keepers: keepers, lines: lines, records: records, meter: meter, inbox: inbox, log: log)
    for line in lines.values { line.start() }
    records.start()
    try await eventLoop.submit {
      receiver.loop = bound.value
      bound.value.start(hub, node: node)
    }.get()
    for keeper in keepers { keeper.start(hub) }
    let measuring = Task { [weak hub] in
      while !Task.isCancelled {
        do { try await Task.sleep(for: .seconds(1)) } catch { return }
        guard let hub else { return }
        await hub.measure()
      }
    }
    hub.measuring.withLock { $0 = measuring }
    return hub
  }

  /// Where SIP peers reach the node.
  public var addresses: [SIPCore.AdvertisedAddress] { node.advertisedAddresses }

  /// No new calls and sessions from now on; apps are told.
  public func drain() async {
    isClosed.store(true, ordering: .releasing)
    await perform { $0.drain() }
  }

  /// When no call is left, or after so many milliseconds.
  /// - Returns: calls that are left.
  public func waitUntilIdle(milliseconds: Int64) async -> Int {
    // A timeout is the answer as well: what counts are the calls that are left.
    try? await eventLoop.flatSubmit { self.loop.value.whenIdle(within: milliseconds) }.get()
    return await liveCalls(environment: nil).count
  }

  /// Ends the calls that are left, and waits until they are settled and told to their apps.
  func endCalls() async {
    isClosed.store(true, ordering: .releasing)
    for call in await liveCalls(environment: nil) { _ = await hangUp(call.id, by: "shutdown") }
    _ = await waitUntilIdle(milliseconds: Self.stopSeconds * 1000)
  }

  /// Says goodbye to every app, and ends what watches calls.
  func endSessions() async { await perform { $0.endSessions() } }

  /// Ends what is left, settles it, and closes everything.
  public func shutDown() async {
    await endCalls()
    measuring.withLock { $0 }?.cancel()
    await measuring.withLock { $0 }?.value
    for keeper in keepers { await keeper.stop() }
    for line in lines.values { await line.close() }
    await perform { $0.keepTraces() }
    await records.close()
    await perform { $0.stop() }
    do { try await node.shutdown() } catch {
      log.warning("the SIP sockets did not close in order", metadata: ["problem": "\(error)"])
    }
    await MediaLoop.shutDown(media)
    resolver?.shutDown()
  }

  /// Applies what may change while calls are up.
  func configure(
    _ engine: EngineConfiguration, applications: [String: [String: HubEnvironment.Application]],
    keepsClientStatistics: Bool
  ) async {
    await perform { $0.configure(engine, applications: applications, keepsClientStatistics: keepsClientStatistics) }
  }

  /// Reads certificates again, and judges the TLS servers of trunks by these policies from now on.
  func reloadCertificates(tlsClients: TLSClientPolicies) async throws {
    try await node.reloadCertificates(tlsClients: tlsClients)
  }

  func keep(_ entry: RecordLine.Entry, in store: any CallRecordStore) { records.submit(entry, store) }

  func keep(_ trace: CallTrace, of call: CallID, in store: any CallTraceStore) {
    records.submit(.trace(trace, call, store), nil)
  }

  func fence(_ environment: String) async { await perform { $0.engine(.fenced(environment: environment)) } }

  func payingAccounts(of environment: String) async -> [AccountName] {
    Array(await perform { $0.payingAccounts[environment] ?? [] } ?? [])
  }

  func changed(_ rows: [LedgerAccount], in environment: String) async {
    await perform { $0.accounts(rows, in: environment) }
  }

  func pokeLedger(_ environment: String) { lines[environment]?.poke() }

  /// Refused proofs of apps count as requests of their hosts from now on, as those over HTTP do.
  func countRefusedProofs(with limit: RequestLimit?) { requests.withLock { $0 = limit } }

  /// A host has brought a proof over WebSocket that was refused.
  func countRefusedProof(of host: SIPHost) {
    requests.withLock { $0 }?.countRefusedProof(host, .appRefusedProofs)
  }

  /// Brings the figures up to date that nothing tells by itself.
  func measure() async {
    meter.calls(await liveCalls(environment: nil), environments: environmentNames)
    meter.trunks(await trunks())
    if let admission = await perform({ $0.admission }) { meter.admission(admission) }
    if let statistics = try? await node.statistics() { meter.sip(statistics) }
    if let counters = try? await node.counters() { meter.sip(counters) }
    for (index, loop) in media.enumerated() {
      _ = loop.inspect { [meter] statistics, holdings in meter.media(index, statistics, holdings) }
    }
  }

  /// Operations that wait on disk for their ledger.
  public var spooledOperations: Int { lines.values.reduce(0) { $0 + $1.spooled } }

  /// What is held for calls, by its kind; for tests of what a finished call leaves behind.
  package func holdings() async throws -> [String: Int] {
    var holdings = try await node.holdings()
    holdings["bridges"] = await perform { $0.bridgeCount } ?? 0
    for (index, loop) in media.enumerated() {
      let held = await withCheckedContinuation { continuation in
        if !loop.inspect({ continuation.resume(returning: $1) }) {
          continuation.resume(returning: MediaLoopHoldings())
        }
      }
      holdings["media-\(index)"] = held.isIdle ? 0 : 1
      holdings["resting port pairs \(index)"] = held.quarantinedPairs
    }
    return holdings
  }

  @discardableResult
  private func perform<Value: Sendable>(_ body: @escaping @Sendable (HubLoop) -> Value) async -> Value? {
    // Fails only when the loop has ended, and with it every call.
    try? await eventLoop.submit { body(self.loop.value) }.get()
  }
}

extension MediaLoop {
  /// Ends loops and waits until their sockets are closed.
  fileprivate static func shutDown(_ loops: [MediaLoop]) async {
    for loop in loops {
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        if !loop.shutDown({ _ in continuation.resume() }) { continuation.resume() }
      }
    }
  }
}

/// Hands what comes from other threads to the hub, once there is one.
///
/// Unchecked: ``loop`` is written and read on the hub's event loop alone.
private final class HubReceiver: @unchecked Sendable {
  var loop: HubLoop?
  func deliver(_ events: [MediaLoopEvent]) { loop?.media(events) }
  func rang() { loop?.rang() }
}

/// What SIP tells the hub.
private final class HubDelegate: SIPNodeDelegate {
  private let loop: HubLoop
  private let meter: HubMeter
  private let log: Logger

  init(_ loop: HubLoop, meter: HubMeter, log: Logger) {
    self.loop = loop
    self.meter = meter
    self.log = log
  }

  func node(_ node: SIPNode, happened event: UserAgentEvent) {
    if case .registration(let query, let state) = event, query.number >= HubLoop.firstRegistration {
      log.notice("registration with a trunk", metadata: ["state": "\(state)"])
    } else {
      if case .ended(let handle, _) = event, loop.ended(handle) { return }
      loop.engine(.sip(event))
    }
  }

  func node(_ node: SIPNode, received message: [UInt8], from path: SIPPath) {
    meter.sip(message)
    loop.sip(message, isSent: false, path, of: node)
  }

  func node(_ node: SIPNode, sends message: [UInt8], on path: SIPPath) {
    loop.sip(message, isSent: true, path, of: node)
  }

  func node(_ node: SIPNode, met problem: TransportProblem) {
    log.log(
      level: problem.kind == .stranger ? .notice : .debug, "sip transport", metadata: ["problem": "\(problem)"])
    loop.sip(problem)
  }
}

// MARK: - Apps

extension CallHub: AppConnectionAcceptor {
  public func opened(_ connection: any AppConnection, host: SIPHost) -> AppProtocol.ConnectionID? {
    guard !isClosed.load(ordering: .acquiring) else { return nil }
    let id = AppProtocol.ConnectionID(connections.wrappingAdd(1, ordering: .relaxed).oldValue)
    return inbox.put(.opened(id, connection, host: host)) ? id : nil
  }

  public func received(_ text: [UInt8], on connection: AppProtocol.ConnectionID) -> Bool {
    inbox.put(.text(text, connection, since: NodeClock.now()))
  }

  public func violated(_ connection: AppProtocol.ConnectionID, closeCode: UInt16, _ problem: String) {
    _ = inbox.put(.violated(connection, closeCode: closeCode, problem))
  }

  public func ponged(_ connection: AppProtocol.ConnectionID) { _ = inbox.put(.ponged(connection)) }

  public func clogged(_ connection: AppProtocol.ConnectionID) { _ = inbox.put(.clogged(connection)) }

  public func closed(_ connection: AppProtocol.ConnectionID) { _ = inbox.put(.closed(connection)) }
}

// MARK: - Operators

extension CallHub: GatewayOperations {
  public func liveCalls(environment: String?) async -> [CallSnapshot] {
    let calls = await perform { $0.liveCalls } ?? []
    return environment.map { name in calls.filter { $0.environment == name } } ?? calls
  }

  public func liveCall(_ id: CallID) async -> CallSnapshot? { await perform { $0.liveCall(id) } ?? nil }

  public func trace(of call: CallID) async -> CallTrace? { await perform { $0.traces?.trace(of: call) } ?? nil }

  public func callChanges() async -> AsyncStream<CallSnapshot> {
    await perform { $0.watch() } ?? AsyncStream { $0.finish() }
  }

  public func hangUp(_ id: CallID, by actor: String) async -> Bool {
    await perform { loop in
      guard loop.liveCall(id) != nil else { return false }
      loop.engine(.hangUp(id, by: actor))
      return true
    } ?? false
  }

  public func originate(_ order: OriginateOrder) async -> Result<CallID, CallFailure> {
    guard let environment = environments.first(where: { $0.name == order.environment }) else {
      return .failure(CallFailure(.policy, leg: .app))
    }
    let origination: Origination
    do {
      let known = try await environment.payers.payer(order.account, at: NodeClock.wallClock())
      let payer = known ?? .missing(order.account, environment: environment.name)
      let callerNumber = try order.callerNumber.map { try E164Number($0) }
      let codes = await emergencyCodes(environment: environment.name, callerNumber: callerNumber)
      origination = Origination(
        first: try Destination(order.first.kind, order.first.target, emergencyCodes: codes),
        second: try Destination(order.second.kind, order.second.target, emergencyCodes: codes),
        headers: try CustomHeaders(order.headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }),
        callerNumber: callerNumber, payer: payer)
    } catch let problem as InvalidValue {
      return .failure(CallFailure(problem.failureCode, leg: .app, invalidValue: problem))
    } catch {
      return .failure(CallFailure(CallRefusal.billingUnavailable))
    }
    return await withCheckedContinuation { continuation in
      eventLoop.execute { self.loop.value.originate(origination) { continuation.resume(returning: $0) } }
    }
  }

  public func quote(
    _ number: E164Number, account: AccountName, environment name: String
  ) async throws -> NumberQuote {
    guard let environment = environments.first(where: { $0.name == name }) else { return .refused(.unknownAccount) }
    if let test = number.testNumber { return .test(test) }
    if let sandbox = SandboxNumber(rawValue: number.value), await hasSandboxNumbers(name) { return .sandbox(sandbox) }
    let now = NodeClock.wallClock()
    guard let payer = try await environment.payers.payer(account, at: now) else { return .refused(.unknownAccount) }
    guard let plan = payer.plan, let digits = try? NumberDigits(number.digits) else { return .refused(.noRate) }
    do throws(RatingRefusal) {
      return .rated(
        try Rating.quote(digits, plan: plan, account: payer.currency, denyRanges: payer.denyRanges, at: now))
    } catch {
      switch error {
      case .noRate, .unpriceable: return .refused(.noRate)
      case .destinationBlocked: return .refused(.destinationBlocked)
      case .currencyMismatch: return .refused(.currencyMismatch)
      case .noProfitableRoute: return .refused(.noProfitableRoute)
      }
    }
  }

  public func emergencyCodes(environment name: String, callerNumber: E164Number?) async -> Set<String> {
    await perform { loop in
      loop.configuration.engine.environments.first { $0.name == name }?.emergencyNumbers
        ?? EmergencyNumber.codes(ofCaller: callerNumber)
    } ?? EmergencyNumber.everywhere
  }

  public func defaultCountries(of account: AccountName, environment name: String) async -> [Int]? {
    await perform { loop in
      loop.configuration.engine.environments.first { $0.name == name }?.defaultCountries(of: account)
    } ?? nil
  }

  private func hasSandboxNumbers(_ name: String) async -> Bool {
    await perform { loop in
      loop.configuration.engine.environments.first { $0.name == name }?.hasSandboxNumbers ?? false
    } ?? false
  }

  public func trunks() async -> [TrunkReport] { await perform { $0.trunkStandings } ?? [] }

  public func status() async -> NodeStatus {
    let state = await perform { loop in (loop.liveCalls.count, loop.sessionCount, loop.drains) } ?? (0, 0, true)
    var problems: [String] = []
    if state.2 { problems.append("the node drains") }
    let spooled = spooledOperations
    if spooled > 0 { problems.append("\(spooled) operations wait for their ledger") }
    for keeper in keepers { if let problem = keeper.problem { problems.append(problem) } }
    return NodeStatus(
      version: version, node: name, startedAt: startedAt, isReady: problems.isEmpty, isDraining: state.2,
      liveCalls: state.0, sessions: state.1, problems: problems)
  }

  public func environment(_ name: String) -> EnvironmentStores? { environments.first { $0.name == name }?.stores }

  public var environmentNames: [String] { environments.map(\.name) }
}
