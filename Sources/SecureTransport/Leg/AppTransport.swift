public import CallModel
public import SDPCore

/// The packet side of an app leg: ICE-lite, DTLS and SRTP on one port.
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
/// at. Only a nomination moves ``destination``; media that does not open is counted and forgotten. Belongs to one thread.
public final class AppTransport {
  public struct Configuration: Sendable {
    public var port: MediaPort
    public var certificate: DTLSCertificate
    public var credentials: ICECredentials
    /// Best first.
    public var suites: [CryptoSuite] = [.aesGCM128, .aesGCM256, .aesCM128HMAC80]
    /// Milliseconds from the first plan to a nominated check.
    public var connectivityTimeout: Int64 = 30_000
    /// Milliseconds that media goes on without a check of the peer (RFC 7675 section 5.1).
    public var consentTimeout: Int64 = 30_000
    /// Milliseconds from the first proved address to the keys.
    public var handshakeTimeout: Int64 = 15_000

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
  /// What the association was made for.
  private var terms: MediaPlan.DTLS?
  private var association: DTLSAssociation?
  private var handshakeDeadline: MonotonicInstant?
  /// Where the last DTLS datagram came from.
  private var handshakeSource: MediaAddress?
  private var sending: SRTPContext?
  private var receiving: SRTPContext?
  /// `secured` was told for the present keys.
  private var isAnnounced = false
  /// The association cannot give keys any more; only another one leads on.
  private var isBroken = false
  private var isClosed = false

  /// Checks are answered from now on; their absence counts from the first plan.
  public init(_ configuration: Configuration, at now: MonotonicInstant) {
    self.configuration = configuration
    ice = ICELiteAgent(
      configuration.credentials, connectivityTimeout: configuration.connectivityTimeout,
      consentTimeout: configuration.consentTimeout)
  }

  public var port: MediaPort { configuration.port }

  /// Where the peer's nominated check came from; `nil` before, and after consent is lost.
  public var destination: MediaAddress? { ice.selected }

  /// Keys, a verified fingerprint and a nominated address are there: media may be sent.
  public var isReady: Bool { sending != nil && ice.selected != nil }

  /// What was negotiated, first or again. The association and its keys go on unless fingerprint or role changed.
  public func apply(
    _ plan: MediaPlan, at now: MonotonicInstant, outbox: PacketOutbox, events: inout [TransportEvent]
  ) {
    guard !isClosed else { return }
    guard case .dtls(let new) = plan.protection else {
      // An app leg without DTLS has no keys, and goes without media.
      terms = nil
      return breakOff(.failed(.handshake), &events)
    }
    if terms.map({ AppTransport.needsAssociation(new, after: $0) }) ?? true {
      replaceAssociation(new, &events)
    }
    ice.begin(at: now)
    startAssociation(at: now, outbox, &events)
  }

  /// Our credentials of an ICE restart, before the plan that it leads to. The old ones hold until the new ones are used.
  public func restart(_ credentials: ICECredentials) { ice.restart(credentials) }

  // MARK: Datagrams

  /// Takes one datagram. After `rtp` and `rtcp` the packet holds the plain one; else its content is of no use.
  public func receive(
    _ packet: PacketBuffer, from source: MediaAddress, at now: MonotonicInstant, outbox: PacketOutbox,
    events: inout [TransportEvent]
  ) -> ReceivedDatagram {
    let kind = DatagramKind.of(packet)
    switch kind {
    case .rtp, .rtcp:
      guard ice.isProved(source) else { return drop(.source) }
      guard let receiving else { return drop(.early) }
      let verdict = kind == .rtp ? receiving.unprotectRTP(packet) : receiving.unprotectRTCP(packet)
      switch verdict {
      case .opened: return kind == .rtp ? .rtp : .rtcp
      case .length: return drop(.length)
      case .authentication: return drop(.authentication)
      case .replay: return drop(.replay)
      case .exhausted:
        if receiving.isExhausted { breakOff(.failed(.key), &events) }
        return drop(.rate)
      }
    case .stun: return check(packet, source, at: now, outbox, &events)
    case .dtls: return handshake(packet, source, at: now, outbox, &events)
    case .other: return drop(DatagramKind.reason(packet))
    }
  }

  /// RTP becomes SRTP in place. `false`: it may not be sent.
  public func protectRTP(_ packet: PacketBuffer) -> Bool {
    guard let sending, ice.selected != nil else { return false }
    return sending.protectRTP(packet)
  }

  /// RTCP becomes SRTCP in place. `false`: it may not be sent.
  public func protectRTCP(_ packet: PacketBuffer) -> Bool {
    guard let sending, ice.selected != nil else { return false }
    return sending.protectRTCP(packet)
  }

