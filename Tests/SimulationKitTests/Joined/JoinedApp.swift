import CallModel
import MediaCore
import SDPCore
import SecureTransport

/// The app's end: ICE checks until one is answered, a DTLS handshake as client, then a phone behind SRTP.
final class JoinedApp {
  /// Milliseconds between two checks before an answer, and after.
  static let checkInterval: Int64 = 50
  static let consentInterval: Int64 = 2_500

  let phone: JoinedPhone
  private let credentials: ICECredentials
  private let integrity: STUNIntegrity
  private let dtls: DTLSAssociation
  private let outbox = PacketOutbox()
  private var sending: SRTPContext?
  private var receiving: SRTPContext?
  private var nextCheck: MonotonicInstant
  private var checks: UInt64 = 0
  private var isAnswered = false
  private let seed: UInt64
  /// SRTP and SRTCP that did not open.
  private(set) var unopened = 0

  init(
    gateway: CertificateFingerprint, certificate: DTLSCertificate, credentials: ICECredentials, seed: UInt64,
    at now: MonotonicInstant
  ) throws {
    phone = try JoinedPhone(
      .opus, payloadType: 111, eventType: 110, eventClock: 48_000, frequency: 450, seed: seed, at: now)
    self.credentials = credentials
    integrity = STUNIntegrity(credentials.password.exposed)
    self.seed = seed
    dtls = try DTLSAssociation(
      role: .client, certificate: certificate, fingerprints: [gateway], suites: [.aesGCM128, .aesCM128HMAC80])
    nextCheck = now
  }

  var isClosedByPeer: Bool { dtls.state == .closedByPeer }

  var nextDeadline: MonotonicInstant? {
    [nextCheck, dtls.nextDeadline, sending == nil ? nil : phone.nextDeadline].compactMap { $0 }.min()
  }

  /// Sends what is due; `isSound` tells RTP from the rest.
  func advance(to now: MonotonicInstant, send: (_ bytes: [UInt8], _ isSound: Bool) -> Void) {
    if nextCheck <= now {
      nextCheck = now.advanced(
        byMilliseconds: isAnswered ? JoinedApp.consentInterval : JoinedApp.checkInterval)
      send(check().bytes, false)
    }
    if let due = dtls.nextDeadline, due <= now {
      dtls.advance(to: now, outbox: outbox, on: JoinedCall.appPort, to: JoinedCall.gateway)
    }
    for index in 0..<outbox.count { send(outbox.buffer(at: index).bytes, false) }
    outbox.removeAll()
    guard let sending else { return }
    phone.advance(to: now) { packet, isControl in
      guard isControl ? sending.protectRTCP(packet) : sending.protectRTP(packet) else { return }
      send(packet.bytes, !isControl)
    }
  }

  func receive(_ bytes: [UInt8], at now: MonotonicInstant) {
    let packet = PacketBuffer(bytes)
    switch DatagramKind.of(packet) {
    case .stun:
      guard let answer = STUNMessage(packet), answer.kind == .success,
        answer.hasIntegrity(integrity), !isAnswered
      else { return }
      isAnswered = true
      dtls.start(at: now, outbox: outbox, on: JoinedCall.appPort, to: JoinedCall.gateway)
      // What it wrote goes out with the next step, which is now.
      nextCheck = min(nextCheck, now)
    case .dtls:
      dtls.receive(packet, at: now, outbox: outbox, on: JoinedCall.appPort, to: JoinedCall.gateway)
      if sending == nil, case .established(let keys) = dtls.state {
        sending = try? SRTPContext(keys.suite, keys.send, .send)
        receiving = try? SRTPContext(keys.suite, keys.receive, .receive)
        phone.speak(from: now)
      }
    case .rtp:
      // Before the keys are there, media that overtook the end of the handshake is lost.
      guard let receiving else { return }
      guard receiving.unprotectRTP(packet) == .opened else {
        unopened += 1
        return
      }
      phone.receiveRTP(packet, at: now)
    case .rtcp:
      guard let receiving else { return }
      guard receiving.unprotectRTCP(packet) == .opened else {
        unopened += 1
        return
      }
      phone.receiveRTCP(packet, at: now)
    case .other: return
    }
  }

  private func check() -> PacketBuffer {
    checks += 1
    let packet = PacketBuffer()
    let writer = STUNWriter(
      packet, .request, transaction: STUNTransaction(high: 9, low: (seed << 32 | checks) &* 0x9E37_79B9_7F4A_7C15))
    writer.append(.userName, "\(credentials.userFragment):peer".utf8)
    writer.append(.priority, integer: UInt32(0x6E7F_1EFF))
    writer.append(.iceControlling, integer: UInt64(0x1122_3344_5566_7788))
    writer.append(.useCandidate, [])
    writer.appendIntegrity(integrity)
    writer.appendFingerprint()
    return packet
  }
}
