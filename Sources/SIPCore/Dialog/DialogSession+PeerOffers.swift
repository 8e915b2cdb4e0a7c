import CallModel

// MARK: - Changes and refreshes of the peer

extension DialogSession {
  func receiveInvite(_ request: SIPMessage, _ transaction: TransactionID) {
    if let refusal = refusal(of: request) {
      context.respond(transaction, refusal)
      return
    }
    // The ACK to our last 2xx is still out: RFC 5407 section 3.1.5.
    guard unacknowledged == nil else {
      context.respond(transaction, OutgoingResponse(491))
      return
    }
    receiveOffer(request, transaction, .invite)
  }

  /// RFC 3311 section 5.2; before the answer as well.
  func receiveUpdate(_ request: SIPMessage, _ transaction: TransactionID) {
    if let refusal = refusal(of: request) {
      context.respond(transaction, refusal)
      return
    }
    receiveOffer(request, transaction, .update)
  }

  /// Whether the peer may have sent its request before it heard our answer.
  private var isBeforeAcknowledgement: Bool { !isConfirmed || unacknowledged?.isFirst == true }

  /// What keeps a request for a change from being looked at.
  private func refusal(of request: SIPMessage) -> OutgoingResponse? {
    if let refusal = request.bodyRefusal ?? request.acceptRefusal { return refusal }
    guard isConfirmed, case .intervalTooSmall(let minimum) = timer.judge(SessionTimerHeaders(request)) else {
      return nil
    }
    return OutgoingResponse(422, fields: SessionTimerHeaders(minimum: minimum).fields)
  }

  func receiveOffer(_ request: SIPMessage, _ transaction: TransactionID, _ kind: OfferAnswerState.Request) {
    let description = request.sessionDescription
    switch offers.receive(kind, description: description != nil, context.identifiers) {
    case .refuse(let status, let seconds):
      context.respond(
        transaction, OutgoingResponse(status, fields: seconds.map(DialogFields.retryAfter) ?? []))
    case .proceed(.offer), .proceed(.offerWanted):
      let exchange = context.nextExchange(for: call)
      peerOffer = PeerOffer(
        transaction: transaction, exchange: exchange, request: request, kind: kind, isEarly: isBeforeAcknowledgement,
        deadline: context.now.advanced(byMilliseconds: DialogSession.answerMilliseconds))
      context.emit(.offered(call, exchange, description))
      yield()
    case .proceed(.answer):
      context.respond(transaction, OutgoingResponse(200))
      provisionalAnswered(description)
    case .proceed(.nothing), .proceed(.preview), .proceed(.misplaced), .proceed(.missing):
      _ = offers.send(.success, to: kind, description: false)
      context.respond(transaction, success(to: request, kind, body: nil, isEarly: isBeforeAcknowledgement))
    }
  }

  /// An offer of ours that waits, most often after 491, was made before the peer's, which came first: it would undo what
  /// is agreed on now, and until it is gone the layer above could not answer. Its wish goes into the answer, or into
  /// another offer (RFC 3261 section 14.1: the two sides wait differently so that one of them gets through).
  private func yield() {
    guard case .waiting(let change, _) = ownChange, case .offer(let exchange) = change.purpose else { return }
    ownChange = .none
    context.emit(.offerRefused(call, exchange, status: 491))
  }

  /// Answers an offer that was reported; one that is gone is passed over: its end crossed the answer.
  package func answer(_ exchange: ExchangeID, _ body: MessageBody) {
    if let success = unansweredSuccess, success.exchange == exchange {
      unansweredSuccess = nil
      _ = offers.send(.acknowledgement, description: true)
      settings.localDescription = body
      acknowledge(success.acknowledgement, body: body)
    } else if let offer = peerOffer, offer.exchange == exchange {
      peerOffer = nil
      answer(offer, body)
    }
    proceed()
  }

  private func answer(_ offer: PeerOffer, _ body: MessageBody) {
    let meaning = offers.send(.success, to: offer.kind, description: true)
    let response = context.respond(
      offer.transaction, success(to: offer.request, offer.kind, body: body, isEarly: offer.isEarly))
    let isOffer = meaning == .offer
    if !isOffer {
      settings.localDescription = body
      remoteDescription = offer.request.sessionDescription
    }
    guard offer.kind == .invite else { return }
    expect(
      acknowledgementOf: response, sequence: offer.request.cseq.number,
      offer: isOffer ? ResponseOffer(exchange: offer.exchange, body: body) : nil, isFirst: false)
  }

  /// The 2xx to a change of the peer; its Contact and its session timer count from here.
  private func success(
    to request: SIPMessage, _ kind: OfferAnswerState.Request, body: MessageBody?, isEarly: Bool
  ) -> OutgoingResponse {
    guard kind != .prack else { return OutgoingResponse(200, body: body) }
    // A refused request refreshes no target (RFC 6141 section 4.6).
    if let contact = request.contacts.first { dialog.remoteTarget = contact.uri }
    var fields = allow + DialogFields.supported
    let headers = SessionTimerHeaders(request)
    // One that came before the answer and says nothing of a timer leaves that of the INVITE as it is.
    if isConfirmed, !isEarly || headers.interval != nil, case .accept(let terms) = timer.judge(headers) {
      fields += terms.fields
      timer.answered(terms, at: context.now)
      wantsRefresh = false
    }
    return OutgoingResponse(200, contact: dialog.contact, fields: fields, body: body)
  }

  /// Refuses an offer that was reported: the session stays as it was.
  /// - Parameter status: 400 to 699; anything else counts as 488.
  package func refuse(_ exchange: ExchangeID, status: Int, warning: String?) {
    let status = (400...699).contains(status) ? status : 488
    if let success = unansweredSuccess, success.exchange == exchange {
      // There is no way to refuse an offer in a 2xx but to end the call (RFC 3261 section 13.2.2.4).
      fail(CallFailure(.negotiation, sipStatus: status), bye: true)
    } else if let offer = peerOffer, offer.exchange == exchange {
      close(offer, OutgoingResponse(status, fields: DialogFields.warning(warning, from: dialog.contact)))
    }
    proceed()
  }

  /// CANCEL of a re-INVITE.
  package func cancelled(_ transaction: TransactionID, _ request: SIPMessage) {
    guard let offer = peerOffer, offer.transaction == transaction else { return }
    close(offer, OutgoingResponse(487))
    context.emit(.offerRefused(call, offer.exchange, status: 487))
    proceed()
  }

  func advancePeerOffer() {
    guard let offer = peerOffer, offer.deadline <= context.now else { return }
    close(offer, OutgoingResponse(500))
    context.emit(.offerRefused(call, offer.exchange, status: 500))
  }

  private func close(_ offer: PeerOffer, _ response: OutgoingResponse) {
    peerOffer = nil
    _ = offers.send(.failure, to: offer.kind, description: false)
    context.respond(offer.transaction, response)
  }
}
