import CallModel

// MARK: - Changes and refreshes of ours

extension DialogSession {
  /// Offers inside the call: UPDATE before the answer, re-INVITE after. It waits while something else is open; a second
  /// one is refused at once.
  package func offer(_ exchange: ExchangeID, _ body: MessageBody) {
    guard isLive else { return }
    switch ownChange {
    case .none: break
    // An offer refreshes as well.
    case .waiting(let change, _) where change.purpose == .refresh: break
    case .waiting, .sent:
      context.emit(.offerRefused(call, exchange, status: 491))
      return
    }
    ownChange = .waiting(change(.offer(exchange), body: body), until: nil)
    proceed()
  }

  private func change(_ purpose: SessionChange.Purpose, body: MessageBody?) -> SessionChange {
    SessionChange(
      purpose, body: body, backoff: GlareBackoff(ownsCallID: isCaller, limit: context.limits.glareRetries))
  }

  /// Sends what waited, where nothing stands against it any more.
  func proceed() {
    guard isLive else { return }
    if wantsRefresh, isConfirmed, case .none = ownChange {
      ownChange = .waiting(change(.refresh, body: nil), until: nil)
    }
    guard case .waiting(let change, let until) = ownChange else { return }
    if let until, until > context.now { return }
    // From here on an event ends the wait, no time.
    ownChange = .waiting(change, until: nil)
    guard unansweredSuccess == nil, unacknowledged == nil, let kind = kind(of: change) else { return }
    send(change, as: kind)
  }

  /// `nil` where it cannot be sent now.
  private func kind(of change: SessionChange) -> OfferAnswerState.Request? {
    let allowsUpdate = peerMethods?.contains(SIPMethod.update.rawValue) == true
    guard isConfirmed else { return allowsUpdate && offers.mayOffer(in: .update) ? .update : nil }
    // Nothing to repeat means that no re-INVITE could leave the session as it is.
    if change.purpose == .refresh, allowsUpdate || settings.localDescription == nil { return .update }
    return offers.maySendInvite ? .invite : nil
  }

  private func send(_ change: SessionChange, as kind: OfferAnswerState.Request) {
    let body = change.body ?? (kind == .invite ? settings.localDescription : nil)
    guard offers.send(kind, description: body != nil) != nil else { return }
    let timerFields = isConfirmed ? timer.request().fields : []
    let message = request(
      kind == .invite ? .invite : .update, fields: allow + DialogFields.supported + timerFields, body: body)
    guard let transaction = send(message, .change) else {
      _ = offers.receive(.failure, to: kind, description: false)
      ownChange = .waiting(change, until: context.now.advanced(byMilliseconds: 1000))
      return
    }
    let deadline = context.now.advanced(byMilliseconds: DialogSession.changeMilliseconds)
    ownChange = .sent(
      OwnChange.Sent(
        change: change, kind: kind, transaction: transaction, deadline: kind == .invite ? deadline : nil))
  }

  func changeAnswered(
    _ response: SIPMessage, _ status: Int, _ pending: DialogRequest, _ transaction: TransactionID
  ) {
    let isSuccess = (200...299).contains(status)
    if isSuccess, pending.request.method == .invite {
      // Also after BYE: the peer repeats its 2xx until then (RFC 3261 section 13.2.2.4).
      if let contact = response.contacts.first { dialog.remoteTarget = contact.uri }
      let credentials = DialogFields.credentials(pending.authorization)
      acknowledge(request(.ack, sequence: pending.request.cseq, fields: credentials), body: nil)
    }
    guard isLive, case .sent(let sent) = ownChange, sent.transaction == transaction else { return }
    ownChange = .none
    let answer = response.sessionDescription
    _ = offers.receive(isSuccess ? .success : .failure, to: sent.kind, description: answer != nil)
    guard !isSuccess else {
      changeAccepted(response, pending, sent, answer)
      return
    }
    switch status {
    case 491: postpone(sent.change, status, least: nil)
    case 500 where response.value("Retry-After") != nil:
      let seconds = response.value("Retry-After").flatMap { try? RetryAfter(parsing: $0) }?.seconds
      postpone(sent.change, status, least: seconds)
    case 422:
      var change = sent.change
      change.intervalRaises += 1
      if change.intervalRaises <= context.limits.sessionIntervals,
        timer.refused(minimum: SessionTimerHeaders(response).minimum)
      {
        ownChange = .waiting(change, until: nil)
      } else {
        drop(sent.change, status)
      }
    case 405, 501:
      guard sent.kind == .update, isConfirmed, settings.localDescription != nil || sent.change.body != nil else {
        drop(sent.change, status)
        return
      }
      // The peer does not know UPDATE whatever it said; what remains is a re-INVITE.
      peerMethods?.remove(SIPMethod.update.rawValue)
      ownChange = .waiting(sent.change, until: nil)
    // RFC 3261 section 12.2.1.2, RFC 5057 section 5: the peer has no such dialog any more.
    case 481: fail(failure(status), bye: false)
    case 408: fail(failure(status), bye: true)
    default: drop(sent.change, status)
    }
  }

