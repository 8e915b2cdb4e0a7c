import CallModel
import SDPCore
import SecureTransport
import Synchronization
import Testing

/// An app's own transport and a gateway's, or another app's, joined by a network in memory with a clock of its own,
/// which loses and reorders by chance.
final class ClientNetwork {
  enum Peer {
    case gateway(AppTransport)
    case client(ClientTransport)
  }

  static let gatewayPort = MediaPort(rawValue: 5)
  static let gatewayAddress = MediaAddress(ipv4: 0x7F00_0001, port: 4_000)
  static let first = ClientTransport.Local(
    port: MediaPort(rawValue: 21), address: MediaAddress(ipv4: 0x0A00_0001, port: 6_000))
  static let second = ClientTransport.Local(
    port: MediaPort(rawValue: 22), address: MediaAddress(ipv4: 0x0A00_0002, port: 6_001))

  static let relay = ClientTransport.Local(
    port: MediaPort(rawValue: 23), address: MediaAddress(ipv4: 0x0A00_0003, port: 6_002), preference: 0, isRelayed: true
  )

  private struct Flying {
    let due: MonotonicInstant
    let order: Int
    let toClient: Bool
    let port: MediaPort
    let source: MediaAddress
    let bytes: [UInt8]
  }

  let client: ClientTransport
  let peer: Peer
  var now = MonotonicInstant(milliseconds: 1_000)
  var clientEvents: [TransportEvent] = []
  var peerEvents: [TransportEvent] = []
  /// RTP that was opened, by its sequence number.
  var clientHeard: [UInt16] = []
  var peerHeard: [UInt16] = []
  /// Percent.
  var lost = 0
  /// Milliseconds by which a datagram may be later than another, at most.
  var uneven: Int64 = 0
  /// Addresses of ours that lead nowhere any more.
  var dead: Set<MediaAddress> = []
  /// What the peer sees in place of an address of ours.
  var translated: [MediaAddress: MediaAddress] = [:]
  /// Nothing arrives there.
  var clientIsCut = false
  var peerIsCut = false
  /// When a check of ours last reached the peer from the address that it sees now.
  var lastCheck: MonotonicInstant?
  /// What the peer took last from the app, by kind, as it was on the way.
  private(set) var recorded: [DatagramKind: [UInt8]] = [:]
  private(set) var datagrams = 0

  private(set) var locals = [ClientNetwork.first]
  private var clientLocal: LocalMedia
  private var peerLocal: LocalMedia
  private var clientEnd: OfferAnswer
  private var peerEnd: OfferAnswer
  private var flying: [Flying] = []
  private var order = 0
  private var chance: DTLSChance
  private let outbox = PacketOutbox()
  private let packet = PacketBuffer()

  /// `shown`: the fingerprint in the peer's description, if not its certificate's.
  init(seed: UInt64 = 1, isFull: Bool = false, shown: CertificateFingerprint? = nil) throws {
    chance = DTLSChance(seed: seed)
    let draws = Mutex(DTLSChance(seed: seed &+ 1_000))
    let draw: @Sendable () -> UInt64 = { draws.withLock { $0.next() } }
    let ours = try DTLSFixture.peerCertificate.get()
    let theirs = try DTLSFixture.certificate.get()
    client = ClientTransport(
      .init(locals: locals, certificate: ours, credentials: try Self.credentials("a"), draw: draw), at: now)
    let peerLocals = [ClientTransport.Local(port: Self.gatewayPort, address: Self.gatewayAddress)]
    peer =
      isFull
      ? .client(
        ClientTransport(
          .init(locals: peerLocals, certificate: theirs, credentials: try Self.credentials("g"), draw: draw), at: now))
      : .gateway(
        AppTransport(
          .init(port: Self.gatewayPort, certificate: theirs, credentials: try Self.credentials("g")), at: now))
    clientLocal = LocalMedia(
      host: .ipv4(0x0A00_0001), port: 6_000, fingerprint: ours.fingerprint, iceCredentials: try Self.credentials("a"),
      candidates: [Self.first.candidate])
    peerLocal = LocalMedia(
      host: .ipv4(0x7F00_0001), port: 4_000, fingerprint: shown ?? theirs.fingerprint,
      iceCredentials: try Self.credentials("g"), candidates: peerLocals.map(\.candidate))
    clientEnd = OfferAnswer(sessionID: 1, host: .ipv4(0x0A00_0001), policy: .client)
    peerEnd = OfferAnswer(sessionID: 2, host: .ipv4(0x7F00_0001), policy: isFull ? .client : .app)
  }

