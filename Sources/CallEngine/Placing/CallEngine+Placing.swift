public import AppProtocol
public import CallModel
import LedgerCore
import RoutingCore
import SDPCore
import SIPCore

// MARK: Requests for calls: checked in full before anything is asked of anybody

extension CallEngine {
  /// - Parameter called: The user that the destination stands for, with the devices that may ring.
  func place(
    _ request: PlaceCall, _ number: RequestNumber, _ session: SessionID, _ caller: AppCaller,
    to called: CalledUser? = nil
  ) {
    if let failure = overload(of: request) { return context.emit(.app(session, .refused(number, failure))) }
    do throws(CallFailure) {
      guard let environment = context.environment(of: caller.payer) else { throw CallFailure(.internal, leg: .app) }
      let destination = try destination(
        request.kind, request.target, in: environment,
        from: caller.callerNumbers.first { $0.description == request.callerNumber } ?? caller.callerNumbers.first)
      let isEmergency = CallEngine.isEmergency(destination, in: environment)
      try admit(isEmergency: isEmergency, payer: caller.payer, in: environment)
      if sessions[session]?.count ?? 0 >= context.limits.callsPerSession, !isEmergency {
        throw CallFailure(.limit, refusal: .concurrencyCap, phrase: "calls of one session", leg: .app)
      }
      guard !request.wantsVideo || request.kind == .user else {
        throw CallFailure(.capabilityRemote, phrase: "video is not carried", leg: .app)
      }
      let headers = try EngineContext.headers(request.headers, request.kind.headerNames)
      let callerNumber = try CallEngine.callerNumber(request.callerNumber, of: caller.callerNumbers)
      var terms =
        if let called {
          try terms(of: called, at: destination, from: session)
        } else if case .conference(let conference) = destination {
          terms(of: conference, in: environment, caller.identity.application)
        } else {
          try terms(of: destination, payer: caller.payer, in: environment)
        }
      let offer: SessionDescription
      do throws(InvalidSessionDescription) {
        offer = try SessionDescription(parsing: request.offer)
      } catch {
        throw CallFailure(.media, sipStatus: 400, warning: "\(error)", leg: .app)
      }
      let user = "\(caller.identity.application)/\(caller.identity.user)"
      terms.wantsVideo = request.wantsVideo
      terms.velocity = try context.admit(terms, payer: caller.payer, user: user, in: environment)
      let leg = AppLeg(
        session: session, identity: caller.identity, name: caller.name,
        watch: caller.followsRooms ? .speakers : .none,
        AppLeg.Asking(
          request: number, offer: offer,
          negotiation: OfferAnswer(
            sessionID: context.draw(), host: configuration.host, policy: appPolicy(for: terms))))
      add(
        CallMachine(
          id: context.newCallID(), from: .app(leg), to: terms, payer: caller.payer, headers: headers,
          callerNumber: callerNumber, isAnonymous: request.isAnonymous, callerName: caller.name,
          origin: environment.origin, context))
    } catch {
      context.emit(.app(session, .refused(number, error)))
    }
  }

  func originate(_ order: OriginationID, _ origination: Origination) {
    do throws(CallFailure) {
      guard let environment = context.environment(of: origination.payer) else { throw CallFailure(.internal) }
      if let room = origination.conference {
        return try call(origination.other, into: room, order, origination, environment)
      }
      if case .emergency = origination.first {
        throw CallFailure(.number, phrase: "an emergency service cannot be the first destination")
      }
      try checkEmergency(origination.second, in: environment, from: origination.callerNumber)
      try admit(
        isEmergency: CallEngine.isEmergency(origination.second, in: environment), payer: origination.payer,
        in: environment)
      var near = try terms(of: origination.first, payer: origination.payer, in: environment)
      guard near.voice == nil else {
        throw CallFailure(.number, phrase: "a test number cannot be the first destination")
      }
      var far = try terms(of: origination.second, payer: origination.payer, in: environment)
      near.velocity = try context.admit(near, payer: origination.payer, user: nil, in: environment)
      do throws(CallFailure) {
        far.velocity = try context.admit(far, payer: origination.payer, user: nil, in: environment)
      } catch {
        if let counted = near.velocity { context.velocity.correct(counted, by: .zero, isRefused: true) }
        throw error
      }
      add(
        CallMachine(
          id: context.newCallID(), from: .origination(order, near), to: far, payer: origination.payer,
          headers: origination.headers, callerNumber: origination.callerNumber, isAnonymous: false,
          origin: environment.origin, context))
    } catch {
      context.emit(.originated(order, .failure(error)))
    }
  }

