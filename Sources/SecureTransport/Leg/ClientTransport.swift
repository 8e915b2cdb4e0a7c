public import CallModel
public import SDPCore

/// The packet side of an app's own leg to a gateway: full ICE, DTLS in either role, and SRTP. The other end of an
/// ``AppTransport``, of the same shape; works with peers of full ICE as well. Belongs to one thread.
///
/// Media keeps its keys when the network changes: ``restart(_:locals:)`` finds another way for the same association.
public final class ClientTransport {
  /// An address of ours with the socket that is bound to it.
  public struct Local: Hashable, Sendable {
    /// Names the socket towards the shell; not the UDP port, which is in ``address``.
    public var port: MediaPort
    /// What the peer sees and a candidate names.
    public var address: MediaAddress
    /// The higher, the better; 65535 for the only one (RFC 8445 section 5.1.2.1).
    public var preference: UInt16
    /// The address is a TURN server's, which relays what goes through ``port``: the last choice (RFC 8445 section 5.1.2.2).
    public var isRelayed: Bool

    /// Without a `preference`, the highest there is.
    public init(port: MediaPort, address: MediaAddress, preference: UInt16 = .max, isRelayed: Bool = false) {
      self.port = port
      self.address = address
      self.preference = preference
      self.isRelayed = isRelayed
    }

    var kind: ICEPriority.Kind { isRelayed ? .relayed : .host }

    /// The same for all candidates with this address (RFC 8445 section 5.1.1.3), of letters and digits.
    private var foundation: String {
      let folded = address.high ^ address.low
      return String(UInt32(truncatingIfNeeded: folded >> 32 ^ folded), radix: 16)
    }

    /// For `a=candidate`, of an address of the device itself.
    public var candidate: ICECandidate {
      ICECandidate(
        foundation: foundation, component: 1, priority: Int(ICEPriority.of(.host, localPreference: preference)),
        address: address.host.description, port: Int(address.port))
    }
  }

  /// What an app's own leg is made from.
  public struct Configuration: Sendable {
    /// At most ``ClientTransport/maximumLocals`` count, in this order.
    public var locals: [Local]
    /// Ours; its fingerprint is in the description that the peer got.
    public var certificate: DTLSCertificate
    /// Our ICE user fragment and password, until a restart brings others.
    public var credentials: ICECredentials
    /// Best first. As DTLS client the peer's order decides.
    public var suites: [CryptoSuite] = [.aesGCM128, .aesGCM256, .aesCM128HMAC80]
    /// Milliseconds from the first plan, or a restart, to a nominated address.
    public var connectivityTimeout: Int64 = 30_000
    /// Milliseconds that media goes on without an answer of the peer (RFC 7675 section 5.1).
    public var consentTimeout: Int64 = 30_000
    /// Milliseconds from the first working address to the keys.
    public var handshakeTimeout: Int64 = 15_000
    /// Random numbers for transactions and times, from the system's generator.
    public var draw: @Sendable () -> UInt64

    /// Suites and timeouts have their defaults.
    public init(
      locals: [Local], certificate: DTLSCertificate, credentials: ICECredentials, draw: @escaping @Sendable () -> UInt64
    ) {
      self.locals = locals
      self.certificate = certificate
      self.credentials = credentials
      self.draw = draw
    }
  }

  /// Addresses of ours that are used; further ones are passed over.
  public static let maximumLocals = 8

  /// Dropped datagrams by ``DropReason``'s raw value.
  public var dropped: ContiguousArray<UInt64> { counts }

  private var counts = ContiguousArray<UInt64>(repeating: 0, count: DropReason.allCases.count)
  private let ice: ICEFullAgent
  private let session: SecureSession
  private var locals: [Local]
  private var isClosed = false

  /// Nothing is sent before the first plan.
  public init(_ configuration: Configuration, at now: MonotonicInstant) {
    locals = configuration.locals
    ice = ICEFullAgent(
      configuration.credentials, configuration.locals, connectivityTimeout: configuration.connectivityTimeout,
      consentTimeout: configuration.consentTimeout, draw: configuration.draw)
    session = SecureSession(
      certificate: configuration.certificate, suites: configuration.suites,
      handshakeTimeout: configuration.handshakeTimeout)
  }

  /// The socket that media leaves by; before a pair is nominated, that of the first address.
  public var port: MediaPort { ice.selected?.port ?? locals.first?.port ?? MediaPort(rawValue: 0) }

  /// No way was found since the beginning, or the last restart; media may go on by one of before.
  public var seeksWay: Bool { ice.seeksWay }

