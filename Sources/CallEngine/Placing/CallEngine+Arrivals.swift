import CallModel
import LedgerCore
import RoutingCore
import SIPCore

// MARK: Calls that trunks send us

extension CallEngine {
  /// A call that waits for the certificates of its signed caller, or to hear who pays for it.
  struct Arrival {
    let invite: IncomingCall
    let number: InboundNumber
    let trunk: CallTrunk
    var from: CallerIdentity
    let environment: EngineConfiguration.Environment
    /// Set while certificates are waited for.
    var examination: IdentityExamination?
  }

  /// How often a call may have been forwarded when it comes, or be forwarded from number to number of ours.
  static let maximumForwards = 5
  /// The account in the record of a call for a number that nobody has.
  static let nobody = AccountName(unchecked: "nobody")

  /// Trunk known, admission, number ours and active, caller verified where the trunk says so, caller allowed, caps: then it is
  /// asked who pays. A refusal by any of these has a record that names the rule, but for strangers and in an overload.
  func arrived(_ handle: CallHandle, _ call: IncomingCall) {
    let trunks = trunks(of: call)
    guard let first = trunks.first else {
      context.log(.warning, nil, "an INVITE came from \(call.path.remote.host), which is no trunk's address")
      return context.emit(.sip(.reject(handle, CallEngine.rejection(403, cause: 21))))
    }
    guard !isDraining, admission.admits(preparing: preparing),
      calls.count + arrivals.count + phoneArrivals.count < context.limits.calls
    else {
      let seconds = isDraining ? 5 : admission.refuse(at: context.now)
      return context.emit(.sip(.reject(handle, CallEngine.rejection(503, cause: 42, retryAfterSeconds: seconds))))
    }
    guard let (trunk, environment, number) = number(of: call, over: trunks) else {
      // A number that our own calls may show is ours, whether or not calls to it lead anywhere.
      let isOurs = InboundNumber.candidates(call, first).contains { first.identity.ownedNumbers?.contains($0) ?? false }
      let failure = CallFailure(isOurs ? .numberUnserved : .numberUnknown, sipStatus: isOurs ? 480 : 404, leg: .trunk)
      return refuse(handle, call, first, nil, failure)
    }
    let from = CallEngine.caller(of: call, over: trunk)
    let arrival = Arrival(invite: call, number: number, trunk: trunk, from: from, environment: environment)
    guard number.isActive else {
      return refuse(handle, call, trunk, arrival, CallFailure(.numberUnknown, sipStatus: 404, leg: .trunk))
    }
    if trunk.inbound.stir == .off { admit(handle, arrival) } else { examine(handle, arrival) }
  }

  private func admit(_ handle: CallHandle, _ arrival: Arrival) {
    if let failure = refusal(of: arrival) { return refuse(handle, arrival.invite, arrival.trunk, arrival, failure) }
    arrivals[handle] = arrival
    context.emit(.findPayer(handle, environment: arrival.environment.name, arrival.number.account))
  }

  /// Why a call is not taken, before it is asked who pays.
  private func refusal(of arrival: Arrival) -> CallFailure? {
    let number = arrival.number
    if arrival.from.kind == .anonymous, number.callers.refusesAnonymous {
      return CallFailure(.callerRefused, sipStatus: 433, phrase: "the number takes no anonymous calls", leg: .trunk)
    }
    if let caller = arrival.from.number, let entry = number.callers.entry(against: caller) {
      return CallFailure(.callerRefused, sipStatus: 603, phrase: "callers \(entry) are blocked", leg: .trunk)
    }
    if arrival.invite.diversions >= CallEngine.maximumForwards {
      return CallFailure(
        .forwardLoop, sipStatus: 482, phrase: "the call came after \(arrival.invite.diversions) diversions", leg: .trunk
      )
    }
    if let channels = number.channels,
      calls.values.count(where: { $0.arrived?.number?.number == number.number && !$0.isEnding }) >= channels
    {
      return CallFailure(
        .limit, refusal: .concurrencyCap, sipStatus: 486, phrase: "calls to the number: \(channels)", leg: .trunk)
    }
    return number.targets.isEmpty ? CallFailure(.numberUnserved, sipStatus: 480, leg: .trunk) : nil
  }

