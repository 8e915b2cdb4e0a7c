import Foundation

extension CallsBenchRun {
  /// Calls a second of a gateway that has nothing else to do: each is over before the next begins.
  private static let idleRate = 20
  private static let flushSeconds = 1.0
  /// Milliseconds beside the ledger's one flush.
  private static let typicalLimit = 0.5
  private static let rareLimit = 1.5

  /// B4: from `call` to INVITE, and from 200 to `accepted`.
  func measureDelay() async throws {
    let gateway = try startGateway("b4")
    defer { gateway.stop() }
    let callee = try TimedCallee(port: gateway.ports.callee)
    defer { callee.end() }
    try await withApps(gateway) { apps in
      options.progress("B4: warming up")
      try await warmUp(apps)
      _ = callee.drainMarks()
      options.progress("B4: the disk")
      found.flush = try FlushProbe.measure(in: folder, seconds: Self.flushSeconds)
      try await measureDelay("idle", Self.idleRate, gateway, apps, callee)
      try await measureDelay("at \(options.delayRate)/s", options.delayRate, gateway, apps, callee)
    }
    failures(.b4)
  }

  private func measureDelay(
    _ name: String, _ rate: Int, _ gateway: BenchGateway, _ apps: AppGroup, _ callee: TimedCallee
  ) async throws {
    var outward: [[Double]] = []
    var inward: [[Double]] = []
    for round in 1...options.rounds {
      options.progress("B4: \(name), round \(round) of \(options.rounds)")
      let before = try gateway.processorSeconds()
      let result = try await apps.run(CallDriver.Load(calls: calls(rate), rate: rate))
      let spent = try gateway.processorSeconds() - before
      found.trials.append(
        CallsBenchReport.Trial(
          row: .b4, gateway: CallsBenchReport.ours, rate: rate, calls: result.calls, failed: result.failed,
          failures: result.failures, cpuMicrosecondsPerCall: spent * 1e6 / Double(result.calls)))
      let delays = Self.delays(result.marks, callee.drainMarks())
      outward.append(delays.outward.sorted())
      inward.append(delays.inward.sorted())
    }
    delay("call to INVITE", name, outward, found.flush)
    delay("200 to accepted", name, inward, nil)
  }

  /// - Parameter flush: Where the way goes through the ledger.
  private func delay(_ way: String, _ load: String, _ rounds: [[Double]], _ flush: FlushProbe?) {
    let disk = flush?.milliseconds.median ?? 0
    figure(
      .b4, "\(way), \(load), p50 ms", rounds.filter { !$0.isEmpty }.map { $0.percentile(0.5) }, decimals: 2,
      target: .init(subject: .value, limit: disk + (flush == nil ? 0.3 : Self.typicalLimit)))
    figure(
      .b4, "\(way), \(load), p99 ms", rounds.filter { !$0.isEmpty }.map { $0.percentile(0.99) }, decimals: 2,
      target: .init(subject: .value, limit: 2 * disk + Self.rareLimit))
  }

  /// Milliseconds of each call that both sides saw.
  private static func delays(
    _ marks: [CallMarks], _ seen: [String: TimedCallee.Marks]
  ) -> (outward: [Double], inward: [Double]) {
    var delays: (outward: [Double], inward: [Double]) = ([], [])
    for (index, call) in marks.enumerated() {
      guard call.accepted > 0, let other = seen[CallDriver.number(index)] else { continue }
      delays.outward.append((other.invited - call.asked) * 1000)
      delays.inward.append((call.accepted - other.answered) * 1000)
    }
    return delays
  }
}
