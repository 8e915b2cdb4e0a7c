import CallModel
import Foundation
import Glibc
import LedgerCore
import LedgerSQLite

/// The test with the real thing: a process that writes to a ledger with full flush is killed (SIGKILL) in mid-work, again
/// and again on one file, and whatever it had acknowledged must be there afterwards.
public enum KillTrial {
  /// Kills that one trial may be asked for.
  public static let maximumKills = 100_000
  /// Most acknowledged lines after which a worker is killed.
  public static let maximumLines: Int64 = 150
  /// Most milliseconds after its first line until a worker is killed, whichever comes first.
  public static let maximumMilliseconds: Int64 = 120
  /// Milliseconds that a worker may need to its first line before the trial is given up.
  public static let startMilliseconds: Int64 = 30_000

  /// What the kills led to.
  public struct Report: Hashable, Sendable {
    /// Workers that were killed, each followed by a full check of the books.
    public var kills = 0
    /// Answers that workers acknowledged before they died.
    public var acknowledged = 0
    /// Answers that were on the disk though their worker died before it could acknowledge them.
    public var unacknowledged = 0
    /// Transfers in the ledger after the last kill.
    public var transfers: Int64 = 0
    /// Seconds on the real clock, checks included.
    public var seconds = 0.0
  }

  /// The trial could not go on; nothing is said about the ledger.
  public struct Failure: Error, Sendable, CustomStringConvertible {
    /// For people, such as what a worker wrote that nobody can read.
    public let description: String
  }

  /// Kills workers one after the other on one ledger and checks the books after each.
  /// - Parameters:
  ///   - executable: path of a program that calls ``worker(path:seed:)`` when started with `arguments`.
  ///   - arguments: the worker's arguments for a ledger's path and a seed.
  ///   - directory: folder for the ledger, on a real disk if it matters; `nil` for the temporary folder.
  ///   - progress: told the kills survived.
  /// - Throws: ``SimulationViolation`` when an acknowledged answer is missing or the books are unsound, ``Failure``
  ///   when a worker does not start.
  public static func parent(
    executable: String, seed: UInt64, kills: Int, directory: String? = nil,
    arguments: (_ path: String, _ seed: UInt64) -> [String] = KillTrial.workerArguments,
    progress: (Int) -> Void = { _ in }
  ) async throws -> Report {
    let started = ContinuousClock.now
    let parent = directory.map { URL(fileURLWithPath: $0, isDirectory: true) } ?? FileManager.default.temporaryDirectory
    let folder = parent.appendingPathComponent("landline-kill-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("ledger.db").path
    var random = SeededGenerator(seed: seed)
    var report = Report()
    var all: [Acknowledgement] = []
    var lastHead: Int64 = 0
    let kills = min(max(kills, 1), maximumKills)
    for kill in 1...kills {
      let worker = WorkerProcess(
        executable: executable, arguments: arguments(path, random.next() >> 1),
        lines: Int(random.number(1...maximumLines)), milliseconds: random.number(1...maximumMilliseconds))
      let lines = try worker.runUntilKilled()
      let acknowledged = try lines.map { line in
        guard let parsed = Acknowledgement(line) else { throw Failure(description: "the worker wrote: \(line)") }
        return parsed
      }
      report.kills += 1
      report.acknowledged += acknowledged.count
      all += acknowledged
      // The last time, everything since the first.
      let checked = kill == kills ? all : acknowledged
      let books = try await check(checked, path: path)
      if let broken = books.problem {
        throw SimulationViolation(
          seed: seed, operations: kills, step: kill, detail: "after kill \(kill): \(broken)",
          trace: acknowledged.suffix(SimulationViolation.traceLength).map(\.text))
      }
      report.unacknowledged += max(0, books.answersSince(lastHead) - acknowledged.count)
      lastHead = books.head
      report.transfers = books.transfers
      progress(report.kills)
    }
    let elapsed = started.duration(to: .now)
    report.seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
    return report
  }

  /// The arguments of `landline-lab simulate` that make it a worker.
  public static func workerArguments(path: String, seed: UInt64) -> [String] {
    ["simulate", "--worker", path, "--seed", "\(seed)"]
  }

  // MARK: Checking

  private struct Books: Sendable {
    var problem: String?
    var head: Int64 = 0
    var transfers: Int64 = 0
    /// Sequence numbers of all recorded answers, ascending.
    var answers: [Int64] = []

    func answersSince(_ seq: Int64) -> Int { answers.count { $0 > seq } }
  }

  private static func check(_ acknowledged: [Acknowledgement], path: String) async throws -> Books {
    let store = try SQLiteLedgerStore.open(path: path, createIfMissing: false)
    let books = try await store.read { reading in
      var books = Books()
      let verification = try LedgerVerifier.verify(reading, full: true)
      books.head = verification.head.seq
      books.transfers = verification.counts.transfers
      for rule in verification.rules {
        if let problem = rule.problem {
          books.problem = "\(rule.id.rawValue) \(rule.id.title): \(problem.detail) (seq \(problem.seq))"
          return books
        }
      }
      let ids = Dictionary(
        try reading.allAccounts().filter(\.kind.isCustomer).map { ($0.name, $0.id) },
        uniquingKeysWith: { first, _ in first })
      for line in acknowledged {
        let record = try ids[line.account].flatMap { try reading.operation(account: $0, key: line.key) }
        guard record?.seq == line.seq, record?.outcome == line.outcome else {
          books.problem =
            "\(line.key) of \(line.account) was acknowledged as \"\(line.outcome)\" (seq \(line.seq)) and "
            + (record.map { "is recorded as \"\($0.outcome)\" (seq \($0.seq))" } ?? "is not recorded")
          return books
        }
      }
      var after: (account: Int64, key: String) = (0, "")
      while true {
        let page = try reading.operations(afterAccount: after.account, key: after.key, limit: 2048)
        books.answers += page.map(\.seq)
        guard let last = page.last, page.count == 2048 else { return books }
        after = (last.account, last.key)
      }
    }
    await store.close()
    return books
  }
}

/// One line of a worker: an answer that it was given.
struct Acknowledgement: Sendable {
  let seq: Int64
  let account: String
  let key: String
  let outcome: String

  init(seq: Int64, account: String, key: String, outcome: String) {
    self.seq = seq
    self.account = account
    self.key = key
    self.outcome = outcome
  }

  /// `seq account key outcome…`
  init?(_ line: String) {
    let words = line.split(separator: " ", maxSplits: 3)
    guard words.count == 4, let seq = Int64(words[0]) else { return nil }
    self.init(seq: seq, account: String(words[1]), key: String(words[2]), outcome: String(words[3]))
  }

  var text: String { "\(seq) \(account) \(key) \(outcome)" }
}
