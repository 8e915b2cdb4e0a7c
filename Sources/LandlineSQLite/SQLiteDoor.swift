/// For tests and simulations that plant a fault: raw statements on a store's file, past every rule of the core and every CHECK
/// of the tables.
package enum SQLiteDoor {
  /// Runs statements without parameters.
  /// - Returns: rows that the last of them changed.
  @discardableResult
  package static func execute(_ sql: String, path: String) throws -> Int {
    let connection = try SQLiteConnection(path: path, mode: .create)
    defer { connection.close() }
    try connection.execute("PRAGMA ignore_check_constraints = ON")
    try connection.execute(sql)
    return connection.changes
  }

  /// The first column of the first row of a statement, as a number.
  package static func integer(_ sql: String, path: String) throws -> Int64 {
    let connection = try SQLiteConnection(path: path, mode: .readOnly)
    defer { connection.close() }
    return try connection.integer(sql)
  }
}
