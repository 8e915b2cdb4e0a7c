import Foundation

extension CallsBenchRun {
  /// B3: the processor time of a call, beside Kamailio relaying as many.
  func measureCost() async throws {
    let gateway = try startGateway("b3")
    defer { gateway.stop() }
    let callee = try startCallee(gateway.ports.callee)
    defer { callee.end() }
    var relay = SIPBench.Options()
    relay.seconds = options.seconds
    relay.sipp = options.sipp
    relay.kamailio = options.kamailio
    let relayOptions = relay
    try await withApps(gateway) { apps in
      options.progress("B3: warming up")
      try await warmUp(apps)
      var ours: [Int: [Double]] = [:]
      var anchor: [Int: [Double]] = [:]
      for round in 1...options.rounds {
        for rate in options.rates {
          options.progress("B3: \(rate) calls a second, round \(round) of \(options.rounds)")
          let trial = try await trial(.b3, gateway, apps, CallDriver.Load(calls: calls(rate), rate: rate))
          found.trials.append(trial)
          ours[rate, default: []].append(trial.cpuMicrosecondsPerCall ?? 0)
          let relayed = try RelayLoad.measure(rate: rate, relayOptions)
          found.trials.append(
            CallsBenchReport.Trial(
              row: .b3, gateway: "kamailio", rate: rate, calls: relayed.calls, failed: relayed.failed, failures: [:],
              cpuMicrosecondsPerCall: relayed.cpuMicrosecondsPerCall))
          anchor[rate, default: []].append(relayed.cpuMicrosecondsPerCall)
        }
      }
      for rate in options.rates {
        figure(
          .b3, "CPU of a call at \(rate)/s, us", ours[rate] ?? [], decimals: 0, beside: "kamailio", anchor[rate] ?? [],
          ratioAtMost: 1)
      }
      let busiest = ours[options.rates.max() ?? 0] ?? []
      figure(
        .b3, "calls a second and core at \(options.rates.max() ?? 0)/s", busiest.filter { $0 > 0 }.map { 1e6 / $0 },
        decimals: 0, target: .init(subject: .value, limit: 3000, isAtLeast: true))
      let rise = zip(ours[options.rates.min() ?? 0] ?? [], busiest).filter { $0.0 > 0 }.map { $1 / $0 }
      figure(
        .b3, "CPU of a call, highest rate over lowest", rise, decimals: 2, target: .init(subject: .value, limit: 1.1))
      failures(.b3)
    }
  }

  /// B3d: the same with ICE and DTLS for each call, beside Janus.
  func measureHandshakes() async throws {
    let gateway = try startGateway("b3d")
    defer { gateway.stop() }
    let callee = try startCallee(gateway.ports.callee)
    defer { callee.end() }
    let rate = options.handshakeRate
    let janus = JanusAnchor(options)
    if let absence = janus.absence { found.notes.append(absence) }
    try await withApps(gateway) { apps in
      options.progress("B3d: warming up")
      try await warmUp(apps, shakesHands: true)
      var ours: [Double] = []
      var anchor: [Double] = []
      for round in 1...options.rounds {
        options.progress("B3d: round \(round) of \(options.rounds)")
        let trial = try await trial(
          .b3d, gateway, apps, CallDriver.Load(calls: calls(rate), rate: rate, shakesHands: true))
        found.trials.append(trial)
        ours.append(trial.cpuMicrosecondsPerCall ?? 0)
        if janus.absence == nil {
          anchor.append(try janus.measure(in: folder))
        }
      }
      figure(
        .b3d, "CPU of a call with ICE and DTLS, us", ours, decimals: 0, beside: "janus", anchor,
        ratioAtMost: 1.0 / 15)
      figure(
        .b3d, "CPU of a call with ICE and DTLS, us", ours, decimals: 0, target: .init(subject: .value, limit: 700))
      failures(.b3d)
    }
  }

  /// No call may fail.
  func failures(_ row: CallsBench.Row) {
    let failed = found.trials.filter { $0.row == row && $0.gateway == CallsBenchReport.ours }.map(\.failed).reduce(0, +)
    figure(row, "calls that failed", [Double(failed)], decimals: 0, target: .init(subject: .value, limit: 0))
  }
}
