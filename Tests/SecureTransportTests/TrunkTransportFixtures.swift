import CallModel
import SDPCore
import SecureTransport

/// A trunk leg with a negotiation of its own, and the peer's keys.
struct TrunkLeg {
  static let port = MediaPort(rawValue: 4)
  static let controlPort = MediaPort(rawValue: 5)
  /// What the descriptions name: 192.0.2.7:30000 and 30001.
  static let peer = MediaAddress(ipv4: 0xC000_0207, port: 30_000)
  static let peerControl = MediaAddress(ipv4: 0xC000_0207, port: 30_001)
  static let otherPort = MediaAddress(ipv4: 0xC000_0207, port: 41_234)
  static let neighbour = MediaAddress(ipv4: 0xC000_0263, port: 30_000)
  static let stranger = MediaAddress(ipv4: 0xCB00_7142, port: 30_000)

  static let firstKey = "cJOJ7kxQjhFBp2fP6AYjs3vKw7CeBdWZCj0isbJv"
  static let secondKey = "WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz"

  let transport: TrunkTransport
  var end: OfferAnswer
  var events: [TransportEvent] = []

  init(
    _ source: SourcePolicy = .strict, protection: MediaPolicy.Protection = [.none, .sdes], multiplexed: Bool = false
  ) {
    transport = TrunkTransport(
      TrunkTransport.Configuration(port: TrunkLeg.port, controlPort: TrunkLeg.controlPort, source: source), at: .zero)
    var policy = MediaPolicy.trunk(protection)
    policy.multiplexesRTCP = multiplexed
    end = OfferAnswer(sessionID: 1, host: .ipv4(0xC633_6401), policy: policy)
  }

  static let network = MediaNetwork(.ipv4(0xC000_0200), prefixLength: 24)
  static func learning() -> SourcePolicy { .learn(networks: network.map { [$0] } ?? []) }

  static let local = LocalMedia(
    host: .ipv4(0xC633_6401), port: 40_000,
    keyMaterial: (0..<LocalMedia.keyMaterialLength).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) })

  /// An offer comes and is applied.
  mutating func offered(
    _ lines: [String] = [], host: String = "IP4 192.0.2.7", port: Int = 30_000, at now: MonotonicInstant = .zero
  ) throws {
    let isSecured = lines.contains { $0.hasPrefix("a=crypto") }
    let media = ["m=audio \(port) RTP/\(isSecured ? "SAVP" : "AVP") 0", "a=rtpmap:0 PCMU/8000"] + lines
    let text = (["v=0", "o=- 7 1 IN IP4 192.0.2.7", "s=-", "c=IN \(host)", "t=0 0"] + media).map { $0 + "\r\n" }
      .joined()
    let plan = try end.answer(try SessionDescription(parsing: text), from: TrunkLeg.local).plan
    transport.apply(plan, at: now, events: &events)
  }

  static func crypto(_ key: String, lifetime: String = "") -> String {
    "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:\(key)\(lifetime)"
  }

  /// What the peer protects with a key of its description.
  static func peerSender(_ key: String) throws -> SRTPContext {
    guard
      case .usable(_, let suite, let read) = CryptoAttribute(String(crypto(key).dropFirst("a=crypto:".count))).verdict
    else { throw SRTPFixtures.MissingFixture() }
    return try SRTPContext(suite, read, .send)
  }

  /// What the peer opens with our key.
  func peerReceiver() throws -> SRTPContext {
    guard case .sdes(let keys) = end.plan?.protection else { throw SRTPFixtures.MissingFixture() }
    return try SRTPContext(keys.suite, keys.send, .receive)
  }

  mutating func receive(
    _ packet: PacketBuffer, from address: MediaAddress, on port: MediaPort = TrunkLeg.port, at milliseconds: Int64 = 0
  ) -> ReceivedDatagram {
    transport.receive(
      packet, on: port, from: address, at: MonotonicInstant(milliseconds: milliseconds), events: &events)
  }

  func count(_ reason: DropReason) -> UInt64 { transport.dropped[reason.rawValue] }
}
