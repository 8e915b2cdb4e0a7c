import CallModel
import SDPCore
import SecureTransport

/// An app leg with a peer: its checks, its DTLS and its SRTP, joined in memory.
final class AppLeg {
  static let port = MediaPort(rawValue: 5)
  static let gateway = MediaAddress(ipv4: 0x7F00_0001, port: 4000)

  let transport: AppTransport
  let outbox = PacketOutbox()
  var events: [TransportEvent] = []
  var now = MonotonicInstant(milliseconds: 1000)

  var checks: CheckingPeer
  var peer: DTLSAssociation
  let peerOutbox = PacketOutbox()
  var peerAddress = CheckingPeer.here
  private(set) var peerSending: SRTPContext?
  private(set) var peerReceiving: SRTPContext?
  /// STUN answers of the transport.
  var answers: [[UInt8]] = []
  /// What the transport sent that is neither STUN nor DTLS.
  var media: [[UInt8]] = []

  /// `setup`: the peer's role in DTLS. `shown`: the fingerprint in its description, if not that of its certificate.
  init(setup: DTLSSetup = .active, shown: CertificateFingerprint? = nil, applies: Bool = true) throws {
    let certificate = try DTLSFixture.certificate.get()
    transport = AppTransport(
      AppTransport.Configuration(
        port: AppLeg.port, certificate: certificate, credentials: try CheckingPeer.credentials()), at: now)
    checks = CheckingPeer(credentials: try CheckingPeer.credentials())
    peer = try DTLSFixture.association(
      setup == .active ? .client : .server, certificate: DTLSFixture.peerCertificate.get(),
      fingerprints: [certificate.fingerprint])
    let fingerprint = try shown ?? DTLSFixture.peerCertificate.get().fingerprint
    if applies { apply(try AppLeg.plan(fingerprint, setup: setup)) }
  }

  /// What an offer with this fingerprint, answered by us, leads to.
  static func plan(
    _ fingerprint: CertificateFingerprint, setup: DTLSSetup = .active, userFragment: String = "peer"
  ) throws -> MediaPlan {
    let lines = [
      "v=0", "o=- 7 1 IN IP4 192.0.2.7", "s=-", "t=0 0", "m=audio 9 UDP/TLS/RTP/SAVPF 0", "c=IN IP4 192.0.2.7",
      "a=rtcp-mux", "a=setup:\(setup.rawValue)", "a=fingerprint:\(fingerprint)", "a=ice-ufrag:\(userFragment)",
      "a=ice-pwd:peerPasswordpeerPassword", "a=mid:0",
    ]
    var policy = MediaPolicy.app
    policy.opensDTLS = true
    var exchange = OfferAnswer(sessionID: 1, host: .ipv4(0x7F00_0001), policy: policy)
    let local = LocalMedia(
      host: .ipv4(0x7F00_0001), port: 4000, fingerprint: try DTLSFixture.certificate.get().fingerprint,
      iceCredentials: try CheckingPeer.credentials())
    return try exchange.answer(
      SessionDescription(parsing: lines.map { $0 + "\r\n" }.joined()), from: local
    ).plan
  }

  func apply(_ plan: MediaPlan) {
    transport.apply(plan, at: now, outbox: outbox, events: &events)
    carry()
  }

  /// One datagram to the transport, its answers carried on.
  @discardableResult
  func deliver(_ packet: PacketBuffer, from source: MediaAddress? = nil) -> ReceivedDatagram {
    let received = transport.receive(
      packet, on: AppLeg.port, from: source ?? peerAddress, at: now, outbox: outbox, events: &events)
    carry()
    return received
  }

  @discardableResult
  func check(nominates: Bool, from source: MediaAddress? = nil) -> ReceivedDatagram {
    checks.nominates = nominates
    return deliver(checks.check(), from: source)
  }

  /// Checks, handshake, nomination.
  func connect() {
    check(nominates: true)
    startPeer()
  }

  func startPeer() {
    peer.start(at: now, outbox: peerOutbox, on: AppLeg.port, to: AppLeg.gateway)
    carry()
  }

  func advance(milliseconds: Int64) {
    now = now.advanced(byMilliseconds: milliseconds)
    transport.advance(to: now, outbox: outbox, events: &events)
    peer.advance(to: now, outbox: peerOutbox, on: AppLeg.port, to: AppLeg.gateway)
    carry()
  }

  /// Takes what lies in both outboxes to the other side, until nothing lies there.
  func carry() {
    while outbox.count + peerOutbox.count > 0 {
      let ours = AppLeg.taken(outbox)
      let theirs = AppLeg.taken(peerOutbox)
      for datagram in ours {
        let packet = PacketBuffer(datagram)
        switch DatagramKind.of(packet) {
        case .stun: answers.append(datagram)
        case .dtls: peer.receive(packet, at: now, outbox: peerOutbox, on: AppLeg.port, to: AppLeg.gateway)
        default: media.append(datagram)
        }
      }
      for datagram in theirs {
        _ = transport.receive(
          PacketBuffer(datagram), on: AppLeg.port, from: peerAddress, at: now, outbox: outbox, events: &events)
      }
    }
    guard peerSending == nil, let keys = peer.keys else { return }
    peerSending = try? SRTPContext(keys.suite, keys.send, .send)
    peerReceiving = try? SRTPContext(keys.suite, keys.receive, .receive)
  }

  /// A fresh peer with nothing but its address.
  func replacePeer(_ association: DTLSAssociation) {
    peer = association
    peerSending = nil
    peerReceiving = nil
  }

  static func taken(_ outbox: PacketOutbox) -> [[UInt8]] {
    defer { outbox.removeAll() }
    return (0..<outbox.count).map { outbox.buffer(at: $0).bytes }
  }

  /// RTP as the peer protects it; plain where it has no keys.
  func protected(_ sequence: UInt16) -> PacketBuffer {
    let packet = SRTPFixtures.rtp(sequence: sequence)
    _ = peerSending?.protectRTP(packet)
    return packet
  }

  func count(_ reason: DropReason) -> UInt64 { transport.dropped[reason.rawValue] }

  /// The events since the last call.
  func taken() -> [TransportEvent] {
    defer { events = [] }
    return events
  }
}
