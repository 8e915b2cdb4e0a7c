package import CallModel

/// What the agent leads to a call, whatever state it is in: placed by us, come in, or up. A machine acts through its
/// ``AgentContext``; after every input the agent asks it for its deadline and whether it is over.
package protocol CallMachine: AnyObject {
  var call: CallHandle { get }
  var nextDeadline: MonotonicInstant? { get }
  /// Whether ``UserAgentEvent/ended(_:_:)`` was emitted: commands and caps no longer count it.
  var hasEnded: Bool { get }
  /// Whether nothing is left to do, for us or for the peer: the agent lets go of it.
  var isFinished: Bool { get }
  /// The machine that goes on where this one has done its part: the session of a call that came up.
  var successor: (any CallMachine)? { get }

  /// A request inside one of its dialogs. CSeq, method and extensions are checked by the machine.
  func receive(_ request: SIPMessage, _ transaction: TransactionID, from path: SIPPath)
  /// An ACK to a 2xx of ours.
  func receive(acknowledgement: SIPMessage, from path: SIPPath)
  func receive(_ response: SIPMessage, of transaction: TransactionID, from path: SIPPath)
  /// The same where the dialog is known that the transaction was sent in: the tags of the response may say otherwise, and
  /// it is matched by its transaction alone (RFC 3261 section 17.1.3).
  func receive(_ response: SIPMessage, of transaction: TransactionID, in dialog: DialogID, from path: SIPPath)
  /// A 2xx to an INVITE of ours that came after the transaction was over: repeated, or from another fork.
  func receive(lateSuccess response: SIPMessage, from path: SIPPath)
  /// A transaction of ours found no answer, or a response of ours no ACK.
  func failed(_ transaction: TransactionID, _ failure: TransactionFailure)
  /// The same where the dialog is known that the transaction was sent in.
  func failed(_ transaction: TransactionID, _ failure: TransactionFailure, in dialog: DialogID)
  /// The peer cancelled this INVITE of his; it has no final response yet.
  func cancelled(_ transaction: TransactionID, _ request: SIPMessage)

  /// A command about this call, of those that name one.
  func handle(_ command: UserAgentCommand)
  func answer(_ exchange: ExchangeID, _ body: MessageBody)
  func refuse(_ exchange: ExchangeID, status: Int, warning: String?)
  /// Fires what is due at the context's time.
  func advance()
}

extension CallMachine {
  package var successor: (any CallMachine)? { nil }
  package func receive(
    _ response: SIPMessage, of transaction: TransactionID, in dialog: DialogID, from path: SIPPath
  ) {
    receive(response, of: transaction, from: path)
  }
  package func failed(_ transaction: TransactionID, _ failure: TransactionFailure, in dialog: DialogID) {
    failed(transaction, failure)
  }
  package func cancelled(_ transaction: TransactionID, _ request: SIPMessage) {}
}
