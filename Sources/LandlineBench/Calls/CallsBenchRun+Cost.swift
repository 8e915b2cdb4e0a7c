import Foundation

extension CallsBenchRun {
  /// B3: the processor time of a call, beside Kamailio relaying as many.
  func measureCost() async throws {
    let gateway = try startGateway("b3")
    defer { gateway.stop() }
    let callee = try startCallee(gateway.ports.callee)
    defer { callee.end() }
    try await withApps(gateway) { apps in
      options.progress("B3: warming up")
      try await warmUp(apps)
      for round in 1...options.rounds {
        for rate in options.rates { try await measureInTurn(gateway, apps, rate: rate, round: round) }
      }
    }
    costFigures()
    failures(.b3)
  }

  private func measureInTurn(_ gateway: BenchGateway, _ apps: AppGroup, rate: Int, round: Int) async throws {
    options.progress("B3: \(rate) calls a second, round \(round) of \(options.rounds)")
    let ours = try await trial(.b3, gateway, apps, CallDriver.Load(calls: calls(rate), rate: rate))
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
    let failed = found.trials.filter { $0.row == row && $0.gateway == CallsBenchReport.ours }.map(\.failed).reduce(0, +)
    figure(row, "calls that failed", [Double(failed)], decimals: 0, target: .init(subject: .value, limit: 0))
  }
}
