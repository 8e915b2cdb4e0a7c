import CallModel
import Foundation
import LedgerCore
import LedgerSQLite

/// A command on a large ledger, as a person meets it: the whole process, from its start to its end.
public enum BalanceBench {
  /// How large a ledger, and which command.
  public struct Options: Sendable {
    /// Entries in the ledger; two a transfer.
    public var postings = 1_000_000
    /// Folder that keeps the ledger from run to run; `nil` for a temporary one.
    public var folder: String?
    /// Runs that are timed, after one that is not.
    public var rounds = 30
    /// The command to time, path first; `nil` for `balance ACCOUNT --database FILE` of the `landline` beside this program.
    public var command: [String]?
    /// Told how far the ledger is made, and what is timed.
    public var progress: BenchProgress = { _ in }

    /// `balance` on a temporary ledger of a million postings, 30 times.
    public init() {}
  }

  /// The account that is asked for: the first of ``LedgerWorkload``.
  static let account = "customer-000000"
  /// Operations in one request while the ledger is made.
  static let batch = 4096
  /// Postings between two lines of progress.
  static let progressPostings = 200_000

  /// Makes the ledger first, unless the folder given has one of this size already.
  /// - Throws: ``BenchProblem`` for options out of range, or when the command ends with a status other than 0.
  public static func run(_ options: Options) async throws -> BalanceBenchReport {
    guard options.postings > 0, options.rounds > 0 else {
      throw BenchProblem("postings and rounds are at least 1")
    }
    if let folder = options.folder {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      return try await run(options, path: "\(folder)/balance-\(options.postings).db")
    }
    let folder = try BenchFolder(in: BenchPlaces.diskFolder)
    return try await run(options, path: folder.file("balance.db"))
  }

  private static func run(_ options: Options, path: String) async throws -> BalanceBenchReport {
    var seconds = 0.0
    if !FileManager.default.fileExists(atPath: path) {
      let start = ProcessClock.monotonicSeconds()
      // Under another name until it is whole: a build that was cut short is not taken for a finished one.
      let unfinished = path + ".unfinished"
      for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: unfinished + suffix) }
      try await build(unfinished, options)
      try FileManager.default.moveItem(atPath: unfinished, toPath: path)
      seconds = ProcessClock.monotonicSeconds() - start
    }
    let bytes = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int64 ?? 0
    let command =
      try options.command ?? [ProcessFigures.gatewayExecutable(), "balance", account, "--database", path]
    options.progress("timing \(command.joined(separator: " "))")
    // One run first, so that the file and the executable are in memory as they are on a second look.
    _ = try spawn(command)
    let samples = try (0..<options.rounds).map { _ in try spawn(command) }
    return BalanceBenchReport(
      postings: options.postings, fileBytes: bytes, buildSeconds: seconds, command: command, rounds: options.rounds,
      milliseconds: Spread(samples))
  }

  /// Customers with a balance, then top-ups until there are enough postings.
  static func build(_ path: String, _ options: Options) async throws {
    let store = try SQLiteLedgerStore.open(
      path: path, options: SQLiteLedgerStore.Options(flush: .normal), createIfMissing: true)
    do {
      try await LedgerWorkload.prepare(store)
      let workload = try LedgerWorkload(epoch: 1)
      let amount = try Credits(micros: 10_000_000, .eur)
      var postings = 2 * LedgerWorkload.customers
      var number = 0
      while postings < options.postings {
        let operations = (number..<number + min(batch, (options.postings - postings + 1) / 2)).map { number in
          LedgerOperation(
            .move(
              MoneyMovement(
                account: workload.accounts[number * LedgerWorkload.stride % workload.accounts.count],
                key: RequestKey(unchecked: "topup-\(number)"), .topup(method: RequestKey(unchecked: "card")),
                amount: amount)), at: Instant(milliseconds: LedgerWorkload.firstInstant + Int64(number)), actor: "bench"
          )
        }
        for result in await store.perform(operations) {
          if let refusal = try result.get().refusal { throw BenchProblem("a top-up was refused: \(refusal)") }
        }
        if (postings + 2 * operations.count) / progressPostings > postings / progressPostings {
          options.progress("\(postings + 2 * operations.count) of \(options.postings) postings")
        }
        number += operations.count
        postings += 2 * operations.count
      }
    } catch {
      await store.close()
      throw error
    }
    await store.close()
  }

  /// Runs a command to its end with its output thrown away.
  /// - Returns: milliseconds.
  private static func spawn(_ command: [String]) throws -> Double {
    guard let path = command.first else { throw BenchProblem("no command to time was given") }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = Array(command.dropFirst())
    process.standardOutput = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    let start = ProcessClock.monotonicSeconds()
    try process.run()
    process.waitUntilExit()
    let milliseconds = (ProcessClock.monotonicSeconds() - start) * 1000
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      throw BenchProblem("\(command.joined(separator: " ")) ended with status \(process.terminationStatus)")
    }
    return milliseconds
  }
}
