public import CallModel

/// One SIP endpoint: calls, queries and registrations over any number of listeners. No socket, clock or random source
/// inside: inputs carry the time, effects are appended for the shell, which performs them in order.
public final class UserAgent {
  /// What has a deadline besides transactions.
  enum Timed: Hashable {
    case call(CallHandle)
    case query(QueryID)
    case registration(QueryID)
    /// The first binding of a telephone ends.
    case phone(String)
  }

  /// As it was given at the start; it never changes.
  public var configuration: UserAgentConfiguration { context.configuration }
  let context: UserAgentContext
  private var calls: [CallHandle: any CallMachine] = [:]
  /// Calls that have not ended: what caps count.
  private var live: Set<CallHandle> = []
  /// Calls of ours by the Call-ID of their INVITE, while forks may still answer.
  private var invitations: [String: CallHandle] = [:]
  var queries: [QueryID: Query] = [:]
  var registrations: [QueryID: Registration] = [:]
  var deadlines = DeadlineQueue<Timed>()
  private var incomingRate: TokenBucket
  /// The telephone that sent the message which is being handled, where it proved who it is.
  var provenPhone: String?
  /// Handles of calls that come in count down, so that they meet none of those that others choose.
  private var lastIncoming: UInt64 = .max

  /// `identifiers` gives tags, branches, Call-IDs and every other random choice.
  public init(_ configuration: UserAgentConfiguration, identifiers: IdentifierSource) {
    context = UserAgentContext(configuration, identifiers: identifiers)
    incomingRate = TokenBucket(perSecond: configuration.limits.incomingCallsPerSecond)
  }

  /// When ``advance(to:into:)`` is due next; `nil` while nothing waits.
  public var nextDeadline: MonotonicInstant? {
    switch (deadlines.next, context.transactions.nextDeadline) {
    case (let own?, let transactions?): min(own, transactions)
    case (let own, let transactions): own ?? transactions
    }
  }

  /// Of this moment: what the transactions count is added to the agent's own.
  public var counters: UserAgentCounters {
    var counters = context.counters
    counters.calls = UInt64(live.count)
    counters.dialogs = UInt64(context.dialogs.count)
    counters.transactions = UInt64(context.transactions.count)
    let unreadable = context.transactions.counters
    counters.refused += unreadable.unreadableMessages
    counters.refusedByRule.merge(unreadable.unreadableByRule, uniquingKeysWith: +)
    counters.refusedResponsesByRule.merge(unreadable.unreadableResponsesByRule, uniquingKeysWith: +)
    return counters
  }

  /// Whether requests outside of dialogs are taken from there: ``UserAgentConfiguration/acquaintance``.
  public func knows(_ host: SIPHost) -> Bool { context.knows(host) }

  /// What the transactions kept to themselves, such as copies and strays.
  public var transactionCounters: TransactionCounters { context.transactions.counters }

  /// Live transactions, those included that only absorb copies.
  public var transactionCount: Int { context.transactions.count }

  /// Everything that is still held, for tests of what a finished call leaves behind.
  package var holdings: [String: Int] {
    context.holdings.merging([
      "calls": calls.count, "live": live.count, "invitations": invitations.count, "queries": queries.count,
      "registrations": registrations.count, "deadlines": deadlines.count,
    ]) { first, _ in first }
  }

  // MARK: - Inputs

  /// One datagram, or one message that ``StreamFramer`` cut out of a stream.
  /// - Returns: what stands in it, whatever became of it.
  @discardableResult
  public func receive(
    _ bytes: [UInt8], from path: SIPPath, at now: MonotonicInstant, into effects: inout [UserAgentEffect]
  ) -> ReceivedMessage {
    var received = ReceivedMessage(nil)
    handle(at: now, into: &effects) {
      context.counters.received += 1
      let isStranger = !context.knows(path.remote.host)
      switch SIPGate.admit(bytes, transport: path.remote.transport) {
      case .failure(let refusal):
        received = ReceivedMessage(refusal.message)
        reportUnreadable(refusal)
        received.isOfStranger = isStranger
        isStranger ? ignore() : refuse(refusal, from: path)
      case .success(let message):
        received = ReceivedMessage(message)
        switch judgePhone(message, from: path) {
        case .other: break
        case .proven: return context.transactions.receive(message, from: path, at: now, into: &context.pending)
        case .answered: return
        case .ignored:
          received.isOfStranger = true
          return ignore()
        }
        // A request in a dialog is judged by the dialog; a response says itself what it answers.
        if isStranger, message.method != nil, context.dialogs[DialogID(receivedIn: message)] == nil {
          received.isOfStranger = true
          return ignore()
        }
        context.transactions.receive(message, from: path, at: now, into: &context.pending)
      }
    }
    return received
  }

