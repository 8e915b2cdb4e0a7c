import CLandlineSQLite

/// A prepared statement. Parameters are bound in order from 1; every run ends with ``reset()``.
package final class SQLiteStatement {
  private let handle: OpaquePointer
  /// Unowned: the connection keeps its statements and outlives them.
  private unowned let connection: SQLiteConnection

  init(_ handle: OpaquePointer, connection: SQLiteConnection) {
    self.handle = handle
    self.connection = connection
  }

  func finalize() { sqlite3_finalize(handle) }

  /// - Returns: whether there is a row.
  package func step() throws -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code:
      let error = connection.failure(code)
      reset()
      throw error
    }
  }

  package func reset() { sqlite3_reset(handle) }

  /// Runs a statement that gives no rows.
  package func run() throws {
    defer { reset() }
    while try step() {}
  }

  // MARK: Parameters

  @discardableResult
  package func bind(_ index: Int32, _ value: Int64) -> SQLiteStatement {
    sqlite3_bind_int64(handle, index, value)
    return self
  }

  @discardableResult
  package func bind(_ index: Int32, _ value: Int64?) -> SQLiteStatement {
    if let value { sqlite3_bind_int64(handle, index, value) } else { sqlite3_bind_null(handle, index) }
    return self
  }

  @discardableResult
  package func bind(_ index: Int32, _ value: String) -> SQLiteStatement {
    var text = value
    text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) {
        // An empty text has no base address; SQLite would take nil for NULL.
        if let base = $0.baseAddress {
          _ = landline_sqlite3_bind_text_copied(handle, index, base, Int32($0.count))
        } else {
          _ = landline_sqlite3_bind_text_copied(handle, index, "", 0)
        }
      }
    }
    return self
  }

  @discardableResult
  package func bind(_ index: Int32, _ value: String?) -> SQLiteStatement {
    if let value { return bind(index, value) }
    sqlite3_bind_null(handle, index)
    return self
  }

  @discardableResult
  package func bind(_ index: Int32, _ value: [UInt8]) -> SQLiteStatement {
    value.withUnsafeBytes { _ = landline_sqlite3_bind_blob_copied(handle, index, $0.baseAddress, Int32($0.count)) }
    return self
  }

  // MARK: Columns

  package func int64(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  package func optionalInt64(_ column: Int32) -> Int64? {
    sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : sqlite3_column_int64(handle, column)
  }

  package func text(_ column: Int32) -> String {
    guard let bytes = sqlite3_column_text(handle, column) else { return "" }
    let count = Int(sqlite3_column_bytes(handle, column))
    return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  package func optionalText(_ column: Int32) -> String? {
    sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : text(column)
  }

  package func blob(_ column: Int32) -> [UInt8] {
    guard let bytes = sqlite3_column_blob(handle, column) else { return [] }
    return [UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column))))
  }
}
