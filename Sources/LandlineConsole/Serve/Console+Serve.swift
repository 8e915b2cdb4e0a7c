import CallModel
import Foundation
import LandlineConfiguration
import LandlineHTTP
import LandlineNode
import LandlineServer
import Logging
import Metrics
import NIOPosix
import NodeCore
import ServiceLifecycle
import UnixSignals

extension Console {
  /// Runs a gateway until the process is asked to end. SIGTERM and SIGINT drain it, SIGHUP reads the configuration again.
  package func serve(_ options: ServeOptions) async throws -> Answer {
    let path = configurationPath(options.configuration, isOfGateway: false)
    let overrides = ConfigurationOverrides(
      flags: Dictionary(
        options.flags.compactMap { entry in
          ConfigurationOverrides.Key(rawValue: entry.key).map { ($0, entry.value) }
        }, uniquingKeysWith: { first, _ in first }), environment: environment.variables)
    let configuration = try readConfiguration(path, overrides)
    guard !configuration.isEmpty else { throw Console.emptyConfiguration(path) }
    if options.isCheckOnly { return try checked(configuration, path) }
    try await run(
      configuration, as: "serve", path: path,
      reloading: {
        let read = try readConfiguration(path, overrides)
        // Many editors empty a file before they write it: taking that over would take every trunk away.
        guard !read.isEmpty else { throw Console.emptyConfiguration(path) }
        return read
      })
    return Answer.streamed(notes: [])
  }

  private static func emptyConfiguration(_ path: String) -> ConsoleError {
    ConsoleError(
      .configurationBroken, code: "configuration", "the configuration has no setting", at: path,
      fix: "landline init DIR writes one that works; Config/landline.yaml explains every key")
  }

  /// Everything that a start would need, without a start: what is serious is a failure, all of it at once.
  private func checked(_ configuration: GatewayConfiguration, _ path: String) throws -> Answer {
    let file = URL(fileURLWithPath: path).standardized.path
    let running = finder().gateways.first { $0.places.configuration == file }
    let findings =
      ListenerCheck.findings(configuration, own: running?.process) + CertificateCheck.findings(configuration)
      + FolderCheck.findings(configuration) + AccountCheck.findings(configuration)
    let serious = findings.filter(\.isSerious)
    guard serious.isEmpty else {
      var failure = ConsoleError(
        .configurationBroken, code: "configuration.unusable",
        "a gateway with this configuration would fail in \(serious.count == 1 ? "one way" : "\(serious.count) ways")",
        at: path)
      // What is to be done stands below, once.
      failure.details =
        serious.map { "\($0.place): \($0.problem)" } + findings.filter { !$0.isSerious }.map(\.description)
      failure.setFixes(serious.compactMap { finding in finding.fix.map { "\(finding.place): \($0)" } })
      if failure.fix == nil { failure.fix = "edit \(path), then landline serve --check --config \(path)" }
      throw failure
    }
    var answer = Answer(
      "settings",
      Listing(
        [Column("key"), Column("value"), Column("origin")],
        rows: configuration.settings.map { [.text($0.key), .text($0.value), .text("\($0.origin)")] }))
    answer.notes = configuration.warnings.map(\.description) + findings.map(\.description)
    if let running { answer.notes.append("its ports are those of \(running.name)") }
    answer.notes.append("\(path) can be used")
    return answer
  }

  /// - Parameters:
  ///   - command: `serve` or `dev`.
  ///   - path: The configuration's file.
  ///   - reloading: reads the configuration again; `nil` where it never changes.
  ///   - signsInLocally: whether pages on this machine need no key.
  ///   - started: told when the gateway takes calls.
  func run(
    _ configuration: GatewayConfiguration, as command: String, path: String,
    reloading: (@Sendable () throws -> GatewayConfiguration)?,
    signsInLocally: Bool = false,
    started: @escaping @Sendable (RunningGateway, UInt16) async throws -> AfterStart = { _, _ in .goesOn }
  ) async throws {
    Console.leaveNoCore()
    let output = LogOutput(configuration.log)
    let log = Logger(label: "landline") { GatewayLogHandler(label: $0, output: output) }
    let metrics = MetricsRegistry()
    MetricsSystem.bootstrap(metrics)
    let group = MultiThreadedEventLoopGroup.singleton
    let gateway: RunningGateway
    do {
      gateway = try await RunningGateway.start(
        configuration, metrics: metrics, on: group, log: log, signsInLocally: signsInLocally,
        trunkTester: Console.testTrunk)
    } catch {
      throw ConsoleError(startingFailed: error, configuration)
    }
    let notifier = ServiceNotifier(environment: environment.variables)
    let whereabouts = Whereabouts(
      folder: runningGateways, command: command, path: path, gateway: gateway, log: log, configuration)
    defer { whereabouts.remove() }
    var services = [ServiceGroupConfiguration.ServiceConfiguration(service: gateway)]
    services.append(
      .init(
        service: Announcement(gateway: gateway, notifier: notifier, whereabouts: whereabouts, started: started),
        successTerminationBehavior: .gracefullyShutdownGroup))
    if let reloading {
      services.append(
        .init(
          service: Reloading(
            gateway: gateway, output: output, notifier: notifier, whereabouts: whereabouts, log: log, read: reloading),
          successTerminationBehavior: .ignore))
    }
    let running = ServiceGroup(
      configuration: .init(services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: log))
    do { try await running.run() } catch {
      output.close()
      throw ConsoleError(startingFailed: error, configuration)
    }
    output.close()
  }