  /// Calls somebody who is to take part in a conference.
  private func call(
    _ other: Destination, into conference: ConferenceID, _ order: OriginationID, _ origination: Origination,
    _ environment: EngineConfiguration.Environment
  ) throws(CallFailure) {
    var room: RoomLeg
    if let host = conference.host {
      room = try place(asGuestOf: host, in: environment)
    } else if let application = origination.application {
      room = RoomLeg(key: RoomKey(environment: environment.name, application: application, conference: conference))
    } else {
      throw CallFailure(
        .policy, phrase: "nothing says whose conference it is; POST /v1/conferences/{id}/participants does", leg: .app)
    }
    room.beginsMuted = origination.beginsMuted
    try checkEmergency(other, in: environment, from: origination.callerNumber)
    guard !CallEngine.isEmergency(other, in: environment) else {
      throw CallFailure(.number, phrase: "an emergency service cannot be called into a conference or a call", leg: .app)
    }
    try admit(isEmergency: false, payer: origination.payer, in: environment)
    var terms: CallTerms
    if let called = origination.called {
      terms = CallTerms(
        destination: other, maximumSeconds: context.limits.maximumCallSeconds, user: freed(called))
    } else {
      terms = try self.terms(of: other, payer: origination.payer, in: environment)
    }
    guard terms.voice == nil else {
      throw CallFailure(.number, phrase: "a test number cannot be called into a conference or a call", leg: .app)
    }
    terms.velocity = try context.admit(terms, payer: origination.payer, user: nil, in: environment)
    let call = CallMachine(
      id: context.newCallID(), from: .conference(order, room), to: terms, payer: origination.payer,
      headers: origination.headers, callerNumber: origination.callerNumber, isAnonymous: false,
      origin: environment.origin, context)
    call.snapshot.guestOf = conference.host
    add(call)
  }

  /// Why a call is refused at once while the node is behind; asked before anything is done for it.
  ///
  /// What may be an emergency number is looked at in full: such a call is taken whatever the load is.
  public func overload(of request: PlaceCall) -> CallFailure? {
    guard !admission.admits(preparing: preparing) else { return nil }
    let isShort = request.target.utf8.count <= CallEngine.longestEmergencyNumber
    return request.kind == .phone && isShort ? nil : overload()
  }

  private func overload() -> CallFailure {
    CallFailure(
      .congestion, sipStatus: 503, phrase: "the gateway has more to do than it can",
      retryAfterSeconds: admission.refuse(at: context.now), leg: .app)
  }

  /// Characters of the longest text that may be an emergency number.
  private static let longestEmergencyNumber = 6

  /// Whether a call is one to an emergency service, or to the number that plays one.
  static func isEmergency(
    _ destination: Destination, in environment: EngineConfiguration.Environment
  ) -> Bool {
    switch destination {
    case .emergency: true
    case .phone(let number): environment.hasSandboxNumbers && number.value == SandboxNumber.emergency.rawValue
    case .sip, .user, .conference: false
    }
  }

  /// An emergency call is refused by no cap but its own: nobody gets past the others with many of them.
  func admit(
    isEmergency: Bool, payer: Payer, in environment: EngineConfiguration.Environment
  ) throws(CallFailure) {
    if isEmergency {
      let others = calls.values.count { $0.isEmergency && $0.payer.account == payer.account }
      guard others < environment.emergencyCalls else {
        throw CallFailure(
          .limit, refusal: .concurrencyCap, phrase: "emergency calls of one account", leg: .app)
      }
    }
    guard !isDraining else { throw .noNewCalls }
    guard admission.admits(preparing: preparing) || isEmergency else { throw overload() }
    guard calls.count < context.limits.calls || isEmergency else {
      throw CallFailure(
        .limit, refusal: .concurrencyCap, sipStatus: 503, phrase: "calls of the gateway", leg: .app)
    }
  }

  /// bit/s that an app is asked to send towards telephones: the least at which libopus makes copies of lost packets and
  /// keeps the voice as good (narrow band, 20 ms).
  static let telephoneBitRate = 24_000

  /// Hz of the mixer's rooms.
  static let roomRate = 16_000

