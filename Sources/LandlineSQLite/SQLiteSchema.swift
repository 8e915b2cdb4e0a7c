import Foundation
import LedgerCore

/// The versions of one kind of file, and the way from each to the newest.
package struct SQLiteSchema: Sendable {
  /// The mark that such a file carries (sqlite.org/pragma.html#pragma_application_id).
  let applicationID: Int64
  /// What such a file is, in the words of a refusal: "a ledger".
  let kind: String
  /// Statements of each version, in order. A version that has shipped never changes; a new one is added.
  package let versions: [String]

  package init(applicationID: Int64, kind: String, versions: [String]) {
    self.applicationID = applicationID
    self.kind = kind
    self.versions = versions
  }

  /// Brings a file to the newest version.
  /// - Parameter fill: the first rows of a file that was empty, inside the same transaction.
  /// - Throws: ``LedgerUnavailable`` with cause `newer` or `corrupt`, or an ``SQLiteError``.
  package func migrate(
    _ connection: SQLiteConnection, path: String, fill: (SQLiteConnection) throws -> Void = { _ in }
  ) throws {
    guard try checkedVersion(connection, path: path) < versions.count else { return }
    try WriteTransaction(connection).run {
      // Another process may have migrated while this one waited for the lock.
      let version = try checkedVersion(connection, path: path)
      for statements in versions[version...] { try connection.execute(statements) }
      try connection.execute("PRAGMA application_id = \(applicationID); PRAGMA user_version = \(versions.count)")
      if version == 0 { try fill(connection) }
    }
  }

  /// Bytes of the smallest SQLite file, one page of the smallest size (sqlite.org/fileformat.html 1.3.2).
  private static let smallestFile = 512

  /// Refuses a file that is not empty and too short for a database: SQLite itself would take one of a few bytes for
  /// empty and write over it. Asks for the size only: to open and close the file here would drop the locks that other
  /// connections of this process have on it.
  package func checkSize(path: String) throws {
    let size = (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int ?? 0
    guard size == 0 || size >= SQLiteSchema.smallestFile else { throw foreign(path) }
  }

  /// The version of a file: 0 for an empty one.
  /// - Throws: ``LedgerUnavailable`` with cause `newer`, or `corrupt` for somebody else's database.
  @discardableResult
  package func checkedVersion(_ connection: SQLiteConnection, path: String) throws -> Int {
    let version = try connection.integer("PRAGMA user_version")
    let application = try connection.integer("PRAGMA application_id")
    let tables = try connection.integer("SELECT count(*) FROM sqlite_schema")
    if application == 0, version == 0, tables == 0 { return 0 }
    guard application == applicationID, version >= 1 else { throw foreign(path) }
    guard version <= versions.count else {
      throw LedgerUnavailable(
        .newer, "\(path) was made by a newer version (format \(version), this is \(versions.count)); update landline")
    }
    return Int(version)
  }

  private func foreign(_ path: String) -> LedgerUnavailable {
    LedgerUnavailable(.corrupt, "\(path) is not \(kind); name another file")
  }
}
