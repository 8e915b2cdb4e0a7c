import CLandlineSQLite
import Foundation

/// What a store does with the jobs of its queue. Called on the writer's thread alone.
package protocol GroupWork: AnyObject, SendableMetatype {
  associatedtype Job: WriterJob

  /// Does a group in one transaction and answers every job once the commit is durable; throws without an answer to any.
  func perform(_ group: [Job]) throws

  /// Does a job by itself and answers it, whatever comes of it.
  func performAlone(_ job: Job)

  /// Answers a job of a group that failed as a whole.
  func fail(_ job: Job, _ error: any Error)

  /// Whether an error is the fault of one operation, so that others of the same group may well succeed.
  func concernsOneOperation(_ error: any Error) -> Bool

  /// After each group, answered or failed: the moment for a checkpoint.
  func groupEnded()

  /// The queue is closed and empty: gives the file back.
  func close()
}

/// The one thread that writes to a file: waits for jobs, hands them over in groups of one transaction, and does them one by
/// one where a single job made its group fail.
package enum GroupWriter {
  /// Starts the thread. It ends once the queue is closed and empty, with everything that the work holds released.
  /// - Parameter name: at most 15 bytes.
  package static func start<Work: GroupWork>(
    _ work: sending Work, name: String, queue: WriterQueue<Work.Job>, groupLimit: Int
  ) {
    let handover = Handover(work)
    let thread = Thread {
      // Set by the thread itself, so that the system shows it as well.
      Thread.current.name = name
      // The thread alone owns the work, so everything it holds is gone before anyone hears that it is done: the process may
      // exit then.
      do {
        if let work = handover.remove() { run(work, queue: queue, groupLimit: groupLimit) }
      }
      queue.finish()
    }
    thread.start()
  }

  private static func run<Work: GroupWork>(_ work: Work, queue: WriterQueue<Work.Job>, groupLimit: Int) {
    while let group = queue.nextGroup(limit: groupLimit) {
      do {
        try work.perform(group)
      } catch {
        if work.concernsOneOperation(error), group.count > 1 || group[0].weight > 1 {
          // Alone, the others go through.
          for job in group { work.performAlone(job) }
        } else {
          for job in group { work.fail(job, error) }
        }
      }
      work.groupEnded()
    }
    work.close()
  }

  /// Unchecked: filled before the writer's thread starts and emptied by it.
  private final class Handover<Work>: @unchecked Sendable {
    private var work: Work?

    init(_ work: Work) { self.work = work }

    func remove() -> Work? {
      defer { work = nil }
      return work
    }
  }
}

/// A write transaction of one connection, with its statements prepared.
package struct WriteTransaction {
  private let connection: SQLiteConnection
  private let begin, commit, rollback: SQLiteStatement

  package init(_ connection: SQLiteConnection) throws {
    self.connection = connection
    begin = try connection.statement("BEGIN IMMEDIATE")
    commit = try connection.statement("COMMIT")
    rollback = try connection.statement("ROLLBACK")
  }

  /// Runs `body` with the file's write lock. What it did is on disk, as the connection's `synchronous` says, when this
  /// returns; nothing of it is where it throws, or where `commits` is false.
  package func run<Value>(commits: Bool = true, _ body: () throws -> Value) throws -> Value {
    try begin.run()
    do {
      let value = try body()
      try (commits ? commit : rollback).run()
      return value
    } catch {
      // SQLite may have rolled back by itself (a full disk); a second ROLLBACK then fails harmlessly.
      if connection.isInTransaction { try? rollback.run() }
      throw error
    }
  }
}

extension SQLiteError {
  /// Whether a statement broke on its own values: where the disk is full or another process holds the file, each further
  /// try would only wait again.
  package var concernsOneOperation: Bool { [SQLITE_CONSTRAINT, SQLITE_TOOBIG].contains(code & 0xFF) }
}