  private func changeAccepted(
    _ response: SIPMessage, _ pending: DialogRequest, _ sent: OwnChange.Sent, _ answer: MessageBody?
  ) {
    wantsRefresh = false
    if let contact = response.contacts.first { dialog.remoteTarget = contact.uri }
    if isConfirmed { timer.accepted(SessionTimerHeaders(response), at: context.now) }
    guard let body = pending.request.body else { return }
    let hasChanged = remoteDescription != answer
    switch (sent.change.purpose, answer) {
    case (.offer(let exchange), let answer?):
      settings.localDescription = body
      remoteDescription = answer
      context.emit(.answered(call, exchange, answer))
    case (.offer(let exchange), nil):
      // An offer without an answer left the session as it was.
      context.emit(.offerRefused(call, exchange, status: 488))
    case (.refresh, let answer?) where hasChanged:
      remoteDescription = answer
      context.emit(.answered(call, context.nextExchange(for: call), answer))
    case (.refresh, _): break
    }
  }

  func changeFailed(_ failure: TransactionFailure, _ transaction: TransactionID) {
    guard isLive, case .sent(let sent) = ownChange, sent.transaction == transaction else { return }
    ownChange = .none
    _ = offers.receive(.failure, to: sent.kind, description: false)
    switch failure {
    case .timeout, .missingAcknowledgement: fail(self.failure(408), bye: true)
    // RFC 3261 section 8.1.3.1: as good as a 503.
    case .transport: drop(sent.change, 503)
    }
  }

  private func postpone(_ change: SessionChange, _ status: Int, least: Int?) {
    var change = change
    guard let wait = change.backoff.next(context.identifiers) else {
      drop(change, status)
      return
    }
    let milliseconds = max(wait, Int64(min(least ?? 0, 60)) * 1000)
    ownChange = .waiting(change, until: context.now.advanced(byMilliseconds: milliseconds))
  }

  /// The change is refused for good; the session is as it was.
  private func drop(_ change: SessionChange, _ status: Int) {
    ownChange = .none
    switch change.purpose {
    case .offer(let exchange): context.emit(.offerRefused(call, exchange, status: status))
    case .refresh:
      wantsRefresh = false
      _ = timer.refreshFailed(status: status, at: context.now)
    }
  }

  func advanceOwnChange() {
    guard case .sent(var sent) = ownChange, let deadline = sent.deadline, deadline <= context.now else { return }
    guard !sent.isCancelled else {
      requests[sent.transaction] = nil
      changeFailed(.timeout, sent.transaction)
      return
    }
    sent.isCancelled = true
    sent.deadline = context.now.advanced(byMilliseconds: DialogSession.changeMilliseconds)
    ownChange = .sent(sent)
    context.cancel(sent.transaction, reasons: [])
  }

  func advanceSessionTimer() {
    switch timer.advance(to: context.now) {
    case nil: break
    case .refresh: wantsRefresh = true
    case .expire: fail(failure(408), bye: true)
    }
  }
}
