import AppProtocol
import CallEngine
import CallModel
import RoutingCore
import SIPCore

// MARK: - Numbers: calls that trunks send us

extension NodeCore {
  /// INVITEs that are kept until their calls exist, for the traces of these.
  static let maximumFreshInvites = 1_000

  /// An INVITE that begins a call.
  struct FreshInvite {
    let bytes: [UInt8]
    let path: SIPPath
  }

  /// Names of peers by the addresses that they were found at.
  struct PeerNames {
    /// Most addresses that are remembered.
    static let maximumAddresses = 4_096
    private var asked: [LocationID: SIPHost] = [:]
    private var names: [SIPHost: Set<SIPHost>] = [:]

    mutating func ask(_ location: LocationID, _ host: SIPHost?) {
      if case .name? = host { asked[location] = host }
    }

    mutating func found(_ location: LocationID, _ paths: [SIPPath]) {
      guard let name = asked.removeValue(forKey: location) else { return }
      for path in paths where names[path.remote.host] != nil || names.count < PeerNames.maximumAddresses {
        names[path.remote.host, default: []].insert(name)
      }
    }

    func names(at address: SIPHost) -> [SIPHost] { Array(names[address] ?? []) }
  }

  /// A call came in: the engine decides by the number that it is for.
  func arrived(_ handle: CallHandle, _ call: IncomingCall) {
    var call = call
    call.peerNames = peerNames.names(at: call.path.remote.host)
    later(.engine(.sip(.incoming(handle, call))))
  }

  /// The call of an INVITE exists: what was seen of it goes into its trace.
  func began(_ call: CallSnapshot, _ handle: CallHandle, sipCallID: String) {
    trace(.began(call))
    let trunk = settings.engine.trunks.first { $0.trunk.name == call.trunk }
    trace(.dialog(sipCallID: sipCallID, call: call.id, leg: .near, trunk: trunk, name: call.trunk ?? ""))
    if let invite = freshInvites.removeValue(forKey: handle) {
      trace(.message(invite.bytes, sipCallID: sipCallID, isSent: false, invite.path))
    }
  }

  /// Who pays for a call that a trunk sent us.
  func findPayer(_ handle: CallHandle, _ environment: String, _ account: AccountName) {
    guard let ledger = ledgers[environment], ledger.keeper.isStarted else {
      return later(.engine(.payerFound(handle, nil)))
    }
    if let payer = freshPayer(account, environment, ledger) {
      later(.engine(.payerFound(handle, payer)))
    } else {
      wait(.arrival(handle), for: account, environment)
    }
  }

  /// The devices of a user that a number leads to. Whoever has none now counts as not reachable: a carrier hears the same of
  /// a user that was never there, and no call waits for a store.
  func findUser(_ call: CallID, _ application: String, _ user: UserID) {
    later(.engine(.userFound(call, calledUser(application, user))))
  }

  /// A user whom no app calls: one that never registered counts as one that is away.
  func calledUser(_ application: String, _ user: UserID) -> CalledUser {
    let person = DeviceDirectory.Person(application: application, user: user)
    let rule = settings.applications[application]?.busyRule ?? .device
    var called = withPhones(devices.calledUser(person, rule: rule), rule)
    if called.absence == .unknown { called.absence = .unreachable }
    return called
  }
}
