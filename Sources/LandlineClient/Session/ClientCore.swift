import AppProtocol
import CallModel
import NIOCore
import NIOSSL
import SecureTransport

/// A client on its loop: the session with the gateway, and the calls in it.
final class ClientCore {
  /// How long a graceful stop waits for calls to end.
  static let gracefulMilliseconds: Int64 = 5_000
  /// How long the gateway may take to judge a registration once the socket is open.
  static let registeringMilliseconds: Int64 = 10_000
  /// How long a stop waits for sockets to close.
  static let closingMilliseconds: Int64 = 2_000

  private enum Phase {
    /// A proof is being brought, or the first connection made.
    case starting
    case started
    case stopping
    case over
  }

  let eventLoop: any EventLoop
  private let door: LoopDoor
  let certificate: DTLSCertificate
  let audio: AudioController
  let outbox = PacketOutbox()
  private weak var client: (any IncomingCallOwner)?
  private let gateway: GatewayAddress
  private let options: ClientOptions
  private let registrar: Registrar
  private let context: NIOSSLContext?
  private let session: AppSessionClient
  private var phase = Phase.starting
  private var connection: (id: ConnectionID, socket: WebSocketConnection)?
  /// Where the gateway is reached from.
  private(set) var localHost: MediaAddress?
  /// Kept credentials were tried in this run.
  private var usedKept = false
  /// A fresh proof was asked for since the gateway last knew the user.
  private var askedFresh = false
  private var lastFailure: CallFailure?
  private var wantsListening = false
  /// What the gateway was told of it.
  private var toldListening = false
  private var startLimit: Scheduled<Void>?
  private var calls: [UInt64: CallCore] = [:]
  private var callNumbers: [CallID: UInt64] = [:]
  /// Calls that met one from the user they are for, by the id of that one, which is not here yet.
  private var crossings: [CallID: CallCore] = [:]
  private var requests: [RequestNumber: (call: CallCore, kind: CallCore.Request)] = [:]
  /// Events of calls whose `placed` reply is handled after them cannot be; unknown ids are dropped.
  private var inputs = CircularBuffer<AppSessionClientInput>()
  private var isHandling = false
  private let wakeUp: WakeUp
  private var tasks: [UInt64: Task<Void, Never>] = [:]
  private var nextTask: UInt64 = 0
  private var openChannels = 0
  /// Attempts to connect that are not over: a name may still be looked up for one that was given up.
  private var pendingConnects = 0
  private var stopped: EventLoopPromise<Void>?
  private var stopLimit: Scheduled<Void>?
  private var gracefulLimit: Scheduled<Void>?

  init(
    _ client: any IncomingCallOwner, through door: LoopDoor, gateway: GatewayAddress, options: ClientOptions,
    registrar: Registrar, context: NIOSSLContext?, certificate: DTLSCertificate
  ) {
    self.client = client
    self.door = door
    eventLoop = door.eventLoop
    wakeUp = WakeUp(on: door.eventLoop)
    self.gateway = gateway
    self.options = options
    self.registrar = registrar
    self.context = context
    self.certificate = certificate
    audio = client.audio
    var configuration = AppSessionClient.Configuration(client: options.software)
    // The socket knows better why it could not be opened, so it is given up first.
    configuration.connectMilliseconds = options.connectMilliseconds + ClientCore.registeringMilliseconds
    session = AppSessionClient(configuration, draw: { UInt64.random(in: 0...(.max)) })
  }

  // MARK: Beginning

  func start() {
    // A stop may have come first.
    guard phase == .starting else { return }
    wantsListening = client?.isListeningOnActiveConnection ?? false
    let limit = TimeAmount.milliseconds(options.startMilliseconds)
    startLimit = eventLoop.assumeIsolated().scheduleTask(in: limit) { [weak self] in
      guard let self, self.phase == .starting else { return }
      self.failed(self.lastFailure ?? CallFailure(.networkTimeout))
    }
    bringProof(isFresh: false)
  }