  /// Opus at the rate of the telephone network, or of the mixer, where that is where the call goes: no sample is made for
  /// nothing.
  private func appPolicy(for terms: CallTerms) -> MediaPolicy {
    var policy = configuration.appPolicy
    if terms.destination.kind == .phone {
      policy.opus.maximumPlaybackRate = 8_000
      policy.opus.maximumAverageBitRate = CallEngine.telephoneBitRate
    } else if terms.room != nil {
      policy.opus.maximumPlaybackRate = CallEngine.roomRate
      // Eight bytes more in each packet: in a call of two nobody looks at them.
      policy.answersAudioLevels = true
    }
    return policy
  }

  // MARK: Texts

  func destination(
    _ kind: Destination.Kind, _ text: String, in environment: EngineConfiguration.Environment,
    from callerNumber: E164Number?
  ) throws(CallFailure) -> Destination {
    let destination: Destination
    do throws(InvalidValue) {
      // No code is looked for in what is too long for one: sets of them are not built for every call.
      let isShort = kind == .phone && text.utf8.count <= EmergencyNumber.maximumDigits
      destination = try Destination(
        kind, text, userRules: try UserID.Rules(maximumLength: environment.usersMaximumLength),
        emergencyCodes: isShort
          ? EmergencyNumber.known.union(environment.emergencyNumbers ?? []) : EmergencyNumber.known)
    } catch {
      throw CallFailure(error.failureCode, leg: .app, invalidValue: error)
    }
    try checkEmergency(destination, in: environment, from: callerNumber)
    return destination
  }

  /// Refuses what is an emergency number elsewhere and none here, by app and by REST alike: it would be free.
  private func checkEmergency(
    _ destination: Destination, in environment: EngineConfiguration.Environment, from callerNumber: E164Number?
  ) throws(CallFailure) {
    guard case .emergency(let number) = destination else { return }
    let codes = environment.emergencyNumbers ?? EmergencyNumber.codes(ofCaller: callerNumber)
    do throws(InvalidValue) {
      _ = try EmergencyNumber(number.code, among: codes)
    } catch {
      throw CallFailure(error.failureCode, leg: .app, invalidValue: error)
    }
  }

  /// - Returns: `nil` for an application without numbers: its calls name no caller.
  private static func callerNumber(
    _ text: String?, of numbers: [E164Number]
  ) throws(CallFailure) -> E164Number? {
    guard let text else { return numbers.first }
    let number: E164Number
    do throws(InvalidValue) {
      number = try E164Number(text)
    } catch {
      throw CallFailure(.number, leg: .app, invalidValue: error)
    }
    guard numbers.contains(number) else {
      throw CallFailure(
        .policy, leg: .app,
        invalidValue: InvalidValue(
          kind: "caller number", rule: "caller.owned", offset: nil,
          problem: "\(number.masked) is not among the numbers that the application may show",
          accepted: "a number that belongs to the application, or none"))
    }
    return number
  }

  // MARK: Price and way

  func terms(
    of destination: Destination, payer: Payer, in environment: EngineConfiguration.Environment
  ) throws(CallFailure) -> CallTerms {
    let terms = try pricedTerms(of: destination, payer: payer, in: environment)
    guard payer.isInLedger || terms.isGivenAway else { throw CallFailure(CallRefusal.unknownAccount) }
    return terms
  }

  /// Free: whoever takes part pays for the own leg alone.
  func terms(
    of conference: ConferenceID, in environment: EngineConfiguration.Environment, _ application: String
  ) -> CallTerms {
    CallTerms(
      destination: .conference(conference), isGivenAway: true, maximumSeconds: context.limits.maximumCallSeconds,
      room: RoomKey(environment: environment.name, application: application, conference: conference))
  }

  /// Free unless it has a price: then the account pays as it does for a number.
  private func terms(
    of called: CalledUser, at destination: Destination, from session: SessionID
  ) throws(CallFailure) -> CallTerms {
    if let crossing = crossing(of: called, with: session) {
      throw CallFailure(.crossed, leg: .app, correlationID: crossing.text)
    }
    let called = freed(called)
    return CallTerms(
      destination: destination, rating: called.price.map { .rated($0) },
      maximumSeconds: context.limits.maximumCallSeconds, user: called)
  }

  /// The call by which the called user rings this very device: whoever calls back has only to answer.
  private func crossing(of called: CalledUser, with session: SessionID) -> CallID? {
    sessions[session]?.first { id in
      guard let call = calls[id], let caller = call.caller?.identity, !call.occupies(session) else { return false }
      return caller.user == called.user && caller.application == called.application
    }
  }

  /// The user with the devices that their busy rules let ring.
  func freed(_ called: CalledUser) -> CalledUser {
    var called = called
    let free = called.devices.compactMap { freed($0, of: called) }
    if !called.devices.isEmpty, free.isEmpty { called.absence = .busy }
    called.devices = free
    return called
  }

