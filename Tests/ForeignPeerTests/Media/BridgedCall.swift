import CallModel
import Foundation
import LandlineWire
import MediaCore
import PeerKit
import SDPCore
import SIPCore
import SecureTransport
import Synchronization

/// One call through a gateway under test: an app on the left, a trunk on the right.
final class BridgedCall: Sendable {
  struct Terms: Sendable {
    /// What the trunk is offered.
    var codecs: [AudioCodec] = [.pcmu]
    var protection: MediaPolicy.Protection = .none
    /// What the app may use.
    var app = MediaPolicy.app
    init(_ codecs: [AudioCodec] = [.pcmu], protection: MediaPolicy.Protection = .none) {
      self.codecs = codecs
      self.protection = protection
    }
  }

  let identifier: MediaBridge.Identifier
  private let gateway: GatewayUnderTest
  private let ends: Mutex<(app: OfferAnswer, trunk: OfferAnswer)>
  private let appMedia: LocalMedia
  private let trunkMedia: LocalMedia
  private let call = Mutex<CallUnderTest?>(nil)

  init(
    _ gateway: GatewayUnderTest, _ identifier: MediaBridge.Identifier, _ terms: Terms,
    _ change: @escaping @Sendable (inout MediaLegConfiguration) -> Void
  ) async throws {
    self.gateway = gateway
    self.identifier = identifier
    let loop = gateway.loop
    let ports = try await Self.reply { loop.reserveTrunkPorts(for: identifier, .far, reply: $0) }
    gateway.log.note(ports)
    var random = SystemRandomNumberGenerator()
    let app = loop.appPorts[0]
    let credentials = ICECredentials(draw: { random.next() })
    let unixMicroseconds = Int64(Date().timeIntervalSince1970 * 1_000_000)
    func stream() -> MediaLegConfiguration.Stream {
      .init(canonicalName: "landline", unixMicroseconds: unixMicroseconds, draw: { random.next() })
    }
    let appStream = stream()
    var left = MediaLegConfiguration(
      .app(.init(port: app.port, certificate: gateway.certificate, credentials: credentials)), stream: appStream)
    var right = MediaLegConfiguration(
      .trunk(.init(port: ports.port, controlPort: ports.control)), stream: stream())
    change(&left)
    change(&right)
    appMedia = LocalMedia(
      host: app.address.host, port: Int(app.address.port), fingerprint: gateway.certificate.fingerprint,
      iceCredentials: credentials,
      candidates: [
        ICECandidate(
          foundation: "1", component: 1, priority: 2_130_706_431, address: app.address.host.description,
          port: Int(app.address.port))
      ], source: appStream.source)
    trunkMedia = LocalMedia(
      host: ports.address.host, port: Int(ports.address.port), rtcpPort: ports.controlAddress.map { Int($0.port) },
      keyMaterial: (0..<LocalMedia.keyMaterialLength).map { _ in .random(in: .min...(.max), using: &random) })
    ends = Mutex(
      (
        OfferAnswer(sessionID: random.next(), host: GatewayUnderTest.host, policy: terms.app),
        OfferAnswer(
          sessionID: random.next(), host: GatewayUnderTest.host,
          policy: MediaPolicy(codecs: terms.codecs, protection: terms.protection))
      ))
    let legs = [LegID.near: left, .far: right]
    try await Self.reply { loop.open(identifier, legs, reply: $0) }
    try require(
      loop.route(userFragment: credentials.userFragment, to: identifier, .near), "the loop takes a user fragment")
  }

  // MARK: The app

  /// - Returns: our answer.
  func answer(_ offer: String) throws -> String {
    let (description, plan) = try ends.withLock {
      try $0.app.answer(SessionDescription(parsing: Array(offer.utf8)), from: appMedia)
    }
    try apply(.plan(.near, plan))
    return description.text
  }

  func offer() throws -> String { try ends.withLock { try $0.app.offer(from: appMedia) }.text }

  func accept(_ answer: String) throws {
    try apply(
      .plan(.near, ends.withLock { try $0.app.accept(SessionDescription(parsing: Array(answer.utf8))) }))
  }

