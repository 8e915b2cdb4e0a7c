import CallModel
import LandlineNode
import LandlineWire
import MediaCore
import NIOCore
import NIOPosix
import PeerKit
import SDPCore
import SIPCore
import SecureTransport
import Synchronization

import struct Foundation.Date

/// A far end, and a caller of it with sound of its own, on loopback.
final class SandboxCaller: Sendable {
  static let host = SIPHost.ipv4(0x7F00_0001)
  /// Made once for all tests.
  static let prompts = Result { try PromptLibrary() }
  private static let listener = ListenerID(1)

  let farEnd: FarEnd
  private let node: SIPNode
  private let loop: MediaLoop
  private let log: Log
  private let numbers = Mutex<UInt64>(0)

  /// What was told to the caller, in order, with its time.
  final class Log: SIPNodeDelegate, Sendable {
    private let events = Mutex<[(event: UserAgentEvent, time: ContinuousClock.Instant)]>([])
    private let media = Mutex<[MediaLoopEvent]>([])
    private let messages = Mutex<[String]>([])

    func node(_ node: SIPNode, happened event: UserAgentEvent) { events.withLock { $0.append((event, .now)) } }
    func node(_ node: SIPNode, met problem: TransportProblem) {}
    func node(_ node: SIPNode, received message: [UInt8], from path: SIPPath) {
      messages.withLock { $0.append(String(decoding: message, as: UTF8.self)) }
    }
    func heard(_ more: [MediaLoopEvent]) { media.withLock { $0 += more } }

    var all: [(event: UserAgentEvent, time: ContinuousClock.Instant)] { events.withLock { $0 } }
    var sound: [MediaLoopEvent] { media.withLock { $0 } }
    var received: [String] { messages.withLock { $0 } }
  }

  private init(_ farEnd: FarEnd, _ node: SIPNode, _ loop: MediaLoop, _ log: Log) {
    self.farEnd = farEnd
    self.node = node
    self.loop = loop
    self.log = log
  }

  static func run(
    _ timing: FarEnd.Timing = quick, _ body: (SandboxCaller) async throws -> Void
  ) async throws {
    let log = Log()
    let farEnd = try await FarEnd.start(
      on: MultiThreadedEventLoopGroup.singleton.next(), timing: timing, prompts: prompts.get())
    let loop = try MediaLoop.start(
      MediaLoopConfiguration(app: [], trunk: [.init(bind: host, ports: 20_000...23_999)])
    ) { log.heard($0) }
    let node = try await SIPNode.start(
      SIPNode.Configuration(listeners: [SIPListener(id: listener, transport: .udp, host: host, port: 0)]),
      on: MultiThreadedEventLoopGroup.singleton.next()
    ) { _ in log }
    let caller = SandboxCaller(farEnd, node, loop, log)
    do { try await body(caller) } catch {
      await caller.stop()
      throw PeerFailure("\(error); the caller was told: \(caller.summary)")
    }
    try await caller.expectNothingHeld()
    await caller.stop()
    try await LeftOvers(ports: node.addresses.values.map(\.port), protocols: ["udp"]).areNone()
  }

  /// As the documentation, but for waits.
  static var quick: FarEnd.Timing {
    var timing = FarEnd.Timing()
    timing.answerMilliseconds = 200
    timing.timeoutMilliseconds = 120
    timing.dropMilliseconds = 600
    return timing
  }

  private var summary: String {
    log.all.map { String(String(describing: $0.event).prefix(200)) }.joined(separator: " | ")
  }

  private func stop() async {
    await farEnd.shutdown()
    try? await node.shutdown()
    await withCheckedContinuation { continuation in
      if !loop.shutDown({ _ in continuation.resume() }) { continuation.resume() }
    }
  }

