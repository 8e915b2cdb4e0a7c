import Dispatch
import Foundation
import LedgerCore

/// Read-only connections, opened when first needed. At most `limit` read at the same time; others wait.
///
/// Unchecked: the idle connections are guarded by the lock, and a connection that is lent has one user.
package final class ReaderPool: @unchecked Sendable {
  private let store: String
  private let path: String
  private let slots: DispatchSemaphore
  private let lock = NSLock()
  private var idle: [SQLiteConnection] = []
  private var isClosed = false

  /// - Parameter store: the store in the words of its refusals: "the ledger".
  package init(store: String, path: String, limit: Int) {
    self.store = store
    self.path = path
    slots = DispatchSemaphore(value: max(limit, 1))
  }

  /// Runs `body` on one snapshot of the file. The connection of a read that failed is not used again.
  /// - Throws: what `body` throws, an ``SQLiteError``, or ``LedgerUnavailable`` with cause `closed`.
  package func read<Answer>(_ body: (SQLiteConnection) throws -> Answer) throws -> Answer {
    slots.wait()
    defer { slots.signal() }
    let idleOne = try lock.withLock {
      guard !isClosed else { throw LedgerUnavailable(.closed, "\(store) is shutting down") }
      return idle.popLast()
    }
    let connection = try idleOne ?? SQLiteConnection(path: path, mode: .readOnly)
    let answer = try connection.snapshot { try body(connection) }
    lock.withLock { if !isClosed { idle.append(connection) } }
    return answer
  }

  /// Reads that run go on; later ones are refused.
  package func close() {
    lock.withLock {
      isClosed = true
      for connection in idle { connection.close() }
      idle.removeAll()
    }
  }
}
