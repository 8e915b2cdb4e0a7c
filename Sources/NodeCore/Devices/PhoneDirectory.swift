import AppProtocol
import CallEngine
package import CallModel
package import SIPCore

/// Telephones that may register, and where those that have can be reached. Each registration is a device of its user.
package struct PhoneDirectory {
  package struct Row: Hashable {
    package var environment: String
    package var phone: DeskPhone
  }

  /// Sessions that stand for registrations are counted from here; those of the door are below.
  static let firstSession: UInt64 = 1 << 63
  /// Those of calls without a registration.
  static let firstStray: UInt64 = firstSession + 1 << 62

  private var rows: [String: Row] = [:]
  private var names: [DeviceDirectory.Person: [String]] = [:]
  private var bindings: [String: [PhoneBinding]] = [:]
  private var strays: [String: UInt64] = [:]

  package init() {}

  /// Telephones that are listed.
  package var count: Int { rows.count }

  /// Of all telephones, in no order.
  var all: [Row] { Array(rows.values) }

  package func row(_ name: String) -> Row? { rows[name] }

  /// Where a telephone can be reached.
  package func bindings(of name: String) -> [PhoneBinding] { bindings[name] ?? [] }

  /// Takes over the telephones of one environment. A name that another environment has is that one's.
  mutating func replace(_ phones: [DeskPhone], _ environment: String) {
    rows = rows.filter { $0.value.environment != environment }
    for phone in phones where rows[phone.name] == nil { rows[phone.name] = Row(environment: environment, phone: phone) }
    names = [:]
    for name in rows.keys.sorted() {
      guard let row = rows[name] else { continue }
      names[PhoneDirectory.person(row), default: []].append(name)
    }
    bindings = bindings.filter { rows[$0.key] != nil }
    strays = strays.filter { rows[$0.key] != nil }
  }

  static func person(_ row: Row) -> DeviceDirectory.Person {
    DeviceDirectory.Person(application: row.phone.application, user: row.phone.user)
  }

  /// - Returns: bindings that were not there before.
  mutating func register(_ name: String, _ now: [PhoneBinding]) -> [PhoneBinding] {
    guard rows[name] != nil else { return [] }
    let known = Set((bindings[name] ?? []).map(\.number))
    bindings[name] = now.isEmpty ? nil : now
    return now.filter { !known.contains($0.number) }
  }

  /// Whether a user has a telephone, registered or not.
  func knows(_ person: DeviceDirectory.Person) -> Bool { names[person] != nil }

  /// Telephones of a user that can ring.
  func devices(of person: DeviceDirectory.Person, rule: BusyRule) -> [CalledDevice] {
    (names[person] ?? []).flatMap { name in
      (bindings[name] ?? []).compactMap { device($0, rule: rule) }
    }
  }

  func device(_ binding: PhoneBinding, rule: BusyRule) -> CalledDevice? {
    guard let row = rows[binding.phone] else { return nil }
    return CalledDevice(
      session: PhoneDirectory.session(binding), identity: PhoneDirectory.identity(row), busyRule: rule,
      phone: PhoneReach(contact: binding.contact, path: binding.path))
  }

  static func identity(_ row: Row) -> AppIdentity {
    AppIdentity(
      application: row.phone.application, user: row.phone.user, device: row.phone.deviceName, capabilities: [.calling])
  }

  static func session(_ binding: PhoneBinding) -> SessionID { SessionID(firstSession + binding.number) }

  /// What stands for the telephone in a call that came this way: its registration, where it has one there.
  mutating func session(of name: String, over path: SIPPath) -> SessionID {
    let registered = bindings[name]?.last {
      $0.path.listener == path.listener && $0.path.remote == path.remote
    }
    if let registered { return PhoneDirectory.session(registered) }
    let number = strays[name] ?? UInt64(strays.count) + (strays.values.max() ?? 0) + 1
    strays[name] = number
    return SessionID(PhoneDirectory.firstStray + number)
  }
}
