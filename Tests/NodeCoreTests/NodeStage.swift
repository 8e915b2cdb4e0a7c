import AppProtocol
import CallEngine
import CallModel
import LedgerCore
import NodeCore
import RoutingCore
import SDPCore
import SIPCore
import Synchronization
import Testing

/// A node's core with one environment, one trunk and one app; everything around it is played by the test, which sees each
/// effect and answers when it wants to.
final class NodeStage {
  static let environment = "production"
  static let account = AccountName(unchecked: "acme")
  static let node = NodeID(unchecked: "gw-1")
  static let application = "196087a1-e815-4bc4-8984-60d8d8a43f1d"
  static let trunkPath = SIPPath(
    listener: ListenerID(1), remote: TransportAddress(.udp, .ipv4(0xC633_6401), port: 5060))
  static let listener = AdvertisedAddress(
    listener: ListenerID(1), transport: .udp, host: .ipv4(0xC000_0201), port: 5060)

  let core: NodeCore
  private var settings: NodeSettings
  private(set) var now = MonotonicInstant(milliseconds: 1_000_000)
  /// Everything so far, in order.
  private(set) var effects: [NodeEffect] = []
  /// The effects of the last input.
  private(set) var last: [NodeEffect] = []
  private let client: AppSessionClient
  private var clientConnection: AppProtocol.ConnectionID?
  /// The app's connection, as the node numbers it.
  private(set) var connection = AppProtocol.ConnectionID(0)
  private(set) var events: [AppEvent] = []
  private var others: UInt64 = 0

  init(leftOver: [JournaledLeg] = [], _ change: (inout EngineConfiguration) -> Void = { _ in }) throws {
    var random: UInt64 = 1
    let draw: () -> UInt64 = {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return random
    }
    var health = TrunkHealth.Policy()
    health.intervalMilliseconds = 0
    let trunk = CallTrunk(
      trunk: try Trunk(name: "carrier", healthPolicy: health),
      uri: SIPURI(scheme: .sip, user: nil, host: NodeStage.trunkPath.remote.host),
      identity: CallerIdentityPolicy(domain: NodeStage.listener.host), media: .trunk(.none),
      paths: [NodeStage.trunkPath])
    var engine = EngineConfiguration(
      environments: [
        .init(
          name: NodeStage.environment, origin: CallOperation.Origin(node: NodeStage.node, epoch: 0),
          trunks: ["carrier"])
      ], trunks: [trunk], host: NodeStage.listener.host)
    change(&engine)
    settings = NodeSettings(
      engine: engine,
      applications: [
        NodeStage.application: NodeApplication(
          environment: NodeStage.environment, account: NodeStage.account,
          callerNumbers: [try E164Number("+46850000001")])
      ])
    var configuration = NodeConfiguration(
      node: NodeStage.node, environments: [NodeEnvironment(name: NodeStage.environment, ledger: "ledger.db")],
      settings: settings,
      agent: UserAgentConfiguration(addresses: [NodeStage.listener], acceptsCalls: true, trustsCallers: true),
      door: AppDoor.Configuration(version: "test"))
    configuration.leftOver = leftOver
    core = NodeCore(
      configuration, draw: draw,
      identifiers: IdentifierSource(Counter().next), at: NodeTime(now: now, clock: Instant(seconds: 1_795_000_000)))
    client = AppSessionClient(.init(client: "test/1"), draw: draw)
  }

  // MARK: Inputs

  /// Lets a delay stand until as few calls are let in as ever.
  func overload() {
    for _ in 0..<100 where core.admission.window != AdmissionGate.narrowestWindow {
      feed(.waited(.init(delayMicroseconds: 10_000_000, processorMicroseconds: now.microseconds)))
      now = now.advanced(byMilliseconds: 20)
    }
    #expect(core.admission.window == AdmissionGate.narrowestWindow)
  }

  func feed(_ input: NodeInput) {
    last = []
    core.handle(input, at: NodeTime(now: now, clock: Instant(seconds: 1_795_000_000)), into: &last)
    effects += last
    for effect in last {
      guard case .sendText(connection, let text) = effect, let clientConnection else { continue }
      feedClient(.text(clientConnection, text))
    }
  }

