import CallModel
import SDPCore
import SecureTransport

/// Datagrams on an app leg's port, with ICE, DTLS and SRTP behind it. The first byte chooses how far the leg has come;
/// then each record is two bytes, a kind above a length, and its bytes.
enum AppLegDoor {
  static let door = FuzzDoor("app-leg", "datagrams to an app leg", dictionary: "stun", maximumBytes: 8192) {
    (input) throws(BrokenPromise) in
    guard let first = input.first, let bench = try Bench(progress: first & 3) else { return }
    var rest = input.dropFirst()
    for _ in 0..<64 where rest.count > 2 {
      let word = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
      rest = rest.dropFirst(2)
      let bytes = rest.prefix(word & 0x3FFF).prefix(PacketBuffer.capacity)
      rest = rest.dropFirst(bytes.count)
      switch word >> 14 {
      case 0: try bench.deliver(bytes, from: here)
      case 1: try bench.deliver(bytes, from: elsewhere)
      case 2: try bench.deliverProtected(bytes)
      default: try bench.advance(milliseconds: Int64(word & 0x3FFF))
      }
    }
    try bench.advance(milliseconds: 40_000)
    try bench.end()
  }
}

/// A leg that a check has proved, or not, and its peer.
private final class Bench {
  let transport: AppTransport
  private var now = MonotonicInstant.zero
  private var events: [TransportEvent] = []
  private var sending: SRTPContext?

  /// 0: no check yet; 1: waits for the ClientHello; 2: sent its own; 3: keys are there.
  init?(progress: UInt8) throws(BrokenPromise) {
    guard let material, let plan = progress == 2 ? material.waiting : material.opening else { return nil }
    outbox.removeAll()
    peerOutbox.removeAll()
    transport = AppTransport(
      AppTransport.Configuration(port: port, certificate: material.ours, credentials: material.credentials), at: now)
    transport.apply(plan, at: now, outbox: outbox, events: &events)
    guard progress > 0 else { return }
    let writer = STUNWriter(packet, .request, transaction: STUNTransaction(high: 9, low: 9))
    writer.append(.userName, "gwUf:peer".utf8)
    writer.append(.priority, integer: UInt32(1))
    writer.append(.useCandidate, [])
    writer.appendIntegrity(STUNIntegrity(password))
    writer.appendFingerprint()
    try promise(receive(from: here) == .consumed && transport.destination == here, "the right check proves nothing")
    outbox.removeAll()
    if progress == 3 { try handshake(material) }
  }

  private func handshake(_ material: Material) throws(BrokenPromise) {
    guard
      let peer = try? DTLSAssociation(
        role: .client, certificate: material.theirs, fingerprints: [material.ours.fingerprint], suites: [.aesGCM128])
    else { return }
    peer.start(at: now, outbox: peerOutbox, on: port, to: here)
    while peerOutbox.count + outbox.count > 0 {
      for index in 0..<peerOutbox.count {
        packet.replace(with: peerOutbox.buffer(at: index).bytes)
        _ = receive(from: here)
      }
      peerOutbox.removeAll()
      for index in 0..<outbox.count {
        packet.replace(with: outbox.buffer(at: index).bytes)
        peer.receive(packet, at: now, outbox: peerOutbox, on: port, to: here)
      }
      outbox.removeAll()
    }
    guard case .established(let keys) = peer.state else { return }
    try promise(transport.isReady, "keys without media")
    sending = try? SRTPContext(keys.suite, keys.send, .send)
  }

  private func receive(from source: MediaAddress) -> ReceivedDatagram {
    transport.receive(packet, on: port, from: source, at: now, outbox: outbox, events: &events)
  }

  func deliver(_ bytes: ArraySlice<UInt8>, from source: MediaAddress) throws(BrokenPromise) {
    packet.replace(with: bytes)
    outbox.removeAll()
    let proved = source == transport.destination
    let received = receive(from: source)
    try promise(received != .rtp && received != .rtcp, "chance opened a packet")
    let sent = (0..<outbox.count).reduce(0) { $0 + outbox.buffer(at: $1).count }
    try promise(proved || sent <= bytes.count, "a stranger gets more than it sent")
  }

