import CallModel
import MediaCore
import SDPCore
import SecureTransport
import SimulationKit
import Testing

/// An app and a carrier joined by a bridge, over two bad networks, in memory and in virtual time: real checks, real DTLS,
/// real SRTP, transcoding and reports.
final class JoinedCall {
  /// What the networks are like, and how the carrier speaks.
  struct Scene {
    var app = ImpairmentOptions()
    var trunk = ImpairmentOptions()
    var trunkCodec = AudioCodec.pcmu
    var isTrunkSecured = true
  }

  /// RTP of one phone on its way to the bridge, as the network and nobody else knows it.
  struct Passage {
    /// Protected bytes of what was sent, with its place among all that was sent.
    var sent: [[UInt8]: Int] = [:]
    /// Places that arrived whole at least once, in the order of arrival.
    var arrived: [Int] = []
    private var seen: Set<Int> = []

    mutating func send(_ bytes: [UInt8]) { sent[bytes] = sent.count }

    mutating func arrive(_ bytes: [UInt8]) {
      guard let place = sent[bytes], seen.insert(place).inserted else { return }
      arrived.append(place)
    }

    /// Packets lost between the first that arrived and the newest.
    var lost: Int {
      guard let first = arrived.first, let last = arrived.max() else { return 0 }
      return last - first + 1 - arrived.count { $0 >= first }
    }
  }

  static let appAddress = MediaAddress(ipv4: 0xC000_0207, port: 5_000)
  static let trunkAddress = MediaAddress(ipv4: 0xC633_6409, port: 6_000)
  static let trunkControl = MediaAddress(ipv4: 0xC633_6409, port: 6_001)
  static let gateway = MediaAddress(ipv4: 0xCB00_7101, port: 4_000)
  static let appPort = MediaPort(rawValue: 1)
  static let trunkPort = MediaPort(rawValue: 2)
  static let trunkControlPort = MediaPort(rawValue: 3)
  /// Steps within one microsecond; more mean that something never gets done.
  static let maximumSteps = 10_000
  static let certificates = Result { (gateway: try DTLSCertificate(), app: try DTLSCertificate()) }
  static let credentials = ICECredentials(userFragment: "gwUf", password: "gatewayPassword0123456789")

  private(set) var bridge: MediaBridge?
  private let outbox = PacketOutbox()
  private(set) var events: [MediaEvent] = []
  private(set) var now = MonotonicInstant(milliseconds: 1_000)
  /// When media was first safe on the app leg.
  private(set) var securedAt: MonotonicInstant?

  let app: JoinedApp
  let trunk: JoinedPhone
  private let trunkSending: SRTPContext?
  private let trunkReceiving: SRTPContext?

  private var appNetwork: ImpairedNetwork
  /// For checks and the handshake, which nothing but UDP's checksum protects from damage: what is damaged never arrives.
  private var setupNetwork: ImpairedNetwork
  private var trunkNetwork: ImpairedNetwork
  private var controlNetwork: ImpairedNetwork
  private(set) var fromApp = Passage()
  private(set) var fromTrunk = Passage()
  /// RTP datagrams that the bridge sent.
  private(set) var sentToApp: UInt64 = 0
  private(set) var sentToTrunk: UInt64 = 0

  init(_ scene: Scene, seed: UInt64) throws {
    let certificates = try JoinedCall.certificates.get()
    var random = SeededGenerator(seed: seed)
    appNetwork = ImpairedNetwork(forth: scene.app, back: scene.app, seed: random.next())
    var setup = scene.app
    setup.corrupt = 0
    setupNetwork = ImpairedNetwork(forth: setup, back: setup, seed: random.next())
    trunkNetwork = ImpairedNetwork(forth: scene.trunk, back: scene.trunk, seed: random.next())
    controlNetwork = ImpairedNetwork(forth: scene.trunk, back: scene.trunk, seed: random.next())
    guard let credentials = JoinedCall.credentials else { throw TransportFailure.key }
    app = try JoinedApp(
      gateway: certificates.gateway.fingerprint, certificate: certificates.app, credentials: credentials, seed: seed,
      at: now)
    let isWide = scene.trunkCodec == .opus
    trunk = try JoinedPhone(
      scene.trunkCodec, payloadType: UInt8(scene.trunkCodec.staticPayloadType?.number ?? 107), eventType: 101,
      eventClock: isWide ? 48_000 : 8_000, frequency: 1_000, seed: random.next(), at: now)
    let plans = try JoinedDescriptions(scene, trunk: trunk, certificates: certificates, credentials: credentials)
    trunkSending = try plans.trunkKeys.map { keys throws in try SRTPContext(keys.suite, keys.send, .send) }
    trunkReceiving = try plans.trunkKeys.map { keys throws in try SRTPContext(keys.suite, keys.receive, .receive) }
    let bridge = MediaBridge(MediaBridge.Identifier(rawValue: seed), workspace: MediaWorkspace(), at: now)
    self.bridge = bridge
    let appLeg = AppTransport.Configuration(
      port: JoinedCall.appPort, certificate: certificates.gateway, credentials: credentials)
    let trunkLeg = TrunkTransport.Configuration(
      port: JoinedCall.trunkPort, controlPort: JoinedCall.trunkControlPort)
    for (side, transport) in [
      (LegID.near, MediaLegConfiguration.Transport.app(appLeg)), (.far, .trunk(trunkLeg)),
    ] {
      let stream = MediaLegConfiguration.Stream(
        canonicalName: "landline", unixMicroseconds: 1_700_000_000_000_000, draw: { random.next() })
      bridge.attach(side, MediaLegConfiguration(transport, stream: stream), at: now)
    }
    bridge.handle(.plan(.near, plans.app), at: now, outbox: outbox, events: &events)
    bridge.handle(.plan(.far, plans.trunk), at: now, outbox: outbox, events: &events)
    carry()
  }

