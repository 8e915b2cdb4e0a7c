import CallModel

// What the gateway says.

extension AppSessionClient {
  func receive(
    _ bytes: [UInt8], on id: ConnectionID, _ now: MonotonicInstant, _ effects: inout [AppSessionClientEffect]
  ) {
    if case .standing = phase { heard(now) }
    let message: ServerMessage?
    do {
      message = try AppMessageCoder.decodeServer(bytes)
    } catch {
      // One message that is not understood is passed over; a stream that is none of the protocol is not.
      guard let code = error.closeCode else { return }
      abandon(code, &effects)
      reconnect(now, &effects)
      return
    }
    guard let message else { return }
    switch (message, phase) {
    case (.registered(let number, let registered), .greeting(let first, _)) where number == first && session == nil:
      begin(registered, now, &effects)
    case (.resumed(let number, let resumed), .greeting(let first, _)) where number == first && session != nil:
      resume(resumed, now, &effects)
    case (.error(let number, let failure), .greeting(let first, _)):
      refusal = failure
      if number == first, session == nil, failure.code == .sequence, let least = failure.nextSequence {
        signAgain(failure, least: least, now, &effects)
      }
    case (.event(let event, let sequence), .standing): received(event, sequence, now, &effects)
    case (.error(let number?, let failure), .standing):
      if remove(number) { effects.append(.event(.refused(number, failure))) }
    case (.draining, .standing): effects.append(.draining)
    case (.relays(let access), .standing): relays = access
    case (.registered, _), (.resumed, _), (.event, _), (.error, _), (.pong, _), (.draining, _), (.relays, _),
      (.closing, _):
      break
    }
  }

  private func heard(_ now: MonotonicInstant) {
    phase = .standing(now.advanced(byMilliseconds: configuration.pingMilliseconds), isPinged: false)
  }

  private func begin(
    _ registered: Registered, _ now: MonotonicInstant, _ effects: inout [AppSessionClientEffect]
  ) {
    self.registered = registered
    relays = registered.relays
    session = Session(
      name: registered.session, token: registered.token.exposed,
      resumeMilliseconds: Int64(registered.resumeSeconds) * 1000)
    attempts = 0
    signatures = 0
    if let credential = registered.credential {
      // The proof is used up; from now on the device has its own.
      registration?.proof = .credential(id: credential.id, secret: credential.secret.exposed)
      effects.append(.keep(credential))
    }
    heard(now)
    enter(.ready, &effects)
  }

  private func resume(_ resumed: Resumed, _ now: MonotonicInstant, _ effects: inout [AppSessionClientEffect]) {
    session?.token = resumed.token.exposed
    relays = resumed.relays
    session?.due = nil
    session?.resumeMilliseconds = Int64(resumed.resumeSeconds) * 1000
    attempts = 0
    heard(now)
    enter(.ready, &effects)
    for waiting in pending where waiting.number.value > resumed.lastRequest {
      transmit(.request(waiting.number, waiting.request), &effects)
    }
  }

  private func received(
    _ event: AppEvent, _ sequence: UInt64?, _ now: MonotonicInstant, _ effects: inout [AppSessionClientEffect]
  ) {
    if let sequence {
      // Sent again after a loss, though it had arrived.
      guard let last = session?.lastEvent, sequence > last else { return }
      session?.lastEvent = sequence
    }
    switch event {
    case .placed(let number, let call, _):
      guard remove(number) else {
        // Its time was over and the app was told so: the call must not go on.
        transmit(.request(nextNumber(), .hangUp(call)), &effects)
        return
      }
      liveCalls.insert(call)
    case .done(let number), .answered(let number, _, _), .refused(let number, _):
      guard remove(number) else { return }
    case .incoming(let call, _): liveCalls.insert(call)
    case .ended(let call, _): liveCalls.remove(call)
    default: break
    }
    effects.append(.event(event))
  }

  private func remove(_ number: RequestNumber) -> Bool {
    guard let index = pending.firstIndex(where: { $0.number == number }) else { return false }
    pending.remove(at: index)
    return true
  }
}
