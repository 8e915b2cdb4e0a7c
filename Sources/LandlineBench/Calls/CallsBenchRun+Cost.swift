import Foundation

extension CallsBenchRun {
  /// B3: the processor time of a call, beside Kamailio relaying as many, and what else a call makes the gateway do.
  func measureCost() async throws {
    let tools = CallCounters.Tools(in: folder)
    if tools.events == nil { found.notes.append("gcc is not installed: nothing but processor time is counted") }
    let gateway = try startGateway("b3", allocations: tools.allocations)
    defer { gateway.stop() }
    let callee = try startCallee(gateway.ports.callee)
    defer { callee.end() }
    try await withApps(gateway) { apps in
      options.progress("B3: warming up")
      try await warmUp(apps)
      for round in 1...options.rounds {
        for rate in options.rates { try await measureInTurn(gateway, apps, tools, rate: rate, round: round) }
      }
    }
    costFigures()
    budgetFigures()
    failures(.b3)
  }

  private func measureInTurn(
    _ gateway: BenchGateway, _ apps: AppGroup, _ tools: CallCounters.Tools, rate: Int, round: Int
  ) async throws {
    options.progress("B3: \(rate) calls a second, round \(round) of \(options.rounds)")
    let ours = try await trial(.b3, gateway, apps, CallDriver.Load(calls: calls(rate), rate: rate), counting: tools)
    found.trials.append(ours)
    var relay = SIPBench.Options()
    relay.seconds = options.seconds
    relay.sipp = options.sipp
    relay.kamailio = options.kamailio
    let relayed = try RelayLoad.measure(rate: rate, relay)
    found.trials.append(
      CallsBenchReport.Trial(
        row: .b3, gateway: "kamailio", rate: rate, calls: relayed.calls, failed: relayed.failed, failures: [:],
        cpuMicrosecondsPerCall: relayed.cpuMicrosecondsPerCall))
  }

  /// Processor time of a call in each round, in order.
  private func costs(_ row: CallsBench.Row, _ gateway: String, _ rate: Int) -> [Double] {
    found.trials.filter { $0.row == row && $0.gateway == gateway && $0.rate == rate }
      .compactMap(\.cpuMicrosecondsPerCall)
  }

  private func costFigures() {
    for rate in options.rates {
      figure(
        .b3, "CPU of a call at \(rate)/s, us", costs(.b3, CallsBenchReport.ours, rate), decimals: 0, beside: "kamailio",
        costs(.b3, "kamailio", rate), ratioAtMost: 1)
    }
    let (lowest, highest) = (options.rates.min() ?? 0, options.rates.max() ?? 0)
    let busiest = costs(.b3, CallsBenchReport.ours, highest)
    figure(
      .b3, "calls a second and core at \(highest)/s", busiest.filter { $0 > 0 }.map { 1e6 / $0 }, decimals: 0,
      target: .init(subject: .value, limit: 3000, isAtLeast: true))
    let rise = zip(costs(.b3, CallsBenchReport.ours, lowest), busiest).filter { $0.0 > 0 }.map { $1 / $0 }
    figure(
      .b3, "CPU of a call, highest rate over lowest", rise, decimals: 2, target: .init(subject: .value, limit: 1.1))
  }

  /// What a call makes the gateway do, at the lowest rate, where the least is shared with others.
  private func budgetFigures() {
    let rate = options.rates.min() ?? 0
    let trials = found.trials.filter { $0.row == .b3 && $0.gateway == CallsBenchReport.ours && $0.rate == rate }
    for line in CallBudget.all {
      figure(
        .b3, "\(line.name) of a call at \(rate)/s", trials.compactMap { $0.countsPerCall?[line.name] }, decimals: 1,
        target: line.limit.map { CallsBenchReport.Target(subject: .value, limit: $0) })
    }
  }

  /// B3u: a call from user to user, in turn with one to a telephone of the same gateway.
  func measureUserCalls() async throws {
    let gateway = try startGateway("b3u")
    defer { gateway.stop() }
    let callee = try startCallee(gateway.ports.callee)
    defer { callee.end() }
    let rate = options.delayRate
    let load = CallDriver.Load(calls: calls(rate), rate: rate)
    let loadToUsers = CallDriver.Load(
      calls: calls(rate), rate: rate, users: (0..<options.apps).map { BenchApp.user(options.apps + $0) })
    try await withApps(gateway) { apps in
      try await withApps(gateway, from: options.apps, answering: true) { _ in
        options.progress("B3u: warming up")
        try await warmUp(apps)
        for round in 1...options.rounds {
          options.progress("B3u: round \(round) of \(options.rounds)")
          found.trials.append(try await trial(.b3u, gateway, apps, loadToUsers))
          found.trials.append(try await trial(.b3u, gateway, apps, load, as: CallsBenchReport.telephone))
        }
      }
    }
    figure(
      .b3u, "CPU of a call to a user at \(rate)/s, us", costs(.b3u, CallsBenchReport.ours, rate), decimals: 0,
      beside: CallsBenchReport.telephone, costs(.b3u, CallsBenchReport.telephone, rate), ratioAtMost: 1.3)
    failures(.b3u)
  }

  /// B3d: the same with ICE and DTLS for each call, beside Janus.
  func measureHandshakes() async throws {
    let gateway = try startGateway("b3d")
    defer { gateway.stop() }
    let callee = try startCallee(gateway.ports.callee)
    defer { callee.end() }
    let janus = JanusAnchor(options)
    if let absence = janus.absence { found.notes.append(absence) }
    try await withApps(gateway) { apps in
      options.progress("B3d: warming up")
      try await warmUp(apps, shakesHands: true)
      for round in 1...options.rounds { try await measureInTurn(gateway, apps, janus, round: round) }
    }
    let ours = costs(.b3d, CallsBenchReport.ours, options.handshakeRate)
    let name = "CPU of a call with ICE and DTLS, us"
    figure(
      .b3d, name, ours, decimals: 0, beside: "janus", costs(.b3d, "janus", 1), ratioAtMost: 1.0 / 15)
    figure(.b3d, name, ours, decimals: 0, target: .init(subject: .value, limit: 700))
    failures(.b3d)
  }

  private func measureInTurn(_ gateway: BenchGateway, _ apps: AppGroup, _ janus: JanusAnchor, round: Int) async throws {
    options.progress("B3d: round \(round) of \(options.rounds)")
    let rate = options.handshakeRate
    let ours = try await trial(.b3d, gateway, apps, CallDriver.Load(calls: calls(rate), rate: rate, shakesHands: true))
    found.trials.append(ours)
    guard janus.absence == nil else { return }
    // One call after the other.
    found.trials.append(
      CallsBenchReport.Trial(
        row: .b3d, gateway: "janus", rate: 1, calls: JanusAnchor.calls, failed: 0, failures: [:],
        cpuMicrosecondsPerCall: try janus.measure(in: folder)))
  }

  /// No call may fail.
  func failures(_ row: CallsBench.Row) {
    let failed = found.trials.filter { $0.row == row && $0.isOurs }.map(\.failed).reduce(0, +)
    figure(row, "calls that failed", [Double(failed)], decimals: 0, target: .init(subject: .value, limit: 0))
  }
}
