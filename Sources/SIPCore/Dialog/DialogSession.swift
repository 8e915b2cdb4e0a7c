package import CallModel

/// Everything that happens inside one dialog, for both roles: from the provisional response that opens it to the answer
/// to its BYE.
///
/// ```
///            confirm: 2xx to our INVITE
///            accepted: our 2xx to theirs
///   early ─────────────────────────────► confirmed ───────────────┐ hangUp, failure
///     │                                      │                    │
///     │ abandon, BYE of the peer             │ BYE of the peer    ├─ 2xx without ACK ─► leaving ─┐
///     │                                      │                    │                             │ ACK, or 32 s
///     ▼                                      ▼                    ▼                             ▼
///   ended ◄──────────────────────────────────┴──── BYE answered, timed out, crossed ───────── ending
/// ```
///
/// The layer above hears the end when `leaving` or `ending` begins: what is left is between us and the peer.
///
/// Inside `confirmed`, three things can be open, each at most once: a change of ours (``OwnChange``), an offer of the peer
/// (``PeerOffer``), and a 2xx of ours that waits for its ACK (``UnacknowledgedSuccess``). A request that would open a
/// second exchange of offer and answer is refused with 491 or 500 (RFC 3261 section 14.2, RFC 3311 section 5.2).
package final class DialogSession {
  enum Life: Sendable {
    case early
    case confirmed
    /// BYE waits for the ACK to our 2xx (RFC 3261 section 15).
    case leaving([OutgoingField])
    /// BYE is out.
    case ending
    case ended
  }

  package let call: CallHandle
  /// Whether we sent the INVITE that opened the dialog: decides who waits longer after 491.
  let isCaller: Bool
  let context: any AgentContext
  var settings: DialogSettings
  package var dialog: Dialog
  var life: Life = .early
  /// Hears the end in place of the event: for the owner of a dialog that is not the call itself, such as a fork.
  package var onEnd: ((CallEnd) -> Void)?
  /// Whether the layer above heard ``UserAgentEvent/established(_:_:)``.
  package var isEstablished = false
  package var hasEnded = false

  /// Requests of ours, at most ``UserAgentLimits/dialogRequests``.
  var requests: [TransactionID: DialogRequest] = [:]
  /// The ACKs of the last 2xx that came, the latest last, at most ``DialogSession/maximumAcknowledgements``.
  var acknowledgements: [(request: OutgoingRequest, branch: String)] = []
  /// A 2xx whose ACK waits for our answer to the offer in it.
  var unansweredSuccess: UnansweredSuccess?
  var offers: OfferAnswerState
  var ownChange: OwnChange = .none
  var peerOffer: PeerOffer?
  /// The peer's INVITE that opened the dialog, until its final response.
  var invitation: TransactionID?
  var provisionals: ReliableProvisionalSender?
  /// Whether the peer is known to have this dialog. A callee knows by the first request in it, PRACK or ACK: until then
  /// the responses that open it may be lost, and a request of ours would get 481.
  var isKnownToPeer: Bool
  /// INFO that waits: for that, for a PRACK of ours, or for the INFO before; at most ``UserAgentLimits/dialogRequests``.
  var heldInformation: [MessageBody] = []
  /// Our offer in a reliable provisional response, answered in its PRACK.
  var provisionalOffer: ResponseOffer?
  var timer: SessionTimer
  /// The timer asked for a refresh that did not succeed yet.
  var wantsRefresh = false
  var unacknowledged: UnacknowledgedSuccess?
  /// Our REFERs by their CSeq number, which is the id of their events (RFC 3515 section 2.4.6); at most
  /// ``UserAgentLimits/transfers``.
  var askedTransfers: [UInt32: TransferSubscriber] = [:]
  /// REFERs of the peer by their CSeq number, at most ``UserAgentLimits/transfers`` with one that waits for an answer.
  var acceptedTransfers: [UInt32: TransferNotifier] = [:]
  /// A REFER that was reported and waits for the layer above.
  var transferOffer: TransferOffer?
  /// The session description of the peer that stands, as far as it passed here.
  var remoteDescription: MessageBody?
  /// Methods of the peer's last Allow; `nil` before the first.
  var peerMethods: Set<String>?

  /// A 2xx to an INVITE of ours with an offer in it.
  struct UnansweredSuccess: Sendable {
    var exchange: ExchangeID
    var acknowledgement: OutgoingRequest
  }

  /// Milliseconds that a re-INVITE of ours may go without a final response before it is cancelled, and after that before
  /// it is given up: as long as any other request may take.
  static let changeMilliseconds: Int64 = 32_000
  /// Milliseconds that an offer of the peer waits for the layer above; an UPDATE of his ends after 32 seconds.
  static let answerMilliseconds: Int64 = 20_000
  static let maximumAcknowledgements = 2

  package init(dialog: Dialog, call: CallHandle, isCaller: Bool, context: any AgentContext, settings: DialogSettings) {
    self.dialog = dialog
    self.call = call
    self.isCaller = isCaller
    isKnownToPeer = isCaller
    self.context = context
    self.settings = settings
    offers = settings.offers
    timer = SessionTimer(settings.sessionTimer)
    context.open(dialog.id, of: call)
  }

  // MARK: - The answer

  /// A 2xx came to our INVITE: the dialog is confirmed, and its ACK goes out.
  /// - Parameters:
  ///   - ackBody: The answer, where the 2xx held an offer.
  ///   - credentials: Those of the INVITE, which its ACK repeats (RFC 3261 section 22.1).
  package func confirm(with response: SIPMessage, ackBody: MessageBody?, credentials: [OutgoingField] = []) {
    guard let acknowledgement = confirmed(by: response, credentials) else { return }
    if let ackBody { settings.localDescription = ackBody }
    _ = offers.send(.acknowledgement, description: ackBody != nil)
    acknowledge(acknowledgement, body: ackBody)
  }

  /// A 2xx with an offer came to our INVITE: the dialog is confirmed, and its ACK waits for ``answer(_:_:)``.
  package func confirm(withOffer response: SIPMessage, exchange: ExchangeID, credentials: [OutgoingField] = []) {
    guard let acknowledgement = confirmed(by: response, credentials) else { return }
    unansweredSuccess = UnansweredSuccess(exchange: exchange, acknowledgement: acknowledgement)
  }

  /// Our 2xx to the INVITE is out: the dialog is confirmed, and the 2xx is repeated until its ACK comes.
  /// - Parameter offer: Our offer in it, where the INVITE had none.
  func accepted(_ response: RepeatableResponse?, sequence: UInt32, offer: ResponseOffer?) {
    guard case .early = life else { return }
    life = .confirmed
    dialog.isEarly = false
    invitation = nil
    provisionals?.finish()
    expect(acknowledgementOf: response, sequence: sequence, offer: offer, isFirst: true)
  }

  /// The same 2xx to an INVITE of ours again: the ACK was lost.
  package func repeatedSuccess(_ response: SIPMessage) {
    guard let acknowledgement = acknowledgements.last(where: { $0.request.cseq == response.cseq.number }) else {
      return
    }
    context.acknowledge(acknowledgement.request, branch: acknowledgement.branch, to: dialog.path)
  }

  private func confirmed(by response: SIPMessage, _ credentials: [OutgoingField]) -> OutgoingRequest? {
    guard case .early = life else { return nil }
    life = .confirmed
    isEstablished = true
    dialog.isEarly = false
    dialog.routeSet = RouteSet.ofCaller(response.recordRoutes)
    if let contact = response.contacts.first { dialog.remoteTarget = contact.uri }
    learn(from: response)
    let meaning = offers.receive(.success, to: .invite, description: response.sessionDescription != nil)
    if meaning != .preview { remoteDescription = response.sessionDescription ?? remoteDescription }
    timer.accepted(SessionTimerHeaders(response), at: context.now)
    return request(.ack, sequence: response.cseq.number, fields: credentials)
  }

  func acknowledge(_ request: OutgoingRequest, body: MessageBody?) {
    var request = request
    request.body = body
    if acknowledgements.count >= DialogSession.maximumAcknowledgements { acknowledgements.removeFirst() }
    let branch = context.identifiers.branch()
    acknowledgements.append((request, branch))
    context.acknowledge(request, branch: branch, to: dialog.path)
  }

  /// Waits for the ACK to a 2xx of ours.
  func expect(
    acknowledgementOf response: RepeatableResponse?, sequence: UInt32, offer: ResponseOffer?, isFirst: Bool
  ) {
    unacknowledged = UnacknowledgedSuccess(
      sequence: sequence, repeater: SuccessRepeater(sentAt: context.now),
      response: response, offer: offer, isFirst: isFirst)
  }

  package func receive(acknowledgement: SIPMessage, from path: SIPPath) {
    guard dialog.expects(path.remote.host) else { return }
    isKnownToPeer = true
    // An ACK comes once for each 2xx that we repeated: all but the first find nothing.
    guard let success = unacknowledged, success.sequence == acknowledgement.cseq.number else { return }
    unacknowledged = nil
    if case .leaving(let fields) = life {
      sendBye(fields)
      return
    }
    guard case .confirmed = life else { return }
    _ = offers.receive(
      .acknowledgement, description: acknowledgement.sessionDescription != nil, context.identifiers)
    if success.isFirst {
      isEstablished = true
      context.emit(.established(call, Answer(body: nil, headers: acknowledgement.customHeaders)))
    }
    if let offer = success.offer {
      if let answer = acknowledgement.sessionDescription {
        settings.localDescription = offer.body
        remoteDescription = answer
        context.emit(.answered(call, offer.exchange, answer))
      } else if success.isFirst {
        // The peer never said where the media goes: there is no call without it (RFC 3261 section 13.2.1).
        context.emit(.offerRefused(call, offer.exchange, status: 488))
        fail(CallFailure(.negotiation, sipStatus: 488), bye: true)
        return
      } else {
        context.emit(.offerRefused(call, offer.exchange, status: 488))
      }
    }
    proceed()
  }

  // MARK: - Requests of the peer

  /// A request inside the dialog; an ACK and a CANCEL have doors of their own.
  package func receive(_ request: SIPMessage, _ transaction: TransactionID, from path: SIPPath) {
    guard let method = request.method else { return }
    // The same answer as for a dialog that does not exist: who listened to the tags elsewhere learns nothing.
    guard dialog.expects(path.remote.host), isLive || method == .bye else {
      context.respond(transaction, OutgoingResponse(481))
      return
    }
    // RFC 3261 section 12.2.2: a gap in the numbers is none of our business, a step back is.
    if let last = dialog.remoteSequence, request.cseq.number <= last {
      context.respond(transaction, OutgoingResponse(500, fields: retryAfter()))
      return
    }
    dialog.remoteSequence = request.cseq.number
    isKnownToPeer = true
    follow(path)
    if method == .bye {
      receiveBye(request, transaction)
      return
    }
    if let refusal = request.requirementRefusal {
      context.respond(transaction, refusal)
      return
    }
    learn(from: request)
    switch method {
    case .invite: receiveInvite(request, transaction)
    case .update: receiveUpdate(request, transaction)
    case .prack: receivePrack(request, transaction)
    case .info: receiveInfo(request, transaction)
    case .refer: receiveRefer(request, transaction)
    case .notify: receiveNotify(request, transaction)
    case .options:
      let fields = allow + DialogFields.supported + DialogFields.accept
      context.respond(transaction, OutgoingResponse(200, fields: fields))
    default: context.respond(transaction, OutgoingResponse(405, fields: allow))
    }
  }

  /// Whether the dialog takes requests: until the end was told to the layer above.
  var isLive: Bool {
    switch life {
    case .early, .confirmed: true
    case .leaving, .ending, .ended: false
    }
  }

  var isConfirmed: Bool {
    if case .confirmed = life { return true }
    return false
  }

  var allow: [OutgoingField] { DialogFields.allow(transfer: settings.allowsTransfer) }

  /// RFC 3261 section 14.2: a random time from 0 to 10 seconds.
  func retryAfter() -> [OutgoingField] { DialogFields.retryAfter(Int(context.identifiers.number() % 11)) }

  /// Our requests go back the way that the peer's came; the name that a certificate must carry stays with its address.
  private func follow(_ path: SIPPath) {
    var path = path
    if path.serverName == nil, path.remote == dialog.path.remote { path.serverName = dialog.path.serverName }
    dialog.path = path
  }

  func learn(from message: SIPMessage) {
    if let methods = message.tokens("Allow") { peerMethods = Set(methods.tokens) }
  }

  // MARK: - Time

  package var nextDeadline: MonotonicInstant? {
    var next = EarliestDeadline()
    next.add(unacknowledged?.repeater.nextDeadline)
    switch life {
    case .early, .confirmed:
      next.add(peerOffer?.deadline)
      next.add(timer.nextDeadline)
      next.add(provisionals?.nextDeadline)
      addTransferDeadlines(to: &next)
      switch ownChange {
      case .none: break
      case .waiting(_, let until): next.add(until)
      case .sent(let sent): next.add(sent.deadline)
      }
    case .leaving: break
    case .ending, .ended: return nil
    }
    return next.time
  }

  /// Fires what is due.
  package func advance() {
    advanceSuccess()
    guard isLive else { return }
    advanceProvisionals()
    advancePeerOffer()
    advanceOwnChange()
    advanceTransfers()
    advanceSessionTimer()
    proceed()
  }

  /// RFC 3261 section 13.3.1.4: without an ACK in 64 × T1 the session is ended by a BYE.
  private func advanceSuccess() {
    guard var success = unacknowledged else { return }
    let action = success.repeater.advance(to: context.now)
    unacknowledged = success
    switch action {
    case nil: break
    case .sendAgain:
      if let response = success.response { context.repeatResponse(response) }
    case .fail:
      unacknowledged = nil
      if case .leaving(let fields) = life {
        sendBye(fields)
      } else {
        fail(CallFailure(.transport, sipStatus: 408), bye: true)
      }
    }
  }
}