  /// It is known who pays, or cannot be.
  func payerFound(_ handle: CallHandle, _ payer: Payer?) {
    if let arrival = phoneArrivals.removeValue(forKey: handle) { return payerFound(handle, arrival, payer) }
    guard let arrival = arrivals[handle], arrival.examination == nil else { return }
    arrivals[handle] = nil
    guard let payer else {
      return refuse(handle, arrival.invite, arrival.trunk, arrival, CallFailure(CallRefusal.billingUnavailable))
    }
    switch context.beginIncoming(at: arrival.trunk.trunk.name) {
    case .failure(let skipped):
      let failure = CallFailure(
        .limit, refusal: .concurrencyCap, sipStatus: 503, phrase: skipped.explanation(at: context.now),
        retryAfterSeconds: 1, leg: .trunk)
      refuse(handle, arrival.invite, arrival.trunk, arrival, failure)
    // The trunk was taken out of the configuration while the payer was read.
    case nil: refuse(handle, arrival.invite, arrival.trunk, arrival, CallFailure(.noRoute, leg: .trunk))
    case .success(let ticket):
      add(handle, arrival, payer, ticket, targets(of: arrival, payer), price(of: arrival, payer), refusal: nil)
    }
  }

  private func refuse(
    _ handle: CallHandle, _ invite: IncomingCall, _ trunk: CallTrunk, _ arrival: Arrival?, _ failure: CallFailure
  ) {
    let environments = environments(of: trunk)
    guard let environment = arrival?.environment ?? environments.first else {
      return context.emit(.sip(.reject(handle, ArrivedCall.rejection(failure, nil))))
    }
    let called = InboundNumber.called(invite, trunk)
    guard let number = arrival?.number ?? called.map({ InboundNumber($0, account: CallEngine.nobody) }) else {
      context.log(.info, nil, "a call from trunk \(trunk.trunk.name) names no telephone number: 404")
      return context.emit(.sip(.reject(handle, ArrivedCall.rejection(failure, nil))))
    }
    let arrival =
      arrival
      ?? Arrival(
        invite: invite, number: number, trunk: trunk, from: CallEngine.caller(of: invite, over: trunk),
        environment: environment)
    add(
      handle, arrival, .missing(number.account, environment: environment.name), nil, [], nil, refusal: failure)
  }

  private func add(
    _ handle: CallHandle, _ arrival: Arrival, _ payer: Payer, _ ticket: TrunkState.Ticket?,
    _ targets: [ArrivedCall.Target], _ rating: CallOperation.Authorisation.Rating?, refusal: CallFailure?
  ) {
    let number = arrival.number
    let arrived = ArrivedCall(
      handle: handle, invite: arrival.invite, number: number, trunk: arrival.trunk, ticket: ticket, from: arrival.from,
      targets: targets)
    let terms = CallTerms(
      destination: .phone(number.number), rating: rating, maximumSeconds: context.limits.maximumCallSeconds)
    let call = CallMachine(
      id: context.newCallID(), from: .trunk(arrived, terms), to: terms, payer: payer,
      headers: arrival.invite.headers, callerNumber: number.number, isAnonymous: arrival.from.kind == .anonymous,
      origin: arrival.environment.origin, context)
    call.snapshot.application = number.application
    context.handles[handle] = call.id
    if arrival.trunk.inbound.allowsTransfer { context.emit(.sip(.allowTransfers(handle))) }
    add(call, refusal: refusal)
  }

  // MARK: Which trunk, which number

  /// The trunks that a call may come from, by the address that it came from. A trunk whose account its Request-URI names
  /// stands first: we have registered there.
  private func trunks(of call: IncomingCall) -> [CallTrunk] {
    let host = call.path.remote.host
    let candidates = configuration.trunks.filter { trunk in
      // The built-in far end is one port of this host: others here are no trunk's for its sake.
      if trunk.trunk.name == CallTrunk.farEnd {
        return trunk.uri.host == host && trunk.uri.port == call.path.remote.port
          || trunk.paths.contains { $0.remote == call.path.remote }
      }
      return trunk.uri.host == host || trunk.inbound.sources.contains(host)
        || trunk.uri.host.map(call.peerNames.contains) ?? false
        || trunk.proxies.contains { $0.host == host || $0.host.map(call.peerNames.contains) ?? false }
    }
    let user = call.requestURI?.user
    return candidates.filter { $0.account?.username == user && user != nil }
      + candidates.filter { $0.account?.username != user || user == nil }
  }

  /// Environments whose calls a trunk carries.
  private func environments(of trunk: CallTrunk) -> [EngineConfiguration.Environment] {
    configuration.environments.filter {
      $0.trunks.contains(trunk.trunk.name) || trunk.trunk.name == CallTrunk.farEnd && $0.hasSandboxNumbers
    }
  }

  /// The first active number of ours that a call can be for, or else the first that is not active.
  private func number(
    of call: IncomingCall, over trunks: [CallTrunk]
  ) -> (CallTrunk, EngineConfiguration.Environment, InboundNumber)? {
    var inactive: (CallTrunk, EngineConfiguration.Environment, InboundNumber)?
    for trunk in trunks {
      for number in InboundNumber.candidates(call, trunk) {
        for environment in environments(of: trunk) {
          guard let row = context.numbers[environment.name]?[number] else { continue }
          if row.isActive { return (trunk, environment, row) }
          inactive = inactive ?? (trunk, environment, row)
        }
      }
    }
    return inactive
  }