  /// What the peer itself might send.
  func deliverProtected(_ bytes: ArraySlice<UInt8>) throws(BrokenPromise) {
    guard let sending, bytes.count <= PacketBuffer.maximumDatagram - 64 else { return }
    packet.replace(with: bytes)
    let plain = Array(bytes)
    let kind = DatagramKind.of(packet)
    guard kind == .rtp ? sending.protectRTP(packet) : kind == .rtcp && sending.protectRTCP(packet),
      transport.isReady
    else { return }
    switch receive(from: here) {
    case .rtp, .rtcp: try promise(packet.bytes == plain, "a packet changed on its way")
    case .consumed: throw BrokenPromise(description: "media is not consumed")
    case .dropped: break
    }
  }

  func advance(milliseconds: Int64) throws(BrokenPromise) {
    now = now.advanced(byMilliseconds: milliseconds)
    outbox.removeAll()
    transport.advance(to: now, outbox: outbox, events: &events)
    if let next = transport.nextDeadline { try promise(next > now, "a deadline stayed behind") }
  }

  func end() throws(BrokenPromise) {
    try promise(!transport.isReady, "media goes on without consent")
    transport.close(at: now, outbox: outbox)
  }
}

/// Made once: certificates, and the plans of a peer that opens DTLS and of one that waits.
private final class Material: Sendable {
  let ours: DTLSCertificate
  let theirs: DTLSCertificate
  let credentials: ICECredentials
  let opening: MediaPlan?
  let waiting: MediaPlan?

  init?() {
    guard let ours = try? DTLSCertificate(), let theirs = try? DTLSCertificate(),
      let credentials = ICECredentials(userFragment: "gwUf", password: password)
    else { return nil }
    func plan(_ setup: DTLSSetup) -> MediaPlan? {
      let lines = [
        "v=0", "o=- 7 1 IN IP4 192.0.2.7", "s=-", "t=0 0", "m=audio 9 UDP/TLS/RTP/SAVPF 0", "c=IN IP4 192.0.2.7",
        "a=rtcp-mux", "a=setup:\(setup.rawValue)", "a=fingerprint:\(theirs.fingerprint)", "a=ice-ufrag:peer",
        "a=ice-pwd:peerPasswordpeerPassword",
      ]
      var policy = MediaPolicy.app
      policy.opensDTLS = true
      var exchange = OfferAnswer(sessionID: 1, host: .ipv4(0x7F00_0001), policy: policy)
      let local = LocalMedia(
        host: .ipv4(0x7F00_0001), port: 4000, fingerprint: ours.fingerprint, iceCredentials: credentials)
      let offer = try? SessionDescription(parsing: lines.map { $0 + "\r\n" }.joined())
      return offer.flatMap { try? exchange.answer($0, from: local).plan }
    }
    self.ours = ours
    self.theirs = theirs
    self.credentials = credentials
    opening = plan(.active)
    waiting = plan(.passive)
  }
}

private let material = Material()
private let password = "gwPasswordgwPasswordgw00"
private let port = MediaPort(rawValue: 5)
private let here = MediaAddress(ipv4: 0xC000_0263, port: 5000)
private let elsewhere = MediaAddress(ipv4: 0xC633_640A, port: 6000)
// The fuzzer has one thread; a megabyte of buffers for each input would be most of the work.
nonisolated(unsafe) private let outbox = PacketOutbox()
nonisolated(unsafe) private let peerOutbox = PacketOutbox()
nonisolated(unsafe) private let packet = PacketBuffer()

extension AppLegDoor {
  /// Ours and a peer's.
  static var certificates: (ours: DTLSCertificate, theirs: DTLSCertificate)? {
    material.map { ($0.ours, $0.theirs) }
  }
}
