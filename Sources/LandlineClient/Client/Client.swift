public import AppProtocol
public import CallModel
import NIOCore
import SecureTransport
import Synchronization

/// A connection of one user on one device to a gateway: the way to ``calls``.
///
/// ```
/// start() ─▶ events: started ─▶ calls.callPhoneNumber(…) ─▶ … ─▶ await stop()
///     └────▶ events: failed
/// ```
/// A client is made once and kept while the app runs. It may be used from anywhere; its events and its delegate's methods
/// come from its event loop.
public final class Client: Sendable {
  private enum Phase {
    case idle, starting, started
  }

  private struct State {
    var phase = Phase.idle
    var isListening = false
    var applicationState = ApplicationState.active
    var features: Set<AppFeature> = []
    var run: ClientRun?
    var nextCall: UInt64 = 1
    weak var delegate: (any ClientDelegate)?
    weak var callDelegate: (any CallClientDelegate)?
  }

  /// Most characters of ``device``.
  public static let maximumDeviceLength = 64
  /// Most bytes of ``ClientOptions/deviceName``.
  public static let maximumDeviceNameBytes = 255

  /// 1 to 128 characters of printable ASCII, as the key was handed out.
  public let applicationKey: String
  /// Read from the `environmentHost` that the client was made with.
  public let gateway: GatewayAddress
  /// The user for whom the client registers.
  public let userID: UserID
  /// Tells the device from the user's others: 1 to ``maximumDeviceLength`` characters of printable ASCII.
  public let device: String
  /// What the client was made for; a call without ``AppCapability/calling`` is a ``UsageError/capabilityMissing``.
  public let capabilities: Set<AppCapability>
  /// As given when the client was made; they cannot be changed afterwards.
  public let options: ClientOptions
  /// What all calls share: muting, files for all, the source and sink of calls without their own.
  public let audio = AudioController(playsAlone: true)
  private let credentials: ClientCredentials
  private let state = Mutex(State())
  private let fan = EventFan<ClientEvent>(keeping: 0)
  private let callFan = EventFan<CallClientEvent>(keeping: 0)

  /// - Parameters:
  ///   - environmentHost: `host:port`, or a `ws://` or `wss://` URL, see ``GatewayAddress``.
  ///   - userID: Names the user inside the application.
  ///   - device: Names the device among the user's: 1 to 64 printable characters.
  ///   - capabilities: What is asked for, calling or messaging among it: nothing is on that was not asked for.
  /// - Throws: ``ArgumentError``.
  public init(
    applicationKey: String, credentials: ClientCredentials, environmentHost: String, userID: String, device: String,
    capabilities: Set<AppCapability>, options: ClientOptions = ClientOptions()
  ) throws(ArgumentError) {
    guard !applicationKey.isEmpty, applicationKey.utf8.count <= 128, Client.isPrintable(applicationKey) else {
      throw Client.refusal(
        "applicationKey", "application.key", "it is empty, too long or has characters that no key has",
        accepted: "the key as it was handed out")
    }
    guard !device.isEmpty, device.utf8.count <= Client.maximumDeviceLength, Client.isPrintable(device) else {
      throw Client.refusal(
        "device", "device.text", "it is empty, too long or has characters outside printable ASCII",
        accepted: "1 to \(Client.maximumDeviceLength) characters from '!' to '~'")
    }
    guard !capabilities.isDisjoint(with: [.calling, .messaging]) else {
      throw Client.refusal(
        "capabilities", "capabilities.none", "neither calling nor messaging is among them",
        accepted: "calling, messaging or both")
    }
    guard options.deviceName.utf8.count <= Client.maximumDeviceNameBytes else {
      throw Client.refusal(
        "deviceName", "deviceName.long", "it takes more than \(Client.maximumDeviceNameBytes) bytes",
        accepted: "at most \(Client.maximumDeviceNameBytes) bytes of UTF-8")
    }
    self.applicationKey = applicationKey
    self.credentials = credentials
    gateway = try ArgumentError.checked("environmentHost") { () throws(InvalidValue) in
      try GatewayAddress(environmentHost)
    }
    self.userID = try ArgumentError.checked("userID") { () throws(InvalidValue) in
      try UserID(userID, rules: options.userRules)
    }
    self.device = device
    self.capabilities = capabilities
    self.options = options
    state.withLock { $0.isListening = options.isListening }
  }

