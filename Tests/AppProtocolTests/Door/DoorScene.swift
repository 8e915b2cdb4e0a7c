import AppProtocol
import CallModel

/// A door, a clock and what came out of it, in words.
struct DoorScene {
  let door: AppDoor
  var now = MonotonicInstant(milliseconds: 1_000_000)
  var clock = Instant(milliseconds: 0)
  /// Tokens and names that were told, by connection.
  private(set) var registered: [ConnectionID: Registered] = [:]
  private(set) var resumed: [ConnectionID: Resumed] = [:]
  private(set) var verifications: [VerificationID] = []
  private(set) var sessions: [SessionID] = []
  /// The raw texts sent in the last step.
  private(set) var sent: [[UInt8]] = []

  static let host = SIPHost.ipv4(0xC000_0201)

  init(_ change: (inout AppDoor.Configuration) -> Void = { _ in }) {
    var configuration = AppDoor.Configuration(version: "1.0")
    change(&configuration)
    var state: UInt64 = 1
    door = AppDoor(configuration) {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state
    }
  }

  @discardableResult
  mutating func step(_ input: AppDoorInput) throws -> [String] {
    var effects: [AppDoorEffect] = []
    door.handle(input, at: now, clock: clock, into: &effects)
    return try note(effects)
  }

  /// Lets time pass up to a moment from now.
  mutating func wait(_ milliseconds: Int64) throws -> [String] {
    now = now.advanced(byMilliseconds: milliseconds)
    var effects: [AppDoorEffect] = []
    door.advance(to: now, clock: clock, into: &effects)
    return try note(effects)
  }

  mutating func open(_ id: UInt64, _ host: SIPHost = DoorScene.host) throws -> [String] {
    try step(.opened(ConnectionID(id), host: host))
  }

  mutating func send(_ id: UInt64, _ message: ClientMessage) throws -> [String] {
    try step(.text(ConnectionID(id), AppMessageCoder.encode(message)))
  }

  mutating func send(_ id: UInt64, text: String) throws -> [String] {
    try step(.text(ConnectionID(id), Array(text.utf8)))
  }

  static func identity(_ user: String = "foo", _ capabilities: Set<AppCapability> = [.calling]) throws -> AppIdentity {
    AppIdentity(application: "app", user: try UserID(user), device: "d", capabilities: capabilities)
  }

  /// Opens a connection and registers on it.
  mutating func register(
    _ id: UInt64, user: String = "foo", profile: DeviceProfile = DeviceProfile()
  ) throws -> SessionID {
    _ = try open(id)
    var registration = Samples.registration()
    registration.profile = profile
    _ = try send(id, .register(RequestNumber(1), registration, client: "t"))
    guard let verification = verifications.last else { throw Missing() }
    _ = try step(.verified(verification, .accepted(try DoorScene.identity(user), nil)))
    guard let session = sessions.last else { throw Missing() }
    return session
  }

  mutating func resume(_ id: UInt64, _ name: String, _ token: String, lastEvent: UInt64 = 0) throws -> [String] {
    _ = try open(id)
    return try send(
      id, .resume(RequestNumber(100), Resumption(session: name, token: token, lastEvent: lastEvent)))
  }

  struct Missing: Error {}

  private mutating func note(_ effects: [AppDoorEffect]) throws -> [String] {
    sent = []
    return try effects.map { effect in
      switch effect {
      case .send(let id, let bytes):
        sent.append(bytes)
        guard let message = try AppMessageCoder.decodeServer(bytes) else { throw Missing() }
        switch message {
        case .registered(let number, let value):
          registered[id] = value
          return "\(id.number) < registered #\(number.value)"
        case .resumed(let number, let value):
          resumed[id] = value
          return "\(id.number) < resumed #\(number.value) last \(value.lastRequest) \(value.calls.map(\.text))"
        case .pong(let number): return "\(id.number) < pong #\(number.value)"
        case .draining: return "\(id.number) < draining"
        case .relays(let access): return "\(id.number) < turn \(access?.username ?? "none")"
        case .closing(let reason): return "\(id.number) < closing \(reason)"
        case .error(let number, let failure):
          return "\(id.number) < error \(number.map { "#\($0.value) " } ?? "")\(DoorScene.words(failure))"
        case .event(let event, let sequence):
          return "\(id.number) < \(sequence.map(String.init) ?? "-") \(DoorScene.words(event))"
        }
      case .ping(let id): return "\(id.number) ping"
      case .close(let id, let code, let reason): return "\(id.number) close \(code) \(reason)"
      case .verify(let id, let registration, _):
        verifications.append(id)
        return "verify \(registration.user)"
      case .opened(let id, let identity, let profile):
        sessions.append(id)
        return "opened s\(id.number) \(identity.user)" + (profile.isListening ? " listening" : "")
      case .listening(let id, let isOn): return "s\(id.number) \(isOn ? "listens" : "listens no more")"
      case .request(let id, let number, let request):
        return "s\(id.number) #\(number.value) \(DoorScene.words(request))"
      case .absent(let id): return "absent s\(id.number)"
      case .resumed(let id): return "resumed s\(id.number)"
      case .ended(let id): return "ended s\(id.number)"
      }
    }
  }

  private static func words(_ failure: CallFailure) -> String {
    var text = failure.code.rawValue
    if let phrase = failure.phrase { text += " '\(phrase)'" }
    if let seconds = failure.retryAfterSeconds { text += " after \(seconds)" }
    if let invalid = failure.invalidValue { text += " \(invalid.kind) \(invalid.problem)" }
    return text
  }

  private static func words(_ event: AppEvent) -> String {
    switch event {
    case .placed(let number, let call, _): "placed #\(number.value) \(call)"
    case .done(let number): "done #\(number.value)"
    case .refused(let number, let failure): "refused #\(number.value) \(words(failure))"
    case .incoming(let call, _): "incoming \(call)"
    case .ringing(let call, _): "ringing \(call)"
    case .accepted(let call, _): "accepted \(call)"
    case .ended(let call, _): "ended \(call)"
    case .digit(let call, let digit, _): "digit \(call) \(digit)"
    case .quality(let call, _): "quality \(call)"
    default: "event"
    }
  }

  private static func words(_ request: AppRequest) -> String {
    switch request {
    case .call(let call): "call \(call.target)"
    case .hangUp(let call): "hangup \(call)"
    default: "request"
    }
  }
}
