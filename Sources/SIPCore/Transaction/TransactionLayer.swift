public import CallModel

/// All transactions of one loop (RFC 3261 section 17), run by libosip2's four machines on the time that inputs carry,
/// found through an index of our own.
public final class TransactionLayer {
  /// - Parameter maximumTransactions: See ``UserAgentLimits/transactions``.
  public init(identifiers: IdentifierSource, maximumTransactions: Int) {}

  public var nextDeadline: MonotonicInstant? { nil }
  /// Live transactions.
  public var count: Int { 0 }

  /// A message that passed the gate.
  public func receive(
    _ message: ScannedMessage, from path: SIPPath, at now: MonotonicInstant, into effects: inout [TransactionEffect]
  ) {}

  /// Sends a request in a new client transaction with a fresh branch.
  /// - Throws: ``InvalidValue`` when the request cannot be built; nothing was sent then.
  public func send(
    _ request: OutgoingRequest, to path: SIPPath, as address: AdvertisedAddress, at now: MonotonicInstant,
    into effects: inout [TransactionEffect]
  ) throws(InvalidValue) -> TransactionID { TransactionID(0) }

  /// Fires every timer that is due.
  public func advance(to now: MonotonicInstant, into effects: inout [TransactionEffect]) {}
}
