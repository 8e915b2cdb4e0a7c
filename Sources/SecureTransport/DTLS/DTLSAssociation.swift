import CLandlineTLS
public import CallModel
public import SDPCore

/// One DTLS 1.2 association for SRTP keys (RFC 5764), over libssl; both ends show a certificate, and the peer's must have
/// a fingerprint that the description named.
///
/// ```
///            start            peer's Finished, fingerprint, profile
///   idle ─────────▶ handshaking ─────────────────────────────▶ established ──▶ closedByPeer
///                        └──▶ failed (fingerprint, handshake, handshakeTimeout)
/// ```
///
/// A core without a clock: libssl's own timer is set so far ahead that it never fires, and libssl repeats a flight when
/// ``advance(to:outbox:on:to:)`` says so. The handshake as a whole has no deadline here but libssl's
/// twelve repetitions. The random numbers are libcrypto's own.
///
/// There is no cookie exchange (RFC 6347 section 4.2.1): the caller passes datagrams only from an address that an ICE
/// check with our password has proved, and that is what a cookie would prove. For the same reason the first datagram need
/// not hold a whole ClientHello: fragments are kept as of any other message.
///
/// Belongs to one thread. Datagrams that are not well formed are dropped without a word.
public final class DTLSAssociation {
  /// How far the association has come; it never goes back.
  public enum State: Hashable, Sendable {
    case idle
    case handshaking
    /// Both ends are verified; SRTP may flow.
    case established(DTLSKeys)
    case failed(TransportFailure)
    /// close_notify, or a fatal alert under the association's protection.
    case closedByPeer
  }

  /// Bytes of a datagram that we send, at most: fits any path that carries IPv6, tunnels included.
  public static let maximumDatagram = 1200
  /// First wait for the answer to a flight, in milliseconds; doubles with each repetition. RFC 6347 section 4.2.4.1
  /// advises 1 s; media stacks take less, since a call waits here. A path with a longer round trip costs one datagram more.
  public static let initialRetransmission: Int64 = 250
  /// Longest wait, in milliseconds (RFC 6347 section 4.2.4.1).
  public static let maximumRetransmission: Int64 = 60_000
  /// How long a handshake may still go on after a plain alert, in milliseconds: a peer that sent it says nothing more.
  public static let alertPatience: Int64 = 2_000
  /// Fingerprints of the peer that are looked at; further ones match nothing.
  public static let maximumFingerprints = Int(LANDLINE_DTLS_FINGERPRINTS_MAXIMUM)

  /// ``State/idle`` until ``start(at:outbox:on:to:)``.
  public private(set) var state: State = .idle
  /// Ours; a client sends the ClientHello.
  public let role: MediaPlan.DTLS.Role
  /// Why the handshake failed, for logs: libssl's words or ours; holds no secret.
  public private(set) var lastError: String?

  private let library: OpaquePointer
  private let datagramLimit: Int
  private var gate: DTLSRecordGate
  private var isClosed = false
  private var flights: UInt64 = 0
  private var wait = DTLSAssociation.initialRetransmission
  private var retransmission: MonotonicInstant?
  private var alert: (description: UInt8, due: MonotonicInstant)?

  /// `fingerprints`: at least one of SHA-256 or better, else ``TransportFailure/fingerprint``. `suites`: best first; at
  /// least one that DTLS-SRTP knows, else ``TransportFailure/handshake``. As server our order decides, as client the
  /// peer's. ``TransportFailure/key`` without memory.
  public convenience init(
    role: MediaPlan.DTLS.Role, certificate: DTLSCertificate, fingerprints: [CertificateFingerprint],
    suites: [CryptoSuite]
  ) throws(TransportFailure) {
    try self.init(
      role: role, certificate: certificate, fingerprints: fingerprints, suites: suites,
      maximumDatagram: DTLSAssociation.maximumDatagram)
  }

  package init(
    role: MediaPlan.DTLS.Role, certificate: DTLSCertificate, fingerprints: [CertificateFingerprint],
    suites: [CryptoSuite], maximumDatagram: Int
  ) throws(TransportFailure) {
    if let problem = DTLSAssociation.problem(fingerprints: fingerprints, suites: suites) { throw problem }
    let digests = DTLSAssociation.digests(fingerprints)
    let profiles = suites.compactMap { $0.protectionProfile?.name }.joined(separator: ":")
    guard
      let library = landline_dtls_new(
        certificate.identity, role == .server, profiles, maximumDatagram, digests, digests.count)
    else { throw .key }
    self.library = library
    self.role = role
    datagramLimit = maximumDatagram
    gate = DTLSRecordGate(role: role)
  }

