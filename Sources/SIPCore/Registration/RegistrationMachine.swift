package import CallModel

/// Registers one address and keeps it registered (RFC 3261 section 10.2). Transactions are somebody else's: each
/// REGISTER that it asks for comes back as one ``respond(_:to:at:)`` or ``fail(_:at:)``.
///
///     idle ──start──▶ registering ──2xx──▶ registered ──90 %──▶ registering (refresh)
///                        │   ▲ └─401, 407, 423: once more
///              temporary │   │ back-off
///                        ▼   │
///                       waiting       wrong credentials, 403, 404, 6xx ──▶ failed, for good
///
///     stop: registered or in doubt ──REGISTER, Expires 0──▶ unregistering ──▶ ended
///
/// At most one REGISTER is under way (section 10.2). A registrar that refused the credentials is never asked again:
/// most lock the account or the address of who tries too often.
package struct RegistrationMachine: Sendable {
  package enum Action: Sendable {
    case send(OutgoingRequest)
    case report(RegistrationState)
  }

  /// A REGISTER under way.
  private struct Attempt: Sendable {
    let sequence: UInt32
    let expires: UInt32
    let request: DigestRequest
    let authorization: DigestAuthorization?
    /// Times that 423 raised it.
    let intervals: Int
  }

  private enum State: Sendable {
    case idle
    case registering(Attempt)
    case registered(refreshAt: MonotonicInstant)
    case waiting(until: MonotonicInstant)
    case unregistering(Attempt)
    /// For good.
    case failed
    case ended
  }

  private let registration: OutgoingRegistration
  private let contact: NameAddress
  private let digestURI: String
  private let identifiers: IdentifierSource
  private let limits: RegistrationLimits
  private let callID: String
  private let tag: String
  private var digest: DigestClient?
  private var state = State.idle
  private var sequence: UInt32 = 0
  /// Seconds asked for; raised by 423.
  private var expires: UInt32
  /// Temporary failures in a row.
  private var failures = 0
  /// Whether the registrar may hold a binding of ours.
  private var mayBeBound = false
  private var stopsNext = false

  /// - Parameter contact: Our Contact, without `expires`.
  /// - Throws: ``InvalidValue`` where the registrar's URI cannot be written.
  package init(
    _ registration: OutgoingRegistration, contact: NameAddress, identifiers: IdentifierSource,
    limits: RegistrationLimits = .standard
  ) throws(InvalidValue) {
    self.registration = registration
    self.contact = contact
    digestURI = try registration.registrar.encoded()
    self.identifiers = identifiers
    self.limits = limits
    callID = identifiers.token()
    tag = identifiers.token()
    digest = registration.account.map { DigestClient(account: $0) }
    expires = min(max(registration.expires, 1), limits.longestExpires)
  }

  /// Whether nothing will ever happen again.
  package var isOver: Bool {
    switch state {
    case .failed, .ended: true
    case .idle, .registering, .registered, .waiting, .unregistering: false
    }
  }

  package var nextDeadline: MonotonicInstant? {
    switch state {
    case .registered(let time), .waiting(let time): time
    case .idle, .registering, .unregistering, .failed, .ended: nil
    }
  }

  /// Does nothing after the first time.
  package mutating func start() -> [Action] {
    guard case .idle = state else { return [] }
    return [.report(.registering)] + register()
  }

  package mutating func advance(to now: MonotonicInstant) -> [Action] {
    guard let deadline = nextDeadline, now >= deadline else { return [] }
    if case .registered = state { return register() }
    return [.report(.registering)] + register()
  }

  /// Removes the binding where there may be one. A REGISTER under way is waited for.
  package mutating func stop() -> [Action] {
    switch state {
    case .registering:
      stopsNext = true
      return []
    case .registered, .waiting: return unregister()
    case .unregistering, .ended: return []
    case .idle, .failed:
      state = .ended
      return [.report(.unregistered)]
    }
  }

  /// A response to the REGISTER with this CSeq number; a provisional one, or that of another, is ignored.
  package mutating func respond(
    _ response: RegistrationResponse, to sequence: UInt32, at now: MonotonicInstant
  ) -> [Action] {
    guard response.status >= 200 else { return [] }
    switch state {
    case .registering(let attempt) where attempt.sequence == sequence:
      let actions = settle(response, attempt, at: now)
      guard stopsNext, !isSending else { return actions }
      if case .failed = state {
        state = .ended
        return actions + [.report(.unregistered)]
      }
      return actions + unregister()
    case .unregistering(let attempt) where attempt.sequence == sequence:
      if response.status == 401 || response.status == 407, let next = answer(response, attempt) {
        state = .unregistering(next)
        return [.send(request(next))]
      }
      state = .ended
      return [.report(.unregistered)]
    case .idle, .registering, .registered, .waiting, .unregistering, .failed, .ended: return []
    }
  }

  /// The REGISTER with this CSeq number got no answer, or could not be sent.
  package mutating func fail(_ sequence: UInt32, at now: MonotonicInstant) -> [Action] {
    switch state {
    case .registering(let attempt) where attempt.sequence == sequence:
      // It may have arrived all the same.
      mayBeBound = true
      if stopsNext { return unregister() }
      return retry(RegistrationFailure(kind: .unreachable, status: nil, phrase: ""), after: nil, at: now)
    case .unregistering(let attempt) where attempt.sequence == sequence:
      state = .ended
      return [.report(.unregistered)]
    case .idle, .registering, .registered, .waiting, .unregistering, .failed, .ended: return []
    }
  }

  private var isSending: Bool {
    if case .registering = state { true } else { false }
  }

  private mutating func settle(
    _ response: RegistrationResponse, _ attempt: Attempt, at now: MonotonicInstant
  ) -> [Action] {
    func failure(_ kind: RegistrationFailure.Kind) -> RegistrationFailure {
      RegistrationFailure(kind: kind, status: response.status, phrase: response.phrase)
    }
    switch response.status {
    case 200...299:
      guard let granted = granted(response, asked: attempt.expires) else {
        return retry(failure(.malformed), after: nil, at: now)
      }
      mayBeBound = true
      accept(response, attempt)
      failures = 0
      state = .registered(refreshAt: now.advanced(byMilliseconds: refreshDelay(granted)))
      return [.report(.registered(expiresInSeconds: granted))]
    case 401, 407:
      let next: Attempt
      do {
        next = try answered(response, attempt)
      } catch {
        // The credentials were right, the registrar's nonces are not.
        if case .staleAgain = error.reason { return retry(failure(.temporary), after: nil, at: now) }
        return giveUp(failure(.credentials))
      }
      state = .registering(next)
      return [.send(request(next))]
    case 423:
      guard attempt.intervals < limits.intervals, let least = response.minimumExpires, least > attempt.expires,
        least <= limits.longestExpires
      else { return giveUp(failure(.malformed)) }
      expires = least
      let next = newAttempt(expires: least, intervals: attempt.intervals + 1)
      state = .registering(next)
      return [.send(request(next))]
    case 408, 429, 430, 480, 486, 491, 500, 502...504, 506...512, 514...599:
      return retry(failure(.temporary), after: response.retryAfterSeconds, at: now)
    // Redirections are not followed: nobody but the configuration says where credentials go.
    default: return giveUp(failure(.refused))
    }
  }

  // MARK: Requests

  private mutating func register() -> [Action] {
    let attempt = newAttempt(expires: expires, intervals: 0)
    state = .registering(attempt)
    return [.send(request(attempt))]
  }

  private mutating func unregister() -> [Action] {
    guard mayBeBound else {
      state = .ended
      return [.report(.unregistered)]
    }
    let attempt = newAttempt(expires: 0, intervals: 0)
    state = .unregistering(attempt)
    return [.send(request(attempt))]
  }

  /// A REGISTER with the credentials that earlier challenges left.
  private mutating func newAttempt(expires: UInt32, intervals: Int) -> Attempt {
    let request = DigestRequest(method: SIPMethod.register.rawValue, uri: digestURI)
    sequence &+= 1
    return Attempt(
      sequence: sequence, expires: expires, request: request,
      authorization: digest?.authorization(for: request, cnonce: identifiers.token()), intervals: intervals)
  }

  private mutating func answer(_ response: RegistrationResponse, _ attempt: Attempt) -> Attempt? {
    try? answered(response, attempt)
  }

  private mutating func answered(
    _ response: RegistrationResponse, _ attempt: Attempt
  ) throws(DigestRefusal) -> Attempt {
    guard var client = digest else { throw DigestRefusal(reason: .nothingToAnswer, skipped: []) }
    defer { digest = client }
    let authorization = try client.answer(
      response.challenges, to: attempt.request, previous: attempt.authorization, cnonce: identifiers.token())
    sequence &+= 1
    return Attempt(
      sequence: sequence, expires: attempt.expires, request: attempt.request, authorization: authorization,
      intervals: attempt.intervals)
  }

  private func request(_ attempt: Attempt) -> OutgoingRequest {
    var from = registration.address
    from.parameters.append(SIPParameter("tag", tag))
    var fields: [OutgoingField] = []
    if let field = try? OutgoingField("Expires", "\(attempt.expires)") { fields.append(field) }
    for field in attempt.authorization?.fields ?? [] {
      if let field = try? OutgoingField(field.scope.credentialsFieldName, field.value) { fields.append(field) }
    }
    return OutgoingRequest(
      .register, uri: registration.registrar,
      routes: registration.routes.map(RegistrationMachine.looseRoute), from: from, to: registration.address,
      callID: callID,
      cseq: attempt.sequence, contact: contact, fields: fields)
  }

  /// A proxy of the configuration speaks RFC 3261, said or not: without `lr` the next one would take it for a strict
  /// router.
  private static func looseRoute(_ uri: SIPURI) -> NameAddress {
    var uri = uri
    if uri.scheme != .tel, uri.parameters["lr"] == nil { uri.parameters.append(SIPParameter("lr")) }
    return NameAddress(uri)
  }

  // MARK: Responses

  /// Seconds that the registrar grants our Contact; `nil` where it shows neither it nor any time, or takes it away.
  private func granted(_ response: RegistrationResponse, asked: UInt32) -> UInt32? {
    // A registrar may rewrite the Contact of a client behind NAT: the only one is ours then.
    let ours =
      response.contacts.first { $0.uri.user == contact.uri.user && isSamePlace($0.uri, contact.uri) }
      ?? (response.contacts.count == 1 ? response.contacts.first : nil)
    guard ours != nil || response.expires != nil else { return nil }
    let seconds = ours?.parameters["expires"]?.value.flatMap(FieldNumber.read) ?? response.expires ?? asked
    return seconds == 0 ? nil : min(seconds, limits.longestExpires)
  }

  private func isSamePlace(_ left: SIPURI, _ right: SIPURI) -> Bool {
    left.host == right.host && (left.port ?? 5060) == (right.port ?? 5060)
  }

  private mutating func accept(_ response: RegistrationResponse, _ attempt: Attempt) {
    guard let authorization = attempt.authorization else { return }
    for field in response.information {
      guard let information = try? DigestInformation(parsing: field.value) else { continue }
      _ = digest?.accept(information, scope: field.scope, for: authorization)
    }
  }

  /// 90 % of the life or 30 s before its end, whichever comes first, but never before half of it; up to a twentieth
  /// earlier, so that the registrations of one start do not stay together.
  private func refreshDelay(_ seconds: UInt32) -> Int64 {
    let life = Int64(seconds) * 1000
    let delay = max(life / 2, min(life / 10 * 9, life - 30_000))
    return max(limits.leastRefreshMilliseconds, delay - jitter(upTo: delay / 20))
  }

  private mutating func retry(
    _ failure: RegistrationFailure, after seconds: Int?, at now: MonotonicInstant
  ) -> [Action] {
    let delay: Int64
    if let seconds {
      let bounded = min(max(seconds, limits.leastRetryAfterSeconds), limits.longestRetryAfterSeconds)
      // Never earlier than asked.
      delay = Int64(bounded) * 1000 + jitter(upTo: Int64(bounded) * 100)
    } else {
      let full = min(limits.firstRetryMilliseconds << min(failures, 16), limits.longestRetryMilliseconds)
      delay = full - jitter(upTo: full / 4)
    }
    failures += 1
    state = .waiting(until: now.advanced(byMilliseconds: delay))
    return [.report(.retrying(failure, afterMilliseconds: delay))]
  }

  private mutating func giveUp(_ failure: RegistrationFailure) -> [Action] {
    state = .failed
    return [.report(.failed(failure))]
  }

  private func jitter(upTo most: Int64) -> Int64 {
    Int64(identifiers.number() % UInt64(max(1, most + 1)))
  }
}