  static func credentials(_ name: String) throws -> ICECredentials {
    try #require(ICECredentials(userFragment: "uf" + name + "xx", password: "password" + name + "passwordpassword"))
  }

  /// The app offers, the peer answers; the plans come into force.
  func negotiate() throws {
    let offer = try clientEnd.offer(from: clientLocal).text
    let (answer, plan) = try peerEnd.answer(SessionDescription(parsing: Array(offer.utf8)), from: peerLocal)
    switch peer {
    case .gateway(let transport): transport.apply(plan, at: now, outbox: outbox, events: &peerEvents)
    case .client(let transport): transport.apply(plan, at: now, outbox: outbox, events: &peerEvents)
    }
    carry(toClient: true)
    let agreed = try clientEnd.accept(SessionDescription(parsing: Array(answer.text.utf8)))
    client.apply(agreed, at: now, outbox: outbox, events: &clientEvents)
    carry(toClient: false)
  }

  /// The app has another address.
  func add(_ local: ClientTransport.Local) {
    locals.append(local)
    client.add(local, at: now, outbox: outbox, events: &clientEvents)
    carry(toClient: false)
  }

  /// The app starts ICE anew at another address of its own; the peer answers with new credentials.
  func restart(at local: ClientTransport.Local, _ name: String = "b") throws {
    let (ours, theirs) = (try Self.credentials(name), try Self.credentials("h" + name))
    locals.append(local)
    client.restart(ours, locals: [local])
    clientLocal.iceCredentials = ours
    clientLocal.candidates = [local.candidate]
    peerLocal.iceCredentials = theirs
    switch peer {
    case .gateway(let transport): transport.restart(theirs)
    case .client(let transport): transport.restart(theirs)
    }
    try negotiate()
  }

  /// Where the peer's sound goes.
  var peerDestination: MediaAddress? {
    switch peer {
    case .gateway(let transport): transport.destination
    case .client(let transport): transport.destination
    }
  }

  var peerIsReady: Bool {
    switch peer {
    case .gateway(let transport): transport.isReady
    case .client(let transport): transport.isReady
    }
  }

  var isJoined: Bool { client.isReady && peerIsReady }

  /// RTP with this number from one end to the other.
  func sendMedia(_ sequence: UInt16, fromClient: Bool) {
    let out = outbox.next
    let plain = SRTPFixtures.rtp(sequence: sequence)
    out.copy(plain, from: 0, count: plain.count, to: 0)
    out.count = plain.count
    if fromClient {
      guard client.protectRTP(out), let destination = client.destination else { return }
      outbox.commit(on: client.port, to: destination)
    } else {
      switch peer {
      case .gateway(let transport):
        guard transport.protectRTP(out), let destination = transport.destination else { return }
        outbox.commit(on: transport.port, to: destination)
      case .client(let transport):
        guard transport.protectRTP(out), let destination = transport.destination else { return }
        outbox.commit(on: transport.port, to: destination)
      }
    }
    carry(toClient: !fromClient)
  }

