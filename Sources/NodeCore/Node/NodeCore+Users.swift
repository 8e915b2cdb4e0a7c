import AppProtocol
import CallEngine
import CallModel

// MARK: - Users: whom a call is for, and on which devices it rings

extension NodeCore {
  /// Calls that wait to hear whether their user exists.
  static let maximumLookUps = 1_000

  struct LookUp {
    let session: SessionID
    let number: RequestNumber
    let call: PlaceCall
    let caller: AppCaller
  }

  /// Whether a user can be called now; `nil` where no device has a session.
  package func presence(of person: DeviceDirectory.Person) -> UserPresence? {
    let environment = settings.applications[person.application].flatMap { self.environment($0.environment) }
    let isPlayed = environment?.hasSandboxNumbers == true && TestUser(rawValue: person.user.text) != nil
    if isPlayed || !phones.devices(of: person, rule: .device).isEmpty { return .reachable }
    return devices.presence(of: person) ?? (phones.knows(person) ? .unreachable : nil)
  }

  /// A device has begun to listen: what rings for its user rings there too.
  func listens(_ session: SessionID) {
    guard let identity = identities[session], let application = settings.applications[identity.application],
      let device = devices.device(session, rule: application.busyRule)
    else { return }
    later(.engine(.deviceListens(device)))
  }

  /// An app calls a user of its application.
  func callUser(
    _ session: SessionID, _ number: RequestNumber, _ call: PlaceCall, _ caller: AppCaller,
    _ application: NodeApplication
  ) {
    // The engine says what is wrong with a name that cannot be one, and knows the users of the sandbox.
    guard let environment = environment(application.environment),
      let rules = try? UserID.Rules(maximumLength: environment.usersMaximumLength),
      let user = try? UserID(call.target, rules: rules),
      !(environment.hasSandboxNumbers && TestUser(rawValue: user.text) != nil)
    else { return later(.engine(.request(session, number, .call(call), caller))) }
    let person = DeviceDirectory.Person(application: caller.identity.application, user: user)
    let called = withPhones(
      devices.calledUser(person, by: caller.identity, rule: application.busyRule), application.busyRule)
    guard called.devices.isEmpty, called.absence == .unknown else {
      return later(.engine(.callUser(session, number, call, caller, called)))
    }
    let isOwn = person.user == caller.identity.user
    let isAsked = lookUps[person] != nil
    guard !isOwn, lookUps.values.reduce(0, { $0 + $1.count }) < NodeCore.maximumLookUps else {
      return callAbsent(LookUp(session: session, number: number, call: call, caller: caller), person, isKnown: true)
    }
    lookUps[person, default: []].append(LookUp(session: session, number: number, call: call, caller: caller))
    if !isAsked { effects.append(.lookUpUser(person)) }
  }

  /// Whether a user exists that has no session: the calls that waited for it go on.
  func lookedUp(_ person: DeviceDirectory.Person, isKnown: Bool?) {
    for waiting in lookUps.removeValue(forKey: person) ?? [] {
      // A store that cannot be read has not said that there is no such user.
      callAbsent(waiting, person, isKnown: isKnown ?? true)
    }
  }

  private func callAbsent(_ waiting: LookUp, _ person: DeviceDirectory.Person, isKnown: Bool) {
    guard let identity = identities[waiting.session],
      let application = settings.applications[identity.application]
    else { return }
    // A device may have come meanwhile.
    var called = withPhones(
      devices.calledUser(person, by: waiting.caller.identity, rule: application.busyRule), application.busyRule)
    if called.absence == .unknown, isKnown { called.absence = .unreachable }
    later(.engine(.callUser(waiting.session, waiting.number, waiting.call, waiting.caller, called)))
  }
}
