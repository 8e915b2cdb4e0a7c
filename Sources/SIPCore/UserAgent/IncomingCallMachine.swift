package import CallModel

/// A call that came in, from its INVITE to our final response; then its session goes on alone.
///
/// ```
///   arrived ──start──► alerting ──accept──► accepting ──PRACK──► up: 2xx is out
///      │                  │    └──accept, nothing to wait for────►┘
///      │ cannot be        │ reject, hangUp, CANCEL, BYE, Expires, no PRACK
///      ▼ served           ▼
///     over ◄──────────────┴──(accepting as well)
/// ```
///
/// ``UserAgentEvent/established(_:_:)`` is told when the ACK to our 2xx comes, and not before: until then the peer may
/// not have heard of the answer (RFC 3261 section 13.3.1.4).
package final class IncomingCallMachine {
  /// The body and the headers of a 2xx that waits.
  private struct Acceptance {
    var body: MessageBody?
    var headers: CustomHeaders
  }

  private enum State {
    case arrived
    case alerting(DialogSession)
    /// The 2xx waits for the PRACK of a session description (RFC 3262 section 3), or for our answer to an offer in one.
    case accepting(DialogSession, Acceptance)
    case up(DialogSession)
    case over
  }

  /// Milliseconds after which a provisional response is sent again, so that no proxy gives up (RFC 3261
  /// section 13.3.1.1).
  static let reminderMilliseconds: Int64 = 60_000
  /// Milliseconds that a call may ring without an answer; then it gets 480. An Expires of the peer may say less.
  static let alertMilliseconds: Int64 = 300_000

  package let call: CallHandle
  private let invite: SIPMessage
  private let transaction: TransactionID
  private let path: SIPPath
  /// The telephone of ours that calls.
  private let phone: String?
  private let context: any AgentContext
  private let localTag: String
  private var state: State = .arrived
  private var isReliable = false
  private var alertDeadline: MonotonicInstant?
  /// The status that goes out at ``alertDeadline``.
  private var alertStatus = 480
  /// The last provisional response that was not reliable, and when it is sent again.
  private var reminder: (response: OutgoingResponse, at: MonotonicInstant)?
  /// A description of ours in a response that was not reliable: the 2xx repeats it where it has none of its own.
  private var preview: MessageBody?

  package init(
    call: CallHandle, invite: SIPMessage, transaction: TransactionID, from path: SIPPath, phone: String? = nil,
    context: any AgentContext
  ) {
    self.phone = phone
    self.call = call
    self.invite = invite
    self.transaction = transaction
    self.path = path
    self.context = context
    localTag = context.identifiers.token()
  }

  /// Reports the call, or refuses it where it cannot be served; a refused one is over without an event.
  package func start() {
    guard case .arrived = state else { return }
    guard let caller = try? PresentedCaller(invite, isTrusted: context.configuration.trustsCallers) else {
      // Privacy that is critical and cannot be given (RFC 3323 section 4.2).
      refuse(OutgoingResponse(500))
      return
    }
    guard let dialog else {
      refuse(OutgoingResponse(invite.from.tag == nil || invite.contacts.count != 1 ? 400 : 500))
      return
    }
    if let refusal = invite.requirementRefusal ?? invite.bodyRefusal ?? invite.acceptRefusal {
      refuse(refusal)
      return
    }
    let policy = context.configuration.reliability
    isReliable =
      invite.tokens("Require")?.contains("100rel") == true || policy != .off && invite.supports("100rel")
    guard isReliable || policy != .required else {
      refuse(OutgoingResponse(421, fields: DialogFields.field("Require", "100rel")))
      return
    }
    var timer = SessionTimer(context.configuration.sessionTimer)
    if case .intervalTooSmall(let minimum) = timer.judge(SessionTimerHeaders(invite)) {
      refuse(OutgoingResponse(422, fields: SessionTimerHeaders(minimum: minimum).fields))
      return
    }
    var offers = OfferAnswerState()
    _ = offers.receive(.invite, description: invite.sessionDescription != nil, context.identifiers)
    let session = DialogSession(
      dialog: dialog, call: call, isCaller: false, context: context,
      settings: DialogSettings(
        sessionTimer: context.configuration.sessionTimer, allowsTransfer: context.configuration.allowsTransfer,
        offers: offers))
    session.learn(from: invite)
    session.remoteDescription = invite.sessionDescription
    session.invited(transaction, invite, reliably: isReliable)
    session.onEnd = { [weak self] end in self?.end(end) }
    state = .alerting(session)
    watchAlert()
    var incoming = IncomingCall(
      target: dialog.local.uri, to: invite.to, caller: caller,
      headers: invite.customHeaders, offer: invite.sessionDescription, path: path, callID: invite.callID)
    if case .request(_, let uri) = invite.startLine { incoming.requestURI = uri }
    if let forwards = invite.value("Max-Forwards").flatMap(FieldNumber.read) {
      incoming.maximumForwards = UInt8(clamping: forwards)
    }
    incoming.phone = phone
    incoming.diversions = PresentedCaller.diversions(invite)
    incoming.from = invite.from
    incoming.identities = Array(invite.values("Identity").prefix(IdentityExamination.maximumFields + 1))
    context.emit(.incoming(call, incoming))
  }

  /// The early dialog; `nil` where a peer could not be reached in it.
  private var dialog: Dialog? {
    guard let remoteTag = invite.from.tag, invite.contacts.count == 1, let target = invite.contacts.first?.uri,
      case .request(_, let uri) = invite.startLine,
      let contact = context.contact(user: uri.user, scheme: uri.scheme == .sips ? .sips : .sip, for: path)
    else { return nil }
    var local = invite.to
    local.parameters.append(SIPParameter("tag", localTag))
    return Dialog(
      id: DialogID(callID: invite.callID, localTag: localTag, remoteTag: remoteTag), local: local, remote: invite.from,
      remoteTarget: target, routeSet: RouteSet.ofCallee(invite.recordRoutes), contact: contact, localSequence: 0,
      remoteSequence: invite.cseq.number, path: path, isEarly: true)
  }

  private func watchAlert() {
    alertDeadline = context.now.advanced(byMilliseconds: IncomingCallMachine.alertMilliseconds)
    // RFC 3261 section 13.3.1: the invitation is void after this time.
    guard let seconds = invite.value("Expires").flatMap(FieldNumber.read) else { return }
    let milliseconds = Int64(seconds) * 1000
    guard milliseconds < IncomingCallMachine.alertMilliseconds else { return }
    alertDeadline = context.now.advanced(byMilliseconds: milliseconds)
    alertStatus = 487
  }

  private func refuse(_ response: OutgoingResponse) {
    var response = response
    response.toTag = localTag
    context.respond(transaction, response)
    state = .over
  }

  /// The session before its 2xx.
  private var early: DialogSession? {
    switch state {
    case .alerting(let session), .accepting(let session, _): session
    case .arrived, .up, .over: nil
    }
  }

  // MARK: - Answers of the layer above

  /// A provisional response of 101 to 199; another status counts as 180. Reliable where the peer asked for that, or where
  /// both sides can.
  private func ring(_ status: Int, _ body: MessageBody?, _ headers: CustomHeaders) {
    guard case .alerting(let session) = state else { return }
    // A 199 ends an early dialog and carries no description (RFC 6228 section 4).
    let body = status == 199 ? nil : body
    var description = body
    if let body {
      let meaning = session.offers.send(
        isReliable ? .reliableProvisional : .provisional, to: .invite, description: true)
      switch meaning {
      case .answer: session.settings.localDescription = body
      case .offer:
        session.provisionalOffer = ResponseOffer(exchange: context.nextExchange(for: call), body: body)
      case .preview: if !isReliable, invite.sessionDescription != nil { preview = body }
      // An offer needs a response that is acknowledged.
      case .nothing, .offerWanted, .misplaced, .missing: description = nil
      }
    }
    let response = OutgoingResponse(
      (101...199).contains(status) ? status : 180, toTag: localTag, contact: session.dialog.contact,
      fields: session.allow + DialogFields.custom(headers), body: description)
    guard session.provide(response, reliably: isReliable), !isReliable else { return }
    reminder = (response, context.now.advanced(byMilliseconds: IncomingCallMachine.reminderMilliseconds))
  }

  /// Sends the 2xx that was asked for, where nothing keeps it waiting.
  private func proceed() {
    guard case .accepting(let session, let acceptance) = state, !session.holdsSuccess, session.peerOffer == nil else {
      return
    }
    var body = acceptance.body ?? preview
    var offer: ResponseOffer?
    switch session.offers.send(.success, to: .invite, description: body != nil) {
    case .answer: session.settings.localDescription = body
    case .offer: offer = body.map { ResponseOffer(exchange: context.nextExchange(for: call), body: $0) }
    // What was answered reliably may be repeated; what the peer answered in a PRACK would be a new offer.
    case .preview: if invite.sessionDescription == nil { body = nil }
    case .nothing: break
    case .misplaced, .offerWanted: body = nil
    case .missing:
      // Ours: accepted without a description where one is due.
      finish(OutgoingResponse(500), CallEnd(cause: .failed, failure: CallFailure(.internal), wasEstablished: false))
      return
    }
    var fields = session.allow + DialogFields.supported
    if case .accept(let terms) = session.timer.judge(SessionTimerHeaders(invite)) {
      fields += terms.fields
      session.timer.answered(terms, at: context.now)
    }
    fields += DialogFields.custom(acceptance.headers)
    let response = OutgoingResponse(
      200, toTag: localTag, contact: session.dialog.contact, fields: fields, body: body)
    session.onEnd = nil
    state = .up(session)
    alertDeadline = nil
    reminder = nil
    session.accepted(context.respond(transaction, response), sequence: invite.cseq.number, offer: offer)
  }

  private func reject(_ rejection: Rejection) {
    let status = (300...699).contains(rejection.status) ? rejection.status : 500
    let contacts = (300...399).contains(status) ? rejection.contacts : []
    var response = OutgoingResponse(
      status, phrase: rejection.phrase, contact: contacts.first,
      fields: OutgoingField.reason(rejection.reasons) + (rejection.retryAfterSeconds.map(DialogFields.retryAfter) ?? [])
        + DialogFields.custom(rejection.headers))
    response.otherContacts = Array(contacts.dropFirst())
    if let contact = early?.dialog.contact {
      response.fields += DialogFields.warning(rejection.warning, code: rejection.warningCode, from: contact)
    }
    finish(response, CallEnd(cause: .local, wasEstablished: false))
  }

  /// Hangs up before the answer: with the status of a Reason of protocol `SIP` from 300 to 699, such as 603 for a person
  /// that declines; else with 480.
  private func hangUp(_ hangUp: HangUp) {
    let statuses = hangUp.reasons.lazy.filter { $0.protocolName.lowercased() == "sip" }.compactMap(\.cause)
    let status = statuses.first { (300...699).contains($0) } ?? 480
    reject(Rejection(status, reasons: hangUp.reasons, headers: hangUp.headers))
  }

  /// The final failure response, and the end.
  private func finish(_ response: OutgoingResponse, _ end: CallEnd) {
    guard let session = early else { return }
    var response = response
    response.toTag = localTag
    context.respond(transaction, response)
    session.invitation = nil
    session.onEnd = nil
    session.abandon()
    self.end(end)
  }

  private func end(_ end: CallEnd) {
    state = .over
    alertDeadline = nil
    reminder = nil
    context.emit(.ended(call, end))
  }
}

