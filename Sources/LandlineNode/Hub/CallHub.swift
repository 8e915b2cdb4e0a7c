public import AppProtocol
public import CallEngine
public import CallModel
public import CallStory
import LandlineOutbound
import LandlineRecording
public import LandlineResolver
package import LandlineWire
import LedgerCore
public import Logging
import MediaCore
public import NIOCore
public import NodeCore
import RoutingCore
public import SIPCore
import Synchronization

/// A running node: the sockets, threads, files and stores around one ``NodeLoop``. Media has threads of its own; ledgers
/// and proofs answer from theirs; everything else about a call happens on the loop.
public final class CallHub: Sendable {
  /// Most changes that wait for one reader of ``callChanges()``.
  static let watchedChanges = 1024
  private static let stopMilliseconds: Int64 = 5000
  /// How often it is looked which recordings were kept for long enough.
  private static let expirySeconds = 600

  /// All signalling of the node happens here.
  public let eventLoop: any EventLoop
  private let loop: NIOLoopBound<NodeLoop>
  private let wire: SIPWire
  private let media: [MediaLoop]
  private let resolver: Resolver?
  private let web: WebClient
  private let errands: [LedgerErrands]
  private let records: RecordLine
  private let meter: HubMeter
  private let inbox: HubInbox
  private let numberBook: NumberBook
  private let deskPhoneBook: DeskPhoneBook
  private let environments: [HubEnvironment]
  private let log: Logger
  private let version: String
  private let name: String
  private let startedAt = NodeClock.wallClock()
  private let measuring = Mutex<Task<Void, Never>?>(nil)
  /// Told of each host that brought a proof that was refused; `nil` where nobody counts them.
  private let refusedProof = Mutex<(@Sendable (SIPHost) -> Void)?>(nil)
  private let connections = Atomic<UInt64>(1)
  private let isClosed = Atomic<Bool>(false)

  private init(
    _ configuration: HubConfiguration, loop: NIOLoopBound<NodeLoop>, wire: SIPWire, media: [MediaLoop],
    resolver: Resolver?, web: WebClient, errands: [LedgerErrands], records: RecordLine, meter: HubMeter,
    inbox: HubInbox,
    numberBook: NumberBook, deskPhoneBook: DeskPhoneBook, log: Logger
  ) {
    self.deskPhoneBook = deskPhoneBook
    self.meter = meter
    self.numberBook = numberBook
    self.inbox = inbox
    eventLoop = wire.eventLoop
    self.loop = loop
    self.wire = wire
    self.media = media
    self.resolver = resolver
    self.web = web
    self.errands = errands
    self.records = records
    environments = configuration.environments
    version = configuration.version
    name = configuration.node.text
    self.log = log
  }

  /// What a start has opened so far.
  private struct Opened {
    var bell: LoopBell?
    var media: [MediaLoop] = []
    var exporter: NIOLoopBound<HEPExporter>?
    var wire: SIPWire?
    var loop: NIOLoopBound<NodeLoop>?
    var errands: [LedgerErrands] = []
    var web: WebClient?