  /// Brings an app and us together: whoever offers, the keys are there afterwards.
  /// - Returns: what the app and we say of the association.
  @discardableResult
  func join(_ peer: PythonPeer, appOffers: Bool) async throws -> (app: PythonEvent, suite: CryptoSuite?) {
    if appOffers {
      let offer = try await peer.ask("offer", for: "offer").text("sdp") ?? ""
      try peer.run("remote", ["type": "answer", "sdp": answer(offer)])
    } else {
      try accept(
        await peer.ask("remote", ["type": "offer", "sdp": offer()], for: "answer").text("sdp") ?? "")
    }
    let connected = try await peer.event("connected")
    return (connected, try await secured(.near))
  }

  // MARK: The trunk

  /// Calls a port on loopback and joins it when it answers.
  @discardableResult
  func dial(_ port: UInt16, user: String = "service") async throws -> CallUnderTest {
    let offer = try ends.withLock { try $0.trunk.offer(from: trunkMedia) }
    var plan = try gateway.node.plan(to: port, user: user)
    plan.offer = MessageBody(sessionDescription: Array(offer.text.utf8))
    let call = gateway.node.place(plan)
    self.call.withLock { $0 = call }
    return call
  }

  /// - Returns: the suite of the trunk's SRTP; `nil` for RTP.
  @discardableResult
  func answered() async throws -> CryptoSuite? {
    guard let call = call.withLock({ $0 }) else { throw PeerFailure("nothing was dialled") }
    guard let body = try await call.established().body else { throw PeerFailure("the trunk answers without SDP") }
    try apply(.plan(.far, ends.withLock { try $0.trunk.accept(SessionDescription(parsing: body.bytes)) }))
    return try await secured(.far)
  }

  /// Ends both legs and waits for the last word of each.
  func hangUp() async throws {
    if let call = call.withLock({ $0 }) {
      call.hangUp()
      try require(try await call.ended().cause == .local, "the trunk's leg ends by our BYE")
    }
    try require(gateway.loop.close(identifier), "the loop takes the end of a call")
    _ = try await event("closed") { $0 == .closed ? true : nil }
  }

  // MARK: The bridge

  func apply(_ command: MediaCommand) throws {
    try require(gateway.loop.apply(command, to: identifier), "the loop takes \(command)")
  }

  var events: [MediaEvent] { gateway.log.events.lazy.filter { $0.bridge == self.identifier }.map(\.event) }

  /// The first event for which `choose` has a value.
  @discardableResult
  func event<Value: Sendable>(
    _ what: String, within seconds: Double = 20, _ choose: (MediaEvent) -> Value?
  ) async throws -> Value {
    try await Deadline(seconds: seconds).first("\(what) from the bridge") { events.lazy.compactMap(choose).first }
  }

  /// The suite that a leg's media is protected with; `nil` for plain RTP.
  func secured(_ side: LegID) async throws -> CryptoSuite? {
    try await event("keys of the \(side) leg") { event -> CryptoSuite?? in
      if case .transport(side, .secured(let suite)) = event { return .some(suite) }
      return nil
    }
  }

  func digits(_ side: LegID) -> String {
    String(
      events.compactMap { event -> Character? in
        if case .digit(side, let digit) = event { return digit.character }
        return nil
      })
  }

  /// Waits until so many digits came.
  func digits(_ side: LegID, count: Int) async throws -> String {
    try await Deadline(seconds: 20).first("\(count) digits; there were \(digits(side))") {
      digits(side).count >= count ? digits(side) : nil
    }
  }

  func statistics(_ side: LegID) -> [MediaStatistics] {
    events.compactMap {
      if case .statistics(side, let statistics) = $0 { return statistics }
      return nil
    }
  }

  // MARK: Helpers

  private static func reply<Success: Sendable>(
    _ post: (@escaping MediaLoop.Reply<Success>) -> Bool
  ) async throws -> Success {
    try await withCheckedThrowingContinuation { continuation in
      if !post({ continuation.resume(with: $0.mapError { $0 as any Error }) }) {
        continuation.resume(throwing: PeerFailure("the media loop takes no command"))
      }
    }
  }
}
