/// A way around the ledger's rules to its rows: what tests of the checks use to plant a fault.
package enum LedgerTampering {
  /// Runs statements on a ledger's file by a connection of its own.
  /// - Returns: rows that the last statement changed.
  @discardableResult
  package static func execute(path: String, _ sql: String) throws -> Int {
    let connection = try SQLiteConnection(path: path, mode: .readWrite)
    defer { connection.close() }
    try connection.execute(sql)
    return connection.changes
  }
}