    /// Gives all of it back, and waits until it is.
    func close(on eventLoop: any EventLoop) async {
      let (loop, exporter) = (loop, exporter)
      // Fails only when the loop has ended, and its channels with it.
      try? await eventLoop.submit {
        if let loop { loop.value.stop() }
        exporter?.value.close()
      }.get()
      for errands in errands { await errands.finish() }
      try? await wire?.shutdown()
      await web?.shutDown()
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
    let meter = HubMeter(metrics)
    var exporter: NIOLoopBound<HEPExporter>?
    if let hep = configuration.hep {
      exporter = try await HEPExporter.open(hep, node: configuration.node.text, on: eventLoop, log: log)
      opened.exporter = exporter
    }
    let wire = try await SIPWire.open(configuration.sip, on: eventLoop)
    opened.wire = wire
    let errands = Dictionary(
      uniqueKeysWithValues: configuration.environments.map {
        ($0.name, LedgerErrands($0.stores, spool: $0.spool))
      })
    opened.errands = Array(errands.values)
    let web = WebClient(resolver: resolver, userAgent: "landline/\(configuration.version)")
    opened.web = web
    let locator: any SIPLocator = resolver.map { ResolverLocator($0) } ?? LiteralLocator()
    let bound = try await eventLoop.submit { [exporter] in
      let journal = try configuration.dialogJournal.map { path in
        try DialogJournal(path: path, at: NodeClock.wallClock(), log: log)
      }
      let core = core(
        configuration, over: wire.advertisedAddresses, leftOver: journal?.leftOver ?? [],
        tracesCalls: configuration.keepsTraces || exporter != nil)
      let hubMedia = HubMedia(
        media, certificate: configuration.certificate, prompts: configuration.prompts,
        recordings: HubRecordings(
          Dictionary(
            configuration.environments.compactMap { environment in environment.recordings.map { (environment.name, $0) }
            },
            uniquingKeysWith: { first, _ in first }), meter: meter, on: eventLoop, log: log), on: eventLoop, log: log)
      let loop = NodeLoop(
        configuration, core: core, wire: wire, errands: errands, verifier: verifier, locator: locator,
        web: web, media: hubMedia, meter: meter, exporter: exporter?.value, journal: journal, inbox: inbox, log: log)
      return NIOLoopBound(loop, eventLoop: eventLoop)
    }.get()
    opened.loop = bound
    let records = RecordLine(log: log)
    let numberBook = try await NumberBook(
      configuration.environments.map { ($0.name, $0.stores.numbers) }, configured: configuration.numbers, log: log
    ) { environment, rows in
      eventLoop.execute { bound.value.handle(.numbers(environment: environment, rows)) }
    }
    let deskPhoneBook = try await DeskPhoneBook(
      configuration.environments.map { ($0.name, $0.stores.deskPhones) }, configured: configuration.deskPhones, log: log
    ) { environment, rows in
      eventLoop.execute { bound.value.handle(.deskPhones(environment: environment, rows)) }
    }
    let hub = CallHub(
      configuration, loop: bound, wire: wire, media: media, resolver: resolver, web: web, errands: opened.errands,
      records: records, meter: meter, inbox: inbox, numberBook: numberBook,
      deskPhoneBook: deskPhoneBook, log: log)
    // Nobody is let in before: a call that cannot be billed must not start, and what an earlier life left is settled first.
    try await eventLoop.flatSubmit {
      receiver.loop = bound.value
      return bound.value.start(hub)
    }.get()
    numberBook.publish()
    deskPhoneBook.publish()
    let measuring = Task { [weak hub] in
      var seconds = 0
      while !Task.isCancelled {
        do { try await Task.sleep(for: .seconds(1)) } catch { return }
        guard let hub else { return }
        await hub.measure()
        if seconds % expirySeconds == 0 { await hub.expireRecordings() }
        seconds += 1
      }
    }
    hub.measuring.withLock { $0 = measuring }
    return hub
  }

  private static func core(
    _ configuration: HubConfiguration, over listeners: [AdvertisedAddress], leftOver: [JournaledLeg],
    tracesCalls: Bool
  ) -> NodeCore {
    var agent = configuration.sip.agent
    agent.addresses = listeners
    var node = NodeConfiguration(
      node: configuration.node,
      environments: configuration.environments.map {
        NodeEnvironment(name: $0.name, ledger: $0.payers.path, retention: $0.retention)
      },
      settings: configuration.settings, agent: agent, door: configuration.door,
      registrations: configuration.registrations)
    node.tracesCalls = tracesCalls
    node.keepsJournal = configuration.dialogJournal != nil
    node.leftOver = leftOver
    node.innerTrunk = configuration.innerTrunk
    return NodeCore(
      node,
      draw: { SecureRandomNumberGenerator().next() }, identifiers: .system, at: NodeClock.time())
  }

  /// Where SIP peers reach the node.
  public var addresses: [SIPCore.AdvertisedAddress] { wire.advertisedAddresses }

