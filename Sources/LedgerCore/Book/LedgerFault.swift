/// A state that the ledger's own rules exclude. The write that met it is undone and answered as unavailable; other
/// writes go on.
public struct LedgerFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// What contradicts what, for the log of an operator.
  public let description: String

  /// The text names the record at fault and what it contradicts.
  public init(_ description: String) { self.description = description }
}

/// Another process changed a row between this transaction's read and its write: run the transaction again.
public struct LedgerWriteConflict: Error, Hashable, Sendable {
  /// Carries nothing: whoever catches it repeats the whole transaction.
  public init() {}
}