  /// The device as it is to ring: `nil` where its rule keeps a second call away.
  func freed(_ device: CalledDevice, of user: CalledUser) -> CalledDevice? {
    let own = [device.session] + device.olderSessions
    let isBusy = (device.busyRule == .user ? own + user.sessions : own).contains(where: isInCall)
    guard isBusy else { return device }
    guard device.busyRule == .waiting else { return nil }
    var device = device
    device.isWaiting = true
    return device
  }

  private func isInCall(_ session: SessionID) -> Bool {
    sessions[session]?.contains { calls[$0]?.occupies(session) ?? false } ?? false
  }

  private func pricedTerms(
    of destination: Destination, payer: Payer, in environment: EngineConfiguration.Environment
  ) throws(CallFailure) -> CallTerms {
    let longest = context.limits.maximumCallSeconds
    switch destination {
    case .phone(let number):
      if let test = number.testNumber {
        let seconds = PromptLeg.maximumSeconds(of: test.outcome)
        return CallTerms(
          destination: destination, rating: try free(number.digits, .test, seconds, payer),
          country: number.country, isGivenAway: true, maximumSeconds: seconds,
          voice: .number(test))
      }
      if environment.hasSandboxNumbers, let sandbox = SandboxNumber(rawValue: number.value) {
        return CallTerms(
          destination: destination, rating: try sandboxRating(sandbox, number, longest, payer),
          country: number.country, isEmergency: sandbox == .emergency,
          isGivenAway: sandbox != .insufficientCredit, maximumSeconds: longest, trunks: [CallTrunk.farEnd])
      }
      return CallTerms(
        destination: destination, rating: rating(number, payer), country: number.country,
        maximumSeconds: longest, trunks: environment.trunks)
    case .emergency(let number):
      return CallTerms(
        destination: destination, rating: try free(number.code, .emergency, longest, payer), isEmergency: true,
        isGivenAway: true, maximumSeconds: longest,
        trunks: environment.emergencyTrunks.isEmpty ? environment.trunks : environment.emergencyTrunks,
        hasOwnOrder: !environment.emergencyTrunks.isEmpty)
    case .sip(let address): return try terms(of: address, payer: payer, in: environment)
    case .user(let user):
      guard environment.hasSandboxNumbers, let test = TestUser(rawValue: user.text) else {
        throw CallFailure(.capabilityRemote, phrase: "users are called by apps alone", leg: .app)
      }
      return CallTerms(
        destination: destination, isGivenAway: true,
        maximumSeconds: PromptLeg.maximumSeconds(of: test.outcome), voice: .user(test))
    case .conference:
      throw CallFailure(.capabilityRemote, phrase: "conferences are called by apps alone", leg: .app)
    }
  }

  private func rating(_ number: E164Number, _ payer: Payer) -> CallOperation.Authorisation.Rating {
    guard let plan = payer.plan, let digits = try? NumberDigits(number.digits) else { return .refused(.noRate) }
    do throws(RatingRefusal) {
      return .rated(
        try Rating.quote(
          digits, plan: plan, account: payer.currency, denyRanges: payer.denyRanges, at: context.clock))
    } catch {
      context.log(.info, nil, "no price for \(number.masked): \(error)")
      switch error {
      case .noRate, .unpriceable: return .refused(.noRate)
      case .destinationBlocked: return .refused(.destinationBlocked)
      case .currencyMismatch: return .refused(.currencyMismatch)
      case .noProfitableRoute: return .refused(.noProfitableRoute)
      }
    }
  }

  private func free(
    _ digits: String, _ kind: FreeNumber, _ seconds: Int64, _ payer: Payer
  ) throws(CallFailure) -> CallOperation.Authorisation.Rating {
    do {
      return .rated(
        try Rating.free(try NumberDigits(digits), as: kind, account: payer.currency, limit: seconds))
    } catch {
      context.log(.error, nil, "a free number cannot be priced: \(error)")
      throw CallFailure(.internal, leg: .app)
    }
  }