  /// What the SIP sockets are bound to, in the order of their ids.
  package var sockets: [TransportAddress] {
    wire.addresses.sorted { $0.key.number < $1.key.number }.map(\.value)
  }

  /// No new calls and sessions from now on; apps are told.
  public func drain() async {
    isClosed.store(true, ordering: .releasing)
    await perform { $0.handle(.drain) }
  }

  /// When no call is left, or after so many milliseconds.
  /// - Returns: calls that are left.
  public func waitUntilIdle(milliseconds: Int64) async -> Int {
    await wait(milliseconds: milliseconds) { $0.isIdle }
    return await liveCalls(environment: nil).count
  }

  private func wait(milliseconds: Int64, _ isDone: @escaping @Sendable (NodeLoop) -> Bool) async {
    // A timeout is the answer as well: whoever waits looks what is left.
    try? await eventLoop.flatSubmit { self.loop.value.when(isDone, within: milliseconds) }.get()
  }

  /// Ends the calls that are left, and waits until they are settled and told to their apps.
  package func endCalls() async {
    isClosed.store(true, ordering: .releasing)
    for call in await liveCalls(environment: nil) {
      _ = await hangUp(call.id, by: "shutdown", cause: HangUpCause.normal)
    }
    _ = await waitUntilIdle(milliseconds: Self.stopMilliseconds)
  }

  /// Says goodbye to every app, and ends what watches calls.
  package func endSessions() async {
    await perform { loop in
      loop.handle(.endSessions)
      loop.endWatchers()
    }
  }

  /// Ends what is left, settles it, and closes everything.
  public func shutDown() async {
    await endCalls()
    measuring.withLock { $0 }?.cancel()
    await measuring.withLock { $0 }?.value
    // Every errand comes to an end, and what its ledger does not take goes into the spool.
    while await perform({ $0.core.isBilled }) == false {
      await wait(milliseconds: Self.stopMilliseconds) { $0.core.isBilled }
    }
    await perform { $0.storeTraces() }
    await records.close()
    await perform { $0.stop() }
    for errands in errands { await errands.finish() }
    do { try await wire.shutdown() } catch {
      log.warning("the SIP sockets did not close in order", metadata: ["problem": "\(error)"])
    }
    await MediaLoop.shutDown(media)
    for environment in environments { await environment.recordings?.close() }
    await web.shutDown()
    resolver?.shutDown()
  }

  /// Applies what may change while calls are up.
  /// - Parameters:
  ///   - numbers: the number tables of the configuration, by environment.
  ///   - deskPhones: likewise.
  package func configure(
    _ settings: NodeSettings, numbers: [String: [InboundNumber]], deskPhones: [String: [DeskPhone]]
  ) async {
    await perform { $0.handle(.configure(settings)) }
    await numberBook.configure(numbers)
    await deskPhoneBook.configure(deskPhones)
  }

  /// Reads certificates again, and judges the TLS servers of trunks by these policies from now on.
  package func reloadCertificates(tlsClients: TLSClientPolicies) async throws {
    try await wire.reloadCertificates(tlsClients: tlsClients)
  }

  func keep(_ entry: RecordLine.Entry) { records.submit(entry) }

  /// Tells of refused proofs of apps from now on: they count as requests of their hosts, as those over HTTP do.
  package func onRefusedProof(_ refusedProof: @escaping @Sendable (SIPHost) -> Void) {
    self.refusedProof.withLock { $0 = refusedProof }
  }

  /// A host has brought a proof over WebSocket that was refused.
  func countRefusedProof(of host: SIPHost) {
    refusedProof.withLock { $0 }?(host)
  }

  /// Brings the figures up to date that nothing tells by itself.
  func measure() async {
    meter.calls(await liveCalls(environment: nil), environments: environmentNames)
    meter.trunks(await trunks())
    for environment in environments { environment.recordings.map { meter.recordings(environment.name, $0.usage) } }
    if let admission = await perform({ $0.core.admission }) { meter.admission(admission) }
    if let statistics = try? await wire.statistics() { meter.sip(statistics) }
    if let counters = await perform({ $0.core.sipCounters }) { meter.sip(counters) }
    for (index, loop) in media.enumerated() {
      _ = loop.inspect { [meter] statistics, holdings in meter.media(index, statistics, holdings) }
    }
  }

