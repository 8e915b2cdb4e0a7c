import AppProtocol
import CallEngine
import CallModel
import SDPCore

/// The media thread's side of calls: ports, bridges, and what is told of sound that comes or stays away. No packet is made:
/// sound flows while its sender sends and the way is open.
final class SimulatedMedia {
  struct Leg {
    var plan: MediaPlan?
    var isSecured = false
    var isFlowing = false
    /// When the flow last changed.
    var since: MonotonicInstant = .zero
    var isSilenceTold = false
    var isToldOfMedia = false
  }

  final class Bridge {
    let call: CallID
    let needs: MediaNeeds
    var ports: [Int] = []
    private var legs: [LegID: Leg] = [:]
    var isOpen = false
    var mutedAt: MonotonicInstant?
    var closedAt: MonotonicInstant?

    init(_ call: CallID, _ needs: MediaNeeds) {
      self.call = call
      self.needs = needs
    }

    /// Legs with a plan, in order.
    var planned: [LegID] { legs.filter { $0.value.plan != nil }.keys.sorted { $0.number < $1.number } }

    /// Whether a leg has ports of its own; the others share the one for apps.
    func isOfTrunk(_ leg: LegID) -> Bool { needs.legs[leg]?.isOwn ?? false }

    subscript(_ leg: LegID) -> Leg {
      get { legs[leg] ?? Leg() }
      set { legs[leg] = newValue }
    }
  }

  static let firstPort = 20_000
  static let host = SIPHost.ipv4(0xC000_0201)
  static let silenceMilliseconds: Int64 = 5000

  private(set) var bridges: [CallID: Bridge] = [:]
  private var freePorts: [Int]
  private(set) var takenPorts: [Int: CallID] = [:]
  private let total: Int
  /// Calls by the port of the trunk that their far leg sends to.
  private var callsByRemotePort: [Int: CallID] = [:]

  func remember(_ remotePort: Int, _ call: CallID) { callsByRemotePort[remotePort] = call }
  func call(talkingTo remotePort: Int) -> CallID? { callsByRemotePort[remotePort] }

  init(ports: Int) {
    total = ports
    freePorts = (0..<ports).map { SimulatedMedia.firstPort + 2 * $0 }
  }

  var isIdle: Bool { bridges.isEmpty && takenPorts.isEmpty && freePorts.count == total }
  var calls: [CallID] { bridges.keys.sorted() }

  /// - Returns: the bridge's ports, or `nil` when none are left; the second value names a rule that was broken.
  func prepare(_ call: CallID, _ needs: MediaNeeds, givesTwice: Bool) -> (media: PreparedMedia?, problem: String?) {
    let bridge = Bridge(call, needs)
    var problem: String?
    if needs.legs[.far]?.isOwn ?? false {
      guard let port = givesTwice ? takenPorts.keys.min() ?? freePorts.first : freePorts.first else {
        return (nil, nil)
      }
      if let owner = takenPorts[port] { problem = "port \(port) of call \(owner) is given to call \(call)" }
      freePorts.removeAll { $0 == port }
      takenPorts[port] = call
      bridge.ports = [port]
    }
    bridge.isOpen = true
    bridges[call] = bridge
    let near = LocalMedia(
      host: SimulatedMedia.host, port: 40_000,
      fingerprint: CertificateFingerprint(hash: .sha256, bytes: Array(repeating: 0xCD, count: 32)),
      iceCredentials: ICECredentials(userFragment: "gatewayu", password: "abcdefghijklmnopqrstuvwx"))
    let far = bridge.ports.first.map { port in
      LocalMedia(
        host: SimulatedMedia.host, port: port, rtcpPort: port + 1,
        keyMaterial: Array(repeating: 7, count: LocalMedia.keyMaterialLength))
    }
    var legs = [LegID.near: near]
    legs[.far] = needs.legs[.far] == .devices ? near : far
    return (PreparedMedia(legs), problem)
  }

  func close(_ call: CallID, at now: MonotonicInstant) {
    guard let bridge = bridges.removeValue(forKey: call) else { return }
    bridge.isOpen = false
    bridge.closedAt = now
    if let port = bridge[.far].plan?.remote.port, callsByRemotePort[port] == call { callsByRemotePort[port] = nil }
    for port in bridge.ports {
      takenPorts[port] = nil
      // The longest unused first, so that late packets of a former call meet nobody.
      freePorts.append(port)
    }
  }
}
