import Foundation

/// What finished calls leave in the memory of a gateway, and in its books.
///
/// Calls are placed, answered, hung up and settled at a steady rate, so that what lingers for a while after a call (a
/// transaction, a port that rests) is as much at the end as at the beginning. Memory is read all the while, and a line is
/// laid through what was read: its slope is what a call leaves for ever.
public enum MemorySlope {
  /// How many calls, how fast, and what they may leave.
  public struct Options: Sendable {
    /// Calls that are counted.
    public var calls = 100_000
    /// Calls before them, which fill pools and caches.
    public var warmUpCalls = 10_000
    /// Calls a second.
    public var rate = 150
    /// Bytes that a call may leave.
    public var limit = 8.0
    /// App connections that calls are shared among.
    public var apps = 16
    /// Folder on the disk that the ledger is made on; `nil` for one of the system's.
    public var folder: String?
    /// The gateway's program; `nil` for `landline` beside this one.
    public var gateway: String?
    /// Told what happens, and about every 20 s how many calls are over and how much memory the gateway has.
    public var progress: BenchProgress = { _ in }

    /// 100 000 calls after 10 000 to warm up: about twelve minutes.
    public init() {}
  }

  /// Kept free of calls at the end, until nothing of them lingers.
  private static let quietSeconds = 45.0
  /// A call that is hung up in the millisecond of its answer costs nothing.
  private static let heldMilliseconds: Int64 = 200
  /// Mebibytes, so that the ledger's pages in memory are as many as they will ever be before calls are counted: a call
  /// adds one KiB to the ledger.
  private static let ledgerCache = 2
  private static let sampleNanoseconds: UInt64 = 500_000_000
  private static let progressSamples = 40

  /// - Throws: ``BenchProblem`` when the gateway does not start or goes away.
  public static func run(_ options: Options) async throws -> MemorySlopeReport {
    guard options.calls >= 100, options.warmUpCalls >= 0, (1...10_000).contains(options.rate), options.apps > 0,
      options.limit > 0
    else { throw BenchProblem("a slope needs 100 calls or more, and a rate of 1 to 10000 a second") }
    let executable = try options.gateway ?? ProcessFigures.gatewayExecutable()
    guard PeerProgram.exists(executable) else { throw BenchProblem("\(executable) is no program") }
    let folder = try BenchFolder(in: options.folder ?? BenchPlaces.diskFolder)
    try GatewayBooks.prepare(executable: executable, folder: folder.path)
    let gateway = try BenchGateway(
      executable: executable, folder: folder.path, ports: BenchGateway.Ports(), ledgerCache: ledgerCache)
    defer { gateway.stop() }
    let callee = try TimedCallee(port: gateway.ports.callee)
    defer { callee.end() }
    let apps = try await AppGroup.connect(port: gateway.ports.web, count: options.apps, from: 0)
    var report: MemorySlopeReport
    do {
      report = try await measure(options, gateway, callee, apps)
      try await apps.close()
    } catch {
      try? await apps.close()
      throw error
    }
    options.progress("the books")
    gateway.stop()
    report.gatewayExit = gateway.program.wait()
    report.books = try SoakBooks.judge(executable: executable, ledger: GatewayBooks.ledger(in: folder.path))
    return report
  }

  private static func measure(
    _ options: Options, _ gateway: BenchGateway, _ callee: TimedCallee, _ apps: AppGroup
  ) async throws -> MemorySlopeReport {
    let all = options.warmUpCalls + options.calls
    let progress = CallLoadProgress()
    var load = CallDriver.Load(calls: all, rate: options.rate)
    load.progress = progress
    load.heldMilliseconds = heldMilliseconds
    options.progress("\(all) calls, \(options.rate) a second")
    let began = ProcessClock.monotonicSeconds()
    let placed = load
    async let running = apps.run(placed)
    var samples: [MemorySlopeReport.Sample] = []
    var looks = 0
    // The last seconds have fewer calls that linger.
    while progress.ended < all - options.rate, ProcessClock.monotonicSeconds() - began < load.duration {
      try await Task.sleep(nanoseconds: sampleNanoseconds)
      _ = callee.drainMarks()
      let memory = try ProcessFigures.residentKibibytes(gateway.processIdentifier)
      let ended = progress.ended
      if ended >= options.warmUpCalls {
        samples.append(MemorySlopeReport.Sample(calls: ended, resident: memory.all, own: memory.own))
      }
      looks += 1
      if looks % progressSamples == 0 { options.progress("\(ended) calls are over, \(memory.own) KiB") }
    }
    let result = try await running
    let seconds = ProcessClock.monotonicSeconds() - began
    options.progress("waiting until nothing of them lingers")
    try await Task.sleep(nanoseconds: UInt64(quietSeconds * 1e9))
    let metrics = try GatewayMetrics.read(gateway.ports.web)
    return MemorySlopeReport(
      options, result, samples: samples, seconds: seconds, costMicro: progress.costMicro,
      quiet: try ProcessFigures.residentKibibytes(gateway.processIdentifier),
      leftOvers: metrics.leftOvers, threads: ProcessFigures.threads(gateway.processIdentifier),
      descriptors: ProcessFigures.descriptors(gateway.processIdentifier))
  }
}
