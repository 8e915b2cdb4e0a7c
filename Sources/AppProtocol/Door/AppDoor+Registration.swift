import CallModel
import LandlineDigest

// First messages: registration and resumption.

extension AppDoor {
  func receive(
    _ bytes: [UInt8], on id: ConnectionID, _ now: MonotonicInstant, _ clock: Instant,
    _ effects: inout [AppDoorEffect]
  ) {
    guard let connection = connections[id] else { return }
    switch connection.phase {
    case .new: first(bytes, id, connection, now, clock, &effects)
    case .verifying(_, let number, _):
      refuse(
        id, number, CallFailure(.message, invalidValue: AppDoor.early), .policyViolation,
        "a message before the registration was answered", now, &effects)
    case .session(let session): message(bytes, of: session, on: id, now, &effects)
    }
  }

  private static let early = InvalidValue(
    kind: "message", rule: "message.early", offset: nil, problem: "came before the registration was answered",
    accepted: "further messages after registered")

  private static let notFirst = InvalidValue(
    kind: "message", rule: "message.first", offset: nil, problem: "cannot be the first",
    accepted: "register or resume first")

  /// Answers with an error and closes.
  private func refuse(
    _ id: ConnectionID, _ number: RequestNumber?, _ failure: CallFailure, _ code: CloseCode, _ reason: String,
    _ now: MonotonicInstant, _ effects: inout [AppDoorEffect]
  ) {
    effects.append(.send(id, AppMessageCoder.encode(.error(number, failure))))
    close(id, code, reason, now, &effects)
  }

  /// The failure for what is too much just now.
  static func tooMany(_ phrase: String, seconds: Int) -> CallFailure {
    CallFailure(.limit, sipStatus: 503, phrase: phrase, retryAfterSeconds: seconds, leg: .app)
  }

  static let draining = CallFailure(
    .networkUnreachable, sipStatus: 503, phrase: "Draining", retryAfterSeconds: 1, leg: .app)

  private func first(
    _ bytes: [UInt8], _ id: ConnectionID, _ connection: Connection, _ now: MonotonicInstant, _ clock: Instant,
    _ effects: inout [AppDoorEffect]
  ) {
    let message: ClientMessage
    do {
      message = try AppMessageCoder.decodeRequest(bytes)
    } catch {
      refuse(
        id, error.number, error.failure, error.closeCode ?? .policyViolation, "not understood", now, &effects)
      return
    }
    switch message {
    case .register(let number, let registration, _):
      register(number, registration, id, connection, now, &effects)
    case .resume(let number, let resumption):
      if let seconds = hosts.register(connection.hostKey, at: now) ?? hosts.message(connection.hostKey, at: now) {
        refuse(
          id, number, AppDoor.tooMany("Too Many Registrations", seconds: seconds), .tryAgainLater,
          "too many registrations", now, &effects)
        return
      }
      resume(number, resumption, id, now, clock, &effects)
    case .bye: close(id, .normal, "", now, &effects)
    case .request, .ping:
      refuse(
        id, message.number, CallFailure(.message, invalidValue: AppDoor.notFirst), .policyViolation,
        "not registered", now, &effects)
    }
  }

  private func register(
    _ number: RequestNumber, _ registration: Registration, _ id: ConnectionID, _ connection: Connection,
    _ now: MonotonicInstant, _ effects: inout [AppDoorEffect]
  ) {
    if isDraining {
      refuse(id, number, AppDoor.draining, .serviceRestart, "the gateway drains", now, &effects)
      return
    }
    if let seconds = hosts.register(connection.hostKey, at: now) ?? hosts.message(connection.hostKey, at: now) {
      refuse(
        id, number, AppDoor.tooMany("Too Many Registrations", seconds: seconds), .tryAgainLater,
        "too many registrations", now, &effects)
      return
    }
    guard verifications.count < configuration.maximumVerifications,
      sessions.count + verifications.count < configuration.maximumSessions
    else {
      refuse(
        id, number, AppDoor.tooMany("Too Many Sessions", seconds: 1), .tryAgainLater, "too many sessions", now,
        &effects)
      return
    }
    let verification = newVerificationID()
    verifications[verification] = id
    deadlines.set(.verification(verification), now.advanced(byMilliseconds: configuration.verificationMilliseconds))
    connections[id]?.phase = .verifying(verification, number, registration.profile)
    effects.append(.verify(verification, registration, host: connection.host))
  }

  func verified(
    _ id: VerificationID, _ verdict: RegistrationVerdict, _ now: MonotonicInstant, _ clock: Instant,
    _ effects: inout [AppDoorEffect]
  ) {
    // Late after its deadline, or the connection went meanwhile: nobody waits any more.
    deadlines.set(.verification(id), nil)
    guard let connection = verifications.removeValue(forKey: id),
      case .verifying(id, let number, let profile)? = connections[connection]?.phase
    else { return }
    switch verdict {
    case .refused:
      if let host = connections[connection]?.hostKey { hosts.refused(host, at: now) }
      // The same for whatever was wrong: nobody learns what exists.
      refuse(connection, number, CallFailure(.registration, leg: .app), .unauthenticated, "refused", now, &effects)
    case .sequenceTooLow(let least):
      signAgain(number, above: least, connection, now, &effects)
    case .unavailable:
      refuse(
        connection, number, CallFailure(.unavailable, retryAfterSeconds: 1, leg: .app), .tryAgainLater,
        "try again", now, &effects)
    case .accepted(let identity, let credential):
      if isDraining {
        refuse(connection, number, AppDoor.draining, .serviceRestart, "the gateway drains", now, &effects)
        return
      }
      let user = UserKey(application: identity.application, user: identity.user)
      guard sessionsOfUser[user, default: 0] < configuration.maximumSessionsPerUser else {
        refuse(
          connection, number, AppDoor.tooMany("Too Many Sessions", seconds: 30), .tryAgainLater,
          "too many sessions of the user", now, &effects)
        return
      }
      sessionsOfUser[user, default: 0] += 1
      begin(number, identity, profile, credential, connection, now, clock, &effects)
    }
  }

