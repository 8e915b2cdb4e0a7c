import AppProtocol
import CallModel

/// A client and a door joined in memory, over a network that can break at any message, and a gateway that answers.
struct Link {
  let client: AppSessionClient
  let door: AppDoor
  private(set) var now = MonotonicInstant(milliseconds: 1_000_000)
  /// What the application saw, in words.
  private(set) var seen: [String] = []
  /// What reached the gateway.
  private(set) var requests: [String] = []
  private(set) var ended = 0
  /// How many messages have been on the way; the one with the number `breaksAt` is lost with its connection.
  private(set) var crossed = 0
  var breaksAt: Int?
  /// Whether connections can be opened.
  var isUp = true
  /// What the door calls the client's connection.
  private var current: ConnectionID?
  private var toDoor: [(ConnectionID, [UInt8])] = []
  private var toClient: [(ConnectionID, [UInt8])] = []
  private var events: [(SessionID, AppEvent)] = []

  init() {
    var state: UInt64 = 7
    func draw() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state
    }
    client = AppSessionClient(AppSessionClient.Configuration(client: "t"), draw: draw)
    door = AppDoor(AppDoor.Configuration(version: "1"), draw: draw)
  }

  mutating func start() throws {
    try tell { $0.handle(.start(Samples.registration()), at: $1, into: &$2) }
  }

  mutating func send(_ request: AppRequest) throws -> RequestNumber? {
    var effects: [AppSessionClientEffect] = []
    let number = client.send(request, at: now, into: &effects)
    try perform(effects)
    try settle()
    return number
  }

  mutating func handle(_ input: AppSessionClientInput) throws {
    try tell { $0.handle(input, at: $1, into: &$2) }
  }

  /// Says something in the gateway's name.
  mutating func event(_ session: SessionID, _ event: AppEvent) throws {
    try tellDoor(.event(session, event))
    try settle()
  }

  /// Lets the earliest deadline pass, if it comes within the time.
  mutating func pass(_ milliseconds: Int64) throws {
    let end = now.advanced(byMilliseconds: milliseconds)
    while let next = [client.nextDeadline, door.nextDeadline].compactMap({ $0 }).min(), next <= end {
      now = max(now, next)
      try tell { $0.advance(to: $1, into: &$2) }
      var effects: [AppDoorEffect] = []
      door.advance(to: now, clock: Instant(milliseconds: 0), into: &effects)
      try perform(effects)
      try settle()
    }
    now = end
  }

  /// The connection breaks; both ends notice.
  mutating func cut() throws {
    guard let lost = current else { return }
    current = nil
    toDoor = []
    toClient = []
    try tellDoor(.closed(lost))
    try tell { $0.handle(.closed(lost, code: nil), at: $1, into: &$2) }
  }

  private mutating func tell(
    _ body: (AppSessionClient, MonotonicInstant, inout [AppSessionClientEffect]) -> Void
  ) throws {
    var effects: [AppSessionClientEffect] = []
    body(client, now, &effects)
    try perform(effects)
    try settle()
  }

  private mutating func tellDoor(_ input: AppDoorInput) throws {
    var effects: [AppDoorEffect] = []
    door.handle(input, at: now, clock: Instant(milliseconds: 0), into: &effects)
    try perform(effects)
  }

  private mutating func perform(_ effects: [AppSessionClientEffect]) throws {
    for effect in effects {
      switch effect {
      case .connect(let id):
        guard isUp else {
          try tell { $0.handle(.closed(id, code: nil), at: $1, into: &$2) }
          continue
        }
        current = id
        try tellDoor(.opened(id, host: DoorScene.host))
        try tell { $0.handle(.opened(id), at: $1, into: &$2) }
      case .send(let id, let bytes): toDoor.append((id, bytes))
      case .close(let id, _):
        try settle()
        if current == id { current = nil }
        try tellDoor(.closed(id))
      case .state(let state): seen.append("\(Link.words(state))")
      case .event(let event): seen.append(Link.words(event))
      case .lost(let call, let failure): seen.append("lost \(call) \(failure.code.rawValue)")
      case .keep(let credential): seen.append("keep \(credential.id)")
      case .signAgain(let least): seen.append("sign again from \(least)")
      case .draining: seen.append("draining")
      }
    }
  }

  private mutating func perform(_ effects: [AppDoorEffect]) throws {
    for effect in effects {
      switch effect {
      case .send(let id, let bytes): toClient.append((id, bytes))
      case .ping(let id): if id == current { try tellDoor(.pong(id)) }
      case .close(let id, let code, _):
        try settle()
        guard id == current else { continue }
        current = nil
        try tell { $0.handle(.closed(id, code: code), at: $1, into: &$2) }
      case .verify(let id, let registration, _):
        let credential = DeviceCredential(id: "c-1", secret: Redacted("s"), expiresAt: nil)
        let identity = AppIdentity(
          application: registration.application, user: try UserID(registration.user), device: registration.device,
          capabilities: registration.capabilities)
        try tellDoor(.verified(id, .accepted(identity, credential)))
      case .request(let session, let number, let request): answer(session, number, request)
      case .ended: ended += 1
      case .opened, .listening, .absent, .resumed: break
      }
    }
  }

  private mutating func answer(_ session: SessionID, _ number: RequestNumber, _ request: AppRequest) {
    switch request {
    case .call(let call):
      requests.append("call \(call.target)")
      guard let id = CallID("c-\(requests.count)") else { return }
      events += [
        (session, .placed(number, id, answer: "v=0")), (session, .ringing(id, headers: CustomHeaders())),
        (session, .accepted(id, headers: CustomHeaders())), (session, .established(id)),
      ]
    case .hangUp(let call):
      requests.append("hangup \(call)")
      guard let summary = try? Samples.summary() else { return }
      events += [(session, .done(number)), (session, .ended(call, summary))]
    default: requests.append("other")
    }
  }

  /// Carries messages until none is on the way.
  private mutating func settle() throws {
    while true {
      if !toDoor.isEmpty {
        let (id, bytes) = toDoor.removeFirst()
        guard try crosses(id) else { continue }
        try tellDoor(.text(id, bytes))
      } else if !toClient.isEmpty {
        let (id, bytes) = toClient.removeFirst()
        guard try crosses(id) else { continue }
        var effects: [AppSessionClientEffect] = []
        client.handle(.text(id, bytes), at: now, into: &effects)
        try perform(effects)
      } else if !events.isEmpty {
        let (session, event) = events.removeFirst()
        try tellDoor(.event(session, event))
      } else {
        return
      }
    }
  }

  private mutating func crosses(_ id: ConnectionID) throws -> Bool {
    guard id == current else { return false }
    crossed += 1
    guard crossed == breaksAt else { return true }
    try cut()
    return false
  }

  private static func words(_ state: AppSessionClient.State) -> String {
    switch state {
    case .ended(let failure): "ended\(failure.map { " \($0.code.rawValue)" } ?? "")"
    default: "\(state)"
    }
  }

  private static func words(_ event: AppEvent) -> String {
    switch event {
    case .placed(let number, let call, _): "placed #\(number.value) \(call)"
    case .done(let number): "done #\(number.value)"
    case .refused(let number, let failure): "refused #\(number.value) \(failure.code.rawValue)"
    case .ringing(let call, _): "ringing \(call)"
    case .accepted(let call, _): "accepted \(call)"
    case .established(let call): "established \(call)"
    case .ended(let call, _): "ended \(call)"
    default: "event"
    }
  }
}
