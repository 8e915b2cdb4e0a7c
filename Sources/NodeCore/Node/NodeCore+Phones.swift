import AppProtocol
import CallEngine
import CallModel
import SIPCore

// MARK: - Desk phones: devices of users that speak SIP

extension NodeCore {
  /// Telephones of an environment from now on. Those that are gone, or have another password, are registered no longer.
  func replacePhones(_ rows: [DeskPhone], _ environment: String) {
    phones.replace(rows, environment)
    perform(
      .phones(
        phones.all.map { row in
          PhoneCredential(
            name: row.phone.name, owner: "\(row.environment)/\(row.phone.application)/\(row.phone.user)",
            keys: row.phone.keys)
        }))
  }

  /// Where a telephone can be reached has changed.
  func registered(_ name: String, _ bindings: [PhoneBinding]) {
    let before = phones.bindings(of: name)
    let fresh = phones.register(name, bindings)
    for binding in fresh {
      log(
        .info, "a desk phone registered",
        ["phone": name, "from": "\(binding.path.remote.host)", "agent": binding.userAgent])
    }
    if bindings.isEmpty, !before.isEmpty { log(.info, "a desk phone is registered no longer", ["phone": name]) }
    guard let row = phones.row(name), let application = settings.applications[row.phone.application] else { return }
    for binding in fresh {
      if let device = phones.device(binding, rule: application.busyRule) { later(.engine(.deviceListens(device))) }
    }
  }

  /// A telephone that has proved who it is calls.
  func phoneCalls(_ handle: CallHandle, _ call: IncomingCall, _ name: String) {
    guard let row = phones.row(name), let application = settings.applications[row.phone.application],
      application.environment == row.environment
    else {
      // It, or its application, was taken out of the configuration meanwhile.
      freshInvites[handle] = nil
      return perform(.reject(handle, Rejection(403)))
    }
    let caller = PhoneCaller(
      identity: PhoneDirectory.identity(row), session: phones.session(of: name, over: call.path),
      environment: row.environment, account: application.account, callerNumbers: application.callerNumbers,
      country: row.phone.country)
    later(.engine(.phoneCalls(handle, call, caller)))
  }

  /// The user with the telephones that can ring as well.
  func withPhones(_ called: CalledUser, _ rule: BusyRule) -> CalledUser {
    let person = DeviceDirectory.Person(application: called.application, user: called.user)
    guard phones.knows(person) else { return called }
    var called = called
    let telephones = phones.devices(of: person, rule: rule)
    called.devices += telephones
    called.sessions += telephones.map(\.session)
    // Whoever has a telephone is known, also while it is switched off.
    if called.absence == .unknown { called.absence = .unreachable }
    return called
  }
}
