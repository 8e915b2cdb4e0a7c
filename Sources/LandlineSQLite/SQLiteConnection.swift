import CLandlineSQLite
import Foundation
import Glibc
package import LedgerCore

/// A failure that SQLite reported.
package struct SQLiteError: Error, CustomStringConvertible {
  /// Extended result code (sqlite.org/rescode.html).
  package let code: Int32
  /// SQLite's own words for it.
  package let message: String

  package var description: String { "SQLite: \(message) (\(code))" }

  /// The same as an operator should hear it.
  package func unavailable(path: String) -> LedgerUnavailable {
    switch code & 0xFF {
    case SQLITE_BUSY, SQLITE_LOCKED:
      LedgerUnavailable(.busy, "another process keeps \(path) busy; try again")
    case SQLITE_FULL: LedgerUnavailable(.full, "the disk that holds \(path) is full; nothing was written")
    case SQLITE_CORRUPT, SQLITE_NOTADB:
      LedgerUnavailable(.corrupt, "\(path) is damaged: \(message); restore it from a backup")
    case SQLITE_CONSTRAINT:
      LedgerUnavailable(.corrupt, "a rule of the database stopped the write: \(message)")
    case SQLITE_CANTOPEN: LedgerUnavailable(.missing, "\(path) cannot be opened: \(message)")
    case SQLITE_PERM, SQLITE_AUTH, SQLITE_READONLY:
      LedgerUnavailable(.notPermitted, "\(path) may not be read or written by this user: \(message)")
    default: LedgerUnavailable(.inputOutput, "\(path): \(message)")
    }
  }

  /// Runs `body` and says what went wrong as an operator should hear it.
  package static func translated<Value>(
    path: String, _ body: () throws -> Value
  ) throws(LedgerUnavailable) -> Value {
    do {
      return try body()
    } catch let error as LedgerUnavailable {
      throw error
    } catch let error as SQLiteError {
      throw error.unavailable(path: path)
    } catch {
      throw LedgerUnavailable(.inputOutput, "\(path): \(error)")
    }
  }
}

/// One connection to an SQLite file, used by one thread at a time.
package final class SQLiteConnection {
  /// Milliseconds that a statement waits for another process before it gives up as busy.
  static let busyMilliseconds: Int32 = 5000

  package enum Mode {
    case readOnly
    case readWrite
    case create
  }

  /// Once in a process; refused without harm when something else in it has used SQLite before.
  private static let isConfigured = landline_sqlite3_disable_memory_statistics() == SQLITE_OK

  let handle: OpaquePointer
  /// Pages in the log after the newest commit of this connection; owned here because SQLite keeps its address.
  private let pages: UnsafeMutablePointer<Int32>
  private var statements: [String: SQLiteStatement] = [:]

  /// Books and records are their owner's alone, whatever the umask. SQLite gives the files beside this one its mode; what
  /// cannot be made here it says itself.
  private static func makeForOwner(_ path: String) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor >= 0 { Glibc.close(descriptor) }
  }

  /// Opens a file; `create` makes one that its owner alone may read where there is none.
  /// - Parameter gathersWrites: one write for each commit's part of the log. Only for a connection whose `synchronous` is
  ///   FULL for all of its life.
  /// - Throws: ``SQLiteError``.
  package init(path: String, mode: Mode, gathersWrites: Bool = false) throws {
    let flags: Int32 =
      switch mode {
      case .readOnly: SQLITE_OPEN_READONLY
      case .readWrite: SQLITE_OPEN_READWRITE
      case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      }
    _ = SQLiteConnection.isConfigured
    if mode == .create { SQLiteConnection.makeForOwner(path) }
    var opened: OpaquePointer?
    let allFlags = flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    let code =
      gathersWrites
      ? landline_sqlite3_open_gathering(path, &opened, allFlags) : sqlite3_open_v2(path, &opened, allFlags, nil)
    guard let opened, code == SQLITE_OK else {
      let message = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
      // SQLite tries again for reading only, so the system's last error may hide that the folder forbids a new file.
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
      let files = FileManager.default
      let isForbidden =
        opened.map { [EACCES, EPERM, EROFS].contains(sqlite3_system_errno($0)) } ?? false
        || (mode == .create && files.fileExists(atPath: folder) && !files.isWritableFile(atPath: folder))
      sqlite3_close_v2(opened)
      throw SQLiteError(code: isForbidden ? SQLITE_PERM : code, message: message)
    }
    guard mode == .readOnly || sqlite3_db_readonly(opened, "main") == 0 else {
      sqlite3_close_v2(opened)
      throw SQLiteError(code: SQLITE_PERM, message: "the file is read-only")
    }
    handle = opened
    // Here, since nobody gives it back where the file cannot be opened.
    pages = .allocate(capacity: 1)
    pages.initialize(to: 0)
    sqlite3_busy_timeout(handle, SQLiteConnection.busyMilliseconds)
    guard mode != .readOnly else { return }
    // The hook replaces SQLite's own checkpoint in the committing thread: it only notes how long the log has grown.
    sqlite3_wal_hook(
      handle,
      { pages, _, _, count in
        pages?.assumingMemoryBound(to: Int32.self).pointee = count
        return SQLITE_OK
      }, pages)
  }

  deinit {
    close()
    pages.deallocate()
  }

  /// Pages in the log after the newest commit of this connection.
  package var logPages: Int32 { pages.pointee }

  private var isClosed = false

  /// Gives the file back; a second call does nothing.
  package func close() {
    guard !isClosed else { return }
    isClosed = true
    for statement in statements.values { statement.finalize() }
    statements.removeAll()
    sqlite3_close_v2(handle)
  }

  func failure(_ code: Int32) -> SQLiteError {
    SQLiteError(code: code, message: String(cString: sqlite3_errmsg(handle)))
  }

  /// Runs one or more statements without parameters.
  package func execute(_ sql: String) throws {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw failure(code) }
  }

  /// The prepared statement of a text, kept for the life of the connection.
  package func statement(_ sql: String) throws -> SQLiteStatement {
    if let statement = statements[sql] { return statement }
    var prepared: OpaquePointer?
    let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard let prepared, code == SQLITE_OK else { throw failure(code) }
    let statement = SQLiteStatement(prepared, connection: self)
    statements[sql] = statement
    return statement
  }

  /// The first column of the first row of a statement, as a number.
  package func integer(_ sql: String) throws -> Int64 {
    let statement = try statement(sql)
    defer { statement.reset() }
    return try statement.step() ? statement.int64(0) : 0
  }

  /// Rows that the newest statement changed.
  package var changes: Int { Int(sqlite3_changes(handle)) }

  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// Runs `body` in one read transaction: everything it sees belongs to one commit.
  package func snapshot<Answer>(_ body: () throws -> Answer) throws -> Answer {
    try execute("BEGIN")
    defer { try? execute("COMMIT") }
    return try body()
  }

  /// Copies what no reader still needs from the log to the file. A busy file is left for the next time.
  package func checkpoint() {
    sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
  }
}
