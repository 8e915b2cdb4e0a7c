package import CallModel

/// What a machine inside the agent may do while it handles one input. It holds no machine, so machines may hold it.
package protocol AgentContext: AnyObject {
  var now: MonotonicInstant { get }
  var identifiers: IdentifierSource { get }
  var limits: UserAgentLimits { get }
  var configuration: UserAgentConfiguration { get }

  /// How we name ourselves towards this path in Contact, with `transport` where it is not UDP; `nil` for a path of a
  /// listener that is not configured.
  func contact(user: String?, scheme: SIPURI.Scheme, for path: SIPPath) -> NameAddress?

  /// Sends a request in a new client transaction; its outcome comes back to `owner`. A message that cannot be built
  /// fails like one that cannot be sent, after this returns.
  func send(_ request: OutgoingRequest, to path: SIPPath, for owner: TransactionOwner) -> TransactionID
  /// Sends an ACK to a 2xx: no transaction, no answer.
  /// - Parameter branch: of its Via. The same ACK again has the same, by which peers know it (RFC 3261 section 13.2.2.4).
  func acknowledge(_ request: OutgoingRequest, branch: String, to path: SIPPath)
  /// Sends CANCEL for an INVITE transaction of ours, as soon as it has a provisional response (RFC 3261 section 9.1).
  func cancel(_ transaction: TransactionID, reasons: [OutgoingField])
  /// Answers a server transaction.
  /// - Returns: What to repeat where the dialog layer repeats it: a 2xx to an INVITE (RFC 3261 section 13.3.1.4), a
  ///   reliable provisional response (RFC 3262 section 3). `nil` where the response could not be built, or its
  ///   transaction is over.
  @discardableResult
  func respond(_ transaction: TransactionID, _ response: OutgoingResponse) -> RepeatableResponse?
  /// Sends such a response again.
  func repeatResponse(_ bytes: RepeatableResponse)
  func emit(_ event: UserAgentEvent)
  /// A new exchange of this call: the agent leads its answer or refusal to the call.
  func nextExchange(for call: CallHandle) -> ExchangeID

  /// From now on the requests and transactions of this dialog are led to the call.
  func open(_ dialog: DialogID, of call: CallHandle)
  /// The call that a dialog belongs to; `nil` for one that is none of ours.
  func call(of dialog: DialogID) -> CallHandle?
  /// Nothing is led to the call any more for this dialog. A dialog that ended closes itself once.
  func close(_ dialog: DialogID)
}

/// Who hears what becomes of a client transaction.
package enum TransactionOwner: Hashable, Sendable {
  /// The INVITE of a call of ours.
  case call(CallHandle)
  /// A request inside a dialog.
  case dialog(DialogID)
  case query(QueryID)
  case registration(QueryID)
}