  private func check(
    _ packet: PacketBuffer, _ source: MediaAddress, at now: MonotonicInstant, _ outbox: PacketOutbox,
    _ events: inout [TransportEvent]
  ) -> ReceivedDatagram {
    guard !isClosed else { return drop(.stun) }
    let verdict = ice.receive(packet, from: source, at: now, reply: outbox.next, events: &events)
    if verdict != .silent { outbox.commit(on: port, to: source) }
    guard verdict == .accepted else { return drop(.stun) }
    startAssociation(at: now, outbox, &events)
    announce(&events)
    return .consumed
  }

  private func handshake(
    _ packet: PacketBuffer, _ source: MediaAddress, at now: MonotonicInstant, _ outbox: PacketOutbox,
    _ events: inout [TransportEvent]
  ) -> ReceivedDatagram {
    guard ice.isProved(source) else { return drop(.source) }
    guard let association, !isBroken else { return drop(.early) }
    handshakeSource = source
    association.receive(packet, at: now, outbox: outbox, on: port, to: source)
    settle(&events)
    return .consumed
  }

  private func drop(_ reason: DropReason) -> ReceivedDatagram {
    counts[reason.rawValue] += 1
    return .dropped(reason)
  }

  // MARK: Time

  public var nextDeadline: MonotonicInstant? {
    guard !isClosed, !isBroken else { return nil }
    var next = ice.nextDeadline
    for other in [handshakeDeadline, handshakeAddress == nil ? nil : association?.nextDeadline] {
      if let other { next = next.map { min($0, other) } ?? other }
    }
    return next
  }

  public func advance(to now: MonotonicInstant, outbox: PacketOutbox, events: inout [TransportEvent]) {
    guard !isClosed, !isBroken else { return }
    ice.advance(to: now, events: &events)
    if let handshakeDeadline, handshakeDeadline <= now { return breakOff(.failed(.handshakeTimeout), &events) }
    guard let association, let handshakeAddress, let due = association.nextDeadline, due <= now else { return }
    association.advance(to: now, outbox: outbox, on: port, to: handshakeAddress)
    settle(&events)
  }

  /// Tells the peer that the association ends; nothing is taken or sent any more.
  public func close(at now: MonotonicInstant, outbox: PacketOutbox) {
    guard !isClosed else { return }
    if let association, let handshakeAddress { association.close(outbox: outbox, on: port, to: handshakeAddress) }
    isClosed = true
    forgetKeys()
    association = nil
  }

  // MARK: Association

  /// Other fingerprints or another role, whatever the order of the former (RFC 8842 section 4).
  private static func needsAssociation(_ new: MediaPlan.DTLS, after old: MediaPlan.DTLS) -> Bool {
    new.role != old.role || Set(new.fingerprints) != Set(old.fingerprints)
  }

  private func replaceAssociation(_ new: MediaPlan.DTLS, _ events: inout [TransportEvent]) {
    terms = new
    forgetKeys()
    isBroken = false
    handshakeDeadline = nil
    handshakeSource = nil
    association = nil
    do {
      association = try DTLSAssociation(
        role: new.role, certificate: configuration.certificate, fingerprints: new.fingerprints,
        suites: configuration.suites)
    } catch {
      breakOff(.failed(error), &events)
    }
  }

  /// A proved address that DTLS goes to: the nominated one, else where the peer spoke last.
  private var handshakeAddress: MediaAddress? {
    if let selected = ice.selected { return selected }
    if let handshakeSource, ice.isProved(handshakeSource) { return handshakeSource }
    return ice.latest
  }

  /// Begins with the handshake as soon as there is an address that it may come from or go to.
  private func startAssociation(at now: MonotonicInstant, _ outbox: PacketOutbox, _ events: inout [TransportEvent]) {
    guard let association, !isBroken, case .idle = association.state, let address = handshakeAddress else { return }
    handshakeDeadline = now.advanced(byMilliseconds: configuration.handshakeTimeout)
    association.start(at: now, outbox: outbox, on: port, to: address)
    settle(&events)
  }

  /// Draws the consequence of what the association became.
  private func settle(_ events: inout [TransportEvent]) {
    guard let association else { return }
    switch association.state {
    case .idle, .handshaking: return
    case .failed(let failure): breakOff(.failed(failure), &events)
    case .closedByPeer: breakOff(.closedByPeer, &events)
    case .established(let keys):
      guard sending == nil else { return }
      do {
        receiving = try SRTPContext(keys.suite, keys.receive, .receive)
        sending = try SRTPContext(keys.suite, keys.send, .send)
      } catch {
        return breakOff(.failed(error), &events)
      }
      handshakeDeadline = nil
      announce(&events)
    }
  }

  /// Media can flow: tells it once for each association.
  private func announce(_ events: inout [TransportEvent]) {
    guard !isAnnounced, isReady, let sending else { return }
    isAnnounced = true
    events.append(.secured(sending.suite))
  }

  /// Ends the association, telling why once.
  private func breakOff(_ event: TransportEvent, _ events: inout [TransportEvent]) {
    guard !isBroken else { return }
    isBroken = true
    handshakeDeadline = nil
    forgetKeys()
    events.append(event)
  }

  private func forgetKeys() {
    sending = nil
    receiving = nil
    isAnnounced = false
  }
}