  deinit { landline_dtls_free(library) }

  /// Why no association could be made of these, whoever the peer is.
  static func problem(fingerprints: [CertificateFingerprint], suites: [CryptoSuite]) -> TransportFailure? {
    if digests(fingerprints).isEmpty { return .fingerprint }
    return suites.contains { $0.protectionProfile != nil } ? nil : .handshake
  }

  /// As client sends the ClientHello; as server waits for one. Works once.
  public func start(at now: MonotonicInstant, outbox: PacketOutbox, on port: MediaPort, to address: MediaAddress) {
    guard case .idle = state, !isClosed else { return }
    state = .handshaking
    guard role == .client else { return }
    conclude(
      send(into: outbox, on: port, to: address) { sink, context in
        landline_dtls_step(library, nil, 0, sink, context)
      }, at: now, outbox: outbox, on: port, to: address)
  }

  /// Reads one DTLS datagram, which is left as it was; answers go into the outbox.
  public func receive(
    _ packet: PacketBuffer, at now: MonotonicInstant, outbox: PacketOutbox, on port: MediaPort, to address: MediaAddress
  ) {
    guard !isClosed else { return }
    let isEstablished: Bool
    switch state {
    case .handshaking: isEstablished = false
    case .established: isEstablished = true
    case .idle, .failed, .closedByPeer: return
    }
    let admission = gate.admit(packet, isEstablished: isEstablished)
    if !isEstablished {
      // Before our first flight there is nothing a peer could refuse: such an alert means an earlier association.
      if let description = admission.alert, flights > 0 {
        alert = alert ?? (description, now.advanced(byMilliseconds: DTLSAssociation.alertPatience))
      } else if admission.hasHandshake {
        alert = nil
      }
    }
    guard admission.count > 0 else { return }
    let outcome = packet.withUnsafeMutableRoom { room in
      let bytes = room.baseAddress?.assumingMemoryBound(to: UInt8.self)
      return send(into: outbox, on: port, to: address) { sink, context in
        landline_dtls_step(library, bytes, admission.count, sink, context)
      }
    }
    conclude(outcome, at: now, outbox: outbox, on: port, to: address)
  }

  /// When ``advance(to:outbox:on:to:)`` has something to do next.
  public var nextDeadline: MonotonicInstant? {
    guard let alert else { return retransmission }
    return retransmission.map { min($0, alert.due) } ?? alert.due
  }

  /// Repeats a flight whose answer is late. Call it at ``nextDeadline`` or later.
  public func advance(
    to now: MonotonicInstant, outbox: PacketOutbox, on port: MediaPort, to address: MediaAddress
  ) {
    if let alert, alert.due <= now {
      fail(.handshake, "the peer ended the handshake with alert \(alert.description)")
      return
    }
    guard let due = retransmission, due <= now else { return }
    let outcome = send(into: outbox, on: port, to: address) { sink, context in
      landline_dtls_retransmit(library, sink, context)
    }
    flights = landline_dtls_flights(library)
    wait = min(2 * wait, DTLSAssociation.maximumRetransmission)
    retransmission = now.advanced(byMilliseconds: wait)
    gate.sentFlight()
    conclude(outcome, at: now, outbox: outbox, on: port, to: address)
  }

  /// Sends close_notify where there is an association to close. Afterwards nothing is read or sent any more; ``state``
  /// stays as it was.
  public func close(outbox: PacketOutbox, on port: MediaPort, to address: MediaAddress) {
    guard !isClosed else { return }
    if case .established = state { notifyClosed(outbox, port, address) }
    isClosed = true
    retransmission = nil
    alert = nil
  }

