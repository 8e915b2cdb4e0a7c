import Dispatch
import Foundation
public import LedgerCore
import Synchronization

/// Read-only connections, opened when first needed. At most `limit` read at the same time; others wait.
///
/// Unchecked: the idle connections are guarded by the mutex, and a connection taken out has one user.
final class ReaderPool: @unchecked Sendable {
  private let path: String
  private let slots: DispatchSemaphore
  private let lock = NSLock()
  private var idle: [SQLiteConnection] = []
  private var isClosed = false

  init(path: String, limit: Int) {
    self.path = path
    slots = DispatchSemaphore(value: max(limit, 1))
  }

  /// Runs `body` on one snapshot of the ledger.
  func read<Answer>(_ body: (any LedgerReading) throws -> Answer) throws -> Answer {
    slots.wait()
    defer { slots.signal() }
    do {
      let kept = try lock.withLock {
        guard !isClosed else { throw LedgerUnavailable(.closed, "the ledger is shutting down") }
        return idle.popLast()
      }
      let connection = try kept ?? SQLiteConnection(path: path, mode: .readOnly)
      let answer = try connection.snapshot(body)
      lock.withLock { if !isClosed { idle.append(connection) } }
      return answer
    } catch let error as SQLiteError {
      throw error.unavailable(path: path)
    }
  }

  func close() {
    lock.withLock {
      isClosed = true
      for connection in idle { connection.close() }
      idle.removeAll()
    }
  }
}

extension SQLiteConnection {
  /// Runs `body` in one read transaction: everything it sees belongs to one commit.
  func snapshot<Answer>(_ body: (any LedgerReading) throws -> Answer) throws -> Answer {
    try execute("BEGIN")
    defer { try? execute("COMMIT") }
    return try body(SQLiteLedgerReading(connection: self))
  }
}

/// A ledger opened for one reader, without a writer: what commands that only look use.
public struct SQLiteLedgerReader {
  private let connection: SQLiteConnection
  private let path: String

  /// - Throws: ``LedgerUnavailable``: `missing`, `notPermitted`, `corrupt`, `newer`, `busy`.
  public static func open(path: String) throws(LedgerUnavailable) -> SQLiteLedgerReader {
    guard FileManager.default.fileExists(atPath: path) else {
      throw LedgerUnavailable(.missing, "there is no ledger at \(path)")
    }
    do {
      try LedgerSchema.checkSize(path: path)
      let connection = try SQLiteConnection(path: path, mode: .readOnly)
      guard try LedgerSchema.checkedVersion(connection, path: path) == LedgerSchema.versions.count else {
        throw LedgerUnavailable(.corrupt, "\(path) holds no ledger of this version; any writing command upgrades it")
      }
      return SQLiteLedgerReader(connection: connection, path: path)
    } catch let error as LedgerUnavailable {
      throw error
    } catch let error as SQLiteError {
      throw error.unavailable(path: path)
    } catch {
      throw LedgerUnavailable(.inputOutput, "\(path): \(error)")
    }
  }

  /// Runs `body` on one snapshot of the ledger.
  /// - Throws: what `body` throws, or ``LedgerUnavailable``.
  public func read<Answer>(_ body: (any LedgerReading) throws -> Answer) throws -> Answer {
    do { return try connection.snapshot(body) } catch let error as SQLiteError { throw error.unavailable(path: path) }
  }
}