  /// Carries out a command. What comes of it, failures included, stands in `effects` on return.
  public func handle(_ command: UserAgentCommand, at now: MonotonicInstant, into effects: inout [UserAgentEffect]) {
    handle(at: now, into: &effects) { perform(command) }
  }

  /// The bytes of a `send` with this transaction could not be sent, or its connection broke before an answer.
  public func transportFailed(
    _ transaction: TransactionID, at now: MonotonicInstant, into effects: inout [UserAgentEffect]
  ) {
    handle(at: now, into: &effects) {
      context.transactions.transportFailed(transaction, at: now, into: &context.pending)
    }
  }

  /// Fires every timer that is due.
  public func advance(to now: MonotonicInstant, into effects: inout [UserAgentEffect]) {
    handle(at: now, into: &effects) {
      context.transactions.advance(to: now, into: &context.pending)
      drain()
      while let timed = deadlines.popDue(at: now) {
        switch timed {
        case .call(let call): with(call) { $0.advance() }
        case .query(let id): with(query: id) { $0.advance() }
        case .registration(let id): with(registration: id) { $0.advance() }
        case .phone(let name): expire(phone: name)
        }
        drain()
      }
    }
  }

  /// Runs one input and everything that comes of it, and hands out the effects.
  private func handle(at now: MonotonicInstant, into effects: inout [UserAgentEffect], _ body: () -> Void) {
    context.now = max(context.now, now)
    swap(&context.effects, &effects)
    body()
    drain()
    swap(&context.effects, &effects)
  }

  // MARK: - What transactions tell

  private func drain() {
    while let told = context.nextTold() {
      switch told {
      case .send(let bytes, let path, let sent): context.send(bytes, path, sent)
      case .request(let transaction, let request, let path): dispatch(request, transaction, from: path)
      case .acknowledgement(let message, let path):
        if let call = context.dialogs[DialogID(receivedIn: message)] {
          with(call) { $0.receive(acknowledgement: message, from: path) }
        } else {
          context.counters.strays += 1
        }
      case .response(let transaction, let response, let path): receive(response, of: transaction, from: path)
      case .unreadable(let transaction, let response):
        if case .call(let call) = context.owners[transaction] { receive(unreadable: response, of: call) }
      case .lateSuccess(let response, let path):
        let dialog = DialogID(
          callID: response.callID, localTag: response.from.tag ?? "", remoteTag: response.to.tag ?? "")
        if let call = context.dialogs[dialog] ?? invitations[response.callID] {
          with(call) { $0.receive(lateSuccess: response, from: path) }
        } else {
          context.counters.strays += 1
        }
      case .cancelled(let transaction, let request):
        if let call = context.served[transaction] { with(call) { $0.cancelled(transaction, request) } }
      case .failed(let transaction, let failure): fail(transaction, failure)
      case .ended(let transaction): context.forget(transaction)
      }
    }
  }

  private func receive(_ response: SIPMessage, of transaction: TransactionID, from path: SIPPath) {
    switch context.owners[transaction] {
    case .call(let call): with(call) { $0.receive(response, of: transaction, from: path) }
    case .dialog(let dialog):
      guard let call = context.dialogs[dialog] else { return }
      with(call) { $0.receive(response, of: transaction, in: dialog, from: path) }
    case .query(let id): with(query: id) { $0.receive(response, of: transaction, from: path) }
    case .registration(let id): with(registration: id) { $0.receive(response, of: transaction) }
    case nil: break
    }
  }

  private func fail(_ transaction: TransactionID, _ failure: TransactionFailure) {
    switch context.owners[transaction] {
    case .call(let call): with(call) { $0.failed(transaction, failure) }
    case .dialog(let dialog):
      guard let call = context.dialogs[dialog] else { return }
      with(call) { $0.failed(transaction, failure, in: dialog) }
    case .query(let id): with(query: id) { $0.failed(transaction, failure) }
    case .registration(let id): with(registration: id) { $0.failed(transaction) }
    case nil:
      if let call = context.served[transaction] { with(call) { $0.failed(transaction, failure) } }
    }
  }

