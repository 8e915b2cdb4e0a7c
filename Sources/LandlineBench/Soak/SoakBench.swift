import Foundation
import NIOCore
import NIOPosix

/// Many calls held at once for a long time, with everything that people and networks do to calls, against a gateway of
/// its own process: usually one that was built with a sanitizer.
public enum SoakBench {
  /// How many calls, for how long, and how much happens to them.
  public struct Options: Sendable {
    /// Bridged calls at a time: each has a leg to an app, with ICE, DTLS and SRTP, and one to a trunk.
    public var calls = 500
    /// Counted from when all calls are bridged, or from when a slow gateway had time enough to bridge them.
    public var seconds = 600.0
    /// The gateway's program; `nil` for `landline` beside this one.
    public var gateway: String?
    /// Seconds between two packets of one leg.
    public var soundInterval = 1.0
    /// Mean seconds between two operations of one call.
    public var operationInterval = 10.0
    /// Mean seconds that an answered call goes on.
    public var life = 45.0
    /// Most calls placed in a second.
    public var rate = 20
    /// Folder on the disk that the ledger is made on; `nil` for one of the system's.
    public var folder: String?
    /// Kept after the run: what the gateway said.
    public var log: String?
    /// Told how the run goes, while calls are held every 15 s.
    public var progress: BenchProgress = { _ in }

    /// 500 calls for ten minutes, through the gateway beside this program.
    public init() {}
  }

  /// Calls of one session.
  private static let callsOfSession = 32
  private static let dropInterval = 4.0
  /// Seconds for what is slow under a sanitizer.
  private static let startSeconds = 120.0
  private static let endSeconds = 120.0
  private static let quietSeconds = 45.0
  private static let stopSeconds = 180.0
  private static let progressSeconds = 15

  /// - Throws: ``BenchProblem`` when the gateway does not start, or is gone before the end.
  public static func run(_ options: Options) async throws -> SoakReport {
    guard (1...10_000).contains(options.calls), options.seconds >= 1, options.rate > 0, options.soundInterval > 0,
      options.operationInterval > 0, options.life > 0
    else { throw BenchProblem("calls, seconds, rate, life and intervals are above 0") }
    let ours = try ProcessFigures.gatewayExecutable()
    let executable = options.gateway ?? ours
    for program in [ours, executable] where !PeerProgram.exists(program) {
      throw BenchProblem("\(program) is no program")
    }
    let folder = try BenchFolder(in: options.folder ?? BenchPlaces.diskFolder)
    defer {
      if let log = options.log {
        try? FileManager.default.removeItem(atPath: log)
        try? FileManager.default.copyItem(atPath: folder.file("gateway.log"), toPath: log)
      }
    }
    try GatewayBooks.prepare(executable: ours, folder: folder.path)
    let gateway = try BenchGateway(
      executable: executable, folder: folder.path, ports: BenchGateway.Ports(), startSeconds: startSeconds)
    defer { gateway.stop() }
    let threads = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    var report: SoakReport
    do {
      report = try await soak(options, gateway, on: threads.next())
      try await threads.shutdownGracefully()
    } catch {
      try? await threads.shutdownGracefully()
      throw gateway.program.isRunning
        ? error : BenchProblem("the gateway ended with \(gateway.program.wait()): \(error)")
    }
    options.progress("the end, and the books")
    gateway.stop(within: stopSeconds)
    report.gatewayExit = gateway.program.wait()
    report.books = try SoakBooks.judge(executable: ours, ledger: GatewayBooks.ledger(in: folder.path))
    return report
  }

  private static func soak(
    _ options: Options, _ gateway: BenchGateway, on loop: any EventLoop
  ) async throws -> SoakReport {
    let trunk = try await SoakTrunk.start(port: gateway.ports.callee, on: loop)
    let count = max(1, options.calls / callsOfSession)
    let web = gateway.ports.web
    let sessions = try await loop.flatSubmit {
      let sessions = (0..<count).map { _ in SoakSession(port: web, on: loop) }
      let bound = NIOLoopBound(sessions, eventLoop: loop)
      return EventLoopFuture.andAllSucceed(sessions.enumerated().map { $1.start($0) }, on: loop).map { bound }
    }.get()
    let load = SoakRun.Load(
      calls: options.calls, soundInterval: options.soundInterval, operationInterval: options.operationInterval,
      life: options.life / 3...options.life * 5 / 3, rate: options.rate, dropInterval: dropInterval)
    let run = try await loop.submit {
      let run = SoakRun(
        load, sessions: sessions.value, trunk: trunk.value, media: try HandshakeSide(on: loop), on: loop)
      run.start()
      return NIOLoopBound(run, eventLoop: loop)
    }.get()
    func watch() async throws -> (live: Int, bridged: Int, legs: Int) {
      try await Task.sleep(nanoseconds: 1_000_000_000)
      guard gateway.program.isRunning else { throw BenchProblem("it is gone") }
      return try await loop.submit { (run.value.live, run.value.bridged, run.value.legs) }.get()
    }

    options.progress("up to \(options.calls) bridged calls")
    let began = ProcessClock.monotonicSeconds()
    // The ramp is no part of the time that counts; a gateway that is too slow for the load counts what it holds.
    let latest = began + Double(options.calls) / Double(options.rate) * 8 + 60
    while try await watch().bridged < options.calls, ProcessClock.monotonicSeconds() < latest {}
    let held = ProcessClock.monotonicSeconds()
    options.progress("held after \(Int(held - began)) s")
    var legs: [Double] = []
    var peakKibibytes = 0
    while ProcessClock.monotonicSeconds() - held < options.seconds {
      let now = try await watch()
      legs.append(Double(now.legs))
      peakKibibytes = max(peakKibibytes, (try? ProcessFigures.residentKibibytes(gateway.processIdentifier))?.all ?? 0)
      if legs.count % progressSeconds == 0 {
        let findings = try await loop.submit { run.value.found }.get()
        options.progress(
          "\(legs.count) s: \(now.legs) legs, \(now.bridged) bridged, \(findings.ended) ended, "
            + "\(findings.failures.values.reduce(0, +)) failures")
      }
    }
    let seconds = ProcessClock.monotonicSeconds() - held
    options.progress("hanging up")
    try await loop.submit { run.value.stop() }.get()
    let end = ProcessClock.monotonicSeconds() + Double(options.calls) / Double(options.rate) * 2 + endSeconds
    while try await watch().live > 0, ProcessClock.monotonicSeconds() < end {}
    let findings = try await loop.submit {
      run.value.finish()
      for session in sessions.value { session.stop() }
      return run.value.found
    }.get()
    options.progress("waiting until nothing of them lingers")
    try await Task.sleep(nanoseconds: UInt64(quietSeconds * 1e9))
    let metrics = try GatewayMetrics.read(gateway.ports.web)
    try await loop.flatSubmit { trunk.value.stop() }.get()
    return SoakReport(
      options, seconds: seconds, legs: legs, findings, leftOvers: metrics.leftOvers, peakKibibytes: peakKibibytes)
  }
}
