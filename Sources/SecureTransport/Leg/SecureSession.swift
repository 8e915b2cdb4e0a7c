import CallModel
import SDPCore

/// The keys of a leg: a DTLS association and the SRTP that comes of it, whatever kind of ICE finds the way.
final class SecureSession {
  private let certificate: DTLSCertificate
  private let suites: [CryptoSuite]
  private let handshakeTimeout: Int64
  /// What the association is to be made for; `nil` where there can be none.
  private var terms: MediaPlan.DTLS?
  /// `nil` until its handshake begins: libssl's state is several times the rest of a leg, and many calls that ring end
  /// without it.
  private var association: DTLSAssociation?
  private var handshakeDeadline: MonotonicInstant?
  /// Where the last DTLS datagram came from.
  private(set) var source: ICEWay?
  private var sending: SRTPContext?
  private var receiving: SRTPContext?
  /// `secured` was told for the present keys.
  private var isAnnounced = false
  /// The association cannot give keys any more; only another one leads on.
  private(set) var isBroken = false

  /// `handshakeTimeout`: milliseconds from its start to the keys.
  init(certificate: DTLSCertificate, suites: [CryptoSuite], handshakeTimeout: Int64) {
    self.certificate = certificate
    self.suites = suites
    self.handshakeTimeout = handshakeTimeout
  }

  var hasKeys: Bool { sending != nil }
  /// Bytes that protection adds to a packet of RTP; 0 before there are keys.
  var rtpOverhead: Int { sending?.rtpOverhead ?? 0 }
  /// A DTLS datagram has somebody to read it.
  var takesHandshake: Bool { terms != nil && !isBroken }

  /// The association and its keys go on unless fingerprint or role changed. `false`: the plan leaves no way to keys.
  func apply(_ plan: MediaPlan, _ events: inout [TransportEvent]) -> Bool {
    guard case .dtls(let new) = plan.protection else {
      // A leg of this kind without DTLS has no keys, and goes without media.
      terms = nil
      breakOff(.failed(.handshake), &events)
      return false
    }
    if terms.map({ SecureSession.needsAssociation(new, after: $0) }) ?? true { replaceAssociation(new, &events) }
    return true
  }

  /// The leg can have no media, whatever becomes of the association.
  func refuse(_ failure: TransportFailure, _ events: inout [TransportEvent]) {
    terms = nil
    breakOff(.failed(failure), &events)
  }

  // MARK: Media

  /// SRTP and SRTCP become RTP and RTCP in place.
  func open(_ packet: PacketBuffer, _ kind: DatagramKind, _ events: inout [TransportEvent]) -> ReceivedDatagram {
    guard let receiving else { return .dropped(.early) }
    let verdict = kind == .rtp ? receiving.unprotectRTP(packet) : receiving.unprotectRTCP(packet)
    switch verdict {
    case .opened: return kind == .rtp ? .rtp : .rtcp
    case .length: return .dropped(.length)
    case .authentication: return .dropped(.authentication)
    case .replay: return .dropped(.replay)
    case .exhausted:
      if receiving.isExhausted { breakOff(.failed(.key), &events) }
      return .dropped(.rate)
    }
  }

  /// RTP becomes SRTP in place. `false`: it may not be sent.
  func protectRTP(_ packet: PacketBuffer) -> Bool { sending?.protectRTP(packet) ?? false }

  /// RTCP becomes SRTCP in place. `false`: it may not be sent.
  func protectRTCP(_ packet: PacketBuffer) -> Bool { sending?.protectRTCP(packet) ?? false }

  // MARK: Association

  /// A DTLS datagram from an address that a check has proved.
  func receive(
    _ packet: PacketBuffer, from way: ICEWay, isNominated: Bool, at now: MonotonicInstant, _ outbox: PacketOutbox,
    _ events: inout [TransportEvent]
  ) {
    guard let association, !isBroken else { return }
    source = way
    association.receive(packet, at: now, outbox: outbox, on: way.port, to: way.address)
    settle(isNominated, &events)
  }

  /// Begins with the handshake; does nothing where it has begun.
  func start(
    by way: ICEWay, isNominated: Bool, at now: MonotonicInstant, _ outbox: PacketOutbox,
    _ events: inout [TransportEvent]
  ) {
    guard let terms, association == nil, !isBroken else { return }
    do {
      association = try DTLSAssociation(
        role: terms.role, certificate: certificate, fingerprints: terms.fingerprints, suites: suites)
    } catch {
      return breakOff(.failed(error), &events)
    }
    handshakeDeadline = now.advanced(byMilliseconds: handshakeTimeout)
    association?.start(at: now, outbox: outbox, on: way.port, to: way.address)
    settle(isNominated, &events)
  }

  func nextDeadline(hasWay: Bool) -> MonotonicInstant? {
    guard !isBroken else { return nil }
    let flight = hasWay ? association?.nextDeadline : nil
    guard let handshakeDeadline else { return flight }
    return flight.map { min($0, handshakeDeadline) } ?? handshakeDeadline
  }

  /// Repeats a flight, or gives up.
  func advance(
    to now: MonotonicInstant, by way: ICEWay?, isNominated: Bool, _ outbox: PacketOutbox,
    _ events: inout [TransportEvent]
  ) {
    guard !isBroken else { return }
    if let handshakeDeadline, handshakeDeadline <= now { return breakOff(.failed(.handshakeTimeout), &events) }
    guard let association, let way, let due = association.nextDeadline, due <= now else { return }
    association.advance(to: now, outbox: outbox, on: way.port, to: way.address)
    settle(isNominated, &events)
  }

  /// Tells the peer that the association ends, and forgets all.
  func close(by way: ICEWay?, _ outbox: PacketOutbox) {
    if let association, let way { association.close(outbox: outbox, on: way.port, to: way.address) }
    forgetKeys()
    terms = nil
    association = nil
    handshakeDeadline = nil
  }

  /// Media can flow: tells it once for each association.
  func announce(isNominated: Bool, _ events: inout [TransportEvent]) {
    guard !isAnnounced, isNominated, let sending else { return }
    isAnnounced = true
    events.append(.secured(sending.suite))
  }

  /// Other fingerprints or another role, whatever the order of the former (RFC 8842 section 4).
  private static func needsAssociation(_ new: MediaPlan.DTLS, after old: MediaPlan.DTLS) -> Bool {
    new.role != old.role || Set(new.fingerprints) != Set(old.fingerprints)
  }

  private func replaceAssociation(_ new: MediaPlan.DTLS, _ events: inout [TransportEvent]) {
    terms = new
    forgetKeys()
    isBroken = false
    handshakeDeadline = nil
    source = nil
    association = nil
    if let failure = DTLSAssociation.problem(fingerprints: new.fingerprints, suites: suites) {
      breakOff(.failed(failure), &events)
    }
  }

  /// Draws the consequence of what the association became.
  private func settle(_ isNominated: Bool, _ events: inout [TransportEvent]) {
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
      announce(isNominated: isNominated, &events)
    }
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