  /// When media or a report last came the way that media goes, or that way was found; `nil` while there is none.
  public var heard: MonotonicInstant? { ice.heard }

  /// Where media goes: the nominated address; `nil` before, and after consent is lost.
  public var destination: MediaAddress? { ice.selected?.address }

  /// Keys, a verified fingerprint and a nominated address are there: media may be sent.
  public var isReady: Bool { session.hasKeys && ice.selected != nil }

  /// What was negotiated, first or again. The association and its keys go on unless fingerprint or role changed; other
  /// ICE credentials of the peer begin new checks.
  public func apply(
    _ plan: MediaPlan, at now: MonotonicInstant, outbox: PacketOutbox, events: inout [TransportEvent]
  ) {
    guard !isClosed, session.apply(plan, &events) else { return }
    guard let remote = plan.ice else {
      // Nothing may be sent where no check is answered.
      return session.refuse(.noConnectivity, &events)
    }
    let fallback = plan.remote.host.flatMap { MediaAddress($0, port: plan.remote.port) }
    ice.begin(remote, fallback: fallback, at: now)
    work(at: now, outbox, &events)
  }

  /// Our credentials of an ICE restart, and our addresses where they changed, before the plan that it leads to. Media
  /// keeps its way until another one works, and its keys in any case.
  public func restart(_ credentials: ICECredentials, locals: [Local]? = nil) {
    if let locals { self.locals = locals }
    ice.restart(credentials, locals: locals)
  }

  /// Another address of ours, found while checks go on: it is checked as well, behind those of the device itself.
  public func add(_ local: Local, at now: MonotonicInstant, outbox: PacketOutbox, events: inout [TransportEvent]) {
    guard !isClosed, !locals.contains(where: { $0.port == local.port }) else { return }
    locals.append(local)
    ice.add(local, at: now)
    work(at: now, outbox, &events)
  }

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
      ice.heard(ICEWay(port: port, address: source), isSound: kind == .rtp, at: now, events: &events)
      return datagram
    case .stun:
      guard !isClosed,
        ice.receive(packet, on: port, from: source, at: now, outbox: outbox, events: &events)
      else { return drop(.stun) }
      followWay(at: now, outbox, &events)
    case .dtls:
      guard ice.isProved(source) else { return drop(.source) }
      guard session.takesHandshake else { return drop(.early) }
      session.receive(
        packet, from: ICEWay(port: port, address: source), isNominated: ice.selected != nil, at: now, outbox, &events)
    case .other: return drop(DatagramKind.reason(packet))
    }
    return .consumed
  }

  /// Bytes that protection adds to a packet of RTP; 0 before there are keys.
  public var rtpOverhead: Int { session.rtpOverhead }

  /// RTP becomes SRTP in place. `false`: it may not be sent.
  public func protectRTP(_ packet: PacketBuffer) -> Bool { ice.selected != nil && session.protectRTP(packet) }

  /// RTCP becomes SRTCP in place. `false`: it may not be sent.
  public func protectRTCP(_ packet: PacketBuffer) -> Bool { ice.selected != nil && session.protectRTCP(packet) }

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

  /// Time went by: sends checks and repeats the handshake's datagrams where they are due, and tells what timed out.
  public func advance(to now: MonotonicInstant, outbox: PacketOutbox, events: inout [TransportEvent]) {
    guard !isClosed, !session.isBroken else { return }
    if let due = ice.nextDeadline, due <= now { work(at: now, outbox, &events) }
    session.advance(to: now, by: handshakeWay, isNominated: ice.selected != nil, outbox, &events)
  }

  /// Tells the peer that the association ends; nothing is taken or sent any more.
  public func close(at now: MonotonicInstant, outbox: PacketOutbox) {
    guard !isClosed else { return }
    isClosed = true
    session.close(by: handshakeWay, outbox)
  }

  private func work(at now: MonotonicInstant, _ outbox: PacketOutbox, _ events: inout [TransportEvent]) {
    ice.work(at: now, outbox, &events)
    followWay(at: now, outbox, &events)
  }

  /// Where DTLS goes: the nominated way, else where the peer spoke last.
  private var handshakeWay: ICEWay? {
    if let selected = ice.selected { return selected }
    guard let spoke = session.source, ice.isProved(spoke.address) else { return nil }
    return spoke
  }

  /// As soon as there is a way the handshake begins, and with keys media.
  private func followWay(at now: MonotonicInstant, _ outbox: PacketOutbox, _ events: inout [TransportEvent]) {
    guard let selected = ice.selected else { return }
    session.start(by: selected, isNominated: true, at: now, outbox, &events)
    session.announce(isNominated: true, &events)
  }
}
