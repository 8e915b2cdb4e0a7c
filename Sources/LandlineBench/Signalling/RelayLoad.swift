import Foundation

/// Kamailio relaying calls between two SIPp.
enum RelayLoad {
  static func measure(rate: Int, _ options: SIPBench.Options) throws -> SIPBenchReport.Load {
    let folder = try BenchFolder(in: BenchPlaces.diskFolder)
    let (calleePort, relayPort) = (try PeerProgram.freePort(), try PeerProgram.freePort())
    let calls = max(1, Int(Double(rate) * options.seconds))
    try Scenarios.callee.write(toFile: folder.file("callee.xml"), atomically: true, encoding: .utf8)
    try Scenarios.caller.write(toFile: folder.file("caller.xml"), atomically: true, encoding: .utf8)
    try Scenarios.relay(listen: relayPort, callee: calleePort)
      .write(toFile: folder.file("relay.cfg"), atomically: true, encoding: .utf8)
    let callee = try PeerProgram(
      options.sipp, ["-sf", folder.file("callee.xml"), "-i", "127.0.0.1", "-p", "\(calleePort)", "-nostdin"])
    let relay = try PeerProgram(
      options.kamailio,
      ["-f", folder.file("relay.cfg"), "-DD", "-E", "-m", "256", "-M", "16", "-Y", folder.path, "-w", folder.path])
    defer {
      relay.end(SIGTERM)
      callee.end()
    }
    try PeerProgram.waitForPort(calleePort, seconds: 30)
    try PeerProgram.waitForPort(relayPort, seconds: 30)
    let before = relay.processorSeconds
    let caller = try PeerProgram(
      options.sipp,
      [
        "-sf", folder.file("caller.xml"), "-i", "127.0.0.1", "-r", "\(rate)", "-m", "\(calls)", "-l", "20000",
        "-recv_timeout",
        "20000", "-timeout", "\(Int(options.seconds) + 60)s", "-nostdin", "-trace_stat", "-stf",
        folder.file("calls.csv"), "127.0.0.1:\(relayPort)",
      ])
    let exit = caller.wait()
    guard exit == 0 || exit == 1 else { throw BenchProblem("sipp as caller ended with \(exit)") }
    let spent = relay.processorSeconds - before
    let cost = spent * 1e6 / Double(calls)
    return SIPBenchReport.Load(
      rate: rate, calls: calls, failed: failed(folder.file("calls.csv")), cpuMicrosecondsPerCall: cost,
      callsPerSecondAndCore: cost > 0 ? 1e6 / cost : 0)
  }

  /// SIPp's count of calls that did not go as written, from the last line of its statistics.
  private static func failed(_ path: String) -> Int {
    let lines = (try? String(contentsOfFile: path, encoding: .utf8))?.split(separator: "\n") ?? []
    let names = lines.first?.split(separator: ";", omittingEmptySubsequences: false) ?? []
    guard let column = names.firstIndex(of: "FailedCall(C)"), let last = lines.last else { return 0 }
    let values = last.split(separator: ";", omittingEmptySubsequences: false)
    return values.indices.contains(column) ? Int(values[column]) ?? 0 : 0
  }
}