  private func bringProof(isFresh: Bool) {
    let registrar = registrar
    usedKept = false
    run { core in
      do {
        let registration = try await registrar.registration(isFresh: isFresh)
        core { $0.begin(registration) }
      } catch {
        let failure = error as? CallFailure ?? CallFailure(.internal, phrase: ErrorText.text(error))
        core { $0.failed(failure) }
      }
    }
  }

  /// Another registration of the user was ahead of the signature's sequence.
  private func signAgain(_ least: UInt64) {
    let registrar = registrar
    run { core in
      do {
        let proof = try await registrar.proof(least: least)
        core { if $0.phase == .starting || $0.phase == .started { $0.process(.proof(proof)) } }
      } catch {
        let failure = error as? CallFailure ?? CallFailure(.internal, phrase: "\(error)")
        core { $0.failed(failure) }
      }
    }
  }

  private func begin(_ registration: Registration) {
    guard phase == .starting || phase == .started else { return }
    if case .credential = registration.proof { usedKept = true }
    var registration = registration
    registration.profile = DeviceProfile(
      features: canBeCalled ? [.incoming, .rooms] : [], isListening: canBeCalled && wantsListening,
      name: options.deviceName,
      busyRule: options.busyRule)
    toldListening = registration.profile.isListening
    process(.start(registration))
  }

  /// Runs something off the loop that is cancelled when the run ends, and has no effect after it.
  private func run(
    _ body: @escaping @Sendable (@escaping @Sendable (@escaping @Sendable (ClientCore) -> Void) -> Void) async -> Void
  ) {
    guard phase != .over else { return }
    let number = nextTask
    nextTask += 1
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    let door = door
    tasks[number] = Task {
      await body { deed in door.execute { deed(bound.value) } }
      door.execute {
        bound.value.tasks[number] = nil
        bound.value.checkReleased()
      }
    }
  }

  // MARK: Session

  private func process(_ input: AppSessionClientInput) {
    inputs.append(input)
    guard !isHandling else { return }
    isHandling = true
    while let input = inputs.popFirst() {
      var effects: [AppSessionClientEffect] = []
      session.handle(input, at: Clock.now, into: &effects)
      perform(effects)
    }
    isHandling = false
    schedule()
  }

  private func perform(_ effects: [AppSessionClientEffect]) {
    for effect in effects {
      switch effect {
      case .connect(let id): connect(id)
      case .send(let id, let text):
        if let connection, connection.id == id { connection.socket.send(text) }
      case .close(let id, let code):
        if let connection, connection.id == id {
          self.connection = nil
          connection.socket.close(code: code)
        }
      case .state(let state): follow(state)
      case .event(let event): route(event)
      case .lost(let id, let failure):
        if let number = callNumbers[id] { calls[number]?.finish(.error, failure) }
      case .signAgain(let least): signAgain(least)
      case .keep(let credential): keep(credential)
      case .draining: client?.tell(.draining)
      }
    }
  }

  private func schedule() {
    wakeUp.set(phase == .over ? nil : session.nextDeadline) { [weak self] in
      guard let self else { return }
      var effects: [AppSessionClientEffect] = []
      self.session.advance(to: Clock.now, into: &effects)
      self.perform(effects)
      self.schedule()
    }
  }

  private func connect(_ id: ConnectionID) {
    let socket = WebSocketConnection(
      on: eventLoop, maximumBytes: options.maximumMessageBytes, track: { [weak self] in self?.track($0) },
      tell: { [weak self] in self?.took($0, id) })
    connection = (id, socket)
    pendingConnects += 1
    socket.connect(to: gateway, context: context, timeoutMilliseconds: options.connectMilliseconds)
      .assumeIsolated().whenComplete { [weak self] _ in
        self?.pendingConnects -= 1
        self?.checkReleased()
      }
  }

