import LandlineBench
import Testing

@Suite struct LedgerBenchTests {
  @Test func aShortRunReportsSaneNumbers() async throws {
    var options = LedgerBench.Options()
    options.measuresMemory = false
    options.seconds = 0.05
    options.groups = [1, 8]
    options.rounds = 1
    options.rates = [200]
    let report = try await LedgerBench.run(options)
    let place = try #require(report.places.first)
    #expect(place.groups.map(\.size) == [1, 8])
    for group in place.groups {
      #expect(group.pairsPerSecond.median > 0)
      #expect(group.floorPairsPerSecond.median > 0)
      #expect(group.ratio.median > 0)
      #expect(group.cpuMicrosecondsPerPair.median > 0)
      // The first hand-over of a run may meet an idle writer; every other commit takes all callers at once.
      #expect(group.meanGroup > Double(group.size) * 0.4 && group.meanGroup <= Double(group.size))
    }
    let schedule = try #require(place.schedules.first)
    #expect(schedule.medianMilliseconds <= schedule.p99Milliseconds)
    #expect(schedule.p99Milliseconds <= schedule.highestMilliseconds)
    #expect(report.table.contains("pairs/s"))
    #expect(report.json.contains("\"floor_pairs_per_second\""))
  }
}
