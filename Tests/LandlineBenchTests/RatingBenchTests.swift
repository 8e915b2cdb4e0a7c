import LandlineBench
import Testing

@Suite struct RatingBenchTests {
  @Test func aSmallDeckReportsSaneNumbers() throws {
    var options = RatingBench.Options()
    options.prefixes = 2000
    options.lookups = 2000
    options.rounds = 1
    // Throws unless the index and the bare search find the same prefixes.
    let report = try RatingBench.run(options)
    #expect(report.prefixes == 2000)
    #expect(report.importRowsPerSecond > 0)
    #expect(report.bytesPerPrefix > 8)
    #expect(report.lookupNanoseconds.median > 0)
    #expect(report.priceNanoseconds.median > 0)
    #expect(report.floorNanoseconds.median > 0)
    #expect(report.table.contains("lookup and price, ns"))
    #expect(report.json.contains("\"lookup_nanoseconds\""))
  }

  @Test func anEmptyDeckIsRefused() {
    var options = RatingBench.Options()
    options.prefixes = 0
    #expect(throws: BenchProblem.self) { try RatingBench.run(options) }
  }
}
