import CallModel
import SDPCore
import SecureTransport

/// Datagrams to a trunk leg. The first byte chooses the policy for sources; then each record is a byte that says from
/// where and after how long, two with a length, and its bytes.
enum TrunkLegDoor {
  static let door = FuzzDoor("trunk-leg", "datagrams to a trunk leg", dictionary: "binary", maximumBytes: 4096) {
    (input) throws(BrokenPromise) in
    guard let first = input.first, let plan else { return }
    let policies: [SourcePolicy] = [
      .strict, .learn(networks: []), .learn(networks: MediaNetwork(named.host, prefixLength: 24).map { [$0] } ?? []),
      .off,
    ]
    let policy = policies[Int(first & 3)]
    let leg = TrunkTransport(
      TrunkTransport.Configuration(port: port, controlPort: controlPort, source: policy), at: .zero)
    var events: [TransportEvent] = []
    leg.apply(plan, at: .zero, events: &events)
    let packet = PacketBuffer()
    var rest = input.dropFirst()
    var now = MonotonicInstant.zero
    var former = leg.destination
    var moves = 0
    for _ in 0..<64 where rest.count > 3 {
      let kind = rest[rest.startIndex]
      let count = Int(rest[rest.startIndex + 1] & 7) << 8 | Int(rest[rest.startIndex + 2])
      let bytes = rest.dropFirst(3).prefix(min(count, PacketBuffer.maximumDatagram))
      rest = rest.dropFirst(3 + bytes.count)
      now = now.advanced(byMilliseconds: Int64(kind >> 3) * 40)
      let source = [named, neighbour, stranger, port5][Int(kind & 3)]
      packet.replace(with: bytes)
      let received = leg.receive(
        packet, on: kind & 4 == 0 ? port : controlPort, from: source, at: now, events: &events)
      let isHeard = received == .rtp || received == .rtcp
      try promise(!isHeard || !bytes.isEmpty, "nothing is heard")
      if isHeard, policy == .strict {
        try promise(source.host == named.host, "a stranger is heard")
      }
      if isHeard, policy != .off { try promise(source != stranger, "a stranger from nowhere is heard") }
      if leg.destination != former {
        moves += 1
        former = leg.destination
        try promise(policy != .strict && policy != .off && source != stranger, "media follows \(source)")
      }
    }
    try promise(moves <= 3, "media moves \(moves) times")
    leg.close(at: now)
    try promise(!leg.isReady, "a closed leg sends")
  }

  private static let port = MediaPort(rawValue: 5)
  private static let controlPort = MediaPort(rawValue: 6)
  private static let named = MediaAddress(ipv4: 0xC000_0263, port: 5000)
  private static let port5 = MediaAddress(ipv4: 0xC000_0263, port: 5001)
  private static let neighbour = MediaAddress(ipv4: 0xC000_0264, port: 5000)
  private static let stranger = MediaAddress(ipv4: 0xC633_640A, port: 6000)
  private static let plan: MediaPlan? = {
    let text =
      "v=0\r\no=- 1 1 IN IP4 192.0.2.99\r\ns=-\r\nc=IN IP4 192.0.2.99\r\nt=0 0\r\nm=audio 5000 RTP/AVP 0 101\r\n"
    var exchange = OfferAnswer(sessionID: 1, host: SDPDoors.host, policy: .trunk([.none]))
    guard let offer = try? SessionDescription(parsing: Array(text.utf8)) else { return nil }
    return (try? exchange.answer(offer, from: SDPDoors.local))?.plan
  }()
}