  private func took(_ event: WebSocketConnection.Event, _ id: ConnectionID) {
    switch event {
    case .opened(let host):
      let former = localHost
      localHost = host
      process(.opened(id))
      if let former, !former.hasHost(of: host) { hostChanged = true }
    case .text(let bytes): process(.text(id, bytes))
    case .violation: process(.violation(id))
    case .closed(let code, let failure):
      if connection?.id == id { connection = nil }
      if let failure {
        lastFailure = failure
        client?.log(.warning, "session", "\(failure)")
      }
      // Before the first success the app decides whether to try again; afterwards the session does.
      if phase == .starting, let failure { return failed(failure) }
      process(.closed(id, code: code))
    }
  }

  /// The gateway is reached from another address than before the loss.
  private var hostChanged = false

  private func follow(_ state: AppSessionClient.State) {
    switch state {
    case .idle, .connecting, .registering: break
    case .ready:
      startLimit?.cancel()
      askedFresh = false
      switch phase {
      case .starting:
        phase = .started
        client?.started(session.registered?.user.text ?? registrar.owner.user, session.registered?.features ?? [])
        if wantsListening, !isRungByGateway {
          client?.log(.warning, "session", "no call comes in: the gateway rings no apps, or the client lacks calling")
        }
      case .started:
        client?.tell(.connectionResumed)
        for call in calls.values { call.connection(isUp: true) }
        if hostChanged, let localHost { for call in calls.values { call.networkChanged(to: localHost) } }
      case .stopping, .over: break
      }
      hostChanged = false
      updateListening()
    case .reconnecting:
      client?.tell(.connectionLost)
      for call in calls.values { call.connection(isUp: false) }
    case .ended(let failure): sessionEnded(failure)
    }
  }

  private func sessionEnded(_ failure: CallFailure?) {
    guard phase != .stopping, phase != .over else { return checkReleased() }
    let isRefused = failure.map { $0.domain != .network && $0.code != .unavailable } ?? false
    if isRefused, usedKept || phase == .started, !askedFresh {
      // What was kept may be out of date: ask for a fresh proof, once.
      askedFresh = true
      client?.log(.info, "credentials", "the gateway did not take the kept credentials")
      return bringProof(isFresh: true)
    }
    failed(failure ?? lastFailure ?? CallFailure(.networkLost))
  }

  /// The client stops, as it cannot go on.
  private func failed(_ failure: CallFailure) {
    guard phase == .starting || phase == .started else { return }
    phase = .stopping
    for call in calls.values { call.finish(.error, failure) }
    process(.stop)
    client?.failed(failure)
    release()
  }

  private func keep(_ credential: DeviceCredential) {
    let registrar = registrar
    run { core in
      do {
        try await registrar.keep(credential)
      } catch {
        let text = ErrorText.text(error)
        core { $0.client?.log(.warning, "credentials", "they could not be kept: \(text)") }
      }
    }
  }

  func networkChanged() {
    guard phase == .started else { return }
    hostChanged = true
    process(.networkChanged)
  }

  /// How the gateway's relays are used, as it told of them last.
  var relayTerms: SoundRelay.Terms? {
    session.relays.map { SoundRelay.Terms(access: $0, trust: options.trust) }
  }

  // MARK: Calls for the user

  private var canBeCalled: Bool { registrar.capabilities.contains(.calling) }
  private var isRungByGateway: Bool { session.registered?.features.contains(.incoming) ?? false }
  var isInFront: Bool { client?.applicationState.isInFront ?? false }

  func setListening(_ isOn: Bool) {
    wantsListening = isOn
    updateListening()
  }

  /// Tells the gateway what differs from what it knows; at the latest when the session stands again.
  private func updateListening() {
    guard phase == .started, isRungByGateway, toldListening != wantsListening else { return }
    if ask(.listen(wantsListening)) != nil { toldListening = wantsListening }
  }

