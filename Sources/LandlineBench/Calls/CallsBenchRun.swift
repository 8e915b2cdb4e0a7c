import Foundation
import NIOCore
import NIOPosix

/// One run of ``CallsBench``: what it has found so far.
final class CallsBenchRun {
  let options: CallsBench.Options
  let folder: String
  let executable: String
  var found = CallsBenchReport()
  /// Seconds that a gateway gets to finish what calls leave behind.
  static let settleMicroseconds: UInt32 = 300_000
  /// Calls whose figures nobody keeps: they fill pools and caches.
  private static let warmUpCalls = 200

  init(_ options: CallsBench.Options, folder: String) throws(BenchProblem) {
    self.options = options
    self.folder = folder
    if let gateway = options.gateway {
      executable = gateway
    } else {
      executable = try ProcessFigures.gatewayExecutable()
    }
    guard PeerProgram.exists(executable) else { throw BenchProblem("\(executable) is no program") }
  }

  func report() async throws -> CallsBenchReport {
    for row in options.rows {
      switch row {
      case .b3: try await measureCost()
      case .b3u: try await measureUserCalls()
      case .b3d: try await measureHandshakes()
      case .b4: try await measureDelay()
      case .b6: try await measureMemory()
      case .b8: try await measureStart()
      }
    }
    let all = found.calls
    if all.failed > 0 { found.notes.append("\(all.failed) of \(all.all) calls failed: no figure of theirs counts") }
    return found
  }

  // MARK: Gateways and apps

  /// A folder of its own for a gateway, with a ledger.
  func place(_ name: String) throws(BenchProblem) -> String {
    let path = "\(folder)/\(name)"
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw BenchProblem("no folder can be made in \(folder): \(error.localizedDescription)")
    }
    try GatewayBooks.prepare(executable: executable, folder: path)
    return path
  }

  /// - Parameter library: that counts its allocations.
  func startGateway(_ name: String, allocations library: String? = nil) throws(BenchProblem) -> BenchGateway {
    try BenchGateway(
      executable: executable, folder: try place(name), ports: BenchGateway.Ports(), allocations: library)
  }

  /// A callee that answers at once.
  func startCallee(_ port: UInt16) throws -> PeerProgram {
    let file = "\(folder)/callee.xml"
    try Scenarios.callee.write(toFile: file, atomically: true, encoding: .utf8)
    let callee = try PeerProgram(options.sipp, ["-sf", file, "-i", "127.0.0.1", "-p", "\(port)", "-nostdin"])
    try PeerProgram.waitForPort(port, seconds: 30)
    return callee
  }

  /// Runs `body` with apps that are connected; they are gone afterwards.
  /// - Parameters:
  ///   - number: Of the first app's user.
  ///   - answering: Whether calls for these users ring there, and are answered at once.
  func withApps<Result: Sendable>(
    _ gateway: BenchGateway, count: Int? = nil, from number: Int = 0, answering: Bool = false,
    _ body: (AppGroup) async throws -> Result
  ) async throws -> Result {
    let group = try await AppGroup.connect(
      port: gateway.ports.web, count: count ?? options.apps, from: number, answering: answering)
    do {
      let result = try await body(group)
      try await group.close()
      return result
    } catch {
      try? await group.close()
      throw error
    }
  }

  // MARK: Loads

  /// One load with the gateway's processor time for each of its calls.
  func trial(
    _ row: CallsBench.Row, _ gateway: BenchGateway, _ apps: AppGroup, _ load: CallDriver.Load,
    counting tools: CallCounters.Tools? = nil, as name: String = CallsBenchReport.ours
  ) async throws -> CallsBenchReport.Trial {
    let counters = try tools.map { tools throws(BenchProblem) in try CallCounters(gateway, tools) }
    let before = try gateway.processorSeconds()
    let result = try await apps.run(load)
    usleep(Self.settleMicroseconds)
    let spent = try gateway.processorSeconds() - before
    let counts = counters?.finish(calls: result.calls)
    return CallsBenchReport.Trial(
      row: row, gateway: name, rate: load.rate, calls: result.calls, failed: result.failed,
      failures: result.failures, cpuMicrosecondsPerCall: spent * 1e6 / Double(result.calls),
      countsPerCall: counts?.events, threadMicrosecondsPerCall: counts?.threads)
  }

  func warmUp(_ apps: AppGroup, shakesHands: Bool = false) async throws {
    let rate = shakesHands ? options.handshakeRate : options.rates.min() ?? options.delayRate
    let calls = min(Self.warmUpCalls, max(1, Int(Double(rate) * options.seconds)))
    let result = try await apps.run(CallDriver.Load(calls: calls, rate: rate, shakesHands: shakesHands))
    guard result.failed == 0 else {
      throw BenchProblem("\(result.failed) of the first \(calls) calls failed: \(result.failureText)")
    }
  }

  func calls(_ rate: Int) -> Int { max(1, Int(Double(rate) * options.seconds)) }

  func figure(
    _ row: CallsBench.Row, _ name: String, _ samples: [Double], decimals: Int, target: CallsBenchReport.Target? = nil
  ) {
    guard !samples.isEmpty else { return }
    found.figures.append(
      CallsBenchReport.Figure(row: row, name: name, decimals: decimals, landline: Spread(samples), target: target))
  }

  /// - Parameter anchor: its samples, of the same rounds; none where it is not there.
  func figure(
    _ row: CallsBench.Row, _ name: String, _ samples: [Double], decimals: Int, beside anchorName: String,
    _ anchor: [Double], ratioAtMost limit: Double
  ) {
    let ratios = zip(samples, anchor).filter { $1 > 0 }.map { $0 / $1 }
    found.figures.append(
      CallsBenchReport.Figure(
        row: row, name: name, decimals: decimals, landline: Spread(samples), anchorName: anchorName,
        anchor: anchor.isEmpty ? nil : Spread(anchor), ratio: ratios.isEmpty ? nil : Spread(ratios),
        target: CallsBenchReport.Target(subject: .ratio, limit: limit)))
  }
}

