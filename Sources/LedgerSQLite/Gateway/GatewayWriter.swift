import CLandlineSQLite
import CallModel
import Foundation
import LedgerCore

/// The one thread that writes: takes what has queued, applies it in one transaction, answers after the commit.
///
/// Unchecked: the connection is touched by the writer's own thread alone, from ``start()`` on.
final class GatewayWriter: @unchecked Sendable {
  /// Jobs of one commit.
  static let groupLimit = 256
  /// Pages of the log after which it is folded into the file: 4 MiB.
  static let checkpointPages: Int32 = 1024

  private let connection: SQLiteConnection
  private let path: String
  private let queue: GatewayQueue
  private let begin, commit, rollback: SQLiteStatement

  init(connection: SQLiteConnection, path: String, queue: GatewayQueue) throws {
    self.connection = connection
    self.path = path
    self.queue = queue
    begin = try connection.statement("BEGIN IMMEDIATE")
    commit = try connection.statement("COMMIT")
    rollback = try connection.statement("ROLLBACK")
  }

  func start() {
    let thread = Thread { [self] in
      while let group = queue.take(groupLimit: GatewayWriter.groupLimit) {
        process(group)
        if connection.logPages >= GatewayWriter.checkpointPages { connection.checkpoint() }
      }
      connection.close()
      queue.finish()
    }
    thread.name = "gateway-store"
    thread.start()
  }

  private func process(_ group: [GatewayJob]) {
    do {
      try run(group)
    } catch {
      guard group.count > 1, GatewayWriter.concernsOneJob(error) else {
        let failure = SQLiteGatewayStore.failure(error, path: path)
        for job in group { job.fail(failure) }
        return
      }
      // Alone, the others go through.
      for job in group {
        do { try run([job]) } catch { job.fail(SQLiteGatewayStore.failure(error, path: path)) }
      }
    }
  }

  /// Whether another job of the same group may well succeed: not where the disk is full or another process holds the file,
  /// for each try would wait again.
  private static func concernsOneJob(_ error: any Error) -> Bool {
    guard let error = error as? SQLiteError else { return true }
    return [SQLITE_CONSTRAINT, SQLITE_TOOBIG].contains(error.code & 0xFF)
  }

  private func run(_ group: [GatewayJob]) throws {
    try begin.run()
    let answers: [@Sendable () -> Void]
    do {
      answers = try group.map { try $0.apply(connection) }
      try commit.run()
    } catch {
      // SQLite may have rolled back by itself (a full disk).
      if connection.isInTransaction { try? rollback.run() }
      throw error
    }
    for answer in answers { answer() }
  }
}
