/// A transaction, unique in the life of a ``TransactionLayer``.
public struct TransactionID: Hashable, Sendable {
  /// Counts up from 1 in a ``TransactionLayer``; a ``UserAgent`` counts down from 2⁶⁴ − 1 for those it could not begin.
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
}

/// Why a transaction ended without what it waited for.
public enum TransactionFailure: Hashable, Sendable {
  /// No final response in 64 × T1: timers B and F, a CANCEL without effect, a request other than INVITE that this node
  /// left unanswered.
  case timeout
  /// The shell could not send, or the connection broke before a final response.
  case transport
  /// A failure response of ours was never acknowledged: timer H.
  case missingAcknowledgement
}

/// What is known of bytes that are sent, so that nobody has to read them again.
public struct SentMessage: Hashable, Sendable {
  /// SIP's Call-ID; empty where a request that is refused has none.
  public var callID: String
  /// Hears of it when the bytes cannot be sent; `nil` for an ACK and for a response that nothing is kept for.
  public var transaction: TransactionID?
  /// The request of an INVITE, its repetitions included.
  public var isInvite: Bool

  /// By default nobody hears when the bytes cannot be sent.
  public init(_ callID: String, transaction: TransactionID? = nil, isInvite: Bool = false) {
    self.callID = callID
    self.transaction = transaction
    self.isInvite = isInvite
  }
}

/// What the transaction layer wants done or known, in order.
public enum TransactionEffect: Sendable {
  /// Bytes for the shell. What cannot be sent is reported with the transaction, where there is one.
  case send([UInt8], SIPPath, SentMessage)
  /// A new request, which wants exactly one final response.
  case request(TransactionID, SIPMessage, from: SIPPath)
  /// An ACK that belongs to no transaction: the one to a 2xx (RFC 3261 section 13.3.1.4).
  case acknowledgement(SIPMessage, from: SIPPath)
  /// A response of a client transaction: every provisional one, the first final one.
  case response(TransactionID, SIPMessage, from: SIPPath)
  /// A response of a client transaction could not be read: dropped, and the transaction waits on.
  case unreadable(TransactionID, UnreadableResponse)
  /// A 2xx to an INVITE whose transaction is over: repeated, or from another fork (RFC 6026 section 7.2).
  case lateSuccess(SIPMessage, from: SIPPath)
  /// A CANCEL matched this INVITE, and has its 200 already; the INVITE wants its 487.
  case cancelled(TransactionID, SIPMessage)
  case failed(TransactionID, TransactionFailure)
  /// The last event of a transaction.
  case ended(TransactionID)
}