  /// Draws the consequence of a call into libssl.
  private func conclude(
    _ outcome: landline_dtls_outcome, at now: MonotonicInstant, outbox: PacketOutbox, on port: MediaPort,
    to address: MediaAddress
  ) {
    switch outcome {
    case LANDLINE_DTLS_WAITING:
      followTimer(now)
    case LANDLINE_DTLS_ESTABLISHED:
      guard case .handshaking = state else { return }
      retransmission = nil
      alert = nil
      if let keys = DTLSKeys(of: library, role: role) {
        state = .established(keys)
      } else {
        notifyClosed(outbox, port, address)
        fail(.handshake, "no SRTP profile is common")
      }
    case LANDLINE_DTLS_CLOSED:
      notifyClosed(outbox, port, address)
      end(.closedByPeer)
    default:
      let text = landline_dtls_error(library).map { String(cString: $0) } ?? "the association broke"
      if case .established = state {
        lastError = text
        end(.closedByPeer)
      } else if landline_dtls_is_stranger(library) {
        fail(.fingerprint, "the certificate has none of the fingerprints of the description")
      } else {
        fail(landline_dtls_is_out_of_time(library) ? .handshakeTimeout : .handshake, text)
      }
    }
  }

  /// libssl starts its timer with a flight and stops it when the answer is whole: ours runs in its place.
  private func followTimer(_ now: MonotonicInstant) {
    guard landline_dtls_awaits_answer(library) else {
      retransmission = nil
      return
    }
    let count = landline_dtls_flights(library)
    guard count != flights || retransmission == nil else { return }
    flights = count
    wait = DTLSAssociation.initialRetransmission
    retransmission = now.advanced(byMilliseconds: wait)
    gate.sentFlight()
  }

  private func fail(_ failure: TransportFailure, _ text: String) {
    lastError = text
    end(.failed(failure))
  }

  private func end(_ last: State) {
    state = last
    retransmission = nil
    alert = nil
  }

  private func notifyClosed(_ outbox: PacketOutbox, _ port: MediaPort, _ address: MediaAddress) {
    _ = send(into: outbox, on: port, to: address) { sink, context in
      landline_dtls_close(library, sink, context)
      return LANDLINE_DTLS_CLOSED
    }
  }

  /// Where libssl's datagrams go during one call. Those that fit together travel together: libssl repeats a flight
  /// record by record, and each datagram is one more that can be lost.
  private struct Way {
    let outbox: PacketOutbox
    let port: MediaPort
    let address: MediaAddress
    let limit: Int
    /// Bytes of the outbox's next packet that wait for company.
    var waiting = 0

    mutating func add(_ datagram: UnsafeBufferPointer<UInt8>) {
      guard datagram.count <= PacketBuffer.maximumDatagram else { return }
      if waiting + datagram.count > limit { flush() }
      outbox.next.withUnsafeMutableRoom { room in
        UnsafeMutableRawBufferPointer(rebasing: room[waiting...]).copyBytes(from: datagram)
      }
      waiting += datagram.count
    }

    mutating func flush() {
      guard waiting > 0 else { return }
      outbox.next.count = waiting
      outbox.commit(on: port, to: address)
      waiting = 0
    }
  }

  /// Runs a call into libssl whose writes become datagrams of the outbox.
  private func send(
    into outbox: PacketOutbox, on port: MediaPort, to address: MediaAddress,
    _ call: (landline_dtls_sink, UnsafeMutableRawPointer) -> landline_dtls_outcome
  ) -> landline_dtls_outcome {
    let sink: landline_dtls_sink = { context, bytes, count in
      context?.assumingMemoryBound(to: Way.self).pointee.add(UnsafeBufferPointer(start: bytes, count: count))
    }
    var way = Way(outbox: outbox, port: port, address: address, limit: datagramLimit)
    defer { way.flush() }
    return withUnsafeMutablePointer(to: &way) { call(sink, UnsafeMutableRawPointer($0)) }
  }

  /// The acceptable ones of the first ``maximumFingerprints``, as the C side wants them.
  static func digests(_ fingerprints: [CertificateFingerprint]) -> [landline_dtls_fingerprint] {
    fingerprints.filter(\.isAcceptable).prefix(maximumFingerprints).map { fingerprint in
      var digest = landline_dtls_fingerprint()
      digest.count = UInt8(fingerprint.bytes.count)
      withUnsafeMutableBytes(of: &digest.bytes) { $0.copyBytes(from: fingerprint.bytes) }
      return digest
    }
  }
}
