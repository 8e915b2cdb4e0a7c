import CallModel
import SDPCore
import SecureTransport

/// Datagrams to an app's own leg with full ICE. The first byte chooses the description of the peer; then each record is
/// two bytes, a kind above a length, and its bytes.
enum ClientLegDoor {
  static let door = FuzzDoor("client-leg", "datagrams to a client's leg", dictionary: "stun", maximumBytes: 8192) {
    (input) throws(BrokenPromise) in
    guard let first = input.first, let bench = Bench(first) else { return }
    var rest = input.dropFirst()
    for _ in 0..<64 where rest.count > 2 {
      let word = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
      rest = rest.dropFirst(2)
      let bytes = rest.prefix(word & 0x3FFF).prefix(PacketBuffer.maximumDatagram)
      rest = rest.dropFirst(bytes.count)
      switch word >> 14 {
      case 0: try bench.deliver(bytes, port: 0)
      case 1: try bench.deliver(bytes, port: 1)
      case 2: try bench.answer(bytes)
      default: try bench.advance(milliseconds: Int64(word & 0x3FFF))
      }
    }
    try bench.end()
  }
}

private final class Bench {
  private let transport: ClientTransport
  private let outbox = PacketOutbox()
  private let packet = PacketBuffer()
  private var now = MonotonicInstant.zero
  private var events: [TransportEvent] = []
  private var lastCheck: STUNTransaction?
  private static let locals = [
    ClientTransport.Local(port: MediaPort(rawValue: 0), address: MediaAddress(ipv4: 0x7F00_0001, port: 4000)),
    ClientTransport.Local(port: MediaPort(rawValue: 1), address: MediaAddress(ipv4: 0x7F00_0002, port: 4001)),
  ]
  private static let credentials = ICECredentials(userFragment: "appU", password: "appPasswordappPassword00")
  private static let remote = MediaAddress(ipv4: 0xC000_0263, port: 5000)
  private static let other = MediaAddress(ipv4: 0xC633_640A, port: 6000)
  private static let remotePassword = "gwPasswordgwPasswordgw00"

  init?(_ choice: UInt8) {
    guard let certificates = AppLegDoor.certificates, let credentials = Self.credentials else { return nil }
    let candidates =
      choice & 1 == 0 ? [] : ["a=candidate:1 1 udp 2130706431 192.0.2.99 5000 typ host", "a=end-of-candidates"]
    let lines =
      [
        "v=0", "o=- 7 1 IN IP4 192.0.2.99", "s=-", "t=0 0", choice & 2 == 0 ? "a=ice-lite" : "a=tool:x",
        "m=audio 5000 UDP/TLS/RTP/SAVPF 0", "c=IN IP4 192.0.2.99", "a=rtcp-mux", "a=setup:passive",
        "a=fingerprint:\(certificates.theirs.fingerprint)", "a=ice-ufrag:gwUf", "a=ice-pwd:\(Self.remotePassword)",
      ] + candidates
    var exchange = OfferAnswer(sessionID: 1, host: SDPDoors.host, policy: .client)
    let local = LocalMedia(
      host: SDPDoors.host, port: 4000, fingerprint: certificates.ours.fingerprint, iceCredentials: credentials)
    guard (try? exchange.offer(from: local)) != nil,
      let answer = try? SessionDescription(parsing: lines.map { $0 + "\r\n" }.joined()),
      let plan = try? exchange.accept(answer)
    else { return nil }
    let drawn = DrawnNumbers()
    transport = ClientTransport(
      ClientTransport.Configuration(
        locals: Self.locals, certificate: certificates.ours, credentials: credentials, draw: { drawn.next() }),
      at: now)
    transport.apply(plan, at: now, outbox: outbox, events: &events)
    noteCheck()
  }

  /// Keeps the transaction of the last check that went out.
  private func noteCheck() {
    for index in 0..<outbox.count {
      guard let message = STUNMessage(outbox.buffer(at: index)), message.kind == .request else { continue }
      lastCheck = message.transaction
    }
  }

  /// As it came.
  func deliver(_ bytes: ArraySlice<UInt8>, port: Int) throws(BrokenPromise) {
    packet.replace(with: bytes)
    try receive(on: Self.locals[port].port, from: port == 0 ? Self.remote : Self.other)
  }

  /// An answer to the last check of ours that is right but for what the bytes say: attributes, and which proofs it has.
  func answer(_ bytes: ArraySlice<UInt8>) throws(BrokenPromise) {
    guard let choice = bytes.first else { return }
    guard let lastCheck else { return }
    let writer = STUNWriter(packet, .success, transaction: lastCheck)
    let attributes: ArraySlice<UInt8> = bytes.dropFirst()
    for byte in attributes.prefix(min(attributes.count & ~3, 1200)) { packet.append(byte) }
    packet.store(UInt16(packet.count - STUNMessage.headerCount), at: 2)
    if choice & 1 != 0 { writer.appendIntegrity(STUNIntegrity(Self.remotePassword)) }
    if choice & 2 != 0 { writer.appendFingerprint() }
    try receive(on: Self.locals[0].port, from: choice & 4 == 0 ? Self.remote : Self.other)
  }

  private func receive(on port: MediaPort, from address: MediaAddress) throws(BrokenPromise) {
    outbox.removeAll()
    let received = transport.receive(packet, on: port, from: address, at: now, outbox: outbox, events: &events)
    noteCheck()
    try promise(received != .rtp && received != .rtcp, "chance opened a packet")
    try promise(!transport.isReady, "chance has a certificate")
    try promise(outbox.count <= 16, "\(outbox.count) packets answer one")
  }

  func advance(milliseconds: Int64) throws(BrokenPromise) {
    let end = now.advanced(byMilliseconds: milliseconds)
    for _ in 0..<4096 {
      guard let next = transport.nextDeadline, next <= end else { break }
      now = max(now, next)
      outbox.removeAll()
      transport.advance(to: now, outbox: outbox, events: &events)
      noteCheck()
      if let following = transport.nextDeadline { try promise(following > now, "a deadline stayed behind") }
    }
    now = end
  }

  func end() throws(BrokenPromise) {
    try advance(milliseconds: 90_000)
    try promise(!transport.isReady && transport.destination == nil, "media without consent")
    transport.close(at: now, outbox: outbox)
    try promise(transport.nextDeadline == nil, "a closed leg waits for something")
  }
}
