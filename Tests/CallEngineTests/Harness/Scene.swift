import AppProtocol
import CallEngine
import CallModel
import LedgerCore
import RoutingCore
import SDPCore
import SIPCore

/// Who and what stands around calls in tests.
enum Scene {
  static let host = SIPHost.ipv4(0xC000_0201)
  static let account = AccountName(unchecked: "acme")
  static let node = CallOperation.Origin(node: NodeID(unchecked: "gw-1"), epoch: 1)
  static let phone = "+46701234567"
  static let ours = "+46850000001"

  /// 60/1 at 0.06 a minute: a thousand micro-units a second. 4671 has a fee of 0.01, 4672 a grace of 2 s and 30/6.
  static let deck = """
    prefix,name,currency,rate,unit,fee,initial,increment,grace
    46,Sweden,EUR,0.06,60,0,60,1,0
    4671,Fee,EUR,0.06,60,0.01,60,1,0
    4672,Grace,EUR,0.06,60,0,30,6,2
    4673,Only fee,EUR,0,60,0.5,1,1,0
    4690,Blocked,EUR,0.06,60,0,60,1,0

    """

  static func plan(_ text: String = Scene.deck) throws -> RatePlan {
    var reader = DeckReader(settings: try DeckSettings(name: "retail", version: "1", currency: .eur, zone: .utc))
    Array(text.utf8).withUnsafeBytes { reader.feed($0) }
    return try RatePlan(
      name: "retail", [RatePlan.Entry(RateIndex(try reader.finish(), at: .distantPast))])
  }

  static func payer(_ plan: RatePlan?, environment: String = "production") throws -> Payer {
    let denied = try DenyRanges([(prefix: NumberDigits("4690"), ruling: DenyRanges.Ruling.denied(.premium))])
    return Payer(
      environment: environment, account: account, currency: .eur, plan: plan, denyRanges: denied)
  }

  static func caller(_ payer: Payer, user: String = "alice") throws -> AppCaller {
    AppCaller(
      identity: try identity(user), payer: payer,
      callerNumbers: [try E164Number(ours), try E164Number("+46850000002")])
  }

  static func identity(_ user: String) throws -> AppIdentity {
    AppIdentity(application: "key", user: try UserID(user), device: "phone", capabilities: [.calling])
  }

  static func trunk(
    _ name: String, host: UInt32, priority: UInt16 = 10, protection: MediaPolicy.Protection = .none,
    limits: TrunkCapacity.Limits = TrunkCapacity.Limits(), owned: Set<E164Number>? = nil, pings: Bool = false,
    sessionTimer: SessionTimerPolicy = .standard, maximumRedirections: Int = 0,
    ringTimeoutMilliseconds: Int64 = 180_000, paths: [SIPPath] = [], recording: RecordingOptions? = nil
  ) throws -> CallTrunk {
    var health = TrunkHealth.Policy()
    if !pings { health.intervalMilliseconds = 0 }
    return CallTrunk(
      trunk: try Trunk(name: name, priority: priority, limits: limits, healthPolicy: health),
      uri: SIPURI(scheme: .sip, user: nil, host: .ipv4(host)),
      identity: CallerIdentityPolicy(domain: Scene.host, ownedNumbers: owned), media: .trunk(protection),
      sessionTimer: sessionTimer, maximumRedirections: maximumRedirections,
      ringTimeoutMilliseconds: ringTimeoutMilliseconds, paths: paths, recording: recording)
  }

  static func configuration(_ trunks: [CallTrunk]? = nil, maximumRedirections: Int = 0) throws -> EngineConfiguration {
    let trunks =
      try trunks ?? [
        trunk("carrier-1", host: 0xC633_6401, maximumRedirections: maximumRedirections),
        trunk("carrier-2", host: 0xC633_6402, priority: 20, maximumRedirections: maximumRedirections),
      ]
    let farEnd = try trunk("far-end", host: 0x7F00_0001)
    return EngineConfiguration(
      environments: [
        .init(name: "production", origin: node, trunks: trunks.map(\.trunk.name)),
        .init(name: "sandbox", origin: node, trunks: ["far-end"], hasSandboxNumbers: true),
      ], trunks: trunks + [farEnd], host: host)
  }

  /// What a browser offers.
  static func appOffer(_ direction: String = "sendrecv", fragment: String = "appu", version: Int = 1) -> String {
    let hash = (0..<32).map { _ in "AB" }.joined(separator: ":")
    return [
      "v=0", "o=- 4711 \(version) IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0",
      "m=audio 9 UDP/TLS/RTP/SAVPF 111 0 8 101", "c=IN IP4 0.0.0.0", "a=rtcp-mux", "a=mid:0",
      "a=ice-ufrag:\(fragment)", "a=ice-pwd:abcdefghijklmnopqrstuvwx", "a=fingerprint:sha-256 \(hash)",
      "a=setup:actpass", "a=\(direction)", "a=rtpmap:111 opus/48000/2", "a=rtpmap:0 PCMU/8000", "a=rtpmap:8 PCMA/8000",
      "a=rtpmap:101 telephone-event/8000",
    ].map { $0 + "\r\n" }.joined()
  }

  static func appMedia() -> LocalMedia {
    LocalMedia(
      host: host, port: 40_000,
      fingerprint: CertificateFingerprint(hash: .sha256, bytes: Array(repeating: 0xCD, count: 32)),
      iceCredentials: ICECredentials(userFragment: "gatewayu", password: "abcdefghijklmnopqrstuvwx"))
  }

  static func trunkMedia(port: Int = 30_000) -> LocalMedia {
    LocalMedia(
      host: host, port: port, rtcpPort: port + 1,
      keyMaterial: Array(repeating: 7, count: LocalMedia.keyMaterialLength))
  }
}

/// The peer of a trunk leg, as far as sessions go.
struct TrunkPeer {
  var negotiation: OfferAnswer
  let media = LocalMedia(
    host: .ipv4(0xC633_6409), port: 20_000, keyMaterial: (0..<LocalMedia.keyMaterialLength).map { UInt8($0 & 255) })

  init(_ protection: MediaPolicy.Protection = [.none, .sdes]) {
    negotiation = OfferAnswer(sessionID: 99, host: .ipv4(0xC633_6409), policy: .trunk(protection))
  }

  mutating func answer(_ body: MessageBody?) throws -> MessageBody {
    let offer = try SessionDescription(parsing: body?.bytes ?? [])
    return MessageBody(
      sessionDescription: Array(try negotiation.answer(offer, from: media).description.text.utf8))
  }

  mutating func offer(_ direction: MediaDirection) throws -> MessageBody {
    negotiation.direction = direction
    return MessageBody(sessionDescription: Array(try negotiation.offer(from: media).text.utf8))
  }

  mutating func accept(_ body: MessageBody) throws -> MediaPlan {
    try negotiation.accept(try SessionDescription(parsing: body.bytes))
  }
}
