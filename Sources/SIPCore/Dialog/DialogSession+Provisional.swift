import CallModel

// MARK: - Reliable provisional responses (RFC 3262)

extension DialogSession {
  /// The INVITE that opened the dialog waits for its final response here.
  /// - Parameter reliably: Whether provisional responses of ours can be reliable.
  func invited(_ transaction: TransactionID, _ request: SIPMessage, reliably: Bool) {
    invitation = transaction
    if reliably {
      provisionals = ReliableProvisionalSender(
        invite: request.cseq.number, limit: context.limits.reliableProvisionals, identifiers: context.identifiers)
    }
  }

  /// Sends a provisional response to that INVITE, reliable where both sides can do it.
  /// - Returns: Whether it went out or will.
  func provide(_ response: OutgoingResponse, reliably: Bool) -> Bool {
    guard let invitation else { return false }
    guard reliably, provisionals != nil else {
      context.respond(invitation, response)
      return true
    }
    switch provisionals?.send(response, at: context.now) {
    case .send(let numbered): context.respond(invitation, numbered)
    case .queued: break
    case .refused, nil: return false
    }
    return true
  }

  /// Whether our 2xx has to wait for a PRACK (section 3).
  var holdsSuccess: Bool { provisionals?.holdsSuccess ?? false }

  func receivePrack(_ request: SIPMessage, _ transaction: TransactionID) {
    guard let acknowledgement = request.value("RAck").flatMap({ try? RAck(parsing: $0) }) else {
      context.respond(transaction, OutgoingResponse(400, phrase: "Bad RAck"))
      return
    }
    guard case .accepted(let next)? = provisionals?.acknowledge(acknowledgement, at: context.now) else {
      context.respond(transaction, OutgoingResponse(481))
      return
    }
    if let refusal = request.bodyRefusal {
      context.respond(transaction, refusal)
    } else {
      receiveOffer(request, transaction, .prack)
    }
    if let next, let invitation { context.respond(invitation, next) }
    proceed()
  }

  /// The answer to our offer in a reliable provisional response came with its PRACK.
  func provisionalAnswered(_ answer: MessageBody?) {
    guard let offer = provisionalOffer, let answer else { return }
    provisionalOffer = nil
    settings.localDescription = offer.body
    remoteDescription = answer
    context.emit(.answered(call, offer.exchange, answer))
  }

  func advanceProvisionals() {
    guard let invitation else { return }
    switch provisionals?.advance(to: context.now) {
    case nil: break
    case .sendAgain(let response): context.respond(invitation, response)
    case .fail:
      // Section 3: the INVITE is rejected with a 5xx.
      self.invitation = nil
      context.respond(invitation, OutgoingResponse(504, toTag: dialog.id.localTag))
      fail(failure(504), bye: false)
    }
  }

  /// Acknowledges a reliable provisional response of the peer, once for each: whoever calls has put them in order.
  /// - Parameter answer: The answer, where the response held an offer.
  package func prack(for response: SIPMessage, answer: MessageBody?) {
    guard isLive, let number = response.value("RSeq").flatMap({ try? RSeq(parsing: $0) }) else { return }
    learn(from: response)
    if let contact = response.contacts.first { dialog.remoteTarget = contact.uri }
    let description = response.sessionDescription
    let received = offers.receive(.reliableProvisional, to: .invite, description: description != nil)
    // A repeated answer says nothing of what UPDATE has changed since.
    if let description, received != .preview { remoteDescription = description }
    let meaning = offers.send(.prack, description: answer != nil)
    if meaning == .answer, let answer { settings.localDescription = answer }
    let fields = DialogFields.field("RAck", RAck(response: number.number, cseq: response.cseq).fieldValue)
    send(request(.prack, fields: fields, body: meaning == .answer ? answer : nil), .acknowledgeProvisional)
    proceed()
  }
}