  // MARK: Who calls

  /// Who calls, as far as the trunk is believed. Privacy holds whoever asks for it (RFC 3323 section 4.2).
  static func caller(of call: IncomingCall, over trunk: CallTrunk) -> CallerIdentity {
    let trusts = trunk.inbound.trustsIdentity
    let network = trusts ? call.caller.network : nil
    let verified: CallerIdentity.Verification = network == nil ? .none : .network
    let diverted = trusts ? call.caller.redirectedFrom.map { address($0, trunk).text } : nil
    guard !call.caller.isAnonymous, let shown = network ?? call.caller.presented else {
      return CallerIdentity(kind: .anonymous, value: "", name: "", verified: verified, divertedBy: diverted)
    }
    let (kind, text) = address(shown, trunk)
    let name = CallFailure.shortened(shown.displayName ?? call.caller.presented?.displayName ?? "")
    return CallerIdentity(kind: kind, value: text, name: name, verified: verified, divertedBy: diverted)
  }

  /// An address as a number where it is one.
  private static func address(_ address: NameAddress, _ trunk: CallTrunk) -> (CallerIdentity.Kind, text: String) {
    if let number = address.uri.user.flatMap(trunk.inbound.numberFormat.number) { return (.phone, number.description) }
    let user = address.uri.user.map { $0 + "@" } ?? ""
    return (.sip, CallFailure.shortened(user + (address.uri.host?.description ?? "")))
  }

  // MARK: Signed callers

  /// Judges the Identity fields, now where these decide it, else once the certificates are there or late.
  private func examine(_ handle: CallHandle, _ arrival: Arrival) {
    let (call, trunk) = (arrival.invite, arrival.trunk)
    // The network's word counts where the trunk's does, as for what is shown.
    let caller = (trunk.inbound.trustsIdentity ? call.caller.network : nil) ?? call.from
    let numbers = IdentityExamination.Numbers(
      caller: caller?.uri.user.flatMap(trunk.inbound.numberFormat.number), called: InboundNumber.candidates(call, trunk)
    )
    let examination = IdentityExamination(call.identities, for: numbers, at: context.clock)
    let wanted = examination.wanted
    guard !wanted.isEmpty else {
      return examined(handle, arrival, examination.verdict([:], configuration.identityAuthorities, at: context.clock))
    }
    var arrival = arrival
    arrival.examination = examination
    arrivals[handle] = arrival
    context.emit(.findCertificates(handle, wanted))
  }

  /// The certificates of a signed caller are there, or will not come.
  func certificatesFound(_ handle: CallHandle, _ certificates: [WebAddress: IdentityExamination.Certificate]) {
    // The caller may have given up meanwhile.
    guard var arrival = arrivals[handle], let examination = arrival.examination else { return }
    arrivals[handle] = nil
    arrival.examination = nil
    examined(
      handle, arrival, examination.verdict(certificates, configuration.identityAuthorities, at: context.clock))
  }

  private func examined(_ handle: CallHandle, _ arrival: Arrival, _ verdict: IdentityVerdict) {
    var arrival = arrival
    arrival.from.learn(verdict)
    if arrival.trunk.inbound.stir == .enforce, let failure = CallEngine.refusal(of: verdict) {
      return refuse(handle, arrival.invite, arrival.trunk, arrival, failure)
    }
    admit(handle, arrival)
  }

  /// What a trunk hears whose callers have to be verified (RFC 8224 section 6.2.2).
  private static func refusal(of verdict: IdentityVerdict) -> CallFailure? {
    func failure(_ status: Int, _ why: String) -> CallFailure {
      CallFailure(.callerRefused, sipStatus: status, phrase: why, leg: .trunk)
    }
    switch verdict {
    case .verified: return nil
    case .absent: return failure(428, "the call has no signed caller")
    case .late: return failure(436, CallerIdentity.lateCertificate)
    case .failed(let problem): return failure(problem.status, problem.text)
    }
  }

  // MARK: Where it leads, and what it costs

  /// The targets of a number; a phone number of ours among them stands for its own targets.
  private func targets(of arrival: Arrival, _ payer: Payer) -> [ArrivedCall.Target] {
    var targets: [ArrivedCall.Target] = []
    add(arrival.number, arrival, payer, forwards: arrival.invite.diversions, to: &targets)
    return targets
  }