extension IncomingCallMachine: CallMachine {
  package var nextDeadline: MonotonicInstant? {
    switch state {
    case .arrived, .over: nil
    case .alerting(let session), .accepting(let session, _):
      earliest(session.nextDeadline)
    case .up(let session): session.nextDeadline
    }
  }

  /// Of a call that was not taken yet, with the deadline of its session.
  private func earliest(_ deadline: MonotonicInstant?) -> MonotonicInstant? {
    var next = EarliestDeadline()
    next.add(deadline)
    next.add(alertDeadline)
    next.add(reminder?.at)
    return next.time
  }

  package var hasEnded: Bool {
    switch state {
    case .arrived, .alerting, .accepting: false
    case .up(let session): session.hasEnded
    case .over: true
    }
  }

  package var isFinished: Bool {
    switch state {
    case .arrived, .alerting, .accepting: false
    case .up(let session): session.isFinished
    case .over: true
    }
  }

  package var successor: (any CallMachine)? { session }

  /// The session that took over with our 2xx.
  private var session: DialogSession? {
    if case .up(let session) = state { return session }
    return nil
  }

  private var anySession: DialogSession? { early ?? session }

  package func receive(_ request: SIPMessage, _ transaction: TransactionID, from path: SIPPath) {
    guard let session = anySession else {
      context.respond(transaction, OutgoingResponse(481))
      return
    }
    session.receive(request, transaction, from: path)
    proceed()
  }

