import Dispatch
import Foundation
import LedgerCore

/// Read-only connections, opened when first needed. At most `limit` read at the same time; others wait.
///
/// Unchecked: the idle connections are guarded by the lock, and a connection taken out has one user.
final class GatewayReaders: @unchecked Sendable {
  private let path: String
  private let slots: DispatchSemaphore
  private let lock = NSLock()
  private var idle: [SQLiteConnection] = []
  private var isClosed = false

  init(path: String, limit: Int) {
    self.path = path
    slots = DispatchSemaphore(value: max(limit, 1))
  }

  /// Runs `body` on one snapshot.
  func read<Answer>(_ body: (SQLiteConnection) throws -> Answer) throws -> Answer {
    slots.wait()
    defer { slots.signal() }
    let kept = try lock.withLock {
      guard !isClosed else { throw LedgerUnavailable(.closed, "the gateway's store is shutting down") }
      return idle.popLast()
    }
    let connection = try kept ?? SQLiteConnection(path: path, mode: .readOnly)
    try connection.execute("BEGIN")
    defer {
      try? connection.execute("COMMIT")
      lock.withLock { if !isClosed { idle.append(connection) } }
    }
    return try body(connection)
  }

  func close() {
    lock.withLock {
      isClosed = true
      for connection in idle { connection.close() }
      idle.removeAll()
    }
  }
}
