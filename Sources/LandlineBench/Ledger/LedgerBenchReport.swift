/// What ``LedgerBench`` measured.
public struct LedgerBenchReport: BenchReport, Hashable {
  /// One folder and the storage under it.
  public struct Place: Hashable, Sendable, Encodable {
    /// `disk` or `memory`.
    public let name: String
    /// In which a folder for the ledgers was made, and removed afterwards.
    public let folder: String
    /// In the order that was asked for.
    public let groups: [Group]
    /// In the order that was asked for.
    public let schedules: [Schedule]
  }

  /// Authorise and settle in commits of one size, ours and the floor in turn.
  public struct Group: Hashable, Sendable, Encodable {
    /// Callers in step, whose operations one commit can take; ``meanGroup`` is what it took.
    public let size: Int
    /// How fast the place flushed at the time.
    public let flush: FlushProbe
    /// Calls authorised and settled in a second on the clock, each durable before the next step.
    public let pairsPerSecond: Spread
    /// The same of the bare SQLite loop.
    public let floorPairsPerSecond: Spread
    /// CPU time of the whole process for one pair.
    public let cpuMicrosecondsPerPair: Spread
    /// The same of the bare SQLite loop.
    public let floorCpuMicrosecondsPerPair: Spread
    /// Our pairs a second divided by the floor's, of neighbouring measurements.
    public let ratio: Spread
    /// The floor's CPU time divided by ours.
    public let cpuRatio: Spread
    /// Operations in a commit that were really reached.
    public let meanGroup: Double
    /// CPU time of the whole process for one authorisation.
    public let authoriseCpuMicroseconds: Spread
    /// CPU time of the whole process to record that a call was answered, which no pair includes.
    public let answerCpuMicroseconds: Spread
    /// CPU time of the whole process for one settlement.
    public let settleCpuMicroseconds: Spread

    init(size: Int, flush: FlushProbe, ours: [ClosedLoop.Result], floor: [PairSample]) {
      self.size = size
      self.flush = flush
      pairsPerSecond = Spread(ours.map(\.pair.pairsPerSecond))
      floorPairsPerSecond = Spread(floor.map(\.pairsPerSecond))
      cpuMicrosecondsPerPair = Spread(ours.map(\.pair.microsecondsPerPair))
      floorCpuMicrosecondsPerPair = Spread(floor.map(\.microsecondsPerPair))
      let turns = zip(ours, floor)
      ratio = Spread(turns.map { $1.pairsPerSecond > 0 ? $0.pair.pairsPerSecond / $1.pairsPerSecond : 0 })
      cpuRatio = Spread(
        turns.map { $0.pair.microsecondsPerPair > 0 ? $1.microsecondsPerPair / $0.pair.microsecondsPerPair : 0 })
      let commits = ours.reduce(0) { $0 + $1.pair.commits }
      meanGroup = commits > 0 ? Double(ours.reduce(0) { $0 + $1.operations }) / Double(commits) : 0
      func each(_ time: KeyPath<ClosedLoop.Result, ProcessTime>) -> Spread {
        Spread(ours.map { $0.pair.pairs > 0 ? $0[keyPath: time].cpu / Double($0.pair.pairs) * 1e6 : 0 })
      }
      authoriseCpuMicroseconds = each(\.authorise)
      answerCpuMicroseconds = each(\.answer)
      settleCpuMicroseconds = each(\.settle)
    }
  }

  /// Operations that arrived by a schedule.
  public struct Schedule: Hashable, Sendable, Encodable {
    /// As scheduled, whatever was reached.
    public let operationsPerSecond: Int
    /// How fast the place flushed just before.
    public let flush: FlushProbe
    /// Operations answered in a second of the run, its tail included: below the schedule when the store fell behind.
    public let answeredPerSecond: Double
    /// Answer minus due instant.
    public let medianMilliseconds: Double
    /// The delay that 99 % of operations kept within.
    public let p99Milliseconds: Double
    /// The longest delay of any operation.
    public let highestMilliseconds: Double
    /// CPU time of the whole process, the arrivals' own thread included.
    public let cpuMicrosecondsPerOperation: Double
    /// Operations in a commit.
    public let meanGroup: Double

    init(rate: Int, flush: FlushProbe, _ result: OpenLoop.Result) {
      let count = result.delays.count
      operationsPerSecond = rate
      self.flush = flush
      answeredPerSecond = result.wall > 0 ? Double(count) / result.wall : 0
      medianMilliseconds = result.delays.percentile(0.5) * 1000
      p99Milliseconds = result.delays.percentile(0.99) * 1000
      highestMilliseconds = (result.delays.last ?? 0) * 1000
      cpuMicrosecondsPerOperation = count > 0 ? result.cpu / Double(count) * 1e6 : 0
      meanGroup = result.commits > 0 ? Double(count) / Double(result.commits) : 0
    }
  }

  /// Counted seconds, as asked for; warming up not included.
  public let secondsPerMeasurement: Double
  /// The disk first, then memory if it was measured.
  public let places: [Place]

  /// For each place a table of groups and one of schedules.
  public var table: String {
    places.map { place in
      var pairs = BenchTable([
        "group", "pairs/s", "floor pairs/s", "ratio", "CPU us/pair", "floor CPU us/pair", "floor/our CPU",
        "authorise us", "answer us", "settle us", "ops/commit", "flush ms",
      ])
      for group in place.groups {
        pairs.append([
          "\(group.size)", group.pairsPerSecond.text(decimals: 0), group.floorPairsPerSecond.text(decimals: 0),
          group.ratio.text(decimals: 2), group.cpuMicrosecondsPerPair.text(decimals: 1),
          group.floorCpuMicrosecondsPerPair.text(decimals: 1), group.cpuRatio.text(decimals: 2),
          BenchTable.number(group.authoriseCpuMicroseconds.median, decimals: 1),
          BenchTable.number(group.answerCpuMicroseconds.median, decimals: 1),
          BenchTable.number(group.settleCpuMicroseconds.median, decimals: 1),
          BenchTable.number(group.meanGroup, decimals: 1), group.flush.milliseconds.text(decimals: 3),
        ])
      }
      var schedules = BenchTable([
        "operations/s", "answered/s", "p50 ms", "p99 ms", "max ms", "CPU us/operation", "ops/commit", "flush ms",
      ])
      for schedule in place.schedules {
        schedules.append([
          "\(schedule.operationsPerSecond)", BenchTable.number(schedule.answeredPerSecond, decimals: 0),
          BenchTable.number(schedule.medianMilliseconds, decimals: 2),
          BenchTable.number(schedule.p99Milliseconds, decimals: 2),
          BenchTable.number(schedule.highestMilliseconds, decimals: 2),
          BenchTable.number(schedule.cpuMicrosecondsPerOperation, decimals: 1),
          BenchTable.number(schedule.meanGroup, decimals: 1), schedule.flush.milliseconds.text(decimals: 3),
        ])
      }
      return """
        \(place.name) (\(place.folder)): durable authorise + settle, median [lowest-highest]
        \(pairs.text)

        \(place.name) (\(place.folder)): delay from the scheduled arrival to the durable answer
        \(schedules.text)
        """
    }.joined(separator: "\n\n")
  }
}
