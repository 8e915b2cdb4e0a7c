import CallModel
import SDPCore
import SecureTransport

/// Datagrams on media ports.
enum TransportDoors {
  static let all = [
    FuzzDoor("datagram-kind", "a datagram", dictionary: "stun", maximumBytes: 1600, kind),
    FuzzDoor("stun-message", "a STUN message", dictionary: "stun", maximumBytes: 1600, stun),
    FuzzDoor("dtls-gate", "role, then DTLS records", dictionary: "dtls", maximumBytes: 1600, gate),
    FuzzDoor("dtls-hello", "role, then datagrams to a DTLS association", dictionary: "dtls", maximumBytes: 4096, hello),
    ICELiteDoor.door, TURNDoor.door, AppLegDoor.door, ClientLegDoor.door, TrunkLegDoor.door, SRTPDoor.door,
  ]

  private static func kind(_ input: [UInt8]) throws(BrokenPromise) {
    guard input.count <= PacketBuffer.capacity else { return }
    let packet = PacketBuffer(input)
    switch DatagramKind.of(packet) {
    case .stun: try promise(input.count >= 20 && input[0] < 4, "no STUN")
    case .dtls: try promise(input.count >= 13 && (20...63).contains(input[0]), "no DTLS")
    case .rtp, .rtcp: try promise(input.count >= 8 && input[0] >> 6 == 2, "no RTP")
    case .other: break
    }
    try promise(packet.bytes == input, "looking changed the packet")
  }

  /// Attributes lie in the message, and asking changes nothing.
  private static func stun(_ input: [UInt8]) throws(BrokenPromise) {
    guard input.count <= PacketBuffer.maximumDatagram else { return }
    let packet = PacketBuffer(input)
    // None that a committed message was signed with.
    let integrity = STUNIntegrity("nobodySignsWithThisOne00")
    if let fragment = STUNMessage.userFragment(in: packet) {
      try promise(fragment.utf8.count <= 256, "a fragment of \(fragment.utf8.count) bytes")
    }
    guard let message = STUNMessage(packet) else { return }
    _ = (message.errorCode, message.mappedAddress, message.nominates, message.userNameNames(Array("gwUf".utf8)))
    try promise(!message.hasIntegrity(integrity), "chance knows the password")
    try promise(packet.bytes == input, "reading changed the packet")
  }

  private static func gate(_ input: [UInt8]) throws(BrokenPromise) {
    guard let first = input.first, input.count <= PacketBuffer.maximumDatagram else { return }
    var gate = DTLSRecordGate(role: first & 1 == 0 ? .server : .client)
    let packet = PacketBuffer(input.dropFirst())
    let whole = gate.admit(packet, isEstablished: first & 2 != 0)
    try promise((0...packet.count).contains(whole.count), "\(whole.count) bytes of \(packet.count) pass")
    // What passed passes again by itself.
    guard whole.count > 0, first & 2 != 0 else { return }
    let again = gate.admit(PacketBuffer(packet.bytes.prefix(whole.count)), isEstablished: true)
    try promise(again.count == whole.count && again.hasHandshake == whole.hasHandshake, "another verdict")
  }

  /// Strangers' handshakes: never established, and never much more sent than was received.
  private static func hello(_ input: [UInt8]) throws(BrokenPromise) {
    guard let first = input.first, let certificates = AppLegDoor.certificates else { return }
    let role: MediaPlan.DTLS.Role = first & 1 == 0 ? .server : .client
    guard
      let association = try? DTLSAssociation(
        role: role, certificate: certificates.ours, fingerprints: [certificates.theirs.fingerprint],
        suites: [.aesGCM128])
    else { return }
    let outbox = PacketOutbox()
    let port = MediaPort(rawValue: 5)
    let address = MediaAddress(ipv4: 0xC000_0263, port: 5000)
    association.start(at: .zero, outbox: outbox, on: port, to: address)
    outbox.removeAll()
    var rest = input.dropFirst()
    var now = MonotonicInstant.zero
    for _ in 0..<16 where rest.count > 2 {
      let count = Int(rest[rest.startIndex] & 7) << 8 | Int(rest[rest.startIndex + 1])
      let bytes = rest.dropFirst(2).prefix(count)
      rest = rest.dropFirst(2 + bytes.count)
      now = now.advanced(byMilliseconds: 10)
      association.receive(PacketBuffer(bytes), at: now, outbox: outbox, on: port, to: address)
      if case .established = association.state { throw BrokenPromise(description: "chance has a certificate") }
    }
    let sent = (0..<outbox.count).reduce(0) { $0 + outbox.buffer(at: $1).count }
    // A flight holds our certificate; no stranger gets here before ICE has proved it.
    try promise(sent <= 8192, "\(sent) bytes answer \(input.count)")
  }
}
