import CallModel
import Foundation
import LedgerCore
import LedgerSQLite

/// The store beside a bare SQLite loop: durable calls a second, CPU a call, and delays under a schedule of arrivals.
public enum LedgerBench {
  /// Where, how long and under which loads.
  public struct Options: Sendable {
    /// Folder on the disk to measure; `nil` for a temporary one.
    public var folder: String?
    /// Whether a folder in memory is measured as well, where there is one.
    public var measuresMemory = true
    /// Counted seconds of each measurement.
    public var seconds = 2.0
    /// Calls in one commit.
    public var groups = [1, 16, 64, 128]
    /// Times that each of the two is measured, in turn, after one run to warm up.
    public var rounds = 3
    /// Operations a second in the schedules.
    public var rates = [500, 2000, 5000, 10_000]
    /// Told before each measurement.
    public var progress: BenchProgress = { _ in }

    /// A disk and a place in memory, four sizes of groups and four schedules, 2 s for each measurement.
    public init() {}
  }

  /// - Throws: ``BenchProblem`` when a folder cannot be made or flushed, or the ledger refuses an operation.
  public static func run(_ options: Options) async throws -> LedgerBenchReport {
    var places = [("disk", options.folder ?? BenchPlaces.diskFolder)]
    if options.measuresMemory, BenchPlaces.hasMemoryFolder { places.append(("memory", BenchPlaces.memoryFolder)) }
    var measured: [LedgerBenchReport.Place] = []
    for (name, parent) in places {
      let folder = try BenchFolder(in: parent)
      measured.append(try await run(options, place: name, in: folder, parent: parent))
    }
    return LedgerBenchReport(secondsPerMeasurement: options.seconds, places: measured)
  }

  private static func run(
    _ options: Options, place: String, in folder: borrowing BenchFolder, parent: String
  ) async throws -> LedgerBenchReport.Place {
    options.progress("\(place): making \(LedgerWorkload.customers) accounts")
    let template = folder.file("template.db")
    let store = try SQLiteLedgerStore.open(
      path: template, options: SQLiteLedgerStore.Options(flush: .normal), createIfMissing: true)
    try await LedgerWorkload.prepare(store)
    await store.close()
    let seconds = min(options.seconds, flushSeconds)
    var groups: [LedgerBenchReport.Group] = []
    for group in options.groups {
      let flush = try FlushProbe.measure(in: folder.path, seconds: seconds)
      var ours: [ClosedLoop.Result] = []
      var floor: [PairSample] = []
      for round in 0...options.rounds {
        options.progress(
          "\(place): group \(group), round \(round) of \(options.rounds)\(round == 0 ? " (warm-up)" : "")")
        let result = try await measureStore(options, template: template, group: group, folder)
        let sample = try measureFloor(options, group: group, folder)
        // The first of each warms caches and the disk up.
        if round > 0 {
          ours.append(result)
          floor.append(sample)
        }
      }
      groups.append(LedgerBenchReport.Group(size: group, flush: flush, ours: ours, floor: floor))
    }
    var schedules: [LedgerBenchReport.Schedule] = []
    for rate in options.rates {
      options.progress("\(place): \(rate) operations a second on schedule")
      let flush = try FlushProbe.measure(in: folder.path, seconds: seconds)
      schedules.append(try await measureSchedule(options, template: template, rate: rate, flush, folder))
    }
    return LedgerBenchReport.Place(name: place, folder: parent, groups: groups, schedules: schedules)
  }

  /// Longest probe of the disk, in seconds.
  private static let flushSeconds = 0.5

  private static func openCopy(
    of template: String, _ commits: CommitCounter, _ folder: borrowing BenchFolder
  ) async throws -> (SQLiteLedgerStore, LedgerWorkload) {
    let path = folder.file("ours.db")
    folder.removeDatabase(path)
    try FileManager.default.copyItem(atPath: template, toPath: path)
    var options = SQLiteLedgerStore.Options(flush: .full)
    options.faults = commits.faults
    let store = try SQLiteLedgerStore.open(path: path, options: options, createIfMissing: false)
    let node = try await store.registerNode(NodeID(unchecked: "bench"), at: LedgerWorkload.start)
    return (store, try LedgerWorkload(epoch: node.epoch))
  }

  private static func measureStore(
    _ options: Options, template: String, group: Int, _ folder: borrowing BenchFolder
  ) async throws -> ClosedLoop.Result {
    let commits = CommitCounter()
    let (store, workload) = try await openCopy(of: template, commits, folder)
    let loop = ClosedLoop(store: store, commits: commits, workload: workload, group: group, seconds: options.seconds)
    let result = try await loop.run()
    await store.close()
    folder.removeDatabase(store.path)
    return result
  }

  private static func measureFloor(
    _ options: Options, group: Int, _ folder: borrowing BenchFolder
  ) throws -> PairSample {
    let path = folder.file("floor.db")
    defer { folder.removeDatabase(path) }
    return try LedgerFloor.run(
      path: path, group: group, accounts: LedgerWorkload.customers, seconds: options.seconds)
  }

  private static func measureSchedule(
    _ options: Options, template: String, rate: Int, _ flush: FlushProbe, _ folder: borrowing BenchFolder
  ) async throws -> LedgerBenchReport.Schedule {
    let commits = CommitCounter()
    let (store, workload) = try await openCopy(of: template, commits, folder)
    // A short run first, so that statements and caches are warm as they are in a gateway.
    _ = try await OpenLoop().run(
      store, commits: commits, workload, firstCall: 0, operationsPerSecond: rate, seconds: options.seconds / 10)
    let result = try await OpenLoop().run(
      store, commits: commits, workload, firstCall: 10_000_000, operationsPerSecond: rate, seconds: options.seconds)
    await store.close()
    folder.removeDatabase(store.path)
    return LedgerBenchReport.Schedule(rate: rate, flush: flush, result)
  }
}
