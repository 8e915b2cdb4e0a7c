internal import AppProtocol
public import CallEngine
public import CallModel
internal import Foundation
public import LandlineWire
internal import RoutingCore
public import SIPCore

/// What one configuration file says, together with what stands above it.
public struct GatewayConfiguration: Sendable {
  /// Most listeners of a node.
  public static let maximumListeners = 64
  /// Most trunks of a node.
  public static let maximumTrunks = 1024
  /// The state folder where nothing names another.
  public static let standardState = "/var/lib/landline"
  /// The node's name where nothing names another: alike at every start, so that a node finds its own calls again.
  public static let standardNode = NodeID(unchecked: "gateway")
  /// Five minutes: ``drainMilliseconds`` where the file says nothing.
  public static let standardDrainMilliseconds: Int64 = 300_000

  /// Signs the ledgers' operations. Nodes that share a ledger need different names.
  public var node: NodeID
  /// Folder of ledgers, spools and the gateway's own store.
  public var state: String
  /// Name or address that session descriptions and SIP URIs of the gateway itself have; `nil`: that of a listener.
  public var host: SIPHost?
  /// Loopback, port 8080, where the file says nothing.
  public var http: HTTPConfiguration
  /// Loopback where the file says nothing: apps and trunks on this machine only.
  public var media: MediaConfiguration
  /// In the order of the file.
  public var environments: [EnvironmentConfiguration]
  /// JSON from level `info` on, with phone numbers masked, where the file says nothing.
  public var log: LogConfiguration
  /// Limits of every call.
  public var calls: EngineConfiguration.Limits
  /// How long live calls may go on once the gateway was asked to end.
  public var drainMilliseconds: Int64
  /// What telephones that register are challenged for, from the most preferred.
  public var registrarAlgorithms: [DigestAlgorithm]
  /// Records for 90 days and traces for 14, where the file says nothing.
  public var retention: RetentionConfiguration
  /// `nil` where no copies go out.
  public var hep: HEPConfiguration?
  /// In the order of the file, numbered from 1.
  public var listeners: [ListenerConfiguration]
  /// In the order of the file.
  public var trunks: [TrunkConfiguration]
  /// Nobody where the file has no `stir`.
  public var stir: StirConfiguration
  /// What is unwise, in the order of the file.
  public let warnings: [ConfigurationProblem]
  /// Whether no setting stands in the file.
  public let isEmpty: Bool
  /// Every value of the node's own sections as it holds, with its origin.
  public private(set) var settings: [ConfigurationSetting]

  /// Reads the text of a configuration file.
  /// - Parameters:
  ///   - file: Stands in problems, and is where relative paths of other files start.
  ///   - overrides: Values of flags and of the process's environment.
  /// - Throws: ``ConfigurationProblems`` with all problems of the file.
  public init(
    _ text: String, file: String, overrides: ConfigurationOverrides = ConfigurationOverrides()
  ) throws(ConfigurationProblems) {
    let document = ConfigurationDocument(text, file: file, overrides: overrides)
    let root = ConfigurationSection(document)
    let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
    node = root.value("node") { try NodeID(validating: $0) } ?? GatewayConfiguration.standardNode
    state = GatewayConfiguration.state(root, folder: folder)
    host = root.value("host") { text in
      let endpoint = try AdvertisedEndpoint(text)
      guard endpoint.port == nil else {
        throw InvalidValue(
          kind: "host", rule: "node.host", offset: nil, problem: "a port stands where only a host belongs",
          accepted: "a name or an address, such as sip.example.com")
      }
      return endpoint.host
    }
    let listeners = GatewayConfiguration.listeners(root, folder: folder)
    stir = root.section("stir").map { StirConfiguration(reading: $0, folder: folder) } ?? StirConfiguration()
    let trunks = GatewayConfiguration.trunks(root, folder: folder, stir: stir)
    http = HTTPConfiguration(reading: root.sectionOrEmpty("http"), folder: folder)
    let mediaSection = root.section("media")
    media = mediaSection.map { MediaConfiguration(reading: $0, folder: folder) } ?? MediaConfiguration()
    environments = GatewayConfiguration.environments(
      root, folder: folder, state: URL(fileURLWithPath: state, isDirectory: true), trunks: trunks.map(\.trunk.name))
    log = LogConfiguration(reading: root.sectionOrEmpty("log"))
    calls = root.section("calls").map { EngineConfiguration.Limits(reading: $0) } ?? EngineConfiguration.Limits()
    let drain = root.section("drain")
    drainMilliseconds =
      drain?.milliseconds("timeout", in: 0...86_400_000) ?? GatewayConfiguration.standardDrainMilliseconds
    drain?.finish()
    registrarAlgorithms =
      root.section("registrar").flatMap(GatewayConfiguration.algorithms) ?? RegistrarLimits.standard.algorithms
    retention = root.section("retention").map { RetentionConfiguration(reading: $0) } ?? RetentionConfiguration()
    hep = root.section("hep").flatMap { HEPConfiguration(reading: $0, folder: folder) }
    self.listeners = listeners
    self.trunks = trunks
    if let mediaSection {
      GatewayConfiguration.check(media, listeners, at: mediaSection)
      if let turn = media.turn { GatewayConfiguration.check(turn, calls, at: mediaSection.sectionOrEmpty("turn")) }
    }
    GatewayConfiguration.check(http, listeners, at: root.sectionOrEmpty("http"))
    root.finish()
    try document.finish()
    warnings = document.warnings.sorted { ($0.line ?? 0, $0.column ?? 0) < ($1.line ?? 0, $1.column ?? 0) }
    isEmpty = document.isEmpty
    settings = []
    settings = currentSettings { document.origin(of: $0) }
  }

  /// Reads a configuration file.
  /// - Throws: ``ConfigurationProblems``.
  public init(
    path: String, overrides: ConfigurationOverrides = ConfigurationOverrides()
  ) throws(ConfigurationProblems) {
    self = try GatewayConfiguration(
      ConfigurationFile.text(path, atMost: ConfigurationDocument.maximumBytes), file: path, overrides: overrides)
  }

  /// The environment with this name.
  public func environment(_ name: String) -> EnvironmentConfiguration? { environments.first { $0.name == name } }

  /// The trunk with this name.
  public func trunk(_ name: String) -> TrunkConfiguration? { trunks.first { $0.trunk.name == name } }

  /// How the TLS servers of all trunks are judged.
  public var tlsClients: TLSClientPolicies {
    var policies = TLSClientPolicies()
    for trunk in trunks {
      guard let policy = trunk.tls else { continue }
      for host in trunk.hosts {
        if case .name(let name) = host {
          policies.byServerName[name.lowercased()] = policy
        } else {
          policies.byHost[host] = policy
        }
      }
    }
    return policies
  }
}