  deinit {
    state.withLock { $0.run }?.abandon()
    fan.finish()
    callFan.finish()
  }

  private static func isPrintable(_ text: String) -> Bool { text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } }

  private static func refusal(_ argument: String, _ rule: String, _ problem: String, accepted: String) -> ArgumentError
  {
    ArgumentError(
      argument, InvalidValue(kind: argument, rule: rule, offset: nil, problem: problem, accepted: accepted))
  }

  // MARK: Life

  /// Held weakly.
  public var delegate: (any ClientDelegate)? {
    get { state.withLock { $0.delegate } }
    set { state.withLock { $0.delegate = newValue } }
  }

  /// A stream of what happens from now on. Take it before ``start()`` to miss nothing.
  public var events: AsyncStream<ClientEvent> { fan.stream() }

  /// Calls can be placed.
  public var isStarted: Bool { state.withLock { $0.phase == .started } }

  /// Connects and registers. Success or failure is an event; ``started()`` waits for it.
  /// - Throws: ``UsageError/alreadyStarted``; ``CallFailure`` of domain network where certificates of
  ///   ``ClientOptions/trust`` cannot be read.
  public func start() throws {
    let context = gateway.isSecure ? try options.trust.context(protocols: ["http/1.1"]) : nil
    let certificate = try DTLSCertificate()
    let registrar = Registrar(
      owner: CredentialOwner(application: applicationKey, user: userID.text, device: device),
      credentials: credentials, storage: options.storage, capabilities: capabilities,
      asks: { [weak self] in self?.requiresCredentials() })
    let run = try state.withLock { state in
      guard state.phase == .idle, state.run == nil else { throw UsageError.alreadyStarted }
      let run = ClientRun(options.group) { door in
        ClientCore(
          self, through: door, gateway: gateway, options: options, registrar: registrar, context: context,
          certificate: certificate)
      }
      state.run = run
      state.phase = .starting
      return run
    }
    run.perform { $0.start() }
  }

  /// Starts and waits until calls can be placed.
  /// - Throws: ``UsageError``, or the ``CallFailure`` that the start ended with.
  public func started() async throws {
    let events = events
    do {
      try start()
    } catch UsageError.alreadyStarted {
      if isStarted { return }
    }
    for await event in events {
      switch event {
      case .started: return
      case .failed(let failure): throw failure
      case .stopped: throw UsageError.notStarted
      default: break
      }
    }
    throw CancellationError()
  }

  /// Ends all calls and the session. When it returns, sockets are closed, timers are gone and the client's own thread has
  /// ended. The client can be started again.
  public func stop() async { await stop(gracefully: false) }

  /// Hangs up all calls and waits until the gateway has ended them, for at most five seconds; then stops.
  public func stopGracefully() async { await stop(gracefully: true) }

  private func stop(gracefully isGraceful: Bool) async {
    guard let run = state.withLock({ $0.run }) else { return }
    await run.shutdown(gracefully: isGraceful)
    state.withLock { state in
      guard state.run === run else { return }
      state.run = nil
      state.phase = .idle
    }
  }

  /// Calls for the user ring on this device from now on, or from the start on where the client is not started yet. Not needed
  /// to place calls.
  public func startListeningOnActiveConnection() { setListening(true) }

  /// The client stays started, places calls and keeps those that ring or are up; none comes in any more.
  public func stopListeningOnActiveConnection() { setListening(false) }

  /// Whether calls for the user are wanted; as ``ClientOptions/isListening`` until one of both methods is called.
  public var isListeningOnActiveConnection: Bool { state.withLock { $0.isListening } }

  private func setListening(_ isOn: Bool) {
    let run = state.withLock { state in
      state.isListening = isOn
      return state.run
    }
    run?.perform { $0.setListening(isOn) }
  }

  /// Parts of the protocol that came later and that both this library and the gateway know: without
  /// ``AppFeature/incoming`` no call comes in. Empty until the client has started.
  public var features: Set<AppFeature> { state.withLock { $0.features } }

  /// Where the app stands for its user; an app with windows keeps it up to date. Calls that came while the app was in the
  /// background are told, and those that were answered there are taken, when it is in front again.
  public var applicationState: ApplicationState {
    get { state.withLock { $0.applicationState } }
    set {
      let run = state.withLock { state in
        state.applicationState = newValue
        return state.run
      }
      run?.perform { $0.applicationStateChanged() }
    }
  }

  /// The device has another network: connect again at once rather than wait for a sign of loss. Calls go on.
  public func networkChanged() { state.withLock { $0.run }?.perform { $0.networkChanged() } }

  /// The way to place calls, and to be called.
  public var calls: CallClient { CallClient(self) }

  // MARK: Calls

  func place(
    _ destination: Destination, headers: CustomHeaders, callerNumber: E164Number?, isAnonymous: Bool, wantsVideo: Bool
  ) throws(UsageError) -> Call {
    guard capabilities.contains(.calling) else { throw .capabilityMissing }
    let (run, number) = try state.withLock { state throws(UsageError) in
      guard state.phase == .started, let run = state.run else { throw .notStarted }
      defer { state.nextCall += 1 }
      return (run, state.nextCall)
    }
    let call = Call(
      number: number, remote: destination.text, kind: destination.kind, direction: .outgoing, headers: headers,
      startedAt: Clock.wall, audio: AudioController(), run: run)
    let placing = PlaceCall(
      kind: destination.kind, target: destination.text, headers: headers.map { .init(name: $0.name, value: $0.value) },
      offer: "", callerNumber: callerNumber?.description, isAnonymous: isAnonymous, wantsVideo: wantsVideo)
    run.perform { $0.place(call, placing) }
    return call
  }

  var callDelegate: (any CallClientDelegate)? {
    get { state.withLock { $0.callDelegate } }
    set { state.withLock { $0.callDelegate = newValue } }
  }

  var callEvents: AsyncStream<CallClientEvent> { callFan.stream() }

  // MARK: For the run

  func makeIncomingCall(_ id: CallID, _ invitation: Invitation) -> Call? {
    let made = state.withLock { state -> (run: ClientRun, number: UInt64, applicationState: ApplicationState)? in
      guard let run = state.run else { return nil }
      defer { state.nextCall += 1 }
      return (run, state.nextCall, state.applicationState)
    }
    guard let made else { return nil }
    return Call(
      number: made.number, id: id, invitation, startedAt: Clock.wall, applicationState: made.applicationState,
      run: made.run)
  }

  func willReceive(_ call: Call) { callDelegate?.callClient(calls, willReceiveIncomingCall: call) }

  func didReceive(_ call: Call) {
    callFan.tell(.incoming(call))
    callDelegate?.callClient(calls, didReceiveIncomingCall: call)
  }

  func missed(_ call: MissedCall) {
    callFan.tell(.missed(call))
    callDelegate?.callClient(calls, didMissCall: call)
  }

  func started(_ user: String, _ features: Set<AppFeature>) {
    state.withLock { state in
      guard state.run != nil else { return }
      state.phase = .started
      state.features = features
    }
    tell(.started(user: user))
    delegate?.clientDidStart(self)
  }

  func failed(_ failure: CallFailure) {
    endRun()
    tell(.failed(failure))
    delegate?.client(self, didFail: failure)
  }

  func stopped() {
    state.withLock { $0.phase = .idle }
    tell(.stopped)
    delegate?.clientDidStop(self)
  }

  /// A run that failed is over by itself; the client can be started again.
  private func endRun() {
    let run = state.withLock { state in
      defer { (state.run, state.phase) = (nil, .idle) }
      return state.run
    }
    run?.abandon()
  }

  private func requiresCredentials() {
    tell(.requiresCredentials(user: userID.text, device: device))
    delegate?.client(self, requiresCredentialsFor: userID.text, device: device)
  }

  func log(_ severity: LogEntry.Severity, _ area: String, _ message: String) {
    let entry = LogEntry(severity, area: area, message, at: Clock.wall)
    tell(.log(entry))
    delegate?.client(self, didLog: entry)
  }

  func tell(_ event: ClientEvent) { fan.tell(event) }
}

extension Client: IncomingCallOwner {}
