import Foundation

/// Plays everybody in the conferences of a mixer, and tells what it spent, how late it was or what was heard.
struct ConferenceLoad {
  /// What the participants do, as their program calls it.
  enum Mode: String {
    case cost, quiet, delay, tones
  }

  let tools: MediaTools
  let workload: ConferenceWorkload
  let mode: Mode
  let seconds: Double
  let port: UInt16

  init(_ workload: ConferenceWorkload, _ mode: Mode, seconds: Double, tools: MediaTools) throws(BenchProblem) {
    self.tools = tools
    self.workload = workload
    self.mode = mode
    self.seconds = seconds
    port = try PeerProgram.freePort()
  }

  /// Opens the conferences, measures, and ends them. A trial that lost packets is done again: something else had the
  /// machine.
  func measure(_ mixer: any ConferenceMixer, attempts: Int = 3) throws(BenchProblem) -> ConferenceTrial {
    var best: ConferenceTrial?
    for _ in 0..<attempts {
      let trial = try attempt(mixer)
      if best.map({ trial.loss < $0.loss }) ?? true { best = trial }
      if trial.isCounted { break }
    }
    guard let best else { throw BenchProblem("nothing was measured") }
    return best
  }

  private func attempt(_ mixer: any ConferenceMixer) throws(BenchProblem) -> ConferenceTrial {
    let targets = "\(tools.folder)/targets-\(mixer.processIdentifier)"
    unlink(targets)
    let participants = try MediaTools.Run(
      "nice",
      [
        "-n", MediaLoad.niceness, tools.participants, mode.rawValue, targets, tools.speech48, "\(port)", "\(seconds)",
        "\(MediaLoad.settleSeconds)", "\(mixer.processIdentifier)", "\(workload.people)", "\(workload.speakers)",
      ], in: tools.folder)
    // Janus gives a participant up whose port is not open yet.
    try PeerProgram.waitForPort(port, seconds: 20)
    let lines = try mixer.confer(workload, port: port).map { "\($0)\n" }.joined()
    do {
      try lines.write(toFile: targets, atomically: true, encoding: .utf8)
    } catch {
      throw BenchProblem("\(targets) cannot be written")
    }
    let trial = try ConferenceTrial(said: participants.finish(), rooms: workload.rooms)
    try mixer.tearDown()
    return trial
  }
}
