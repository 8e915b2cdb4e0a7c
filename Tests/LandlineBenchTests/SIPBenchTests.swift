import LandlineBench
import Testing

@Suite struct SIPBenchTests {
  @Test func whatNeedsNoPeerIsMeasuredWithoutOne() async throws {
    var options = SIPBench.Options()
    options.sipp = "/nonexistent/sipp"
    options.liveTransactions = [100, 400]
    options.dialogs = 100
    options.hostileRounds = 1
    let report = try await SIPBench.run(options)
    #expect(report.calls.isEmpty)
    #expect(report.transactions.map(\.live) == [100, 400])
    #expect(report.transactions.allSatisfy { $0.exchangeMicroseconds > 0 })
    // The heap is the whole process's, other tests included: no figure of it can be expected here.
    #expect(report.dialog?.dialogs == 100)
    #expect(report.hostile.count > 40)
    #expect(report.notes.contains { $0.contains("sipp is not installed") })
    #expect(report.table.contains("hostile message"))
  }

  @Test(.enabled(if: SIPBenchTests.hasPeers, "sipp or kamailio is not installed"))
  func callsAreCountedOnBothSides() async throws {
    var options = SIPBench.Options()
    options.liveTransactions = []
    options.dialogs = 10
    options.hostileRounds = 1
    options.seconds = 0.5
    // Enough calls for the system's clock of processor time, which counts in steps of 10 ms.
    options.rates = [200]
    options.kamailioRates = [200]
    let report = try await SIPBench.run(options)
    #expect(report.notes.isEmpty)
    #expect(report.calls.map(\.calls) == [100])
    #expect(report.calls.map(\.failed) == [0])
    #expect(report.kamailio.map(\.calls) == [100])
    #expect(report.ratioToKamailio.map { $0 > 0 } == true)
  }

  static let hasPeers = SIPBench.peersAreInstalled
}
