import AppProtocol
import CallEngine
import CallModel
import Foundation
import LandlineConfiguration
import LandlineHTTP
import LandlineNode
import LandlineRecording
import LandlineWire
import LedgerCore
import LedgerSQLite
import LedgerSpool
import Logging
import MediaCore
import NodeCore
import RecordsSQLite
import RoutingCore
import SDPCore
import SIPCore
import SecureTransport

/// What a configuration becomes before anything listens: open stores and the values that the hub, the doors and the
/// verifier are made of.
struct NodeAssembly: Sendable {
  /// The name of the built-in far end among the trunks; no trunk of the configuration can have it.
  static let farEndTrunk = CallTrunk.farEnd

  let configuration: GatewayConfiguration
  private(set) var environments: [HubEnvironment]
  /// To be closed at the end.
  private(set) var ledgers: [SQLiteLedgerStore]
  private(set) var gatewayStores: [String: SQLiteGatewayStore]

  /// Opens every environment's files; those of a new environment are made.
  /// - Throws: what cannot be opened; nothing stays open then.
  static func open(_ configuration: GatewayConfiguration, log: Logger) async throws -> NodeAssembly {
    var assembly = NodeAssembly(configuration: configuration, environments: [], ledgers: [], gatewayStores: [:])
    do {
      for environment in configuration.environments { try assembly.open(environment, log: log) }
      for environment in assembly.environments { await environment.recordings?.recover() }
    } catch {
      await assembly.close()
      throw error
    }
    return assembly
  }

  private mutating func open(_ environment: EnvironmentConfiguration, log: Logger) throws {
    let ledgerFile = URL(fileURLWithPath: environment.ledger)
    let folder = ledgerFile.deletingLastPathComponent()
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    var options = SQLiteLedgerStore.Options()
    options.cacheKibibytes = environment.ledgerCacheMebibytes * 1024
    let name = environment.name
    options.onFault = { problem in
      log.critical("the ledger's books are broken", metadata: ["environment": "\(name)", "problem": "\(problem)"])
    }
    let isNew = !FileManager.default.fileExists(atPath: environment.ledger)
    let ledger = try SQLiteLedgerStore.open(path: environment.ledger, options: options, createIfMissing: true)
    ledgers.append(ledger)
    if isNew {
      log.notice("a new ledger was made", metadata: ["environment": "\(name)", "path": "\(environment.ledger)"])
    }
    let base = ledgerFile.deletingPathExtension().path
    let store = try SQLiteGatewayStore.open(path: base + "-gateway.db", createIfMissing: true, gathers: true)
    gatewayStores[name] = store
    var stores = EnvironmentStores(
      ledger: ledger, records: store, idempotency: store, traces: store, numbers: store,
      deskPhones: store)
    stores.largestAmountMicros = environment.largestAmountMicros
    let recordings = try recordings(environment, base: base, store: store, log: log)
    stores.recordings = recordings
    var assembled =
      HubEnvironment(
        name: name, stores: stores,
        payers: PayerDirectory(environment: name, ledgerPath: environment.ledger, ledger: ledger),
        spool: try LedgerSpool(path: base + "-\(configuration.node).spool"),
        retention: Retention(
          recordMilliseconds: configuration.retention.recordMilliseconds,
          statisticsMilliseconds: configuration.retention.statisticsMilliseconds,
          traceMilliseconds: configuration.retention.traceMilliseconds))
    assembled.recordings = recordings
    assembled.sounds = SoundShelf(
      folder: environment.sounds, speech: environment.speaks ? FliteSpeech.find() : nil)
    environments.append(assembled)
  }

  private func recordings(
    _ environment: EnvironmentConfiguration, base: String, store: SQLiteGatewayStore, log: Logger
  ) throws -> RecordingArchive {
    var limits = RecordingArchive.Limits()
    limits.maximumBytes = Int64(environment.recordingMebibytes) << 20
    limits.retentionSeconds = configuration.retention.recordingMilliseconds.map { $0 / 1000 }
    return try RecordingArchive(
      folder: environment.recordings ?? base + "-recordings", keyFile: environment.recordingKeyFile,
      environment: environment.name, limits: limits, store: store, log: log)
  }

