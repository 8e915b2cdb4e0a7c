package import SDPCore

/// Looks at every record of a datagram before libssl does (RFC 6347 section 4.1, 4.2.2), and lets through only what a
/// peer in its role may send: whole records, handshake messages of its side, whole fragments. The rest of a datagram
/// after the first bad record is dropped, as RFC 6347 section 4.1.2.7 asks, without an alert.
///
/// Alerts that nothing protects yet stay outside too: anyone who can write our peer's address on a datagram could end the
/// handshake with one. The association waits whether the peer really falls silent.
package struct DTLSRecordGate {
  package struct Admission {
    /// Bytes of the datagram that libssl may see, from its start.
    package var count = 0
    /// A plain fatal alert or close_notify, by its description.
    package var alert: UInt8?
    /// A plain handshake message is among the bytes.
    package var hasHandshake = false
  }

  static let headerCount = 13
  static let messageHeaderCount = 12
  /// Bytes of a handshake message at most. A ClientHello with a post-quantum share has 1.8 kB.
  package static let maximumMessage = 16_384
  /// Protected records let through before the handshake's end, since our last flight. libssl keeps those that come
  /// before the peer's ChangeCipherSpec, each with a buffer of 17 kB; a real peer sends one Finished a flight.
  package static let maximumEarlyRecords = 8

  /// Message types that the peer may send without protection (RFC 5246 section 7.4, RFC 6347 section 4.3.2), a bit each.
  private let messages: UInt32
  private var early = 0

  package init(role: MediaPlan.DTLS.Role) {
    let types: [UInt8] = role == .server ? [1, 11, 15, 16] : [0, 2, 3, 4, 11, 12, 13, 14, 22]
    messages = types.reduce(0) { $0 | 1 << UInt32($1) }
  }

  /// A flight was sent: its answer may hold early records again.
  package mutating func sentFlight() { early = 0 }

  package mutating func admit(_ packet: PacketBuffer, isEstablished: Bool) -> Admission {
    var admission = Admission()
    guard packet.count <= PacketBuffer.maximumDatagram else { return admission }
    while packet.count - admission.count >= DTLSRecordGate.headerCount {
      let start = admission.count
      let body = start + DTLSRecordGate.headerCount
      let type = packet[start]
      let epoch = packet.integer(at: start + 3, as: UInt16.self)
      let length = Int(packet.integer(at: start + 11, as: UInt16.self))
      // 0xFE: every DTLS before 1.3, and the first ClientHello of 1.3.
      guard packet[start + 1] == 0xFE, length > 0, length <= packet.count - body else { return admission }
      if epoch == 0 {
        switch type {
        case 20:
          guard length == 1, packet[body] == 1 else { return admission }
        case 21:
          // Warnings say nothing of use before the end.
          if length == 2, packet[body] == 2 || packet[body + 1] == 0 { admission.alert = packet[body + 1] }
          return admission
        case 22:
          guard isHandshake(packet, from: body, to: body + length) else { return admission }
          admission.hasHandshake = true
        default: return admission
        }
      } else {
        guard epoch == 1, (20...23).contains(type) else { return admission }
        if !isEstablished {
          guard early < DTLSRecordGate.maximumEarlyRecords else { return admission }
          early += 1
        }
      }
      admission.count = body + length
    }
    return admission
  }

  /// Whether the bytes are whole fragments of messages that the peer may send.
  private func isHandshake(_ packet: PacketBuffer, from start: Int, to end: Int) -> Bool {
    var offset = start
    while offset < end {
      guard end - offset >= DTLSRecordGate.messageHeaderCount, packet[offset] < 32,
        messages >> UInt32(packet[offset]) & 1 == 1
      else { return false }
      let length = uint24(packet, offset + 1)
      let fragmentOffset = uint24(packet, offset + 6)
      let fragment = uint24(packet, offset + 9)
      offset += DTLSRecordGate.messageHeaderCount
      guard length <= DTLSRecordGate.maximumMessage, fragmentOffset + fragment <= length, fragment <= end - offset,
        fragment > 0 || length == 0
      else { return false }
      offset += fragment
    }
    return true
  }

  private func uint24(_ packet: PacketBuffer, _ offset: Int) -> Int {
    Int(packet[offset]) << 16 | Int(packet.integer(at: offset + 1, as: UInt16.self))
  }
}
