import LedgerCore

/// The ledger in its file.
enum LedgerDoor {
  static func read<Value>(_ path: String, _ body: (any LedgerReading) throws -> Value) throws -> Value {
    throw LedgerUnavailable(.closed, "not yet")
  }

  static func open(_ path: String, create: Bool) throws -> any LedgerStore {
    throw LedgerUnavailable(.closed, "not yet")
  }
}
