import Foundation

/// Drives established calls through a gateway with the generator, and counts what the gateway spent.
struct MediaLoad {
  /// Seconds of packets before anything is counted.
  static let settleSeconds = 3.0
  /// The generator must not be what loses packets.
  static let niceness = "-18"

  let tools: MediaTools
  let workload: MediaWorkload
  let seconds: Double
  let app: UInt16
  let trunk: UInt16

  init(_ workload: MediaWorkload, seconds: Double, tools: MediaTools) throws(BenchProblem) {
    self.tools = tools
    self.workload = workload
    self.seconds = seconds
    app = try PeerProgram.freePort()
    trunk = try PeerProgram.freePort()
  }

  /// Starts the generator.
  /// - Parameter settle: seconds before it counts.
  func start(
    _ calls: [CallPorts], through gateway: any MediaGatewayUnderTest, stampsTime: Bool = false,
    settle: Double = MediaLoad.settleSeconds
  ) throws(BenchProblem) -> MediaTools.Run {
    let targets = "\(tools.folder)/targets-\(gateway.processIdentifier)"
    let lines = calls.map { "\($0.app) \($0.trunk)\n" }.joined()
    do {
      try lines.write(toFile: targets, atomically: true, encoding: .utf8)
    } catch {
      throw BenchProblem("\(targets) cannot be written")
    }
    var arguments = [
      "-n", Self.niceness, tools.generator, "-t", targets, "-a", workload.app.rawValue, "-b", workload.trunk.rawValue,
      "-A", "\(app)", "-B", "\(trunk)", "-d", "\(seconds)", "-w", "\(settle)", "-p", "\(gateway.processIdentifier)",
      "-s", tools.speech48,
    ]
    if workload.protectsApp { arguments += ["-k", MediaWorkload.Keys.app] }
    if workload.protectsTrunk { arguments += ["-K", MediaWorkload.Keys.trunk] }
    if stampsTime { arguments.append("-l") }
    return try MediaTools.Run("nice", arguments, in: tools.folder)
  }

  /// Sets calls up, measures, and ends them. A trial that lost packets is done again: something else had the machine.
  func measure(
    _ gateway: any MediaGatewayUnderTest, calls: Int, attempts: Int = 3, stampsTime: Bool = false
  ) throws(BenchProblem) -> MediaTrial {
    let ports = try gateway.setUp(workload, calls: calls, app: app, trunk: trunk)
    var best: MediaTrial?
    for _ in 0..<attempts {
      let said = try start(ports, through: gateway, stampsTime: stampsTime).finish()
      let trial = try MediaTrial(generator: said, calls: calls)
      if best.map({ trial.loss < $0.loss }) ?? true { best = trial }
      if trial.isCounted { break }
    }
    try gateway.tearDown()
    guard let best else { throw BenchProblem("nothing was measured") }
    return best
  }

  /// The floor program under the same work, which drives itself.
  func measureFloor(calls: Int, attempts: Int = 3) throws(BenchProblem) -> MediaTrial {
    var best: MediaTrial?
    for _ in 0..<attempts {
      let said = try MediaTools.run(
        tools.floor, ["\(calls)", "\(Int(seconds.rounded(.up)))"] + workload.floorArguments + [tools.speech8],
        environment: workload.app == .opus ? ["WB": tools.speech48] : [:], in: tools.folder)
      let trial = try MediaTrial(floor: said, calls: calls)
      if best.map({ trial.loss < $0.loss }) ?? true { best = trial }
      if trial.isCounted { break }
    }
    guard let best else { throw BenchProblem("nothing was measured") }
    return best
  }
}