  func command(_ command: MediaCommand) {
    bridge?.handle(command, at: now, outbox: outbox, events: &events)
    carry()
  }

  /// Lets go of the bridge; what it leaves behind is seen by who still knows it.
  func release() { bridge = nil }

  // MARK: Time

  /// Runs until the instant, from one thing that is due to the next.
  func run(until end: MonotonicInstant) {
    var steps = 0
    while let next = nextDeadline, next <= end {
      steps = next > now ? 0 : steps + 1
      guard steps < JoinedCall.maximumSteps else {
        Issue.record("something is due at \(now) again and again")
        return
      }
      now = max(now, next)
      step()
    }
    now = max(now, end)
  }

  func run(milliseconds: Int64) { run(until: now.advanced(byMilliseconds: milliseconds)) }

  private var nextDeadline: MonotonicInstant? {
    [
      bridge?.nextDeadline, appNetwork.nextDeadline, setupNetwork.nextDeadline, trunkNetwork.nextDeadline,
      controlNetwork.nextDeadline,
      app.nextDeadline, trunk.nextDeadline,
    ].compactMap { $0 }.min()
  }

  private func step() {
    while let delivery = appNetwork.next(at: now) {
      if delivery.direction == .back {
        app.receive(delivery.bytes, at: now)
      } else {
        fromApp.arrive(delivery.bytes)
        deliver(delivery.bytes, .near, JoinedCall.appPort, from: JoinedCall.appAddress)
      }
    }
    while let delivery = setupNetwork.next(at: now) {
      if delivery.direction == .back {
        app.receive(delivery.bytes, at: now)
      } else {
        deliver(delivery.bytes, .near, JoinedCall.appPort, from: JoinedCall.appAddress)
      }
    }
    while let delivery = trunkNetwork.next(at: now) {
      if delivery.direction == .back {
        let packet = PacketBuffer(delivery.bytes)
        guard trunkReceiving.map({ $0.unprotectRTP(packet) == .opened }) ?? true else { continue }
        trunk.receiveRTP(packet, at: now)
      } else {
        fromTrunk.arrive(delivery.bytes)
        deliver(delivery.bytes, .far, JoinedCall.trunkPort, from: JoinedCall.trunkAddress)
      }
    }
    while let delivery = controlNetwork.next(at: now) {
      if delivery.direction == .back {
        let packet = PacketBuffer(delivery.bytes)
        guard trunkReceiving.map({ $0.unprotectRTCP(packet) == .opened }) ?? true else { continue }
        trunk.receiveRTCP(packet, at: now)
      } else {
        deliver(delivery.bytes, .far, JoinedCall.trunkControlPort, from: JoinedCall.trunkControl)
      }
    }
    bridge?.advance(to: now, outbox: outbox, events: &events)
    carry()
    app.advance(to: now) { bytes, isSound in
      if isSound { fromApp.send(bytes) }
      offer(bytes, .forth)
    }
    trunk.advance(to: now) { packet, isControl in
      if isControl {
        guard trunkSending?.protectRTCP(packet) ?? true else { return }
        controlNetwork.offer(packet.bytes, .forth, at: now)
      } else {
        guard trunkSending?.protectRTP(packet) ?? true else { return }
        fromTrunk.send(packet.bytes)
        trunkNetwork.offer(packet.bytes, .forth, at: now)
      }
    }
  }

  private func deliver(_ bytes: [UInt8], _ side: LegID, _ port: MediaPort, from address: MediaAddress) {
    bridge?.receive(
      PacketBuffer(bytes), of: side, on: port, from: address, at: now, outbox: outbox, events: &events)
    carry()
  }

  /// Puts a datagram between app and bridge on its way.
  private func offer(_ bytes: [UInt8], _ direction: ImpairedNetwork.Direction) {
    switch DatagramKind.of(PacketBuffer(bytes)) {
    case .stun, .dtls: setupNetwork.offer(bytes, direction, at: now)
    case .rtp, .rtcp, .other: appNetwork.offer(bytes, direction, at: now)
    }
  }

  /// Puts what the bridge sent on its way.
  private func carry() {
    for index in 0..<outbox.count {
      let bytes = outbox.buffer(at: index).bytes
      switch outbox.address(at: index) {
      case JoinedCall.appAddress:
        if DatagramKind.of(outbox.buffer(at: index)) == .rtp { sentToApp += 1 }
        offer(bytes, .back)
      case JoinedCall.trunkAddress:
        sentToTrunk += 1
        trunkNetwork.offer(bytes, .back, at: now)
      case JoinedCall.trunkControl: controlNetwork.offer(bytes, .back, at: now)
      default: break
      }
    }
    outbox.removeAll()
    if securedAt == nil, events.contains(where: { JoinedCall.isSecured($0) }) { securedAt = now }
  }

  private static func isSecured(_ event: MediaEvent) -> Bool {
    if case .transport(.near, .secured) = event { true } else { false }
  }

  // MARK: What was told

  func statistics(_ side: LegID) -> MediaStatistics? {
    for event in events.reversed() {
      if case .statistics(side, let statistics) = event { return statistics }
    }
    return nil
  }

  func digits(_ side: LegID) -> [Int] {
    events.compactMap { if case .digit(side, let digit) = $0 { digit.code } else { nil } }
  }
}