  /// Puts a datagram before the app.
  @discardableResult
  func inject(_ bytes: [UInt8], from source: MediaAddress, on port: MediaPort) -> ReceivedDatagram {
    packet.replace(with: bytes)
    let received = client.receive(packet, on: port, from: source, at: now, outbox: outbox, events: &clientEvents)
    if received == .rtp { clientHeard.append(packet.integer(at: 2, as: UInt16.self)) }
    carry(toClient: false)
    return received
  }

  /// Puts a datagram before the peer.
  @discardableResult
  func injectIntoPeer(_ bytes: [UInt8], from source: MediaAddress) -> ReceivedDatagram {
    packet.replace(with: bytes)
    let received =
      switch peer {
      case .gateway(let transport):
        transport.receive(
          packet, on: Self.gatewayPort, from: source, at: now, outbox: outbox, events: &peerEvents)
      case .client(let transport):
        transport.receive(
          packet, on: Self.gatewayPort, from: source, at: now, outbox: outbox, events: &peerEvents)
      }
    if received == .rtp { peerHeard.append(packet.integer(at: 2, as: UInt16.self)) }
    carry(toClient: true)
    return received
  }

  func run(for milliseconds: Int64, while goesOn: () -> Bool = { true }) {
    let limit = now.advanced(byMilliseconds: milliseconds)
    while goesOn() {
      guard step(before: limit) else {
        now = limit
        return
      }
    }
  }

  private var peerDeadline: MonotonicInstant? {
    switch peer {
    case .gateway(let transport): transport.nextDeadline
    case .client(let transport): transport.nextDeadline
    }
  }

  private func step(before limit: MonotonicInstant) -> Bool {
    let arrival = flying.indices.min { (flying[$0].due, flying[$0].order) < (flying[$1].due, flying[$1].order) }
    let times = [arrival.map { flying[$0].due }, client.nextDeadline, peerDeadline].compactMap { $0 }
    guard let next = times.min(), next <= limit else { return false }
    now = max(now, next)
    if let arrival, flying[arrival].due <= next {
      deliver(flying.remove(at: arrival))
    } else if let due = client.nextDeadline, due <= now {
      client.advance(to: now, outbox: outbox, events: &clientEvents)
      carry(toClient: false)
    } else {
      switch peer {
      case .gateway(let transport): transport.advance(to: now, outbox: outbox, events: &peerEvents)
      case .client(let transport): transport.advance(to: now, outbox: outbox, events: &peerEvents)
      }
      carry(toClient: true)
    }
    return true
  }

  private func deliver(_ one: Flying) {
    if one.toClient {
      inject(one.bytes, from: one.source, on: one.port)
      return
    }
    let kind = DatagramKind.of(PacketBuffer(one.bytes))
    recorded[kind] = one.bytes
    if kind == .stun, one.source == visible { lastCheck = now }
    injectIntoPeer(one.bytes, from: one.source)
  }

  /// The address that the peer sees of the newest of ours.
  private var visible: MediaAddress? { locals.last.map { translated[$0.address] ?? $0.address } }

  private func carry(toClient: Bool) {
    defer { outbox.removeAll() }
    for index in 0..<outbox.count {
      datagrams += 1
      let (port, address) = (outbox.port(at: index), outbox.address(at: index))
      let local =
        toClient
        ? locals.last { (translated[$0.address] ?? $0.address) == address } : locals.last { $0.port == port }
      guard let local, !dead.contains(local.address), toClient || address == Self.gatewayAddress,
        toClient ? !clientIsCut : !peerIsCut, !chance.happens(percent: lost)
      else { continue }
      let delay = 20 + (uneven > 0 ? Int64.random(in: 0...uneven, using: &chance) : 0)
      order += 1
      flying.append(
        Flying(
          due: now.advanced(byMilliseconds: delay), order: order, toClient: toClient,
          port: toClient ? local.port : Self.gatewayPort,
          source: toClient ? Self.gatewayAddress : translated[local.address] ?? local.address,
          bytes: outbox.buffer(at: index).bytes))
    }
  }
}