  /// Tells the service manager and whoever waits that the gateway takes calls, and that it ends.
  private struct Announcement: NamedService {
    let gateway: RunningGateway
    let notifier: ServiceNotifier?
    let whereabouts: Whereabouts
    let started: @Sendable (RunningGateway, UInt16) async throws -> AfterStart

    func run() async throws {
      guard let port = await gateway.httpPort() else { return }
      whereabouts.write(port: port)
      _ = notifier?.ready(status: "takes calls")
      try await withGracefulShutdownHandler {
        guard try await started(gateway, port) == .goesOn else { return }
        guard let notifier, let watchdog = notifier.watchdogMicroseconds else { return try await gracefulShutdown() }
        // Half of what the service manager waits: it is told only while the calls' own loop still answers.
        for await _ in AsyncTimerSequence.every(microseconds: watchdog / 2).cancelOnGracefulShutdown() {
          _ = await gateway.operations.status()
          notifier.watchdog()
        }
      } onGracefulShutdown: {
        _ = notifier?.stopping(status: "ends its calls")
      }
    }
  }

  /// A core would hold keys, credentials and voices. Whoever needs one for a search lifts the limit of the running
  /// process: `prlimit --core=unlimited --pid …`.
  private static func leaveNoCore() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = 0
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
  }

  /// SIGHUP. A file with a problem changes nothing.
  private struct Reloading: NamedService {
    let gateway: RunningGateway
    let output: LogOutput
    let notifier: ServiceNotifier?
    let whereabouts: Whereabouts
    let log: Logger
    let read: @Sendable () throws -> GatewayConfiguration

    func run() async throws {
      for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
        _ = notifier?.reloading()
        do {
          let configuration = try read()
          let changes = try await gateway.reload(configuration)
          output.configuration = configuration.log
          whereabouts.changed(configuration)
          for change in changes.live { log.notice("reloaded", metadata: ["change": "\(change)"]) }
          for change in changes.needsRestart {
            log.warning("changes with the next start", metadata: ["change": "\(change)"])
          }
          if changes.isEmpty { log.notice("reloaded: nothing has changed") }
        } catch let error as ConsoleError {
          log.error(
            "the configuration was not taken over",
            metadata: ["problem": "\(error.text(from: ConsoleEnvironment.usualProgram))"])
        } catch {
          log.error("the configuration was not taken over", metadata: ["problem": "\(error)"])
        }
        _ = notifier?.ready(status: "takes calls")
      }
    }
  }
}

/// Ticks until the task is cancelled.
private enum AsyncTimerSequence {
  static func every(microseconds: Int64) -> AsyncStream<Void> {
    AsyncStream {
      do { try await Task.sleep(for: .microseconds(microseconds)) } catch { return nil }
      return ()
    }
  }
}

/// Whether a gateway that has started is still needed.
enum AfterStart: Sendable { case goesOn, ends }

extension ConsoleError {
  /// A gateway that could not start, by what stopped it. What was bound is let go by now: a port that cannot be bound
  /// again is the reason.
  init(startingFailed error: any Error, _ configuration: GatewayConfiguration) {
    if let refusal = error as? StartRefusal, let first = refusal.findings.first {
      self.init(
        .notPermitted, code: "folder", "the gateway does not start: \(first.problem)", at: first.place, fix: first.fix)
      details = refusal.findings.dropFirst().map(\.description)
      return
    }
    let ports = ListenerCheck.findings(configuration)
    guard let first = ports.first else {
      self.init(any: error, path: "")
      if code == "internal" { what = "the gateway cannot start: \(ErrorText.text(error))" }
      return
    }
    self.init(
      .conflict, code: "port", "the gateway cannot start: \(first.problem)", at: first.place,
      fix: first.fix.map { first.place == "http.bind" ? "\($0) (dev: --port 0; serve: --http-bind)" : $0 })
    details = ports.dropFirst().map(\.description)
  }
}
