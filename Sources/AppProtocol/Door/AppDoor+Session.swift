import CallModel

// Messages of registered apps, and what they are told.

extension AppDoor {
  func message(
    _ bytes: [UInt8], of id: SessionID, on connection: ConnectionID, _ now: MonotonicInstant,
    _ effects: inout [AppDoorEffect]
  ) {
    guard let wait = count(id, on: connection, now) else {
      close(connection, .policyViolation, "too many messages", now, &effects)
      return
    }
    let message: ClientMessage
    do {
      message = try AppMessageCoder.decodeRequest(bytes)
    } catch {
      if let code = error.closeCode {
        effects.append(.send(connection, AppMessageCoder.encode(.error(nil, error.failure))))
        close(connection, code, "not understood", now, &effects)
      } else if let number = error.number {
        guard acceptNumber(number, of: id, on: connection, &effects) else { return }
        answer(id, .refused(number, error.failure), now, &effects)
      } else {
        effects.append(.send(connection, AppMessageCoder.encode(.error(nil, error.failure))))
      }
      return
    }
    guard let number = message.number else {
      finish(id, .normal, "", &effects)
      return
    }
    guard acceptNumber(number, of: id, on: connection, &effects) else { return }
    switch message {
    case _ where wait > 0:
      answer(id, .refused(number, AppDoor.tooMany("Too Many Messages", seconds: wait)), now, &effects)
    case .register, .resume:
      answer(id, .refused(number, CallFailure(.message, invalidValue: AppDoor.onlyFirst)), now, &effects)
    case .ping: effects.append(.send(connection, AppMessageCoder.encode(.pong(number))))
    case .request(_, let request): self.request(number, request, of: id, now, &effects)
    case .bye: break  // It has no number: it was answered above.
    }
  }

  private static let onlyFirst = InvalidValue(
    kind: "message", rule: "message.first", offset: nil, problem: "can only be the first of a connection",
    accepted: "requests")

  /// - Returns: seconds to wait, 0 for a message within the limit of its host; `nil` when far too many of the session were
  ///   not.
  private func count(_ id: SessionID, on connection: ConnectionID, _ now: MonotonicInstant) -> Int? {
    guard let session = sessions[id] else { return nil }
    // Whoever speaks on the new connection has read its first message, and so the new token.
    session.formerToken = nil
    guard let host = connections[connection]?.hostKey else { return nil }
    let wait = hosts.message(host, at: now) ?? 0
    session.overLimit = wait == 0 ? 0 : session.overLimit + 1
    return session.overLimit > configuration.maximumMessagesOverLimit ? nil : wait
  }

  /// Accepts a number if it is higher than all before it.
  private func acceptNumber(
    _ number: RequestNumber, of id: SessionID, on connection: ConnectionID, _ effects: inout [AppDoorEffect]
  ) -> Bool {
    let last = sessions[id]?.lastRequest ?? 0
    guard number.value > last else {
      // Without its number: a request of that number has, or will have, its one reply.
      let invalid = InvalidValue(
        kind: "message.id", rule: "message.order", offset: nil, problem: "\(number.value) is not above \(last)",
        accepted: "a number above all before it in the session")
      effects.append(
        .send(connection, AppMessageCoder.encode(.error(nil, CallFailure(.message, invalidValue: invalid)))))
      return false
    }
    sessions[id]?.lastRequest = number.value
    return true
  }

  private func request(
    _ number: RequestNumber, _ request: AppRequest, of id: SessionID, _ now: MonotonicInstant,
    _ effects: inout [AppDoorEffect]
  ) {
    guard let session = sessions[id] else { return }
    guard session.pending < configuration.maximumPendingRequests else {
      answer(id, .refused(number, AppDoor.tooMany("Too Many Requests Waiting", seconds: 1)), now, &effects)
      return
    }
    if case .call = request {
      if isDraining {
        answer(id, .refused(number, AppDoor.draining), now, &effects)
        return
      }
      guard session.identity.capabilities.contains(.calling) else {
        answer(id, .refused(number, CallFailure(.capabilityLocal, leg: .app)), now, &effects)
        return
      }
      guard session.calls.count + session.pending < configuration.maximumCalls else {
        answer(id, .refused(number, AppDoor.tooMany("Too Many Calls", seconds: 1)), now, &effects)
        return
      }
    }
    if case .listen(let isOn) = request {
      answer(id, .done(number), now, &effects)
      effects.append(.listening(id, isOn))
      return
    }
    session.pending += 1
    effects.append(.request(id, number, request))
  }

  /// An event of the engine.
  func tell(_ id: SessionID, _ event: AppEvent, _ now: MonotonicInstant, _ effects: inout [AppDoorEffect]) {
    sessions[id]?.updateCalls(after: event)
    answer(id, event, now, &effects)
    finishIfDrained(id, &effects)
  }

  /// Sends an event, or keeps it for later.
  private func answer(
    _ id: SessionID, _ event: AppEvent, _ now: MonotonicInstant, _ effects: inout [AppDoorEffect]
  ) {
    guard let session = sessions[id] else { return }
    let connection = session.connection
    if event.isPassing {
      if let connection { effects.append(.send(connection, AppMessageCoder.encode(.event(event, sequence: nil)))) }
      return
    }
    if connection == nil, case .ended(let call, _) = event { session.dropInvitation(to: call) }
    session.sequence += 1
    let sequence = session.sequence
    let text = AppMessageCoder.encode(.event(event, sequence: sequence))
    // A copy of its length: the writer's array has room for several times as much.
    let isKept = session.bufferForResumption(
      AppSession.Kept(
        sequence: sequence, isMinor: event.isMinor, invitation: event.invitation,
        text: text.withUnsafeBytes { [UInt8]($0) }), configuration)
    if let connection { effects.append(.send(connection, text)) }
    if !isKept { end(id, &effects) }
  }
}