  /// Nothing of any call is left at the far end.
  func expectNothingHeld() async throws {
    _ = try await Deadline(seconds: 10).first("far end that holds nothing") {
      let held = try await farEnd.holdings()
      let agent = ["live", "dialogs", "exchanges"].allSatisfy { held.agent[$0] ?? 0 == 0 }
      return held.calls == 0 && held.media.isIdle && agent ? true : nil
    }
  }

  func execute(_ command: UserAgentCommand) { node.execute(command) }
  func apply(_ command: MediaCommand, _ bridge: MediaBridge.Identifier) { _ = loop.apply(command, to: bridge) }
  func close(_ bridge: MediaBridge.Identifier) { loop.close(bridge) }
  var events: [(event: UserAgentEvent, time: ContinuousClock.Instant)] { log.all }
  var messages: [String] { log.received }
  func sound(_ bridge: MediaBridge.Identifier) -> [MediaEvent] {
    log.sound.filter { $0.bridge == bridge }.map(\.event)
  }

  /// Calls a user part. `offers` false leaves the offer to the far end; `text` takes its place.
  func call(
    _ user: String, headers: CustomHeaders = CustomHeaders(), codecs: [AudioCodec] = [.pcmu],
    protection: MediaPolicy.Protection = .none, offers: Bool = true, text: String? = nil
  ) async throws -> SandboxCall {
    let number = numbers.withLock { number in
      number += 1
      return number
    }
    let bridge = MediaBridge.Identifier(rawValue: number)
    let ports = try await reply { loop.reserveTrunkPorts(for: bridge, .far, reply: $0) }
    var random = SystemRandomNumberGenerator()
    let leg = MediaLegConfiguration(
      .trunk(.init(port: ports.port, controlPort: ports.control)),
      stream: .init(
        canonicalName: "caller", unixMicroseconds: Int64(Date().timeIntervalSince1970 * 1_000_000),
        draw: { random.next() }))
    try await reply { loop.open(bridge, [.far: leg], reply: $0) }
    let local = LocalMedia(
      host: ports.address.host, port: Int(ports.address.port), rtcpPort: ports.controlAddress.map { Int($0.port) },
      keyMaterial: (0..<LocalMedia.keyMaterialLength).map { _ in .random(in: .min...(.max), using: &random) })
    var exchange = OfferAnswer(
      sessionID: random.next(), host: Self.host, policy: MediaPolicy(codecs: codecs, protection: protection))
    let offer = offers ? try text ?? exchange.offer(from: local).text : nil
    let plan = OutgoingCall(
      target: try SIPURI(parsing: "sip:\(user)@127.0.0.1:\(farEnd.port)"),
      paths: [
        SIPPath(listener: Self.listener, remote: TransportAddress(.udp, Self.host, port: farEnd.port), serverName: nil)
      ],
      identity: OutgoingIdentity(from: NameAddress(try SIPURI(parsing: "sip:+4681234567@example.test"))),
      headers: headers, offer: offer.map { MessageBody(sessionDescription: Array($0.utf8)) })
    let call = SandboxCall(self, CallHandle(number), bridge, exchange, local)
    node.execute(.placeCall(call.handle, plan))
    return call
  }

  private func reply<Success: Sendable>(
    _ post: (@escaping MediaLoop.Reply<Success>) -> Bool
  ) async throws -> Success {
    try await withCheckedThrowingContinuation { continuation in
      if !post({ continuation.resume(with: $0.mapError { $0 as any Error }) }) {
        continuation.resume(throwing: PeerFailure("the media loop takes no command"))
      }
    }
  }
}

/// One call to the far end.
final class SandboxCall: Sendable {
  let handle: CallHandle
  let bridge: MediaBridge.Identifier
  private let caller: SandboxCaller
  private let exchange: Mutex<OfferAnswer>
  private let local: LocalMedia

  init(
    _ caller: SandboxCaller, _ handle: CallHandle, _ bridge: MediaBridge.Identifier, _ exchange: OfferAnswer,
    _ local: LocalMedia
  ) {
    self.caller = caller
    self.handle = handle
    self.bridge = bridge
    self.exchange = Mutex(exchange)
    self.local = local
  }

