import LedgerCore
import LedgerSQLite

/// The ledger in its file: the only place that knows which store it is.
enum LedgerDoor {
  static func read<Value>(_ path: String, _ body: (any LedgerReading) throws -> Value) throws -> Value {
    try SQLiteLedgerReader.open(path: path).read(body)
  }

  static func open(_ path: String, create: Bool) throws -> any LedgerStore {
    try SQLiteLedgerStore.open(path: path, createIfMissing: create)
  }

  static func rates<Value>(_ path: String, writable: Bool, _ body: (SQLiteRateStore) throws -> Value) throws -> Value {
    let store = try SQLiteRateStore.open(path: path, writable: writable)
    defer { store.close() }
    return try body(store)
  }
}