  /// Names the least sequence; the connection waits for another registration, a bounded number of times.
  private func signAgain(
    _ number: RequestNumber, above least: UInt64, _ id: ConnectionID, _ now: MonotonicInstant,
    _ effects: inout [AppDoorEffect]
  ) {
    let failure = CallFailure(.sequence, leg: .app, nextSequence: least)
    let count = (connections[id]?.signatures ?? 0) + 1
    guard count < configuration.maximumSignatures else {
      refuse(id, number, failure, .unauthenticated, "refused", now, &effects)
      return
    }
    connections[id]?.signatures = count
    connections[id]?.phase = .new
    deadlines.set(.connection(id), now.advanced(byMilliseconds: configuration.authenticationMilliseconds))
    effects.append(.send(id, AppMessageCoder.encode(.error(number, failure))))
  }

  private func begin(
    _ number: RequestNumber, _ identity: AppIdentity, _ profile: DeviceProfile, _ credential: DeviceCredential?,
    _ connection: ConnectionID, _ now: MonotonicInstant, _ clock: Instant, _ effects: inout [AppDoorEffect]
  ) {
    let id = newSessionID()
    let name = newSessionName()
    let token = newToken()
    let session = AppSession(
      id: id, name: name, identity: identity, connection: connection, token: Array(token.utf8))
    session.lastRequest = number.value
    sessions[id] = session
    sessionNames[name] = id
    attach(connection, id, now)
    let registered = Registered(
      session: name, token: Redacted(token), resumeSeconds: resumeSeconds, user: identity.user,
      credential: credential, version: configuration.version, features: profile.features,
      relays: renewRelays(of: session, clock))
    effects.append(.send(connection, AppMessageCoder.encode(.registered(number, registered))))
    // Behind the reply: what follows from it, a call that rings here too, comes after it.
    effects.append(.opened(id, identity, profile))
  }

  private var resumeSeconds: Int { Int(configuration.resumeMilliseconds / 1000) }

  private func attach(_ connection: ConnectionID, _ session: SessionID, _ now: MonotonicInstant) {
    connections[connection]?.phase = .session(session)
    connections[connection]?.pingedAfter = nil
    deadlines.set(.connection(connection), now.advanced(byMilliseconds: configuration.pingMilliseconds))
  }

  /// Compared with where no such session is, so that its time tells nothing.
  private static let noToken = [UInt8](repeating: UInt8(ascii: "-"), count: 32)

  private func resume(
    _ number: RequestNumber, _ resumption: Resumption, _ connection: ConnectionID, _ now: MonotonicInstant,
    _ clock: Instant, _ effects: inout [AppDoorEffect]
  ) {
    let named = sessionNames[resumption.session].flatMap { sessions[$0] }
    let given = Array(resumption.token.utf8)
    let isCurrent = ConstantTime.equal(given, named?.token ?? AppDoor.noToken)
    let isFormer = ConstantTime.equal(given, named?.formerToken ?? AppDoor.noToken)
    guard let session = named, isCurrent || (isFormer && session.formerToken != nil) else {
      refuse(
        connection, number, CallFailure(.networkLost, leg: .app), .sessionOver, "no such session", now, &effects)
      return
    }
    guard resumption.lastEvent >= session.droppedThrough else {
      // Something the app must know is gone: it is better off with a new session than with a wrong picture.
      finish(session.id, .sessionOver, "too much was missed", &effects)
      refuse(
        connection, number, CallFailure(.networkLost, leg: .app), .sessionOver, "no such session", now, &effects)
      return
    }
    let former = session.connection
    let token = newToken()
    session.formerToken = given
    session.token = Array(token.utf8)
    session.connection = connection
    deadlines.set(.session(session.id), nil)
    session.acknowledge(resumption.lastEvent)
    if let former { close(former, .takenOver, "resumed on another connection", now, &effects) }
    attach(connection, session.id, now)
    effects.append(.resumed(session.id))
    let resumed = Resumed(
      token: Redacted(token), resumeSeconds: resumeSeconds, lastRequest: session.lastRequest,
      calls: session.calls.sorted(), relays: renewRelays(of: session, clock))
    effects.append(.send(connection, AppMessageCoder.encode(.resumed(number, resumed))))
    for message in session.kept { effects.append(.send(connection, message.text)) }
    if isDraining {
      effects.append(.send(connection, AppMessageCoder.encode(.draining)))
      finishIfDrained(session.id, &effects)
    }
  }
}