  /// Free of charge, but for the one whose price no account can pay: the ledger itself refuses it.
  private func sandboxRating(
    _ sandbox: SandboxNumber, _ number: E164Number, _ seconds: Int64, _ payer: Payer
  ) throws(CallFailure) -> CallOperation.Authorisation.Rating {
    guard sandbox == .insufficientCredit else { return try free(number.digits, .test, seconds, payer) }
    do {
      let tariff = try Tariff(
        ratePerMinute: Tariff.maximumPrice, initial: Tariff.maximumIncrement, increment: Tariff.maximumIncrement,
        fee: Tariff.maximumPrice, minimumCharge: Tariff.maximumPrice)
      return .rated(
        try RateSnapshot(
          deck: "sandbox", prefix: number.digits, destination: "sandbox", currency: payer.currency, tariff: tariff))
    } catch {
      context.log(.error, nil, "the dearest price cannot be made: \(error)")
      throw CallFailure(.internal, leg: .app)
    }
  }

  // MARK: SIP addresses

  /// An address at a trunk goes over that trunk, and a number there costs what the number costs. Any other goes straight
  /// to its domain, without credentials of ours, where ``EngineConfiguration/Environment/sipHosts`` allows it.
  private func terms(
    of address: SIPAddress, payer: Payer, in environment: EngineConfiguration.Environment
  ) throws(CallFailure) -> CallTerms {
    let longest = context.limits.maximumCallSeconds
    func forbidden(_ rule: String, _ problem: String, _ accepted: String) -> CallFailure {
      CallFailure(
        .policy, refusal: .destinationBlocked, leg: .app,
        invalidValue: InvalidValue(
          kind: "SIP address", rule: rule, offset: nil, problem: problem, accepted: accepted))
    }
    if let trunk = configuration.trunks.first(where: { $0.uri.host == address.host }) {
      guard environment.trunks.contains(trunk.trunk.name) else {
        throw forbidden("sip.trunk", "the domain belongs to a trunk of another environment", "another domain")
      }
      if let number = try? E164Number(address.user.hasPrefix("+") ? address.user : "+" + address.user) {
        return CallTerms(
          destination: .phone(number), rating: rating(number, payer), country: number.country,
          maximumSeconds: longest, trunks: [trunk.trunk.name])
      }
      // Digits, or digits behind escapes, may be a number in the carrier's own writing: nobody could say what it costs.
      guard address.user.utf8.contains(where: CallEngine.isLetter), !address.user.utf8.contains(UInt8(ascii: "%")),
        !address.user.utf8.contains(UInt8(ascii: ";"))
      else {
        throw forbidden("sip.number", "the user part is no number in international form", "+ and an E.164 number")
      }
      return CallTerms(
        destination: .sip(address), rating: try rating(of: address, payer, in: environment),
        maximumSeconds: longest, trunks: [trunk.trunk.name])
    }
    guard environment.sipHosts.allows(address.host) else {
      throw forbidden("sip.hostNotAllowed", "calls to this domain are not allowed", "a domain of the configuration")
    }
    guard let trunk = try? Trunk(name: "direct", healthPolicy: .standard) else {
      throw CallFailure(.internal, leg: .app)
    }
    // The name was chosen by an app, and what it resolves to and what its peer answers by whoever owns it: neither may
    // lead into the gateway's own network.
    var media = MediaPolicy.trunk([.none, .sdes])
    media.reachesInternalHosts = environment.sipHosts.lists(address.host)
    let direct = CallTrunk(
      trunk: trunk, uri: SIPURI(scheme: .sip, user: nil, host: address.host),
      identity: CallerIdentityPolicy(domain: configuration.host, assertion: .none), media: media)
    return CallTerms(
      destination: .sip(address), rating: try rating(of: address, payer, in: environment), maximumSeconds: longest,
      direct: direct)
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    let lower = byte | 0x20
    return lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z")
  }

  /// What a minute costs that ``EngineConfiguration/Environment/sipRatePerMinute`` says.
  private func rating(
    of address: SIPAddress, _ payer: Payer, in environment: EngineConfiguration.Environment
  ) throws(CallFailure) -> CallOperation.Authorisation.Rating {
    guard let price = environment.addressRate(for: payer) else {
      context.log(.error, nil, "a SIP address cannot be priced: \(address)")
      throw CallFailure(.internal, leg: .app)
    }
    return .rated(price)
  }
}

extension CallFailure {
  /// The node drains or has stopped: 503.
  package static let noNewCalls = CallFailure(
    .congestion, sipStatus: 503, phrase: "the gateway takes no new calls", leg: .app)
}

extension Origination {
  /// The conference, where one is asked for.
  fileprivate var conference: ConferenceID? {
    if case .conference(let conference) = first { return conference }
    if case .conference(let conference) = second { return conference }
    return nil
  }

  /// Who is to take part in it; another conference cannot.
  fileprivate var other: Destination {
    if case .conference = first { return second }
    return first
  }
}