  /// Lets a call act, and takes over what became of it.
  private func with(_ call: CallHandle, _ action: (any CallMachine) -> Void) {
    guard let machine = calls[call] else { return }
    action(machine)
    var current = machine
    if let successor = machine.successor {
      calls[call] = successor
      current = successor
    }
    if machine is OutgoingCallMachine, current !== machine || current.isFinished { forgetInvitation(of: machine) }
    if current.hasEnded, live.remove(call) != nil { context.forgetExchanges(of: call) }
    if current.isFinished {
      calls[call] = nil
      deadlines.set(.call(call), nil)
    } else {
      deadlines.set(.call(call), current.nextDeadline)
    }
  }

  private func forgetInvitation(of machine: any CallMachine) {
    if let machine = machine as? OutgoingCallMachine { invitations[machine.identifier] = nil }
  }

  // MARK: - Requests

  func ignore() { context.counters.strangersIgnored += 1 }

  /// The gate refused a response: the call whose INVITE it answers hears of it. Where neither Via nor CSeq can be read, the
  /// Call-ID says whose it is.
  private func reportUnreadable(_ refusal: GateRefusal) {
    guard let message = refusal.message, case .response(let status) = message.startLine else { return }
    let response = UnreadableResponse(status: status, rule: refusal.rule)
    if let transaction = context.transactions.client(ofRefused: message) {
      guard case .call(let call) = context.owners[transaction] else { return }
      receive(unreadable: response, of: call)
    } else if message.vias.isEmpty || message.cseq.map({ $0.method.isEmpty }) ?? true,
      let call = message.callID.flatMap({ invitations[$0] })
    {
      receive(unreadable: response, of: call)
    }
  }

  private func receive(unreadable response: UnreadableResponse, of call: CallHandle) {
    with(call) { ($0 as? OutgoingCallMachine)?.receive(unreadable: response) }
  }

  private func refuse(_ refusal: GateRefusal, from path: SIPPath) {
    context.counters.refused += 1
    context.counters.refusedByRule[refusal.rule, default: 0] += 1
    if refusal.message?.status != nil { context.counters.refusedResponsesByRule[refusal.rule, default: 0] += 1 }
    guard case .answer(let status, let reason) = refusal.action, let message = refusal.message,
      let bytes = ErrorResponse.bytes(
        to: message, status: status, reason: reason, tag: context.identifiers.token(),
        source: PacketSource(host: path.remote.host, port: path.remote.port))
    else { return }
    context.counters.refusalsAnswered += 1
    context.send(bytes, path, SentMessage(message.callID ?? ""))
  }

  private func dispatch(_ request: SIPMessage, _ transaction: TransactionID, from path: SIPPath) {
    guard case .request(let method, let uri) = request.startLine else { return }
    func answer(_ status: Int, _ fields: [OutgoingField] = []) {
      context.respond(transaction, OutgoingResponse(status, toTag: context.identifiers.token(), fields: fields))
    }
    if request.to.tag != nil {
      guard let call = context.dialogs[DialogID(receivedIn: request)], calls[call] != nil else { return answer(481) }
      if method == .invite { context.serve(transaction, for: call) }
      return with(call) { $0.receive(request, transaction, from: path) }
    }
    // A sips request must have come over TLS all the way (RFC 3261 section 26.2.2).
    if uri.scheme == .sips, path.remote.transport != .tls { return answer(416) }
    if var refusal = request.requirementRefusal {
      refusal.toTag = context.identifiers.token()
      context.respond(transaction, refusal)
      return
    }
    switch method {
    case .options:
      var response = OutgoingResponse(200, toTag: context.identifiers.token(), fields: capabilities)
      response.contact = context.contact(user: nil, scheme: uri.scheme, for: path)
      context.respond(transaction, response)
    case .invite: receiveInvite(request, transaction, from: path)
    case .bye, .info, .prack, .update, .notify: answer(481)
    case .refer: answer(603)
    case .register where provenPhone != nil: register(request, transaction, from: path)
    case .register, SIPMethod(rawValue: "SUBSCRIBE"), SIPMethod(rawValue: "MESSAGE"), SIPMethod(rawValue: "PUBLISH"):
      answer(405, DialogFields.allow(transfer: configuration.allowsTransfer))
    default: answer(501, DialogFields.allow(transfer: configuration.allowsTransfer))
    }
  }