/// Connected apps on a loop of their own.
final class AppGroup: Sendable {
  private let threads: MultiThreadedEventLoopGroup
  let loop: any EventLoop
  private let apps: [NIOLoopBound<BenchApp>]
  /// Registrations at a time.
  private static let batch = 50

  private init(_ threads: MultiThreadedEventLoopGroup, _ loop: any EventLoop, _ apps: [NIOLoopBound<BenchApp>]) {
    self.threads = threads
    self.loop = loop
    self.apps = apps
  }

  /// - Parameters:
  ///   - number: Of the first app's user; apps of one gateway that are connected together have different ones.
  ///   - answering: Whether calls for these users ring there, and are answered at once.
  static func connect(port: UInt16, count: Int, from number: Int, answering: Bool = false) async throws -> AppGroup {
    let threads = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = threads.next()
    var apps: [NIOLoopBound<BenchApp>] = []
    do {
      while apps.count < count {
        let due = (apps.count..<min(count, apps.count + batch)).map { index in
          BenchApp.connect(port: port, number: number + index, answering: answering, on: loop)
        }
        apps += try await EventLoopFuture.whenAllSucceed(due, on: loop).get()
      }
    } catch {
      try? await threads.shutdownGracefully()
      throw error
    }
    return AppGroup(threads, loop, apps)
  }

  /// Places calls and waits until each is over.
  func run(_ load: CallDriver.Load) async throws -> CallLoadResult {
    try await place(load).result
  }

  /// Places calls and waits until each is where it should be.
  func place(_ load: CallDriver.Load) async throws -> (result: CallLoadResult, driver: NIOLoopBound<CallDriver>) {
    let (loop, apps) = (loop, apps)
    return try await loop.flatSubmit {
      () -> EventLoopFuture<(result: CallLoadResult, driver: NIOLoopBound<CallDriver>)> in
      do {
        let media = load.shakesHands ? try HandshakeSide(on: loop) : nil
        let driver = CallDriver(load, apps: apps.map(\.value), media: media, on: loop)
        let bound = NIOLoopBound(driver, eventLoop: loop)
        return driver.run().map { ($0, bound) }
      } catch {
        return loop.makeFailedFuture(error)
      }
    }.get()
  }

  /// Hangs up what ``place(_:)`` left and waits until it is over.
  func end(_ driver: NIOLoopBound<CallDriver>) async throws -> CallLoadResult {
    try await loop.flatSubmit { driver.value.hangUpAll() }.get()
  }

  func close() async throws {
    let apps = apps
    try await loop.submit { for app in apps { app.value.close() } }.get()
    try await threads.shutdownGracefully()
  }
}
