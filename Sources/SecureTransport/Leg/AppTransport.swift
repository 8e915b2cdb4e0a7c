public import CallModel
public import SDPCore

/// The packet side of an app leg: ICE-lite, DTLS and SRTP, on whichever of our ports the peer nominates.
///
/// ```
///   datagram ─▶ kind ─▶ STUN ──▶ ICE-lite: proves and nominates addresses
///                 │
///                 └─▶ address proved? ─▶ DTLS ──▶ association ──▶ keys
///                           │
///                           └──────────▶ SRTP ──▶ opened: RTP, RTCP
/// ```
///
/// Nothing of an address counts before a check from it was authenticated, so a stranger's ClientHello is never looked
/// at. A nomination moves ``destination`` at once; authentic media from another address that passed its checks does, when
/// the nominated one has been silent for a second. What does not open is counted and forgotten. Belongs to one thread.
public final class AppTransport {
  /// What an app leg is made from.
  public struct Configuration: Sendable {
    /// The port that media leaves by until the peer has nominated one.
    public var port: MediaPort
    /// Ours; its fingerprint is in the description that the peer got.
    public var certificate: DTLSCertificate
    /// Our ICE user fragment and password, until a restart brings others.
    public var credentials: ICECredentials
    /// Best first.
    public var suites: [CryptoSuite] = [.aesGCM128, .aesGCM256, .aesCM128HMAC80]
    /// Milliseconds from the first plan to a nominated check.
    public var connectivityTimeout: Int64 = 30_000
    /// Milliseconds that media goes on without a check of the peer (RFC 7675 section 5.1).
    public var consentTimeout: Int64 = 30_000
    /// Milliseconds from the first proved address to the keys.
    public var handshakeTimeout: Int64 = 15_000

    /// Suites and timeouts have their defaults.
    public init(port: MediaPort, certificate: DTLSCertificate, credentials: ICECredentials) {
      self.port = port
      self.certificate = certificate
      self.credentials = credentials
    }
  }

  /// Dropped datagrams by ``DropReason``'s raw value.
  public var dropped: ContiguousArray<UInt64> { counts }

  private var counts = ContiguousArray<UInt64>(repeating: 0, count: DropReason.allCases.count)
  private let configuration: Configuration
  private let ice: ICELiteAgent
  private let session: SecureSession
  private var isClosed = false

  /// Checks are answered from now on; their absence counts from the first plan.
  public init(_ configuration: Configuration, at now: MonotonicInstant) {
    self.configuration = configuration
    ice = ICELiteAgent(
      configuration.credentials, connectivityTimeout: configuration.connectivityTimeout,
      consentTimeout: configuration.consentTimeout)
    session = SecureSession(
      certificate: configuration.certificate, suites: configuration.suites,
      handshakeTimeout: configuration.handshakeTimeout)
  }

  /// The port of ours that the peer nominated; before that, the first one.
  public var port: MediaPort { ice.selectedWay?.port ?? configuration.port }

  /// Where the peer's nominated check came from, or where it speaks from since then; `nil` before a nomination, and after
  /// consent is lost.
  public var destination: MediaAddress? { ice.selected }

  /// Keys, a verified fingerprint and a nominated address are there: media may be sent.
  public var isReady: Bool { session.hasKeys && ice.selected != nil }

  /// What was negotiated, first or again. The association and its keys go on unless fingerprint or role changed.
  public func apply(
    _ plan: MediaPlan, at now: MonotonicInstant, outbox: PacketOutbox, events: inout [TransportEvent]
  ) {
    guard !isClosed else { return }
    guard session.apply(plan, &events) else { return }
    ice.begin(at: now)
    startAssociation(at: now, outbox, &events)
  }

  /// Our credentials of an ICE restart, before the plan that it leads to. The old ones hold until the new ones are used.
  public func restart(_ credentials: ICECredentials) { ice.restart(credentials) }

  // MARK: Datagrams