  private var capabilities: [OutgoingField] {
    DialogFields.allow(transfer: configuration.allowsTransfer) + DialogFields.supported
      + DialogFields.field("Accept", DialogFields.sessionDescriptionType)
      + DialogFields.field("Accept-Encoding", "identity")
  }

  private func receiveInvite(_ request: SIPMessage, _ transaction: TransactionID, from path: SIPPath) {
    func answer(_ response: OutgoingResponse) {
      var response = response
      response.toTag = context.identifiers.token()
      context.respond(transaction, response)
    }
    guard configuration.acceptsCalls else { return answer(OutgoingResponse(404)) }
    if let refusal = request.bodyRefusal ?? request.acceptRefusal { return answer(refusal) }
    guard live.count < configuration.limits.calls, incomingRate.consume(at: context.now) else {
      context.counters.overloads += 1
      return answer(
        OutgoingResponse(503, fields: DialogFields.retryAfter(configuration.limits.retryAfterSeconds)))
    }
    let call = CallHandle(lastIncoming)
    lastIncoming -= 1
    context.counters.callsReceived += 1
    let machine = IncomingCallMachine(
      call: call, invite: request, transaction: transaction, from: path, phone: provenPhone, context: context)
    calls[call] = machine
    live.insert(call)
    context.serve(transaction, for: call)
    with(call) { _ in machine.start() }
  }

  // MARK: - Commands

  private func perform(_ command: UserAgentCommand) {
    switch command {
    case .placeCall(let call, let plan): place(call, plan)
    case .release(let call, let leg): release(call, leg)
    case .hangUp(let call, _), .ring(let call, _, _, _), .accept(let call, _, _), .reject(let call, _),
      .offer(let call, _, _), .sendInfo(let call, _), .transfer(let call, _), .acceptTransfer(let call),
      .refuseTransfer(let call, _), .reportTransfer(let call, _), .allowTransfers(let call):
      with(call) { $0.handle(command) }
    case .answer(let exchange, let body):
      if let call = context.closeExchange(exchange) { with(call) { $0.answer(exchange, body) } }
    case .refuse(let exchange, let status, let warning):
      if let call = context.closeExchange(exchange) {
        with(call) { $0.refuse(exchange, status: status, warning: warning) }
      }
    case .ping(let id, let query): ping(id, query)
    case .register(let id, let registration): register(id, registration)
    case .unregister(let id): unregister(id)
    case .phones(let phones): replace(phones)
    case .located(let location, let paths): located(location, paths)
    }
  }

  private func place(_ call: CallHandle, _ plan: OutgoingCall) {
    // A handle that is taken names another call: its life must not be touched.
    guard calls[call] == nil else { return }
    guard live.count < configuration.limits.calls else {
      let failure = CallFailure(.limit, leg: .trunk)
      return context.emit(.ended(call, CallEnd(cause: .failed, failure: failure, wasEstablished: false)))
    }
    context.counters.callsPlaced += 1
    if plan.makesAcquaintance { context.meet(plan.paths) }
    let machine = OutgoingCallMachine(plan, call: call, context: context)
    calls[call] = machine
    live.insert(call)
    invitations[machine.identifier] = call
    with(call) { _ in machine.start() }
  }

  private func release(_ call: CallHandle, _ leg: AbandonedLeg) {
    guard calls[call] == nil else { return }
    guard let machine = OutgoingCallMachine(leg, call: call, context: context) else {
      return context.emit(.ended(call, CallEnd(cause: .local, wasEstablished: leg.answer != nil)))
    }
    calls[call] = machine
    live.insert(call)
    invitations[machine.identifier] = call
    with(call) { _ in machine.release(leg) }
  }

  private func located(_ location: LocationID, _ paths: [SIPPath]) {
    context.meet(paths)
    switch context.removeOwner(of: location) {
    case .call(let call): with(call) { ($0 as? OutgoingCallMachine)?.located(paths) }
    case .query(let id): with(query: id) { $0.located(paths) }
    case .registration(let id): with(registration: id) { $0.located(paths) }
    case .dialog, nil: break
    }
  }
}