  private func add(
    _ number: InboundNumber, _ arrival: Arrival, _ payer: Payer, forwards: Int, to targets: inout [ArrivedCall.Target]
  ) {
    for target in number.targets {
      guard targets.count < InboundNumber.maximumTargets else { return }
      let numbers = context.numbers[arrival.environment.name]
      // Users of another application are other people; such a number is reached over the trunk.
      if case .phone(let next) = target.destination, let row = numbers?[next], row.isActive,
        row.application == arrival.number.application, row.account == arrival.number.account
      {
        guard forwards < CallEngine.maximumForwards else {
          targets.append(
            made(
              target, .refused(CallFailure(.forwardLoop, sipStatus: 482, phrase: "forwarded in a loop", leg: .trunk))))
          continue
        }
        add(row, arrival, payer, forwards: forwards + 1, to: &targets)
      } else {
        targets.append(made(target, way(to: target.destination, arrival, payer)))
      }
    }
  }

  private func made(_ target: InboundNumber.Target, _ way: ArrivedCall.Target.Way) -> ArrivedCall.Target {
    ArrivedCall.Target(
      way: way, ringMilliseconds: Int64(target.ringSeconds) * 1000, leadsOn: target.leadsOn)
  }

  private func way(to destination: Destination, _ arrival: Arrival, _ payer: Payer) -> ArrivedCall.Target.Way {
    switch destination {
    case .user(let user) where !(arrival.environment.hasSandboxNumbers && TestUser(rawValue: user.text) != nil):
      return .user(user)
    case .emergency:
      return .refused(CallFailure(.policy, phrase: "no call is forwarded to an emergency service", leg: .app))
    case .phone where arrival.invite.maximumForwards == 0, .sip where arrival.invite.maximumForwards == 0:
      return .refused(
        CallFailure(.forwardLoop, sipStatus: 483, phrase: "no server may pass the call on: Max-Forwards 0", leg: .trunk)
      )
    case .conference(let conference):
      guard let application = arrival.number.application else { return .refused(CallFailure(.numberUnserved)) }
      return .leg(terms(of: conference, in: arrival.environment, application))
    case .user, .phone, .sip:
      do throws(CallFailure) {
        return .leg(try terms(of: destination, payer: payer, in: arrival.environment))
      } catch {
        return .refused(error)
      }
    }
  }

  /// What the caller's own leg costs the number's account; `nil` where that is nothing.
  private func price(of arrival: Arrival, _ payer: Payer) -> CallOperation.Authorisation.Rating? {
    guard let plan = payer.inboundPlan, let digits = try? NumberDigits(arrival.number.number.digits) else { return nil }
    do throws(RatingRefusal) {
      return .rated(try Rating.quote(digits, plan: plan, account: payer.currency, at: context.clock))
    } catch {
      switch error {
      // What no row prices is free.
      case .noRate: return nil
      case .unpriceable: return .refused(.noRate)
      case .destinationBlocked: return .refused(.destinationBlocked)
      case .currencyMismatch: return .refused(.currencyMismatch)
      case .noProfitableRoute: return .refused(.noProfitableRoute)
      }
    }
  }

  static func rejection(_ status: Int, cause: Int, retryAfterSeconds: Int? = nil) -> Rejection {
    Rejection(
      status, reasons: [CallFailure.Reason(protocolName: "Q.850", cause: cause)], retryAfterSeconds: retryAfterSeconds)
  }
}

extension CallerIdentity {
  /// Characters of ``why``: fewer than the 255 that the apps' protocol has room for.
  private static let mostOfWhy = 240
  fileprivate static let lateCertificate = "the certificate of the signed caller did not come in time"

  /// Takes over what became of the Identity fields. A failed one is never anything else.
  fileprivate mutating func learn(_ verdict: IdentityVerdict) {
    switch verdict {
    case .absent: break
    case .verified(let identity):
      verified = Verification(rawValue: identity.attestation.rawValue)
      divertedBy = divertedBy ?? identity.divertedBy.map { "+" + $0 }
    case .failed(let failure):
      (verified, why) = (.failed, String(CallFailure.shortened(failure.text).prefix(CallerIdentity.mostOfWhy)))
    case .late: why = CallerIdentity.lateCertificate
    }
  }
}

extension InboundNumber {
  /// Numbers that a call can be for: its Request-URI, and its To where the Request-URI is our own address, as at trunks that
  /// we have registered with.
  static func candidates(_ call: IncomingCall, _ trunk: CallTrunk) -> [E164Number] {
    [call.requestURI?.user, call.target.user].compactMap { $0.flatMap(trunk.inbound.numberFormat.number) }
  }

  static func called(_ call: IncomingCall, _ trunk: CallTrunk) -> E164Number? { candidates(call, trunk).first }
}