  func event<Value: Sendable>(
    _ what: String, within seconds: Double = 20, _ choose: (UserAgentEvent) -> Value?
  ) async throws -> (value: Value, time: ContinuousClock.Instant) {
    try await Deadline(seconds: seconds).first("\(what) of the far end") {
      for (event, time) in caller.events { if let value = choose(event) { return (value, time) } }
      return nil
    }
  }

  func progress(_ status: Int) async throws -> (value: Progress, time: ContinuousClock.Instant) {
    try await event("\(status)") {
      if case .progress(self.handle, let progress) = $0, progress.status == status { return progress }
      return nil
    }
  }

  func established() async throws -> (value: Answer, time: ContinuousClock.Instant) {
    try await event("answer") {
      if case .established(self.handle, let answer) = $0 { return answer }
      return nil
    }
  }

  func ended() async throws -> (value: CallEnd, time: ContinuousClock.Instant) {
    defer { caller.close(bridge) }
    return try await event("end") {
      if case .ended(self.handle, let end) = $0 { return end }
      return nil
    }
  }

  func failure() async throws -> CallFailure {
    let end = try await ended().value
    guard let failure = end.failure, !end.wasEstablished else { throw PeerFailure("the call did not fail: \(end)") }
    return failure
  }

  /// The far end's description comes into force.
  func join(_ body: MessageBody?) throws {
    guard let body else { throw PeerFailure("there is no session description") }
    let plan = try exchange.withLock { try $0.accept(SessionDescription(parsing: body.bytes)) }
    caller.apply(.plan(.far, plan), bridge)
  }

  /// Answers the far end's offer.
  func answer(_ offer: MessageBody?) throws -> MessageBody {
    guard let offer else { throw PeerFailure("there is no offer") }
    let (answer, plan) = try exchange.withLock {
      try $0.answer(SessionDescription(parsing: offer.bytes), from: local)
    }
    caller.apply(.plan(.far, plan), bridge)
    return MessageBody(sessionDescription: Array(answer.text.utf8))
  }

  /// An offer inside the call that wants this direction.
  func offer(_ direction: MediaDirection) throws -> MessageBody {
    let text = try exchange.withLock { exchange in
      exchange.direction = direction
      return try exchange.offer(from: local).text
    }
    return MessageBody(sessionDescription: Array(text.utf8))
  }

  func press(_ codes: [Int]) {
    caller.apply(.sendDigits(.far, codes: codes, milliseconds: 60, pause: 60), bridge)
  }

  func play(_ tones: [Tone]) { caller.apply(.playTones(.far, tones), bridge) }
  func hangUp() { caller.execute(.hangUp(handle, HangUp())) }

  func sound<Value: Sendable>(
    _ what: String, within seconds: Double = 30, _ choose: (MediaEvent) -> Value?
  ) async throws -> Value {
    try await Deadline(seconds: seconds).first("\(what) in the sound of the far end") {
      caller.sound(bridge).lazy.compactMap(choose).first
    }
  }

  /// Waits for figures of a second that fit.
  @discardableResult
  func statistics(
    _ what: String, within seconds: Double = 30, where fits: (MediaStatistics) -> Bool
  ) async throws -> MediaStatistics {
    try await sound(what, within: seconds) {
      if case .statistics(.far, let statistics) = $0, fits(statistics) { return statistics }
      return nil
    }
  }

  /// Waits until these keys came back.
  func digits(_ count: Int) async throws -> String {
    try await Deadline(seconds: 20).first("\(count) digits") {
      let keys = caller.sound(bridge).compactMap { event -> Character? in
        if case .digit(_, let digit) = event { return digit.character }
        return nil
      }
      return keys.count >= count ? String(keys) : nil
    }
  }

  var figures: [MediaStatistics] {
    caller.sound(bridge).compactMap {
      if case .statistics(.far, let statistics) = $0 { return statistics }
      return nil
    }
  }
}