  /// What may change while calls are up.
  /// - Parameter farEnd: where the built-in far end listens, for environments that have its numbers.
  static func settings(_ configuration: GatewayConfiguration, farEnd: CallTrunk?) -> NodeSettings {
    let applications = configuration.environments.flatMap { environment in
      environment.applications.map {
        (
          $0.key,
          NodeApplication(
            environment: environment.name, account: $0.account, callerNumbers: $0.callerNumbers,
            busyRule: $0.busyRule, recording: $0.recording)
        )
      }
    }
    var settings = NodeSettings(
      engine: engine(configuration, farEnd: farEnd),
      applications: Dictionary(applications, uniquingKeysWith: { first, _ in first }))
    settings.keepsClientStatistics = configuration.retention.keepsClientStatistics
    settings.turn = configuration.media.turn
    settings.certificateFetches = configuration.stir.fetches
    return settings
  }

  /// The number tables of the configuration, by environment.
  static func numbers(_ configuration: GatewayConfiguration) -> [String: [InboundNumber]] {
    Dictionary(configuration.environments.map { ($0.name, $0.numbers) }, uniquingKeysWith: { first, _ in first })
  }

  /// The desk phones of the configuration, by environment.
  static func deskPhones(_ configuration: GatewayConfiguration) -> [String: [DeskPhone]] {
    Dictionary(configuration.environments.map { ($0.name, $0.deskPhones) }, uniquingKeysWith: { first, _ in first })
  }

  static func credentials(_ configuration: GatewayConfiguration) -> [AppCredentials] {
    configuration.environments.flatMap { environment in
      environment.applications.map { application in
        AppCredentials(
          name: application.name, key: application.key, secret: application.secret, environment: environment.name,
          account: application.account, callerNumbers: application.callerNumbers,
          schemes: environment.registration,
          userRules: (try? UserID.Rules(maximumLength: environment.usersMaximumLength)) ?? .standard)
      }
    }
  }

  private static func engine(_ configuration: GatewayConfiguration, farEnd: CallTrunk?) -> EngineConfiguration {
    let origin = CallOperation.Origin(node: configuration.node, epoch: 0)
    let environments = configuration.environments.map { environment in
      // The far end takes ordinary numbers only where nothing else could; its own numbers reach it in any case.
      let hasNone = environment.trunks.isEmpty && environment.hasSandboxNumbers && farEnd != nil
      let trunks = hasNone ? [farEndTrunk] : environment.trunks
      var calls = EngineConfiguration.Environment(
        name: environment.name, origin: origin, trunks: trunks, hasSandboxNumbers: environment.hasSandboxNumbers,
        sipHosts: environment.sipHosts, usersMaximumLength: environment.usersMaximumLength)
      calls.sipRatePerMinute = environment.sipRatePerMinute
      calls.countries = environment.countries
      calls.callerCountries = environment.callerCountries
      calls.velocity = environment.velocity
      calls.emergencyNumbers = environment.emergencyNumbers
      calls.emergencyCalls = environment.emergencyCalls
      calls.emergencyTrunks = environment.emergencyTrunks
      return calls
    }
    var engine = EngineConfiguration(
      environments: environments, trunks: configuration.trunks.map(CallTrunk.init) + (farEnd.map { [$0] } ?? []),
      host: configuration.host ?? configuration.listeners.first?.listener.advertisedHost
        ?? configuration.listeners.first?.listener.host ?? .ipv4(0x7F00_0001))
    engine.limits = configuration.calls
    engine.identityAuthorities = configuration.stir.authorities
    return engine
  }

  static func door(_ http: HTTPConfiguration) -> HTTPDoorConfiguration {
    var door = HTTPDoorConfiguration(
      host: "\(http.host)", port: Int(http.port),
      certificate: http.tls.map {
        .init(
          chainPath: $0.identity.certificateChain, keyPath: $0.identity.privateKey,
          needsTLS13: $0.minimumVersion == .tls13)
      },
      allowedOrigins: http.origins)
    door.servesMetrics = http.hasMetrics
    switch http.pages {
    case .builtIn: door.pages = .builtIn
    case .none: door.pages = .none
    case .folder(let folder): door.pages = .folder(folder)
    }
    door.limits.connections = http.limits.connections
    door.limits.connectionsPerHost = http.limits.connectionsPerHost
    door.limits.requestsPerSecond = http.limits.requestsPerSecond
    door.limits.requestBurst = http.limits.requestBurst
    door.proxies = http.proxies
    door.limits.bodyBytes = http.limits.bodyBytes
    return door
  }