  package func receive(acknowledgement: SIPMessage, from path: SIPPath) {
    anySession?.receive(acknowledgement: acknowledgement, from: path)
  }

  package func receive(_ response: SIPMessage, of transaction: TransactionID, from path: SIPPath) {
    anySession?.receive(response, of: transaction, from: path)
    proceed()
  }

  package func receive(lateSuccess response: SIPMessage, from path: SIPPath) {
    anySession?.receive(lateSuccess: response, from: path)
  }

  package func failed(_ transaction: TransactionID, _ failure: TransactionFailure) {
    guard transaction == self.transaction else {
      anySession?.failed(transaction, failure)
      return
    }
    // The caller cannot be reached any more; after our final response its session looks after itself.
    guard case .transport = failure, early != nil else { return }
    finish(
      OutgoingResponse(503),
      CallEnd(cause: .failed, failure: CallFailure(.transport, sipStatus: 503), wasEstablished: false))
  }

  package func cancelled(_ transaction: TransactionID, _ request: SIPMessage) {
    guard transaction == self.transaction else {
      anySession?.cancelled(transaction, request)
      return
    }
    // A CANCEL after our final response has no effect (RFC 3261 section 9.2).
    finish(
      OutgoingResponse(487),
      CallEnd(
        cause: .remote, reasons: request.reasons, headers: request.customHeaders, wasEstablished: false))
  }