  private func invited(_ id: CallID, _ invitation: Invitation) {
    // The same call on a session that was begun anew while it rings.
    guard callNumbers[id] == nil, phase == .started, let client else { return }
    guard !isFull, let call = client.makeIncomingCall(id, invitation) else {
      client.log(.warning, "session", "a call was declined here: this client has \(options.maximumCalls) calls already")
      _ = ask(.decline(id, .device, .busy))
      return
    }
    let core = CallCore(incoming: call, id, self)
    calls[call.number] = core
    callNumbers[id] = call.number
    client.willReceive(call)
    if isInFront { core.isShown = true }
    if core.isShown, !call.isGivenUp { client.didReceive(call) }
    if let crossed = crossings.removeValue(forKey: id) { crossed.finishCrossed(by: call) }
    if !call.isGivenUp { core.ring(from: localHost) }
  }

  /// The app may be in front again: it is told of the calls that came meanwhile, and what was answered is taken.
  func applicationStateChanged() {
    guard isInFront else { return }
    for core in calls.values.sorted(by: { $0.call.number < $1.call.number }) where core.call.direction == .incoming {
      if !core.isShown, !core.call.isGivenUp {
        core.isShown = true
        client?.didReceive(core.call)
      }
      core.acceptWhenReady()
    }
  }

  /// A call that goes out met one that comes in: it ends once that one is known.
  func crossed(_ core: CallCore, with id: CallID) {
    if let number = callNumbers[id], let other = calls[number] { return core.finishCrossed(by: other.call) }
    crossings[id] = core
  }

  func answer(_ number: UInt64, headers: [PlaceCall.Header]) { calls[number]?.answer(headers: headers) }

  func decline(_ number: UInt64, _ scope: DeclineScope, _ reason: DeclineReason) {
    calls[number]?.decline(scope, reason)
  }

  private func ended(_ id: CallID, _ summary: CallSummary) {
    let core = callNumbers[id].flatMap { calls[$0] }
    core?.took(.ended(id, summary))
    guard summary.isMissed, core?.call.direction != .outgoing else { return }
    client?.missed(
      MissedCall(
        id: id, remote: core?.call.remote, remoteName: core?.call.remoteName ?? "", cause: summary.cause,
        startedAt: summary.startedAt, endedAt: summary.endedAt))
  }

  // MARK: Calls

  var isFull: Bool { calls.count >= options.maximumCalls }

  func place(_ call: Call, _ placing: PlaceCall) {
    let core = CallCore(call, self)
    guard phase == .started, let localHost else { return core.finish(.error, CallFailure(.networkLost)) }
    guard !isFull else {
      return core.finish(
        .error, CallFailure(.limit, phrase: "this client has \(options.maximumCalls) calls already"))
    }
    calls[call.number] = core
    core.begin(placing, from: localHost)
  }

  func hangUp(_ number: UInt64) { calls[number]?.hangUp() }
  func send(keys: String, _ number: UInt64) { calls[number]?.send(keys: keys) }
  func transfer(_ order: TransferOrder, _ number: UInt64) { calls[number]?.transfer(order) }
  func join(_ number: UInt64, with other: CallID) { calls[number]?.join(with: other) }
  func completeTransfer(_ number: UInt64) { calls[number]?.completeTransfer() }
  func takeBack(_ number: UInt64) { calls[number]?.takeBack() }
  func follow(_ watch: RoomWatch, _ number: UInt64) { calls[number]?.follow(watch) }
  func record(_ state: RecordingState, _ number: UInt64) { calls[number]?.record(state) }
  func setHold(_ isOn: Bool, _ number: UInt64) { calls[number]?.setHold(isOn) }

  /// - Returns: `nil` where nothing can be sent.
  func send(_ request: AppRequest, for call: CallCore, _ kind: CallCore.Request) -> RequestNumber? {
    ask(request) { self.requests[$0] = (call, kind) }
  }

  /// - Parameter prepare: called with the request's number before it is on its way.
  private func ask(_ request: AppRequest, _ prepare: (RequestNumber) -> Void = { _ in }) -> RequestNumber? {
    guard phase == .started || phase == .stopping else { return nil }
    var effects: [AppSessionClientEffect] = []
    let number = session.send(request, at: Clock.now, into: &effects)
    if let number { prepare(number) }
    perform(effects)
    schedule()
    return number
  }

