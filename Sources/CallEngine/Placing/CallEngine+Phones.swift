import AppProtocol
import CallModel
import LedgerCore
import RoutingCore
import SIPCore

// MARK: Calls that telephones of users ask for: as an app's, over SIP

extension CallEngine {
  /// A call that waits to hear who pays for it.
  struct PhoneArrival {
    let invite: IncomingCall
    let caller: PhoneCaller
    let destination: Destination
    let environment: EngineConfiguration.Environment
  }

  /// A telephone calls whom its Request-URI names. What stands against an app's call stands against this one, and is told with
  /// a status and a Warning.
  func phoneCalls(_ handle: CallHandle, _ call: IncomingCall, _ caller: PhoneCaller) {
    do throws(CallFailure) {
      guard let environment = configuration.environments.first(where: { $0.name == caller.environment }) else {
        throw CallFailure(.policy, refusal: .accountClosed, leg: .app)
      }
      guard let user = call.requestURI?.user, let (kind, text) = caller.dialled(user) else {
        throw CallFailure(.address, sipStatus: 404, phrase: "the Request-URI names nobody", leg: .app)
      }
      let destination = try destination(kind, text, in: environment, from: caller.callerNumbers.first)
      let isEmergency = CallEngine.isEmergency(destination, in: environment)
      guard !isDraining else { throw .noNewCalls }
      guard admission.admits(preparing: preparing) || isEmergency else {
        throw CallFailure(
          .congestion, sipStatus: 503, phrase: "the gateway has more to do than it can",
          retryAfterSeconds: admission.refuse(at: context.now), leg: .app)
      }
      let waiting = phoneArrivals.values.count { $0.caller.session == caller.session }
      if (sessions[caller.session]?.count ?? 0) + waiting >= context.limits.callsPerSession, !isEmergency {
        throw CallFailure(.limit, refusal: .concurrencyCap, sipStatus: 486, phrase: "calls of one telephone", leg: .app)
      }
      phoneArrivals[handle] = PhoneArrival(
        invite: call, caller: caller, destination: destination, environment: environment)
      context.emit(.findPayer(handle, environment: environment.name, caller.account))
    } catch {
      refuse(handle, caller, error)
    }
  }

  private func refuse(_ handle: CallHandle, _ caller: PhoneCaller, _ failure: CallFailure) {
    context.log(.info, nil, "a call of \(caller.identity.device) is refused: \(failure)")
    context.emit(.sip(.reject(handle, ArrivedCall.rejection(ofPhone: failure))))
  }

  /// It is known who pays, or cannot be.
  func payerFound(_ handle: CallHandle, _ arrival: PhoneArrival, _ payer: Payer?) {
    let caller = arrival.caller
    do throws(CallFailure) {
      guard let payer else { throw CallFailure(CallRefusal.billingUnavailable) }
      try admit(
        isEmergency: CallEngine.isEmergency(arrival.destination, in: arrival.environment), payer: payer,
        in: arrival.environment)
      let way: ArrivedCall.Target.Way
      var ringMilliseconds = CallEngine.phoneRingMilliseconds
      if case .user(let user) = arrival.destination,
        !(arrival.environment.hasSandboxNumbers && TestUser(rawValue: user.text) != nil)
      {
        way = .user(user)
        ringMilliseconds = context.limits.ringMilliseconds
      } else {
        way = .leg(try terms(of: arrival.destination, payer: payer, in: arrival.environment))
      }
      let isAnonymous = arrival.invite.caller.isAnonymous
      let from =
        isAnonymous
        ? CallerIdentity(kind: .anonymous, value: "", name: "")
        : CallerIdentity(
          kind: .user, value: caller.identity.user.text,
          name: CallFailure.shortened(arrival.invite.caller.presented?.displayName ?? ""))
      let arrived = ArrivedCall(
        handle: handle, invite: arrival.invite, number: nil, phone: caller,
        trunk: CallTrunk(
          telephone: caller.identity.device,
          uri: SIPURI(scheme: .sip, user: nil, host: arrival.invite.path.remote.host),
          path: arrival.invite.path, host: configuration.host),
        from: from, targets: [ArrivedCall.Target(way: way, ringMilliseconds: ringMilliseconds, leadsOn: [])])
      let terms = CallTerms(destination: arrival.destination, maximumSeconds: context.limits.maximumCallSeconds)
      add(
        CallMachine(
          id: context.newCallID(), from: .trunk(arrived, terms), to: terms, payer: payer,
          headers: arrival.invite.headers, callerNumber: caller.callerNumbers.first, isAnonymous: isAnonymous,
          callerName: from.name, origin: arrival.environment.origin, context),
        handle)
    } catch {
      refuse(handle, caller, error)
    }
  }

  private func add(_ call: CallMachine, _ handle: CallHandle) {
    context.handles[handle] = call.id
    add(call)
  }

  /// How long a number may ring that a telephone calls.
  private static let phoneRingMilliseconds: Int64 = 180_000
}

extension ArrivedCall {
  /// The response to a telephone's INVITE whose call comes to nothing: what was heard of it, or what says it best.
  static func rejection(ofPhone failure: CallFailure?) -> Rejection {
    let status =
      switch failure?.code {
      case nil: 480
      case .funds, .rate, .currency, .billing: failure?.refusal == .billingUnavailable ? 503 : 402
      case .userUnknown: 404
      case .userBusy: 486
      case .userDeclined: 603
      case .userNoAnswer, .userUnreachable, .noAnswer: 480
      case .policy, .account: 403
      default: failure?.sipStatus.flatMap { (400...699).contains($0) ? $0 : nil } ?? 480
      }
    var rejection = Rejection(
      status, reasons: failure?.reasons ?? [], retryAfterSeconds: status == 503 ? failure?.retryAfterSeconds ?? 1 : nil)
    rejection.warning = failure.map { failure in
      CallFailure.shortened(failure.invalidValue?.problem ?? failure.phrase ?? failure.code.rawValue)
    }
    return rejection
  }
}
