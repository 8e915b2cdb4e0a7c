import Foundation

extension CallsBenchRun {
  /// Calls a second while the slope's calls are brought up.
  private static let rampRate = 100
  /// KiB of a session that does nothing, of a call that rings and of one that is answered.
  private static let limits = (session: 8.0, ringing: 24.0, answered: 16.0)
  /// KiB that a finished call may leave.
  private static let leftLimit = 1.0

  /// B6: proportional set size of sessions and calls that do nothing, and what finished calls leave.
  func measureMemory() async throws {
    try await measureSessions()
    try await measureHeldCalls(.up, .answers, "an answered call without media", Self.limits.answered)
    try await measureHeldCalls(.ringing, .rings, "a ringing call", Self.limits.ringing)
    if options.finishedCalls > 0 { try await measureWhatIsLeft() }
    failures(.b6)
  }

  private func memory(_ gateway: BenchGateway) throws(BenchProblem) -> Double {
    usleep(Self.settleMicroseconds)
    return Double(try ProcessFigures.proportionalKibibytes(gateway.processIdentifier))
  }

  private func measureSessions() async throws {
    options.progress("B6: idle sessions")
    let gateway = try startGateway("b6-sessions")
    defer { gateway.stop() }
    let (few, many) = options.memoryCounts
    let slope = try await withApps(gateway, count: few) { _ in
      let before = try memory(gateway)
      return try await withApps(gateway, count: many - few, from: few) { _ in
        (try memory(gateway) - before) / Double(many - few)
      }
    }
    figure(
      .b6, "KiB of an idle session, \(few) to \(many)", [slope], decimals: 1,
      target: .init(subject: .value, limit: Self.limits.session))
  }

  private func measureHeldCalls(
    _ goal: CallDriver.Load.Goal, _ manner: TimedCallee.Manner, _ name: String, _ limit: Double
  ) async throws {
    options.progress("B6: \(name)")
    let gateway = try startGateway("b6-\(goal)")
    defer { gateway.stop() }
    let callee = try TimedCallee(port: gateway.ports.callee, manner)
    defer { callee.end() }
    let (few, many) = options.memoryCounts
    let slope = try await withApps(gateway) { apps in
      try await withApps(gateway, from: options.apps) { others in
        try await holding(few, goal, apps) {
          let before = try memory(gateway)
          return try await holding(many - few, goal, others) { (try memory(gateway) - before) / Double(many - few) }
        }
      }
    }
    figure(
      .b6, "KiB of \(name), \(few) to \(many)", [slope], decimals: 1,
      target: .init(subject: .value, limit: limit))
  }

  /// Brings calls up, does `body`, and ends them.
  private func holding<Result: Sendable>(
    _ count: Int, _ goal: CallDriver.Load.Goal, _ apps: AppGroup, _ body: () async throws -> Result
  ) async throws -> Result {
    let held = try await apps.place(CallDriver.Load(calls: count, rate: Self.rampRate, goal: goal))
    let result = try await body()
    let ended = try await apps.end(held.driver)
    found.trials.append(
      CallsBenchReport.Trial(
        row: .b6, gateway: CallsBenchReport.ours, rate: Self.rampRate, calls: ended.calls, failed: ended.failed,
        failures: ended.failures, cpuMicrosecondsPerCall: nil))
    return result
  }

  private func measureWhatIsLeft() async throws {
    let (count, rate) = (options.finishedCalls, options.delayRate)
    options.progress("B6: \(count) calls that end")
    let gateway = try startGateway("b6-left")
    defer { gateway.stop() }
    let callee = try TimedCallee(port: gateway.ports.callee)
    defer { callee.end() }
    let left = try await withApps(gateway) { apps in
      // The first ones fill the pools that later ones use, and the half minute that a dialog is kept for late forks.
      found.trials.append(try await trial(.b6, gateway, apps, CallDriver.Load(calls: count, rate: rate)))
      let before = try memory(gateway)
      found.trials.append(try await trial(.b6, gateway, apps, CallDriver.Load(calls: count, rate: rate)))
      return (try memory(gateway) - before) / Double(count)
    }
    figure(
      .b6, "KiB left of each of \(count) finished calls", [left], decimals: 3,
      target: .init(subject: .value, limit: Self.leftLimit))
  }
}