  func hub(farEnd: CallTrunk?, prompts: PromptLibrary) throws -> HubConfiguration {
    var door = AppDoor.Configuration(version: LandlineVersion.text)
    let limits = configuration.http.limits
    door.maximumConnections = limits.connections
    door.maximumConnectionsPerHost = limits.connectionsPerHost
    door.maximumSessions = limits.sessions
    // Every connected host has a count of its own; some are remembered for a while after.
    door.maximumHosts = max(door.maximumHosts, limits.connections + 1024)
    // The engine counts a session's calls; the door only keeps what waits for it within bounds.
    door.maximumCalls = max(door.maximumCalls, configuration.calls.callsPerSession)
    door.maximumPendingRequests = max(door.maximumPendingRequests, configuration.calls.callsPerSession)
    door.requestsPerSecond = Int64(limits.requestsPerSecond)
    door.requestBurst = Int64(limits.requestBurst)
    door.registrationsPerSecond = Int64(limits.registrationsPerSecond)
    var media = configuration.media.loops
    if media.isEmpty {
      media = [MediaLoopConfiguration(app: configuration.media.app, trunk: configuration.media.trunk)]
    }
    var hub = HubConfiguration(
      node: configuration.node, version: LandlineVersion.text, environments: environments,
      settings: Self.settings(configuration, farEnd: farEnd),
      sip: SIPNode.Configuration(
        listeners: sipListeners,
        agent: agent(farEnd),
        tlsClients: configuration.tlsClients),
      media: media, certificate: try DTLSCertificate(), prompts: prompts, door: door)
    hub.keepsTraces = configuration.retention.traceMilliseconds != nil
    hub.hep = configuration.hep
    hub.dialogJournal = "\(configuration.state)/\(configuration.node).dialogs"
    hub.innerTrunk = farEnd == nil ? nil : Self.farEndTrunk
    hub.registrations = Self.registrations(configuration)
    hub.numbers = Self.numbers(configuration)
    hub.deskPhones = Self.deskPhones(configuration)
    return hub
  }

  /// Calls from outside reach the engine, which knows whom they could be for, and which trunk's word on a caller counts.
  /// Only trunks are answered at all: who is scanning finds nothing, and nobody can point answers at others.
  private func agent(_ farEnd: CallTrunk?) -> UserAgentConfiguration {
    var agent = UserAgentConfiguration(addresses: [], acceptsCalls: true, trustsCallers: true)
    agent.acquaintance = .peers(
      configuration.trunks.flatMap { ([$0.uri] + $0.proxies).compactMap(\.host) + $0.inbound.sources }
        + [farEnd?.uri.host].compactMap(\.self))
    agent.registrar.algorithms = configuration.registrarAlgorithms
    return agent
  }

  /// A node without listeners of its own still reaches the built-in far end, from a port of loopback that nobody knows.
  private var sipListeners: [SIPListener] {
    guard configuration.listeners.isEmpty else { return configuration.listeners.map(\.listener) }
    return [SIPListener(id: ListenerID(1), transport: .udp, host: .ipv4(0x7F00_0001), port: 0)]
  }

  static func registrations(_ configuration: GatewayConfiguration) -> [OutgoingRegistration] {
    configuration.trunks.compactMap { (trunk) -> OutgoingRegistration? in
      guard let seconds = trunk.registrationSeconds, let account = trunk.account, let host = trunk.uri.host else {
        return nil
      }
      let address = NameAddress(SIPURI(scheme: trunk.uri.scheme, user: account.username, host: host))
      return OutgoingRegistration(
        registrar: trunk.uri, routes: trunk.proxies, address: address, contactUser: account.username,
        account: account, expires: seconds)
    }
  }

  func close() async {
    for environment in environments { await environment.recordings?.close() }
    for environment in environments { await environment.spool.close() }
    for environment in environments { await environment.payers.close() }
    for ledger in ledgers { await ledger.close() }
    for store in gatewayStores.values { await store.close() }
  }
}

extension CallTrunk {
  convenience init(_ trunk: TrunkConfiguration) {
    self.init(
      trunk: trunk.trunk, uri: trunk.uri, proxies: trunk.proxies, account: trunk.account, identity: trunk.identity,
      media: trunk.media, sessionTimer: trunk.sessionTimer, reliability: trunk.reliability,
      maximumRedirections: trunk.maximumRedirections,
      ringTimeoutMilliseconds: trunk.ringTimeoutMilliseconds, inbound: trunk.inbound,
      recording: trunk.recording)
  }
}
