import CallModel
import Foundation
package import LedgerCore
import LedgerSQLite

/// Opening the ledger: the only place that knows where and how it is stored.
extension Console {
  /// Reads one consistent state; nothing can be written.
  func reading<Value>(_ body: (any LedgerReading) throws -> Value) throws -> Value {
    let path = try databasePath()
    try requireDatabase(path, writable: false)
    return try LedgerDoor.read(path, body)
  }

  /// Opens the ledger for writing, and closes it in the end.
  /// - Parameter create: whether a ledger that does not exist is made.
  package func writing<Value>(create: Bool = false, _ body: (any LedgerStore) async throws -> Value) async throws
    -> Value
  {
    let path = try databasePath()
    if create, !exists(path) {
      try makeDirectory(for: path)
    } else {
      try requireDatabase(path, writable: true)
    }
    let store = try LedgerDoor.open(path, create: create)
    do {
      let value = try await body(store)
      await store.close()
      return value
    } catch {
      await store.close()
      throw error
    }
  }

  /// Opens the decks, plans and deny ranges beside the ledger.
  /// - Parameter create: whether a ledger that does not exist is made.
  func rates<Value>(
    writable: Bool = false, create: Bool = false, _ body: (SQLiteRateStore) throws -> Value
  ) throws -> Value {
    let path = try databasePath()
    if create, !exists(path) {
      try makeDirectory(for: path)
    } else {
      try requireDatabase(path, writable: writable)
    }
    return try LedgerDoor.rates(path, writable: writable, body)
  }

  func exists(_ path: String) -> Bool { access(path, F_OK) == 0 || errno == EACCES }

  private func requireDatabase(_ path: String, writable: Bool) throws {
    if access(path, writable ? R_OK | W_OK : R_OK) == 0 {
      var isDirectory: ObjCBool = false
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue else {
        return
      }
      throw ConsoleError(
        .databaseUnavailable, code: "missing", "a directory is no ledger", at: path,
        fix: "the file in it, with --database")
    }
    switch errno {
    case EACCES, EPERM, EROFS:
      throw ConsoleError(
        .notPermitted, code: "permission", "the ledger may not be \(writable ? "written" : "read") by this user",
        at: path,
        fix: "run as the user that owns the file")
    case ENOENT, ENOTDIR:
      throw ConsoleError(
        .databaseUnavailable, code: "missing", "there is no ledger yet", at: path, fix: ConsoleError.createFirst)
    default:
      throw ConsoleError(
        .databaseUnavailable, code: "inputOutput", "the ledger cannot be opened: \(String(cString: strerror(errno)))",
        at: path)
    }
  }

  private func makeDirectory(for path: String) throws {
    let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
    do {
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw ConsoleError(
        .notPermitted, code: "permission", "the directory cannot be made: \(error.localizedDescription)", at: directory)
    }
    guard access(directory, W_OK) == 0 else {
      throw ConsoleError(
        .notPermitted, code: "permission", "no file may be made here by this user", at: directory,
        fix: "name another place with --database")
    }
  }
}
