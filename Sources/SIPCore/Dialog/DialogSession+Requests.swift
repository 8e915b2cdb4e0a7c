import CallModel

// MARK: - Requests of ours

extension DialogSession {
  /// A request with the next number, or with the one given, addressed along the route set.
  func request(
    _ method: SIPMethod, sequence: UInt32? = nil, fields: [OutgoingField] = [], body: MessageBody? = nil
  ) -> OutgoingRequest {
    let number: UInt32
    if let sequence {
      number = sequence
    } else {
      dialog.localSequence &+= 1
      number = dialog.localSequence
    }
    let hop = RouteSet.destination(target: dialog.remoteTarget, routes: dialog.routeSet)
    return OutgoingRequest(
      method, uri: hop.uri, routes: hop.routes, from: dialog.local, to: dialog.remote, callID: dialog.id.callID,
      cseq: number, contact: method.carriesContact ? dialog.contact : nil, fields: fields, body: body)
  }

  /// Sends a request, with credentials where the peer asked for some before.
  /// - Returns: `nil` where too many requests wait already; nothing was sent then.
  @discardableResult
  func send(_ request: OutgoingRequest, _ purpose: DialogRequest.Purpose) -> TransactionID? {
    guard requests.count < context.limits.dialogRequests else { return nil }
    let authorization = settings.digest?.authorization(
      for: request.digest, cnonce: context.identifiers.token())
    return send(DialogRequest(request: request, purpose: purpose, authorization: authorization))
  }

  private func send(_ pending: DialogRequest) -> TransactionID {
    var request = pending.request
    request.fields += DialogFields.credentials(pending.authorization)
    let transaction = context.send(request, to: dialog.path, for: .dialog(dialog.id))
    requests[transaction] = pending
    return transaction
  }

  package func receive(_ response: SIPMessage, of transaction: TransactionID, from path: SIPPath) {
    // Answers to what was sent before the end are of no use after it.
    guard let status = response.status, let pending = requests[transaction], status >= 200 else { return }
    requests[transaction] = nil
    if status == 401 || status == 407, let again = answered(response, pending) {
      let next = send(again)
      if case .sent(var sent) = ownChange, sent.transaction == transaction {
        sent.transaction = next
        ownChange = .sent(sent)
      }
      if case .transfer = pending.purpose {
        transferRepeated(pending.request.cseq, as: again.request.cseq)
      }
      return
    }
    learn(from: response)
    if (200...299).contains(status) { accept(response, pending) }
    switch pending.purpose {
    case .bye: finish()
    case .change: changeAnswered(response, status, pending, transaction)
    case .information: lost(status)
    // RFC 3262 section 3: 481 to a PRACK says that no provisional response waits for it, as after the final one. What
    // becomes of the dialog is told by the INVITE's final response, and by the peer's BYE, which may be on its way.
    case .acknowledgeProvisional: break
    case .transfer: transferAnswered(status, pending)
    case .transferReport(let number): if status >= 300 { acceptedTransfers[number] = nil }
    }
    proceed()
  }

  package func failed(_ transaction: TransactionID, _ failure: TransactionFailure) {
    guard let pending = requests.removeValue(forKey: transaction) else { return }
    switch pending.purpose {
    case .bye: finish()
    case .change: changeFailed(failure, transaction)
    case .information, .acknowledgeProvisional: break
    case .transfer: transferAnswered(failure == .transport ? 503 : 408, pending)
    case .transferReport(let number): acceptedTransfers[number] = nil
    }
    proceed()
  }

  /// RFC 5057 section 5: a 481 to a request of the dialog says that the peer has no such dialog.
  private func lost(_ status: Int) {
    if status == 481 { fail(failure(status), bye: false) }
  }

  func failure(_ status: Int) -> CallFailure {
    CallFailure(CallFailureEvidence(status: status).code, sipStatus: status)
  }

  /// The request with the credentials that a 401 or 407 asks for and a new number; `nil` where there are none.
  private func answered(_ response: SIPMessage, _ pending: DialogRequest) -> DialogRequest? {
    guard settings.digest != nil, isLive || pending.isBye else { return nil }
    var again = pending
    let challenges = DigestScope.allCases.flatMap { scope in
      response.values(scope.challengeFieldName).map { DigestField(scope, $0) }
    }
    guard
      let authorization = try? settings.digest?.answer(
        challenges, to: pending.request.digest, previous: pending.authorization, cnonce: context.identifiers.token()),
      authorization.rounds <= context.limits.challenges
    else { return nil }
    dialog.localSequence &+= 1
    again.request.cseq = dialog.localSequence
    again.authorization = authorization
    return again
  }

  private func accept(_ response: SIPMessage, _ pending: DialogRequest) {
    guard let authorization = pending.authorization else { return }
    for scope in DigestScope.allCases {
      guard let value = response.value(scope.informationFieldName),
        let information = try? DigestInformation(parsing: value)
      else { continue }
      settings.digest?.accept(information, scope: scope, for: authorization, body: response.body?.bytes ?? [])
    }
  }

