import Foundation
import LandlineSQLite
public import LedgerCore

/// A ledger opened for one reader, without a writer: what commands that only look use.
public struct SQLiteLedgerReader {
  private let connection: SQLiteConnection
  private let path: String

  /// - Throws: ``LedgerUnavailable``: `missing`, `notPermitted`, `corrupt`, `newer`, `busy`.
  public static func open(path: String) throws(LedgerUnavailable) -> SQLiteLedgerReader {
    guard FileManager.default.fileExists(atPath: path) else {
      throw LedgerUnavailable(.missing, "there is no ledger at \(path)")
    }
    return try SQLiteError.translated(path: path) {
      try LedgerSchema.schema.checkSize(path: path)
      let connection = try SQLiteConnection(path: path, mode: .readOnly)
      guard try LedgerSchema.schema.checkedVersion(connection, path: path) == LedgerSchema.schema.versions.count else {
        throw LedgerUnavailable(.corrupt, "\(path) holds no ledger of this version; any writing command upgrades it")
      }
      return SQLiteLedgerReader(connection: connection, path: path)
    }
  }

  /// Runs `body` on one snapshot of the ledger.
  /// - Throws: what `body` throws, or ``LedgerUnavailable``.
  public func read<Answer>(_ body: (any LedgerReading) throws -> Answer) throws -> Answer {
    do {
      return try connection.snapshot { try body(SQLiteLedgerReading(connection: connection)) }
    } catch let error as SQLiteError {
      throw error.unavailable(path: path)
    }
  }
}
