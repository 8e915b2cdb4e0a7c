import CallModel
import MediaCore
import NIOCore
import SDPCore
import SecureTransport

/// The media of one call: its sockets, its end of ICE, DTLS and RTP, its negotiation and its sound, on the client's loop.
final class MediaSession {
  enum Event {
    case secured(CryptoSuite?)
    case failed(TransportFailure)
    case closedByPeer
    case statistics(MediaStatistics)
    /// The relay that carried the sound is gone.
    case relayLost
    /// Nothing comes any more, neither sound nor a report: the way seems closed.
    case silent
    /// Whether the app is heard has changed.
    case muted(Bool)
  }

  enum Failure: Error {
    /// A description of the gateway cannot be read.
    case description
    /// It was asked for before the sockets are open, or after the end.
    case notOpen
  }

  /// Milliseconds without sound and without a report, of which the gateway sends one a second, until another way is looked
  /// for, and between two such searches.
  static let silenceMilliseconds: Int64 = 5_000
  static let searchMilliseconds: Int64 = 10_000

  private let eventLoop: any EventLoop
  private let certificate: DTLSCertificate
  private let pump: AudioPump
  private let tell: (Event) -> Void
  private let track: (any Channel) -> Void
  /// Asked when a relay is needed: credentials may have been renewed since the call began.
  private let relayTerms: () -> SoundRelay.Terms?
  private var sockets: MediaSockets?
  private var endpoint: AudioEndpoint?
  private var exchange: OfferAnswer?
  private var credentials = MediaSession.freshCredentials()
  private let canonicalName = MediaSession.randomText(16)
  /// Shared by all calls of the loop: empty whenever no packet is worked on.
  private let outbox: PacketOutbox
  private var events: [AudioEndpoint.Event] = []
  private let wakeUp: WakeUp
  private var relay: SoundRelay?
  private var relayDue: Scheduled<Void>?
  /// A search for another way is told of no sooner than then.
  private var nextSearch = MonotonicInstant.zero
  /// Why no relay carries the sound, once all were asked.
  private(set) var relayProblem: String?
  private var isClosed = false
  /// This side holds the call: nothing of the app is heard.
  var isOnHold = false

  init(
    on eventLoop: any EventLoop, certificate: DTLSCertificate, outbox: PacketOutbox, audio: [AudioController],
    track: @escaping (any Channel) -> Void, relayTerms: @escaping () -> SoundRelay.Terms?,
    _ tell: @escaping (Event) -> Void
  ) {
    self.eventLoop = eventLoop
    wakeUp = WakeUp(on: eventLoop)
    self.certificate = certificate
    self.outbox = outbox
    self.track = track
    self.relayTerms = relayTerms
    self.tell = tell
    pump = AudioPump(on: eventLoop, audio)
  }

  /// Opens sockets for a device that reaches the gateway from `host`.
  func open(from host: MediaAddress) -> EventLoopFuture<Void> {
    let sockets = MediaSockets(on: eventLoop, track: track) { [weak self] packet, port, source in
      self?.received(packet, port, source)
    }
    self.sockets = sockets
    return sockets.open(from: host).assumeIsolated().map { self.begin() }.nonisolated()
  }

  private func begin() {
    guard !isClosed, let sockets, endpoint == nil, let first = sockets.locals.first else { return }
    var generator = SystemRandomNumberGenerator()
    let transport = ClientTransport.Configuration(
      locals: sockets.locals, certificate: certificate, credentials: credentials,
      draw: { UInt64.random(in: 0...(.max)) })
    let stream = MediaLegConfiguration.Stream(
      canonicalName: canonicalName, unixMicroseconds: Clock.unixMicroseconds, draw: { generator.next() })
    var configuration = AudioEndpoint.Configuration(MediaLegConfiguration(.client(transport), stream: stream))
    configuration.samplingRate = AudioFormat.samplingRate
    endpoint = AudioEndpoint(configuration, workspace: MediaWorkspace(), at: Clock.now)
    exchange = OfferAnswer(sessionID: generator.next(), host: first.address.host, policy: .client)
    settle()
  }

  // MARK: Negotiation

  var isOfferPending: Bool { exchange?.isOfferPending ?? false }

  private func local() throws -> LocalMedia {
    guard let locals = sockets?.locals, let first = locals.first else { throw Failure.notOpen }
    return LocalMedia(
      host: first.address.host, port: Int(first.address.port), fingerprint: certificate.fingerprint,
      iceCredentials: credentials, candidates: locals.map(\.candidate), canonicalName: canonicalName)
  }

  /// A description of ours, to be answered with ``accept(_:)``.
  func offer() throws -> String {
    guard exchange != nil else { throw Failure.notOpen }
    exchange?.direction = isOnHold ? .sendOnly : .sendAndReceive
    guard let description = try exchange?.offer(from: try local()) else { throw Failure.notOpen }
    return description.text
  }

  func accept(_ answer: String) throws {
    guard let description = try? SessionDescription(parsing: answer) else { throw Failure.description }
    guard let plan = try exchange?.accept(description) else { throw Failure.notOpen }
    follow(plan)
  }

  /// Answers a description of the gateway; an offer of ours that is on its way is given up.
  func answer(_ offer: String) throws -> String {
    guard let description = try? SessionDescription(parsing: offer) else { throw Failure.description }
    guard exchange != nil else { throw Failure.notOpen }
    exchange?.withdrawOffer()
    exchange?.direction = isOnHold ? .sendOnly : .sendAndReceive
    if exchange?.restartsICE(description) ?? false { renewCredentials(locals: nil) }
    guard let (answer, plan) = try exchange?.answer(description, from: try local()) else { throw Failure.notOpen }
    follow(plan)
    return answer.text
  }

  func withdrawOffer() { exchange?.withdrawOffer() }