  private func expireRecordings() async {
    for environment in environments { _ = await environment.recordings?.expire(at: NodeClock.wallClock()) }
  }

  /// What is held for calls, by its kind; for tests of what a finished call leaves behind.
  package func holdings() async throws -> [String: Int] {
    var holdings = await perform { $0.core.holdings } ?? [:]
    holdings["bridges"] = await perform { $0.media.callCount } ?? 0
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
  private func perform<Value: Sendable>(_ body: @escaping @Sendable (NodeLoop) -> Value) async -> Value? {
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

/// Hands what comes from other threads to the loop, once there is one.
///
/// Unchecked: ``loop`` is written and read on the hub's event loop alone.
private final class HubReceiver: @unchecked Sendable {
  var loop: NodeLoop?
  func deliver(_ events: [MediaLoopEvent]) { loop?.media(events) }
  func rang() { loop?.rang() }
}

// MARK: - Apps

extension CallHub: AppConnectionAcceptor {
  /// Takes a connection unless the hub has ended. May be called from any thread.
  public func opened(_ connection: any AppConnection, host: SIPHost) -> AppProtocol.ConnectionID? {
    guard !isClosed.load(ordering: .acquiring) else { return nil }
    let id = AppProtocol.ConnectionID(connections.wrappingAdd(1, ordering: .relaxed).oldValue)
    return inbox.put(.opened(id, connection, host: host)) ? id : nil
  }

  /// Puts a message behind those that wait for the loop, of all apps together.
  /// - Returns: `false` when too many wait or the hub has ended.
  public func received(_ text: [UInt8], on connection: AppProtocol.ConnectionID) -> Bool {
    inbox.put(.text(text, connection, since: NodeClock.now()))
  }

  /// The peer broke the WebSocket protocol: the connection is closed with this code.
  public func violated(_ connection: AppProtocol.ConnectionID, closeCode: UInt16, _ problem: String) {
    _ = inbox.put(.violated(connection, closeCode: closeCode, problem))
  }

  /// The peer answered a ping, so its connection lives.
  public func ponged(_ connection: AppProtocol.ConnectionID) { _ = inbox.put(.ponged(connection)) }

  /// More bytes wait to be sent to the peer than may: it reads too slowly.
  public func clogged(_ connection: AppProtocol.ConnectionID) { _ = inbox.put(.clogged(connection)) }

  /// The connection is gone; nothing is sent to it any more.
  public func closed(_ connection: AppProtocol.ConnectionID) { _ = inbox.put(.closed(connection)) }
}

// MARK: - Operators

extension CallHub: GatewayOperations {
  /// Oldest first; of all environments for `nil`. Empty once the loop has ended.
  public func liveCalls(environment: String?) async -> [CallSnapshot] {
    let calls = await perform { $0.core.liveCalls } ?? []
    return environment.map { name in calls.filter { $0.environment == name } } ?? calls
  }

  /// `nil` when the call is over or never was.
  public func liveCall(_ id: CallID) async -> CallSnapshot? { await perform { $0.core.liveCall(id) } ?? nil }

  /// What was seen of a call that is up or was a moment ago; `nil` for any other, and where traces are not kept.
  public func trace(of call: CallID) async -> CallTrace? { await perform { $0.traces?.trace(of: call) } ?? nil }

  /// A snapshot for each change of any environment's calls. A reader that lets more than 1024 wait misses the oldest.
  public func callChanges() async -> AsyncStream<CallSnapshot> {
    await perform { $0.watch() } ?? AsyncStream { $0.finish() }
  }

  /// - Parameters:
  ///   - actor: who asked for it, for the call's story.
  ///   - cause: that trunks are told, one of ``HangUpCause/range``.
  /// - Returns: `false` when there is no such live call.
  public func hangUp(_ id: CallID, by actor: String, cause: Int) async -> Bool {
    await perform { loop in
      guard loop.core.liveCall(id) != nil else { return false }
      loop.handle(.hangUp(id, by: actor, cause: cause))
      return true
    } ?? false
  }

  /// Does something to a call that is up.
  /// - Parameter actor: who asked for it, for the call's story.
  /// - Returns: why nothing was done; `nil` where it was.
  public func order(_ order: CallOrder, _ id: CallID, by actor: String) async -> CallFailure? {
    await withCheckedContinuation { continuation in
      let asked = eventLoop.submit {
        self.loop.value.order(order, id, by: actor) { continuation.resume(returning: $0) }
      }
      // The loop has ended, and with it every call.
      asked.whenFailure { _ in continuation.resume(returning: .noNewCalls) }
    }
  }

  /// Conferences of an environment that somebody is in, by application and id.
  public func conferences(environment: String) async -> [RoomReport] {
    (await perform { $0.core.rooms } ?? []).filter { $0.key.environment == environment }
  }

  /// Does something to a conference.
  /// - Parameter actor: who asked for it, for the log and the calls' stories.
  public func conference(_ room: RoomKey, _ order: RoomOrder, by actor: String) async -> RoomOutcome {
    await perform { loop in
      guard let report = loop.core.room(room) else { return .unknown }
      if let refusal = report.refusal(of: order) { return .refused(refusal) }
      loop.handle(.room(room, order, by: actor))
      return .done
    } ?? .unknown
  }

  /// Reads or speaks the words, then has them said.
  public func say(_ words: SpokenWords, in place: SayingPlace, by actor: String) async -> SayingOutcome {
    let name =
      switch place {
      case .call(_, let environment, _), .beneath(_, let environment): environment
      case .conference(let room): room.environment
      }
    guard let shelf = environments.first(where: { $0.name == name })?.sounds else { return .unknown }
    let sound: PlayableSound
    do throws(SoundProblem) { sound = try await shelf.sound(words) } catch {
      if error.kind == .failed { log.error("nothing can be said", metadata: ["problem": "\(error.problem)"]) }
      return .unusable(error)
    }
    let title =
      switch words {
      case .sound(let name): name
      case .text: "a text"
      }
    return await withCheckedContinuation { continuation in
      let asked = eventLoop.submit {
        self.loop.value.say(sound, title, in: place, by: actor) { continuation.resume(returning: $0) }
      }
      asked.whenFailure { _ in continuation.resume(returning: .refused(.noNewCalls)) }
    }
  }

  /// Answers once the call has begun, or with why it could not. What the order says is checked here.
  public func originate(_ order: OriginateOrder) async -> Result<CallID, CallFailure> {
    await withCheckedContinuation { continuation in
      let asked = eventLoop.submit { self.loop.value.originate(order) { continuation.resume(returning: $0) } }
      // The loop has ended, and never heard of the order.
      asked.whenFailure { _ in continuation.resume(returning: .failure(.noNewCalls)) }
    }
  }

  /// What the call would cost now. An unknown environment or account, or a number without a price, is a refusal.
  /// - Throws: what the ledger or the rates threw.
  public func quote(
    _ number: E164Number, account: AccountName, environment name: String
  ) async throws -> NumberQuote {
    guard let environment = environments.first(where: { $0.name == name }) else { return .refused(.unknownAccount) }
    if let test = number.testNumber { return .test(test) }
    if let sandbox = SandboxNumber(rawValue: number.value), await hasSandboxNumbers(name) { return .sandbox(sandbox) }
    let now = NodeClock.wallClock()
    guard let payer = try await environment.payers.payer(account) else { return .refused(.unknownAccount) }
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

  /// Short codes that are free: the environment's own, or where it names none those of the caller number's country.
  public func emergencyCodes(environment name: String, callerNumber: E164Number?) async -> Set<String> {
    await perform { $0.core.emergencyCodes(environment: name, callerNumber: callerNumber) }
      ?? EmergencyNumber.everywhere
  }

  /// Country calling codes for accounts without a list of their own; `nil` for every one, or an unknown environment.
  public func defaultCountries(of account: AccountName, environment name: String) async -> [Int]? {
    await perform { $0.core.environment(name)?.defaultCountries(of: account) } ?? nil
  }

  /// Empty for an environment that is not configured.
  public func numbers(environment: String) async -> [NumberReport] {
    let live = await liveCalls(environment: environment)
    return numberBook.rows(environment).map { row, isConfigured in
      NumberReport(
        row: row, isConfigured: isConfigured, liveCalls: live.count { $0.inboundNumber == row.number })
    }
  }

  /// Waits for changes before it.
  public func setNumber(
    _ number: InboundNumber, environment: String, by actor: String
  ) async throws -> RowChange {
    try await numberBook.set(number, environment: environment, by: actor)
  }

  /// Waits for changes before it.
  public func removeNumber(
    _ number: E164Number, environment: String, by actor: String
  ) async throws -> RowChange {
    try await numberBook.remove(number, environment: environment, by: actor)
  }

  /// Empty for an environment that is not configured.
  public func deskPhones(environment: String) async -> [DeskPhoneReport] {
    let rows = deskPhoneBook.rows(environment)
    let bindings =
      await perform { loop in
        Dictionary(
          rows.map { ($0.row.name, loop.core.phones.bindings(of: $0.row.name)) },
          uniquingKeysWith: { first, _ in first })
      } ?? [:]
    let now = NodeClock.now()
    return rows.map { row, isConfigured in
      DeskPhoneReport(
        row: row, isConfigured: isConfigured,
        registrations: (bindings[row.name] ?? []).map { binding in
          let remote = binding.path.remote
          return DeskPhoneReport.Registration(
            address: "\(remote.transport.rawValue):\(remote.host):\(remote.port)",
            contact: (try? binding.contact.encoded()) ?? "", expiresInSeconds: binding.seconds(at: now),
            userAgent: binding.userAgent)
        })
    }
  }

  /// Waits for changes before it.
  public func setDeskPhone(
    _ order: DeskPhoneOrder, environment: String, by actor: String
  ) async throws -> RowChange {
    try await deskPhoneBook.set(order, environment: environment, by: actor)
  }

  /// Waits for changes before it.
  public func removeDeskPhone(
    _ name: String, environment: String, by actor: String
  ) async throws -> RowChange {
    try await deskPhoneBook.remove(name, environment: environment, by: actor)
  }

  /// A store of registrations that cannot be read has not said that there is no such user.
  public func presence(of user: UserID, application: String) async -> UserPresence {
    let person = DeviceDirectory.Person(application: application, user: user)
    let found = await perform { (presence: $0.core.presence(of: person), verifier: $0.verifier) }
    if let presence = found?.presence { return presence }
    let isKnown = await found?.verifier.knows(user, application: application)
    return isKnown ?? true ? .unreachable : .unknown
  }

  private func hasSandboxNumbers(_ name: String) async -> Bool {
    await perform { $0.core.environment(name)?.hasSandboxNumbers ?? false } ?? false
  }

  /// In the order of the configuration; the built-in far end comes last.
  public func trunks() async -> [TrunkReport] { await perform { $0.core.trunkReports } ?? [] }

  /// Not ready and draining once the loop has ended.
  public func status() async -> NodeStatus {
    let state = await perform { loop in
      NodeStatus(
        version: self.version, node: self.name, startedAt: self.startedAt, isReady: loop.core.problems.isEmpty,
        isDraining: loop.core.isDraining, liveCalls: loop.core.liveCalls.count, sessions: loop.core.sessionCount,
        problems: loop.core.problems)
    }
    return state
      ?? NodeStatus(
        version: version, node: name, startedAt: startedAt, isReady: false, isDraining: true, liveCalls: 0,
        sessions: 0, problems: ["the node has ended"])
  }

  /// `nil` for a name that is not configured.
  public func environment(_ name: String) -> EnvironmentStores? { environments.first { $0.name == name }?.stores }

  /// In the order of the configuration.
  public var environmentNames: [String] { environments.map(\.name) }
}
