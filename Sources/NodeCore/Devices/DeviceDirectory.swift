package import AppProtocol
package import CallEngine
package import CallModel

/// The devices of users that have a session with this node, and which of them ring.
///
/// A device may have several sessions, as after a loss that was not resumed: only the newest that listens rings, older ones
/// keep the calls that they have.
package struct DeviceDirectory {
  /// A user of one application. The same id with another application is another person.
  package struct Person: Hashable, Sendable {
    package var application: String
    package var user: UserID

    package init(application: String, user: UserID) {
      self.application = application
      self.user = user
    }
  }

  private struct Member {
    let session: SessionID
    let identity: AppIdentity
    let profile: DeviceProfile
    var isListening: Bool

    var canRing: Bool {
      isListening && profile.features.contains(.incoming) && identity.capabilities.contains(.calling)
    }
  }

  private var people: [Person: [Member]] = [:]
  private var persons: [SessionID: Person] = [:]

  package init() {}

  /// Sessions that are listed.
  package var count: Int { persons.count }

  /// A session was opened.
  package mutating func add(_ session: SessionID, _ identity: AppIdentity, _ profile: DeviceProfile) {
    let person = Person(application: identity.application, user: identity.user)
    persons[session] = person
    people[person, default: []].append(
      Member(session: session, identity: identity, profile: profile, isListening: profile.isListening))
  }

  package mutating func remove(_ session: SessionID) {
    guard let person = persons.removeValue(forKey: session) else { return }
    people[person]?.removeAll { $0.session == session }
    if people[person]?.isEmpty ?? false { people[person] = nil }
  }

  package mutating func setListening(_ isListening: Bool, _ session: SessionID) {
    guard let person = persons[session], let index = people[person]?.firstIndex(where: { $0.session == session }) else {
      return
    }
    people[person]?[index].isListening = isListening
  }

  /// What a device calls itself; empty for none.
  package func name(of session: SessionID) -> String { member(session)?.profile.name ?? "" }

  /// Whether a device is told who is in its conferences.
  package func followsRooms(_ session: SessionID) -> Bool {
    member(session)?.profile.features.contains(.rooms) ?? false
  }

  /// Whether a user can be called now; `nil` where no device has a session, and the store of registrations has to say
  /// whether there ever was one.
  package func presence(of person: Person) -> UserPresence? {
    guard let members = people[person] else { return nil }
    return members.contains(where: \.canRing) ? .reachable : .unreachable
  }

  /// The device of a session, where it rings for calls of its user.
  /// - Parameter rule: the application's busy rule, where the device has none.
  package func device(_ session: SessionID, rule: BusyRule) -> CalledDevice? {
    guard let person = persons[session], let member = member(session) else { return nil }
    return devices(of: person, rule: rule).first { $0.session == member.session }
  }

  /// Whom a call is for.
  /// - Parameters:
  ///   - caller: its device does not ring, also where somebody calls the own user.
  ///   - rule: the application's busy rule, for devices that have none.
  package func calledUser(_ person: Person, by caller: AppIdentity, rule: BusyRule) -> CalledUser {
    let members = people[person] ?? []
    let isOwn = caller.application == person.application && caller.user == person.user
    let devices = devices(of: person, rule: rule).filter { !isOwn || $0.identity.device != caller.device }
    return CalledUser(
      application: person.application, user: person.user, devices: devices, sessions: members.map(\.session),
      absence: absence(of: members.filter { !isOwn || $0.identity.device != caller.device }))
  }

  /// Whom a call that came over a trunk is for.
  package func calledUser(_ person: Person, rule: BusyRule) -> CalledUser {
    let members = people[person] ?? []
    return CalledUser(
      application: person.application, user: person.user, devices: devices(of: person, rule: rule),
      sessions: members.map(\.session), absence: absence(of: members))
  }

  /// Why none of these rings.
  private func absence(of members: [Member]) -> CalledUser.Absence {
    if members.isEmpty { return .unknown }
    let canBeCalled = members.contains {
      $0.profile.features.contains(.incoming) && $0.identity.capabilities.contains(.calling)
    }
    return canBeCalled ? .unreachable : .incapable
  }

  private func devices(of person: Person, rule: BusyRule) -> [CalledDevice] {
    let members = people[person] ?? []
    var newest: [String: Int] = [:]
    for (index, member) in members.enumerated() where member.canRing { newest[member.identity.device] = index }
    return newest.values.sorted().map { index in
      let member = members[index]
      var device = CalledDevice(
        session: member.session, identity: member.identity,
        olderSessions: members.filter {
          $0.identity.device == member.identity.device && $0.session != member.session
        }.map(\.session),
        busyRule: member.profile.busyRule ?? rule)
      device.name = member.profile.name
      device.followsRooms = member.profile.features.contains(.rooms)
      return device
    }
  }

  private func member(_ session: SessionID) -> Member? {
    persons[session].flatMap { people[$0]?.first { $0.session == session } }
  }
}