  // MARK: - The end

  /// Hangs up. Until there was an answer, a call that came in is refused with its INVITE instead.
  package func hangUp(_ hangUp: HangUp) {
    let fields = OutgoingField.reason(hangUp.reasons) + DialogFields.custom(hangUp.headers)
    end(CallEnd(cause: .local, wasEstablished: isEstablished), fields)
  }

  /// The call broke.
  /// - Parameter bye: Whether the peer may still be there to hear of it.
  func fail(_ failure: CallFailure, bye: Bool) {
    let end = CallEnd(cause: .failed, failure: failure, wasEstablished: isEstablished)
    guard bye else {
      settle()
      tell(end)
      finish()
      return
    }
    let reason = CallFailure.Reason(protocolName: "SIP", cause: failure.sipStatus)
    self.end(end, OutgoingField.reason([reason]))
  }

  /// The dialog goes without BYE and event, its call goes on elsewhere or was refused; what the peer still waits for is
  /// answered.
  package func abandon() {
    hasEnded = true
    if isLive { settle() }
    finish()
  }

  private func end(_ end: CallEnd, _ fields: [OutgoingField]) {
    guard isLive else { return }
    settle()
    if let success = unansweredSuccess {
      // The 2xx wants its ACK even when nobody wants the call any more (RFC 3261 section 13.2.2.4).
      unansweredSuccess = nil
      acknowledge(success.acknowledgement, body: nil)
    }
    if case .early = life, !isCaller {
      // The INVITE was refused just now; a callee sends no BYE before the answer (RFC 3261 section 15).
      finish()
    } else if unacknowledged != nil {
      life = .leaving(fields)
    } else {
      sendBye(fields)
    }
    tell(end)
  }

  func sendBye(_ fields: [OutgoingField]) {
    life = .ending
    // Room for it whatever else waits: nothing comes after.
    requests = requests.filter { $0.value.isChange }
    if send(request(.bye, fields: fields), .bye) == nil { finish() }
  }

  /// BYE of the peer (RFC 3261 section 15.1.2): answered in any state, also where it crosses ours.
  func receiveBye(_ request: SIPMessage, _ transaction: TransactionID) {
    if case .ended = life {
      context.respond(transaction, OutgoingResponse(481))
      return
    }
    context.respond(transaction, OutgoingResponse(200))
    settle()
    tell(
      CallEnd(
        cause: .remote, reasons: request.reasons, headers: request.customHeaders, wasEstablished: isEstablished))
    finish()
  }

  /// Answers what the peer still waits for: no request may be left without a final response (RFC 3261 section 15.1.2).
  private func settle() {
    if let invitation {
      context.respond(invitation, OutgoingResponse(487, toTag: dialog.id.localTag))
      self.invitation = nil
    }
    if let offer = transferOffer {
      context.respond(offer.transaction, OutgoingResponse(487))
      transferOffer = nil
    }
    if let offer = peerOffer {
      context.respond(offer.transaction, OutgoingResponse(487))
      peerOffer = nil
    }
    provisionals?.finish()
    timer.stop()
  }

  private func tell(_ end: CallEnd) {
    guard !hasEnded else { return }
    hasEnded = true
    if let onEnd {
      onEnd(end)
    } else {
      context.emit(.ended(call, end))
    }
  }

  func finish() {
    if case .ended = life { return }
    life = .ended
    // Its final response may be lost, and nobody repeats it after the end: CANCEL gives its transaction a limit.
    if let change = ownChange.sent, change.kind == .invite, requests[change.transaction] != nil {
      context.cancel(change.transaction, reasons: [])
    }
    requests = [:]
    heldInformation = []
    ownChange = .none
    peerOffer = nil
    unacknowledged = nil
    unansweredSuccess = nil
    timer.stop()
    context.close(dialog.id)
  }
}

extension DialogRequest {
  var isPrack: Bool { if case .acknowledgeProvisional = purpose { true } else { false } }
  var isInformation: Bool { if case .information = purpose { true } else { false } }
  fileprivate var isBye: Bool { if case .bye = purpose { true } else { false } }
  fileprivate var isChange: Bool { if case .change = purpose { true } else { false } }
}

extension OutgoingRequest {
  /// What of it enters a digest.
  var digest: DigestRequest {
    DigestRequest(method: method.rawValue, uri: (try? uri.encoded()) ?? "", body: body?.bytes ?? [])
  }
}

extension SIPMethod {
  /// Whether a request inside a dialog names where we are reached: those that refresh the target (RFC 3261 section 12.2,
  /// RFC 3311) and those of subscriptions (RFC 3515, RFC 6665).
  fileprivate var carriesContact: Bool {
    switch self {
    case .invite, .update, .refer, .notify: true
    default: false
    }
  }
}