  /// The device has another network: sockets there, and fresh credentials for the offer that must follow.
  func restart(from host: MediaAddress) -> EventLoopFuture<Void> {
    guard let sockets, endpoint != nil else { return eventLoop.makeFailedFuture(Failure.notOpen) }
    closeRelay()
    return sockets.open(from: host).assumeIsolated().map { self.renewCredentials(locals: sockets.locals) }.nonisolated()
  }

  private func renewCredentials(locals: [ClientTransport.Local]?) {
    credentials = MediaSession.freshCredentials()
    endpoint?.handle(.restart(credentials, locals: locals), at: Clock.now, outbox: outbox, events: &events)
    settle()
  }

  private func follow(_ plan: MediaPlan) {
    endpoint?.handle(.plan(plan), at: Clock.now, outbox: outbox, events: &events)
    settle()
    waitForDirectWay(plan)
    pump.start { [weak self] frame in self?.exchange(frame) ?? [] }
  }

  // MARK: Relay

  /// A relay is asked only where the direct way has not been found in time.
  private func waitForDirectWay(_ plan: MediaPlan) {
    guard relay == nil, endpoint?.seeksWay == true, let ice = plan.ice else { return }
    let peers = ice.addresses.map(\.0)
    let patience = TimeAmount.milliseconds(SoundRelay.patienceMilliseconds)
    relayDue?.cancel()
    relayDue = eventLoop.assumeIsolated().scheduleTask(in: patience) { [weak self] in self?.beginRelay(to: peers) }
  }

  private func beginRelay(to peers: [MediaAddress]) {
    guard !isClosed, relay == nil, endpoint?.seeksWay == true, let terms = relayTerms(),
      SoundRelay.isOffered(terms.access)
    else { return }
    relayProblem = nil
    let relay = SoundRelay(on: eventLoop, terms, peers: peers, track: track) { [weak self] in self?.took($0) }
    self.relay = relay
    relay.begin()
  }

  private func took(_ event: SoundRelay.Event) {
    guard !isClosed, let sockets else { return }
    switch event {
    case .ready(let connection, let relayed):
      // Found meanwhile: nothing is to be relayed.
      guard endpoint?.seeksWay == true else { return closeRelay() }
      let local = sockets.adopt(connection, relayed)
      endpoint?.handle(.add(local), at: Clock.now, outbox: outbox, events: &events)
      settle()
    case .datagram(let packet, let source, let connection): sockets.relayed(packet, from: source, by: connection)
    case .failed(let words):
      relayProblem = words
      let carried = sockets.isRelay(endpoint?.port)
      closeRelay()
      if carried { tell(.relayLost) }
    }
  }

  private func closeRelay() {
    relayDue?.cancel()
    relayDue = nil
    relay?.close()
    relay = nil
  }

  // MARK: Sound

  /// From now on the app is heard; before, silence keeps the way open.
  func startSource() { pump.hasSource = true }

  /// One frame out, one frame in.
  private func exchange(_ frame: AudioPump.Frame) -> [Int16] {
    guard let endpoint, !isClosed else { return [] }
    if let isMuted = frame.mutedChange { tell(.muted(isMuted)) }
    let now = Clock.now
    endpoint.send(isOnHold ? AudioPump.silence : frame.sent, at: now, outbox: outbox)
    let received = endpoint.nextFrame(at: now)
    settle()
    return received
  }

  // MARK: Packets and time

  private func received(_ packet: PacketBuffer, _ port: MediaPort, _ source: MediaAddress) {
    guard let endpoint, !isClosed else { return }
    endpoint.receive(packet, on: port, from: source, at: Clock.now, outbox: outbox, events: &events)
    settle()
  }

  /// Sends what is to be sent, tells what happened, and sees to the timer.
  private func settle() {
    sockets?.send(outbox)
    let happened = events
    events.removeAll(keepingCapacity: true)
    for event in happened {
      switch event {
      case .secured(let suite): tell(.secured(suite))
      case .failed(let failure): tell(.failed(failure))
      case .closedByPeer: tell(.closedByPeer)
      case .statistics(let statistics):
        tell(.statistics(statistics))
        watchSilence()
      case .connected, .moved, .firstMedia, .digit, .silence, .soundAgain, .bye, .closed: break
      }
    }
    schedule()
  }

  /// Consent is lost after half a minute, and the gateway may have ended the call by then.
  private func watchSilence() {
    let now = Clock.now
    guard let heard = endpoint?.heard, now.milliseconds(since: heard) >= MediaSession.silenceMilliseconds,
      nextSearch <= now
    else { return }
    nextSearch = now.advanced(byMilliseconds: MediaSession.searchMilliseconds)
    tell(.silent)
  }

  private func schedule() {
    wakeUp.set(isClosed ? nil : endpoint?.nextDeadline) { [weak self] in self?.awake() }
  }

  private func awake() {
    guard let endpoint, !isClosed else { return }
    endpoint.advance(to: Clock.now, outbox: outbox, events: &events)
    settle()
  }

  /// Takes leave of the gateway and closes the sockets; nothing is told any more.
  func close() {
    guard !isClosed else { return }
    endpoint?.handle(.close, at: Clock.now, outbox: outbox, events: &events)
    sockets?.send(outbox)
    isClosed = true
    events = []
    wakeUp.cancel()
    pump.stop()
    closeRelay()
    sockets?.close()
  }

  // MARK: Random texts

  private static func randomText(_ count: Int) -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    return String(decoding: (0..<count).map { _ in letters[Int.random(in: 0..<letters.count)] }, as: UTF8.self)
  }

  private static func freshCredentials() -> ICECredentials {
    var random = SystemRandomNumberGenerator()
    return ICECredentials(draw: { random.next() })
  }
}