  /// Takes one datagram. After `rtp` and `rtcp` the packet holds the plain one; else its content is of no use.
  public func receive(
    _ packet: PacketBuffer, on port: MediaPort, from source: MediaAddress, at now: MonotonicInstant,
    outbox: PacketOutbox, events: inout [TransportEvent]
  ) -> ReceivedDatagram {
    let kind = DatagramKind.of(packet)
    switch kind {
    case .rtp, .rtcp:
      guard ice.isProved(source) else { return drop(.source) }
      let datagram = session.open(packet, kind, &events)
      if case .dropped(let reason) = datagram { return drop(reason) }
      ice.heard(ICEWay(port: port, address: source), at: now, events: &events)
      return datagram
    case .stun: return check(packet, ICEWay(port: port, address: source), at: now, outbox, &events)
    case .dtls: return handshake(packet, ICEWay(port: port, address: source), at: now, outbox, &events)
    case .other: return drop(DatagramKind.reason(packet))
    }
  }

  /// Bytes that protection adds to a packet of RTP; 0 before there are keys.
  public var rtpOverhead: Int { session.rtpOverhead }

  /// RTP becomes SRTP in place. `false`: it may not be sent.
  public func protectRTP(_ packet: PacketBuffer) -> Bool {
    ice.selected != nil && session.protectRTP(packet)
  }

  /// RTCP becomes SRTCP in place. `false`: it may not be sent.
  public func protectRTCP(_ packet: PacketBuffer) -> Bool {
    ice.selected != nil && session.protectRTCP(packet)
  }

  private func check(
    _ packet: PacketBuffer, _ way: ICEWay, at now: MonotonicInstant, _ outbox: PacketOutbox,
    _ events: inout [TransportEvent]
  ) -> ReceivedDatagram {
    guard !isClosed else { return drop(.stun) }
    let verdict = ice.receive(
      packet, on: way.port, from: way.address, at: now, reply: outbox.next, events: &events)
    if verdict != .silent { outbox.commit(on: way.port, to: way.address) }
    guard verdict == .accepted else { return drop(.stun) }
    startAssociation(at: now, outbox, &events)
    session.announce(isNominated: ice.selected != nil, &events)
    return .consumed
  }

  private func handshake(
    _ packet: PacketBuffer, _ way: ICEWay, at now: MonotonicInstant, _ outbox: PacketOutbox,
    _ events: inout [TransportEvent]
  ) -> ReceivedDatagram {
    guard ice.isProved(way.address) else { return drop(.source) }
    guard session.takesHandshake else { return drop(.early) }
    session.receive(packet, from: way, isNominated: ice.selected != nil, at: now, outbox, &events)
    return .consumed
  }

  private func drop(_ reason: DropReason) -> ReceivedDatagram {
    counts[reason.rawValue] += 1
    return .dropped(reason)
  }

  // MARK: Time

  /// When ``advance(to:outbox:events:)`` is due; `nil` when nothing is waited for, when closed, or when no keys can
  /// come any more.
  public var nextDeadline: MonotonicInstant? {
    guard !isClosed, !session.isBroken else { return nil }
    var next = ice.nextDeadline
    if let due = session.nextDeadline(hasWay: handshakeWay != nil) { next = next.map { min($0, due) } ?? due }
    return next
  }

  /// Time went by: repeats the handshake's datagrams where they are due, and tells what timed out.
  public func advance(to now: MonotonicInstant, outbox: PacketOutbox, events: inout [TransportEvent]) {
    guard !isClosed, !session.isBroken else { return }
    ice.advance(to: now, events: &events)
    session.advance(to: now, by: handshakeWay, isNominated: ice.selected != nil, outbox, &events)
  }

  /// Tells the peer that the association ends; nothing is taken or sent any more.
  public func close(at now: MonotonicInstant, outbox: PacketOutbox) {
    guard !isClosed else { return }
    isClosed = true
    session.close(by: handshakeWay, outbox)
  }

  // MARK: Association

  /// A proved address that DTLS goes to: the nominated one, else where the peer spoke last.
  private var handshakeWay: ICEWay? {
    if let selected = ice.selectedWay { return selected }
    if let spoke = session.source, ice.isProved(spoke.address) { return spoke }
    return ice.latest
  }

  /// Begins with the handshake as soon as there is an address that it may come from or go to.
  private func startAssociation(at now: MonotonicInstant, _ outbox: PacketOutbox, _ events: inout [TransportEvent]) {
    guard let handshakeWay else { return }
    session.start(by: handshakeWay, isNominated: ice.selected != nil, at: now, outbox, &events)
  }
}
