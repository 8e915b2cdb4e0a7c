import CallModel

// Connecting, registering, resuming and giving up.

extension AppSessionClient {
  func start(
    _ registration: Registration, _ now: MonotonicInstant, _ effects: inout [AppSessionClientEffect]
  ) {
    switch state {
    case .idle, .ended: break
    case .connecting, .registering, .ready, .reconnecting: return
    }
    self.registration = registration
    registered = nil
    refusal = nil
    attempts = 0
    signatures = 0
    enter(.connecting, &effects)
    connect(now, &effects)
  }

  func connect(_ now: MonotonicInstant, _ effects: inout [AppSessionClientEffect]) {
    let id = nextConnection()
    connection = id
    refusal = nil
    phase = .opening(now.advanced(byMilliseconds: configuration.connectMilliseconds))
    effects.append(.connect(id))
  }

  func greet(_ id: ConnectionID, _ now: MonotonicInstant, _ effects: inout [AppSessionClientEffect]) {
    guard case .opening(let due) = phase, let registration else { return }
    let number = nextNumber()
    phase = .greeting(number, due)
    if let session {
      transmit(
        .resume(
          number, Resumption(session: session.name, token: session.token, lastEvent: session.lastEvent)), &effects)
    } else {
      if state == .connecting { enter(.registering, &effects) }
      transmit(.register(number, registration, client: configuration.client), &effects)
    }
  }

  /// Asks for a signature with a higher sequence, a bounded number of times.
  func signAgain(
    _ failure: CallFailure, least: UInt64, _ now: MonotonicInstant, _ effects: inout [AppSessionClientEffect]
  ) {
    signatures += 1
    guard signatures < configuration.maximumSignatures else {
      abandon(.normal, &effects)
      end(failure, &effects)
      return
    }
    phase = .signing(now.advanced(byMilliseconds: configuration.signingMilliseconds))
    effects.append(.signAgain(least: least))
  }

  func greetAgain(
    _ proof: Registration.Proof, _ now: MonotonicInstant, _ effects: inout [AppSessionClientEffect]
  ) {
    registration?.proof = proof
    guard case .signing = phase else { return }
    guard let connection else { return connect(now, &effects) }
    phase = .opening(now.advanced(byMilliseconds: configuration.connectMilliseconds))
    greet(connection, now, &effects)
  }

  func closed(_ code: CloseCode?, _ now: MonotonicInstant, _ effects: inout [AppSessionClientEffect]) {
    let isGreeting = if case .greeting = phase { true } else { false }
    connection = nil
    // The gateway does not wait as long as an app's server may take: the next connection brings the new signature.
    if case .signing = phase { return }
    switch code {
    case .tryAgainLater? where registered == nil && refusal?.code == .unavailable:
      // Whether to try again is the app's to say, as it is before any first success.
      end(refusal, &effects)
    case .unauthenticated?:
      end(refusal ?? CallFailure(.registration, leg: .app), &effects)
    case .takenOver?: end(CallFailure(.networkLost, leg: .app), &effects)
    case .sessionOver?, .goingAway?, .serviceRestart?, .normal?:
      loseSession(&effects)
      reconnect(now, &effects)
    case .protocolError?, .unsupportedData?, .invalidData?, .policyViolation?, .messageTooBig?:
      // The same first message would be refused again.
      if isGreeting {
        end(refusal ?? CallFailure(.message, leg: .app), &effects)
      } else {
        reconnect(now, &effects)
      }
    default: reconnect(now, &effects)
    }
  }

  /// Closes a connection that is of no use any more.
  func abandon(_ code: CloseCode, _ effects: inout [AppSessionClientEffect]) {
    guard let connection else { return }
    effects.append(.close(connection, code: code.rawValue))
    self.connection = nil
  }

  func reconnect(_ now: MonotonicInstant, _ effects: inout [AppSessionClientEffect]) {
    connection = nil
    if let session, session.due == nil {
      self.session?.due = now.advanced(byMilliseconds: session.resumeMilliseconds)
    }
    switch state {
    case .ready: enter(.reconnecting, &effects)
    case .registering: enter(.connecting, &effects)
    case .idle, .connecting, .reconnecting, .ended: break
    }
    phase = .waiting(now.advanced(byMilliseconds: wait()))
    attempts += 1
  }

  /// Milliseconds until the next attempt, so that many clients do not come at once: up to the first wait before the
  /// first, then from half of a wait to all of it.
  private func wait() -> Int64 {
    let first = max(configuration.firstBackoffMilliseconds, 1)
    let longest = max(configuration.longestBackoffMilliseconds, first)
    var wait = first
    for _ in 1..<max(attempts, 1) where wait < longest { wait = min(wait * 2, longest) }
    let least = attempts == 0 ? 0 : wait / 2
    let jittered = least + Int64(draw() % UInt64(wait - least + 1))
    // A gateway's word on when to come back stands, within reason.
    let asked = Int64(min(refusal?.retryAfterSeconds ?? 0, Int(longest / 1000))) * 1000
    return max(jittered, asked)
  }

  func networkChanged(_ now: MonotonicInstant, _ effects: inout [AppSessionClientEffect]) {
    switch state {
    case .idle, .ended: return
    case .connecting, .registering, .ready, .reconnecting: break
    }
    abandon(.normal, &effects)
    attempts = 0
    reconnect(now, &effects)
    connect(now, &effects)
  }

  func stop(_ effects: inout [AppSessionClientEffect]) {
    switch state {
    case .idle, .ended: return
    case .connecting, .registering, .ready, .reconnecting: break
    }
    if case .standing = phase { transmit(.bye, &effects) }
    abandon(.normal, &effects)
    end(nil, &effects)
  }

  /// The session is over: what waits for a reply and what was called gets none from the gateway any more.
  func loseSession(_ effects: inout [AppSessionClientEffect]) {
    guard session != nil else { return }
    session = nil
    let failure = CallFailure(.networkLost, leg: .app)
    let numbers = pending.map(\.number)
    pending = []
    for number in numbers { effects.append(.event(.refused(number, failure))) }
    let calls = liveCalls.sorted()
    liveCalls = []
    for call in calls { effects.append(.lost(call, failure)) }
  }

  func end(_ failure: CallFailure?, _ effects: inout [AppSessionClientEffect]) {
    phase = .none
    loseSession(&effects)
    connection = nil
    enter(.ended(failure), &effects)
  }
}
