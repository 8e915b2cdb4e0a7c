import CallModel

/// The context of a dialog that nobody hears of: a fork that lost, or a call that was answered after it was cancelled.
/// It is ended as any other, and reports nothing.
final class SilencedContext: AgentContext {
  private let context: UserAgentContext

  init(_ context: UserAgentContext) { self.context = context }

  var now: MonotonicInstant { context.now }
  var identifiers: IdentifierSource { context.identifiers }
  var limits: UserAgentLimits { context.limits }
  var configuration: UserAgentConfiguration { context.configuration }

  func contact(user: String?, scheme: SIPURI.Scheme, for path: SIPPath) -> NameAddress? {
    context.contact(user: user, scheme: scheme, for: path)
  }
  func send(_ request: OutgoingRequest, to path: SIPPath, for owner: TransactionOwner) -> TransactionID {
    context.send(request, to: path, for: owner)
  }
  func acknowledge(_ request: OutgoingRequest, branch: String, to path: SIPPath) {
    context.acknowledge(request, branch: branch, to: path)
  }
  func cancel(_ transaction: TransactionID, reasons: [OutgoingField]) { context.cancel(transaction, reasons: reasons) }
  func respond(_ transaction: TransactionID, _ response: OutgoingResponse) -> RepeatableResponse? {
    context.respond(transaction, response)
  }
  func repeatResponse(_ bytes: RepeatableResponse) { context.repeatResponse(bytes) }
  func emit(_ event: UserAgentEvent) {}
  func nextExchange(for call: CallHandle) -> ExchangeID { context.nextExchange(for: call) }
  func open(_ dialog: DialogID, of call: CallHandle) { context.open(dialog, of: call) }
  func call(of dialog: DialogID) -> CallHandle? { context.call(of: dialog) }
  func close(_ dialog: DialogID) { context.close(dialog) }
}
