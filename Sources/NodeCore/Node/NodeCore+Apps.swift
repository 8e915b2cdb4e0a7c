import AppProtocol
package import CallEngine
package import CallModel
import RoutingCore

// MARK: - Apps: what the door wants, and who pays for what they ask

extension NodeCore {
  func perform(_ effect: AppDoorEffect) {
    switch effect {
    case .send(let connection, let text): effects.append(.sendText(connection, text))
    case .ping(let connection): effects.append(.ping(connection))
    case .close(let connection, let code, let reason):
      effects.append(.close(connection, code: code, reason: reason))
    case .verify(let verification, let registration, let host):
      effects.append(.verify(verification, registration, host: host))
    case .opened(let session, let identity, let profile):
      identities[session] = identity
      devices.add(session, identity, profile)
      if profile.isListening { listens(session) }
      log(.info, "a session opened", ["application": identity.application, "device": identity.device])
    case .listening(let session, let isOn):
      devices.setListening(isOn, session)
      if isOn { listens(session) }
    case .request(let session, let number, let request): ask(session, number, request)
    case .absent(let session): later(.engine(.sessionAbsent(session)))
    case .resumed(let session): later(.engine(.sessionResumed(session)))
    case .ended(let session):
      identities[session] = nil
      devices.remove(session)
      trace(.sessionEnded(session))
      later(.engine(.sessionEnded(session)))
    }
  }

  func trace(_ entry: TraceEntry) { if configuration.tracesCalls { effects.append(.trace(entry)) } }

  private func refuse(_ session: SessionID, _ number: RequestNumber, _ failure: CallFailure) {
    later(.door(.event(session, .refused(number, failure))))
  }

  /// Adds who asks and who pays. Only a call needs the payer's prices: what is not known yet is read first.
  private func ask(_ session: SessionID, _ number: RequestNumber, _ request: AppRequest) {
    // Before anything is done for it: what is refused must cost next to nothing.
    if case .call(let call) = request, let failure = engine.overload(of: call) {
      return refuse(session, number, failure)
    }
    guard let identity = identities[session] else { return }
    trace(.request(session, number, request))
    guard let application = settings.applications[identity.application],
      let ledger = ledgers[application.environment], ledger.keeper.isStarted
    else {
      // The application was taken out of the configuration while the session stood.
      return refuse(session, number, CallFailure(.policy, refusal: .accountClosed, leg: .app))
    }
    if case .call = request {
      if let payer = freshPayer(application.account, application.environment, ledger) {
        place(session, number, request, identity, application, payer)
      } else {
        wait(.app(session, number, request), for: application.account, application.environment)
      }
    } else {
      // About a call that exists, whose price is frozen.
      let payer =
        ledger.payers.last(application.account)
        ?? Payer(
          environment: application.environment, account: application.account, currency: Currency.none, plan: nil)
      place(session, number, request, identity, application, payer)
    }
  }

  private func place(
    _ session: SessionID, _ number: RequestNumber, _ request: AppRequest, _ identity: AppIdentity,
    _ application: NodeApplication, _ payer: Payer
  ) {
    var caller = AppCaller(
      identity: identity, payer: payer, callerNumbers: application.callerNumbers, name: devices.name(of: session),
      followsRooms: devices.followsRooms(session))
    caller.recording = application.recording
    guard case .call(let call) = request, call.kind == .user else {
      return later(.engine(.request(session, number, request, caller)))
    }
    callUser(session, number, call, caller, application)
  }

  /// The payer, where it is known; one whose time is nearly over is read anew.
  func freshPayer(_ account: AccountName, _ environment: String, _ ledger: NodeLedger) -> Payer? {
    guard let payer = ledger.payers.fresh(account, at: time.now) else { return nil }
    if ledger.payers.renews(account, at: time.now) {
      effects.append(.readPayer(environment: environment, account))
    }
    return payer
  }

  func wait(_ asker: PayerCache.Asker, for account: AccountName, _ environment: String) {
    switch ledgers[environment]?.payers.wait(asker, for: account) {
    case .asks: effects.append(.readPayer(environment: environment, account))
    case .waits: break
    case .refused, nil: refuse(asker)
    }
  }

