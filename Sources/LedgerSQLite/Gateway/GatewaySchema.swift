import CallModel
import Foundation
import LedgerCore

/// The tables of the gateway's own store, and the steps from one version of them to the next.
package enum GatewaySchema {
  /// `LnGw` in ASCII (sqlite.org/pragma.html#pragma_application_id).
  static let applicationID: Int64 = 0x4C6E_4777

  /// Statements of each version, in order. A version that has shipped never changes; a new one is added.
  package static let versions: [String] = [
    """
    CREATE TABLE call_record(
      id TEXT PRIMARY KEY,
      environment TEXT NOT NULL,
      account TEXT NOT NULL,
      destination TEXT NOT NULL,
      cause TEXT NOT NULL,
      started_at INTEGER NOT NULL,
      ended_at INTEGER NOT NULL,
      document TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX call_record_start ON call_record(started_at, id);
    CREATE INDEX call_record_environment ON call_record(environment, started_at, id);
    CREATE INDEX call_record_account ON call_record(account, started_at, id);
    CREATE INDEX call_record_destination ON call_record(destination);
    CREATE INDEX call_record_end ON call_record(ended_at);
    CREATE TABLE call_statistics(
      call TEXT PRIMARY KEY,
      at INTEGER NOT NULL,
      document TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX call_statistics_at ON call_statistics(at);
    CREATE TABLE identity_sequence(
      application TEXT NOT NULL,
      user TEXT NOT NULL,
      sequence TEXT NOT NULL CHECK (length(sequence) = 20),
      PRIMARY KEY (application, user)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE identity_nonce(
      application TEXT NOT NULL,
      nonce TEXT NOT NULL,
      until INTEGER NOT NULL,
      PRIMARY KEY (application, nonce)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX identity_nonce_until ON identity_nonce(until);
    CREATE TABLE identity_credential(
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      id TEXT NOT NULL UNIQUE,
      digest BLOB NOT NULL,
      application TEXT NOT NULL,
      user TEXT NOT NULL,
      device TEXT NOT NULL,
      expires_at INTEGER,
      UNIQUE (application, user, device)
    ) STRICT;
    CREATE INDEX identity_credential_end ON identity_credential(expires_at) WHERE expires_at IS NOT NULL;
    CREATE TABLE idempotency(
      scope TEXT NOT NULL,
      key TEXT NOT NULL,
      digest BLOB NOT NULL,
      at INTEGER NOT NULL,
      status INTEGER,
      body BLOB,
      PRIMARY KEY (scope, key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX idempotency_at ON idempotency(at);
    """,
    """
    CREATE TABLE call_trace(
      call TEXT PRIMARY KEY,
      at INTEGER NOT NULL,
      document BLOB NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX call_trace_at ON call_trace(at);
    """,
  ]

  /// Brings a file to the newest version.
  /// - Throws: ``LedgerUnavailable`` with cause `newer` or `corrupt`, or an SQLite error.
  static func migrate(_ connection: SQLiteConnection, path: String) throws {
    guard try checkedVersion(connection, path: path) < versions.count else { return }
    try connection.execute("BEGIN IMMEDIATE")
    do {
      // Another process may have migrated while this one waited for the lock.
      let version = try checkedVersion(connection, path: path)
      for statements in versions[version...] { try connection.execute(statements) }
      try connection.execute("PRAGMA application_id = \(applicationID); PRAGMA user_version = \(versions.count)")
      try connection.execute("COMMIT")
    } catch {
      try? connection.execute("ROLLBACK")
      throw error
    }
  }

  /// Bytes of the smallest SQLite file, one page of the smallest size (sqlite.org/fileformat.html 1.3.2).
  private static let smallestFile = 512

  /// Refuses a file too short for a database that is not empty: SQLite would take it for empty and write over it.
  static func checkSize(path: String) throws {
    let size = (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int ?? 0
    guard size == 0 || size >= smallestFile else { throw foreign(path) }
  }

  /// The version of a file: 0 for an empty one.
  static func checkedVersion(_ connection: SQLiteConnection, path: String) throws -> Int {
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

  private static func foreign(_ path: String) -> LedgerUnavailable {
    LedgerUnavailable(.corrupt, "\(path) is not a gateway's store; name another file")
  }
}