  func billed(_ answer: BillingAnswer) { feed(.billed(environment: NodeStage.environment, answer)) }
  func kept(_ answer: KeepingAnswer) { feed(.kept(environment: NodeStage.environment, answer)) }

  func wait(milliseconds: Int64) {
    now = now.advanced(byMilliseconds: milliseconds)
    feed(.due)
  }

  /// The node's life begins with nothing left of an earlier one.
  func start(epoch: Int64 = 7) {
    feed(.start)
    billed(.replayed(SpoolReplay(waiting: 0)))
    kept(.registered(.success(epoch)))
    kept(.recovered(.success([])))
  }

  /// What a reload of the configuration changes of the applications.
  func configure(_ change: (inout [String: NodeApplication]) -> Void) {
    change(&settings.applications)
    feed(.configure(settings))
  }

  // MARK: The app

  private func feedClient(_ input: AppSessionClientInput) {
    var effects: [AppSessionClientEffect] = []
    client.handle(input, at: now, into: &effects)
    perform(effects)
  }

  private func perform(_ effects: [AppSessionClientEffect]) {
    for effect in effects {
      switch effect {
      case .connect(let id):
        clientConnection = id
        connection = AppProtocol.ConnectionID(connection.number + 1)
        feed(.door(.opened(connection, host: .ipv4(0x7F00_0001))))
        feedClient(.opened(id))
      case .send(_, let bytes): feed(.door(.text(connection, bytes)))
      case .event(let event): events.append(event)
      case .close, .state, .lost, .signAgain, .keep, .draining: break
      }
    }
  }