  private func refuse(_ asker: PayerCache.Asker) {
    let failure = CallFailure(CallRefusal.billingUnavailable)
    switch asker {
    case .app(let session, let number, _): refuse(session, number, failure)
    case .origination(let id, _): effects.append(.originated(id, .failure(failure)))
    case .arrival(let handle): later(.engine(.payerFound(handle, nil)))
    }
  }

  /// The answer to a question who pays: whoever waited for it goes on.
  func payerRead(_ result: Result<Payer?, PayerUnavailable>, of account: AccountName, _ environment: String) {
    let payer: Payer?
    switch result {
    case .success(let known):
      if known == nil {
        log(
          .warning, "an application's account is not in the ledger: only free numbers can be called",
          [
            "account": "\(account)", "environment": environment,
            "ledger": configuration.environments.first { $0.name == environment }?.ledger ?? "",
            "fix": "landline account create \(account) --currency EUR",
          ])
      }
      payer = known ?? .missing(account, environment: environment)
    case .failure(let problem):
      log(.error, "the payer's prices cannot be read", ["problem": problem.problem])
      payer = nil
    }
    // An account that is missing may be made at any time: asked again for the next call.
    let isKnown = payer?.isInLedger ?? false
    for asker in ledgers[environment]?.payers.read(isKnown ? payer : nil, of: account, at: time.now) ?? [] {
      guard let payer else {
        refuse(asker)
        continue
      }
      switch asker {
      case .app(let session, let number, let request):
        // The session may have ended meanwhile, and the application may have been given to another account.
        guard let identity = identities[session] else { continue }
        guard let application = settings.applications[identity.application] else {
          refuse(session, number, CallFailure(.policy, refusal: .accountClosed, leg: .app))
          continue
        }
        guard application.account == account, application.environment == environment else {
          wait(asker, for: application.account, application.environment)
          continue
        }
        place(session, number, request, identity, application, payer)
      case .origination(let id, let order): originate(id, order, payer)
      case .arrival(let handle): later(.engine(.payerFound(handle, payer)))
      }
    }
  }

  // MARK: Calls that REST asks for

  func originate(_ id: OriginationID, _ order: OriginateOrder) {
    guard let ledger = ledgers[order.environment], ledger.keeper.isStarted else {
      return effects.append(.originated(id, .failure(CallFailure(.policy, leg: .app))))
    }
    if let payer = freshPayer(order.account, order.environment, ledger) {
      originate(id, order, payer)
    } else {
      wait(.origination(id, order), for: order.account, order.environment)
    }
  }

  private func originate(_ id: OriginationID, _ order: OriginateOrder, _ payer: Payer) {
    var origination: Origination
    do {
      let callerNumber = try order.callerNumber.map { try E164Number($0) }
      let codes = emergencyCodes(environment: order.environment, callerNumber: callerNumber)
      let rules = try UserID.Rules(maximumLength: environment(order.environment)?.usersMaximumLength ?? 40)
      origination = Origination(
        first: try Destination(order.first.kind, order.first.target, userRules: rules, emergencyCodes: codes),
        second: try Destination(order.second.kind, order.second.target, userRules: rules, emergencyCodes: codes),
        headers: try CustomHeaders(order.headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }),
        callerNumber: callerNumber, payer: payer)
    } catch let problem as InvalidValue {
      let failure = CallFailure(problem.failureCode, leg: .app, invalidValue: problem)
      return effects.append(.originated(id, .failure(failure)))
    } catch {
      return effects.append(.originated(id, .failure(CallFailure(CallRefusal.billingUnavailable))))
    }
    if let host = order.host { origination.first = .conference(ConferenceID(guestsOf: host)) }
    origination.application = order.application
    origination.beginsMuted = order.beginsMuted
    if let application = order.application {
      for case .user(let user) in [origination.first, origination.second] {
        origination.called = calledUser(application, user)
      }
    }
    later(.engine(.originate(id, origination)))
  }

  /// Short codes that are free for whoever shows `callerNumber`.
  package func emergencyCodes(environment: String, callerNumber: E164Number?) -> Set<String> {
    self.environment(environment)?.emergencyNumbers ?? EmergencyNumber.codes(ofCaller: callerNumber)
  }

  /// What the engine knows of an environment.
  package func environment(_ name: String) -> EngineConfiguration.Environment? {
    settings.engine.environments.first { $0.name == name }
  }
}