  package func handle(_ command: UserAgentCommand) {
    guard early != nil else {
      session?.handle(command)
      return
    }
    switch command {
    case .ring(_, let status, let body, let headers): ring(status, body, headers)
    case .accept(_, let body, let headers):
      guard case .alerting(let session) = state else { return }
      state = .accepting(session, Acceptance(body: body, headers: headers))
      proceed()
    case .reject(_, let rejection): reject(rejection)
    case .hangUp(_, let hangUp): self.hangUp(hangUp)
    case .offer, .sendInfo, .allowTransfers: early?.handle(command)
    // Of a call that is up, or of none.
    case .transfer, .acceptTransfer, .refuseTransfer, .reportTransfer, .placeCall, .release, .answer, .refuse, .ping,
      .register, .unregister, .phones, .located:
      break
    }
  }

  package func answer(_ exchange: ExchangeID, _ body: MessageBody) {
    anySession?.answer(exchange, body)
    proceed()
  }

  package func refuse(_ exchange: ExchangeID, status: Int, warning: String?) {
    anySession?.refuse(exchange, status: status, warning: warning)
    proceed()
  }

  package func advance() {
    anySession?.advance()
    guard early != nil else { return }
    if let alertDeadline, alertDeadline <= context.now {
      finish(
        OutgoingResponse(alertStatus),
        CallEnd(
          cause: .failed, failure: CallFailure(.noAnswer, sipStatus: alertStatus), wasEstablished: false))
      return
    }
    if let (response, time) = reminder, time <= context.now {
      context.respond(transaction, response)
      reminder = (response, context.now.advanced(byMilliseconds: IncomingCallMachine.reminderMilliseconds))
    }
    proceed()
  }
}
