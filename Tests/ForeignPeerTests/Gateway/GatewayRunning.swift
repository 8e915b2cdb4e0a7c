import CallEngine
import CallModel
import Foundation
import LandlineConfiguration
import LandlineNode
import LandlineServer
import LedgerCore
import NIOPosix
import NodeCore
import PeerKit
import ServiceLifecycle

/// A whole gateway in this process: a configuration file, ledgers and ports of its own, apps let in over a WebSocket.
final class GatewayRunning: Sendable {
  let folder: TemporaryFolder
  let log: GatewayLog
  let ports: GatewaySettings.Ports
  /// Of the WebSocket.
  let httpPort: UInt16
  private let gateway: RunningGateway
  private let group: ServiceGroup
  private let running: Task<Void, any Error>

  private init(_ settings: GatewaySettings) async throws {
    folder = try TemporaryFolder("gateway")
    log = GatewayLog()
    ports = try GatewaySettings.Ports()
    let state = folder.url.appendingPathComponent("state")
    try FileManager.default.createDirectory(at: state, withIntermediateDirectories: true)
    for environment in ["production", "sandbox"] {
      try await GatewayBooks.make(
        at: state.appendingPathComponent("\(environment).ledger").path,
        settings.payers.filter { $0.environment == environment })
    }
    for person in settings.people {
      let file = try folder.write(person.key + "\n", to: GatewaySettings.keyFile(person))
      // Nobody else may read a secret.
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }
    let file = try folder.write(settings.text(ports), to: "landline.yaml")
    let configuration = try GatewayConfiguration(path: file.path)
    let logger = log.logger
    gateway = try await RunningGateway.start(
      configuration, metrics: MetricsRegistry(), on: MultiThreadedEventLoopGroup.singleton, log: logger)
    let group = ServiceGroup(configuration: .init(services: [.init(service: gateway)], logger: logger))
    self.group = group
    running = Task { try await group.run() }
    guard let port = await gateway.httpPort() else {
      _ = try await running.value
      throw PeerFailure("the gateway ended before it took connections: \(log.lines.suffix(5))")
    }
    httpPort = port
  }

  /// Runs `body` with a gateway, and shows that nothing is left of it afterwards.
  static func run<Value: Sendable>(
    _ settings: GatewaySettings, _ body: (GatewayRunning) async throws -> Value
  ) async throws -> Value {
    let gateway = try await GatewayRunning(settings)
    let value: Value
    do {
      value = try await body(gateway)
      try await gateway.isIdle()
    } catch {
      await gateway.group.triggerGracefulShutdown()
      _ = try? await gateway.running.value
      throw PeerFailure(
        "\(error)\ngateway:\n\(gateway.log.lines.filter { !$0.hasPrefix("debug") || $0.hasPrefix("debug sip") }.suffix(60).joined(separator: "\n"))"
      )
    }
    try await gateway.finish()
    return value
  }

  // MARK: What it holds

  func stores(_ environment: String = "production") throws -> EnvironmentStores {
    guard let stores = gateway.operations.environment(environment) else {
      throw PeerFailure("there is no environment \(environment)")
    }
    return stores
  }

  var operations: any GatewayOperations { gateway.operations }

  func account(_ payer: GatewayPayer) async throws -> LedgerAccount {
    let row = try await stores(payer.environment).ledger.read { try $0.customer(named: payer.name) }
    guard let row else { throw PeerFailure("there is no account \(payer.name)") }
    return row
  }

  func hold(_ call: String, of payer: GatewayPayer) async throws -> Hold? {
    let account = try await account(payer).id
    return try await stores(payer.environment).ledger.read {
      try $0.hold(account: account, call: CallID(unchecked: call))
    }
  }

  /// Waits until the record of a call is kept.
  func record(_ call: String, in environment: String = "production") async throws -> CallRecord {
    let records = try stores(environment).records
    return try await Deadline(seconds: 5).first("record of \(call)", everyMilliseconds: 20) {
      try await records.record(CallID(unchecked: call))
    }
  }

  /// No call, hold or port of a call is left, and the books are in order.
  private func isIdle() async throws {
    let operations = gateway.operations
    _ = try await Deadline(seconds: 8).first("gateway without calls", everyMilliseconds: 20) { () -> Bool? in
      await operations.liveCalls(environment: nil).isEmpty ? true : nil
    }
    // What the agent keeps for repeated messages (RFC 3261 section 17) has its own time, and so have resting ports.
    let kinds = ["live", "dialogs", "exchanges", "exchangesOfCalls", "locations", "bridges", "media-0"]
    var held: [String: Int] = [:]
    _ = try await Deadline(seconds: 8).first("end of all that calls hold: \(held)", everyMilliseconds: 50) {
      () -> Bool? in
      held = try await gateway.holdings()
      return kinds.allSatisfy { held[$0] == 0 } ? true : nil
    }
    for name in operations.environmentNames {
      let ledger = try stores(name).ledger
      _ = try await Deadline(seconds: 5).first("end of every hold of \(name)", everyMilliseconds: 20) { () -> Bool? in
        try await ledger.read { try $0.counts().openHolds } == 0 ? true : nil
      }
      try await GatewayBooks.check(name, of: stores(name))
    }
    let status = await operations.status()
    try require(status.problems.isEmpty, "the gateway is ready; \(status.problems)")
  }

  /// Ends it: no socket and no file of it stays open, and its books bear the looks of others.
  private func finish() async throws {
    await group.triggerGracefulShutdown()
    do { try await running.value } catch {
      throw PeerFailure("the gateway does not end in order: \(error)\n\(log.lines.suffix(20).joined(separator: "\n"))")
    }
    try await LeftOvers(
      ports: [ports.sip, ports.tls, ports.app, httpPort] + Array(ports.trunk), folders: [folder.url]
    ).areNone()
    for name in ["production", "sandbox"] {
      try await GatewayBooks.audit(folder.url.appendingPathComponent("state/\(name).ledger").path, in: folder.url)
    }
    let complaints = log.lines.filter { $0.hasPrefix("critical") || $0.hasPrefix("error") }
    try require(complaints.isEmpty, "no error in the log: \(complaints)")
  }
}