  func register(_ call: CallCore, as id: CallID) { callNumbers[id] = call.call.number }

  func forget(_ call: CallCore) {
    calls[call.call.number] = nil
    if let id = call.id { callNumbers[id] = nil }
    if let id = call.crossingID { crossings[id] = nil }
    guard calls.isEmpty, gracefulLimit != nil else { return }
    // Once what came with the call's end is dealt with, so that the farewell can still be sent.
    eventLoop.assumeIsolated().execute { self.endNow() }
  }

  private func route(_ event: AppEvent) {
    switch event {
    case .placed(let number, _, _), .done(let number), .answered(let number, _, _), .refused(let number, _):
      guard let request = requests.removeValue(forKey: number) else { return }
      request.call.took(event, to: request.kind)
    case .incoming(let id, let invitation): invited(id, invitation)
    case .ended(let id, let summary): ended(id, summary)
    case .progressing(let id, _), .ringing(let id, _), .earlyMedia(let id), .accepted(let id, _), .established(let id),
      .price(let id, _), .creditEnds(let id, _), .digit(let id, _, _), .held(let id, _), .transfer(let id, _),
      .offered(let id, _), .quality(let id, _), .warning(let id, _, _), .members(let id, _), .speakers(let id, _),
      .recording(let id, _):
      guard let number = callNumbers[id] else { return }
      calls[number]?.took(event)
    }
  }

  // MARK: End

  /// Ends the session and closes everything; gracefully: after its calls were hung up.
  /// - Returns: Succeeds when all is released.
  func stop(gracefully isGraceful: Bool) -> EventLoopFuture<Void> {
    if let stopped { return stopped.futureResult }
    let promise = eventLoop.makePromise(of: Void.self)
    stopped = promise
    guard phase == .starting || phase == .started else {
      release()
      return promise.futureResult
    }
    if isGraceful, !calls.isEmpty {
      let limit = TimeAmount.milliseconds(ClientCore.gracefulMilliseconds)
      gracefulLimit = eventLoop.assumeIsolated().scheduleTask(in: limit) { [weak self] in self?.endNow() }
      for call in calls.values { call.leave() }
    } else {
      endNow()
    }
    return promise.futureResult
  }

  private func endNow() {
    gracefulLimit?.cancel()
    gracefulLimit = nil
    guard phase == .starting || phase == .started else { return }
    phase = .stopping
    for call in calls.values { call.finish(call.causeOfHangUp, nil) }
    process(.stop)
    client?.stopped()
    release()
  }

  /// Gives everything back; told to ``stop(gracefully:)`` when all sockets are closed.
  private func release() {
    phase = .over
    for task in tasks.values { task.cancel() }
    connection?.socket.close(code: CloseCode.normal.rawValue)
    connection = nil
    requests = [:]
    startLimit?.cancel()
    wakeUp.cancel()
    let limit = TimeAmount.milliseconds(ClientCore.closingMilliseconds)
    stopLimit = eventLoop.assumeIsolated().scheduleTask(in: limit) { [weak self] in self?.released() }
    checkReleased()
  }

  /// Counts an open socket.
  func track(_ channel: any Channel) {
    openChannels += 1
    channel.closeFuture.assumeIsolated().whenComplete { [weak self] _ in
      self?.openChannels -= 1
      self?.checkReleased()
    }
  }

  private func checkReleased() {
    if phase == .over, openChannels == 0, pendingConnects == 0, tasks.isEmpty { released() }
  }

  private func released() {
    stopLimit?.cancel()
    stopLimit = nil
    stopped?.succeed()
  }
}

/// Whoever started a run, as far as calls for the user go.
protocol IncomingCallOwner: ClientOwner {
  /// - Returns: `nil` once the run is over.
  func makeIncomingCall(_ id: CallID, _ invitation: Invitation) -> Call?
  /// Somebody calls; the app may give the call up before anything else happens.
  func willReceive(_ call: Call)
  /// Somebody calls, and the app is in front.
  func didReceive(_ call: Call)
}
