import LandlineBench
import Testing

@Suite struct BalanceBenchTests {
  @Test func aCommandIsTimedOnAFreshLedger() async throws {
    var options = BalanceBench.Options()
    options.postings = 20_100
    options.rounds = 3
    options.command = ["/usr/bin/env", "true"]
    let report = try await BalanceBench.run(options)
    #expect(report.fileBytes > 1_000_000)
    #expect(report.milliseconds.lowest > 0)
    #expect(report.milliseconds.lowest <= report.milliseconds.median)
    #expect(report.table.contains("whole process, median ms"))
  }

  @Test func aCommandThatFailsIsReported() async {
    var options = BalanceBench.Options()
    options.postings = 1
    options.rounds = 1
    options.command = ["/usr/bin/env", "false"]
    await #expect(throws: BenchProblem.self) { try await BalanceBench.run(options) }
  }
}