  /// The app registers; its proof is taken for good.
  func register() throws {
    feedClient(
      .start(
        Registration(
          application: NodeStage.application, user: "alice", device: "phone",
          proof: .signature("x", sequence: 1), capabilities: [.calling])))
    let id = try #require(
      effects.lazy.compactMap { effect -> VerificationID? in
        if case .verify(let id, _, _) = effect { id } else { nil }
      }.last)
    let identity = AppIdentity(
      application: NodeStage.application, user: try UserID("alice"), device: "phone", capabilities: [.calling])
    feed(.door(.verified(id, .accepted(identity, nil))))
  }

  /// The app's connection breaks, and the node learns of it.
  func loseConnection() { feed(.door(.closed(connection))) }

  /// The app takes its session up again over a new connection.
  func comeBack() { feedClient(.networkChanged) }

  func request(_ request: AppRequest) {
    var effects: [AppSessionClientEffect] = []
    _ = client.send(request, at: now, into: &effects)
    perform(effects)
  }

  func call(_ target: String = "+46701234567", kind: Destination.Kind = .phone) {
    request(.call(PlaceCall(kind: kind, target: target, headers: [], offer: NodeStage.offer, callerNumber: nil)))
  }

  static let offer = {
    let hash = (0..<32).map { _ in "AB" }.joined(separator: ":")
    return [
      "v=0", "o=- 4711 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0", "m=audio 9 UDP/TLS/RTP/SAVPF 0",
      "c=IN IP4 0.0.0.0", "a=rtcp-mux", "a=mid:0", "a=ice-ufrag:appu", "a=ice-pwd:abcdefghijklmnopqrstuvwx",
      "a=fingerprint:sha-256 \(hash)", "a=setup:actpass", "a=sendrecv", "a=rtpmap:0 PCMU/8000",
    ].map { $0 + "\r\n" }.joined()
  }()

  // MARK: Other apps

  /// Another app registers, over a connection of its own.
  func join(
    _ user: String, _ device: String, profile: DeviceProfile = DeviceProfile(features: [.incoming], isListening: true)
  ) throws -> AppProtocol.ConnectionID {
    others += 1
    let connection = AppProtocol.ConnectionID(1_000 + others)
    feed(.door(.opened(connection, host: .ipv4(0x7F00_0001))))
    let registration = Registration(
      application: NodeStage.application, user: user, device: device, proof: .token("t"), capabilities: [.calling],
      profile: profile)
    feed(
      .door(.text(connection, AppMessageCoder.encode(.register(RequestNumber(1), registration, client: "test/1")))))
    let id = try #require(
      last.lazy.compactMap { effect -> VerificationID? in
        if case .verify(let id, _, _) = effect { id } else { nil }
      }.last)
    let identity = AppIdentity(
      application: NodeStage.application, user: try UserID(user), device: device, capabilities: [.calling])
    feed(.door(.verified(id, .accepted(identity, nil))))
    return connection
  }

  func ask(_ connection: AppProtocol.ConnectionID, _ number: UInt64, _ request: AppRequest) {
    feed(.door(.text(connection, AppMessageCoder.encode(.request(RequestNumber(number), request)))))
  }

  /// What another app was told inside its session.
  func heard(_ connection: AppProtocol.ConnectionID) -> [AppEvent] {
    effects.compactMap { effect in
      guard case .sendText(connection, let text) = effect,
        case .event(let event, _)? = try? AppMessageCoder.decodeServer(text)
      else { return nil }
      return event
    }
  }

  // MARK: What surrounds the node

  func payer() throws -> Payer {
    let text = "prefix,name,currency,rate,unit,fee,initial,increment,grace\n46,Sweden,EUR,0.06,60,0,60,1,0\n"
    var reader = DeckReader(settings: try DeckSettings(name: "retail", version: "1", currency: .eur, zone: .utc))
    Array(text.utf8).withUnsafeBytes { reader.feed($0) }
    let plan = try RatePlan(name: "retail", [RatePlan.Entry(RateIndex(try reader.finish(), at: .distantPast))])
    return Payer(environment: NodeStage.environment, account: NodeStage.account, currency: .eur, plan: plan)
  }

  func answerPayer() throws {
    feed(.payer(environment: NodeStage.environment, NodeStage.account, .success(try payer())))
  }

  /// Answers what the last call asks for, up to its hold.
  func answerMedia() throws {
    let (call, needs) = try #require(
      effects.lazy.compactMap { effect -> (CallID, MediaNeeds)? in
        if case .prepare(let call, let needs) = effect { (call, needs) } else { nil }
      }.last)
    let near = LocalMedia(
      host: .ipv4(0xC000_0201), port: 40_000,
      fingerprint: CertificateFingerprint(hash: .sha256, bytes: Array(repeating: 0xCD, count: 32)),
      iceCredentials: ICECredentials(userFragment: "gatewayu", password: "abcdefghijklmnopqrstuvwx"))
    let far = LocalMedia(
      host: .ipv4(0xC000_0201), port: 30_000, rtcpPort: 30_001,
      keyMaterial: Array(repeating: 7, count: LocalMedia.keyMaterialLength))
    feed(.prepared(call, .success(PreparedMedia(needs.legs.mapValues { $0.isOwn ? far : near }))))
  }

  static func granted() -> Result<LedgerReceipt, LedgerUnavailable> {
    .success(LedgerReceipt(seq: 1, isReplay: false, outcome: .granted(seconds: 60, amount: 60_000, isFinal: false)))
  }

  /// The operations of the last errand that asks for any.
  var operations: [LedgerOperation] {
    effects.lazy.compactMap { effect -> [LedgerOperation]? in
      if case .bill(_, .perform(let operations)) = effect { operations } else { nil }
    }.last ?? []
  }

  /// A call is placed and its INVITE is out.
  func dial() throws {
    call()
    try answerPayer()
    try answerMedia()
    billed(.performed([NodeStage.granted()]))
  }

  var invites: [[UInt8]] { NodeStage.invites(effects) }

  static func invites(_ effects: [NodeEffect]) -> [[UInt8]] {
    effects.compactMap { effect in
      if case .send(let bytes, _, _) = effect, bytes.starts(with: Array("INVITE ".utf8)) { bytes } else { nil }
    }
  }

  /// What the log was told, by message.
  var logged: [String] {
    effects.compactMap { effect in
      if case .log(let entry) = effect { entry.message } else { nil }
    }
  }
}

/// Numbers one after the other.
private final class Counter: Sendable {
  private let value = Mutex<UInt64>(0)
  var next: @Sendable () -> UInt64 {
    {
      self.value.withLock {
        $0 += 1
        return $0
      }
    }
  }
}
