/// A state that the ledger's own rules exclude. The write that met it is undone and answered as unavailable; other
/// writes go on.
public struct LedgerFault: Error, Hashable, Sendable, CustomStringConvertible {
  public let description: String

  public init(_ description: String) { self.description = description }
}

/// Another process changed a row between this transaction's read and its write: run the transaction again.
public struct LedgerWriteConflict: Error, Hashable, Sendable {
  public init() {}
}
