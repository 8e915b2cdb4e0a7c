import AppProtocol
import CallModel

/// The WebSocket's messages, both ways, and both ends of a session.
enum AppDoors {
  static let all = [
    FuzzDoor("app-json", "a JSON text", dictionary: "json", maximumBytes: 16_384, json),
    FuzzDoor("app-request", "an app's message", dictionary: "app", maximumBytes: 16_384, request),
    FuzzDoor("app-event", "a gateway's message", dictionary: "app", maximumBytes: 16_384, event),
    FuzzDoor("app-session", "an app's messages in a row", dictionary: "app", maximumBytes: 8192) {
      (input) throws(BrokenPromise) in try DoorBench().play(input)
    },
    FuzzDoor("app-client", "a gateway's messages in a row", dictionary: "app", maximumBytes: 8192) {
      (input) throws(BrokenPromise) in try ClientBench().play(input)
    },
  ]

  private static func json(_ input: [UInt8]) throws(BrokenPromise) {
    let limits = JSONReader.Limits(bytes: 8192, depth: 16)
    let value: JSONValue
    do {
      value = try JSONReader.read(input, limits)
    } catch {
      try promise((0...input.count).contains(error.offset), "a fault at byte \(error.offset)")
      return
    }
    try promise(input.count <= limits.bytes, "a text above the limit")
    try promise(depth(value) <= limits.depth, "deeper than the limit")
  }

  private static func depth(_ value: JSONValue) -> Int {
    switch value {
    case .array(let values): 1 + (values.map(depth).max() ?? 0)
    case .object(let object): 1 + (object.members.map { depth($0.value) }.max() ?? 0)
    default: 0
    }
  }

  /// What was read is written so that the other end reads the same.
  private static func request(_ input: [UInt8]) throws(BrokenPromise) {
    guard let message = try? AppMessageCoder.decodeRequest(input) else { return }
    let written = AppMessageCoder.encode(message)
    try promise(
      (try? AppMessageCoder.decodeRequest(written)) == message, "\(SIPDoors.text(written)) says something else")
  }

  private static func event(_ input: [UInt8]) throws(BrokenPromise) {
    guard let message = try? AppMessageCoder.decodeServer(input) else { return }
    let written = AppMessageCoder.encode(message)
    let again = (try? AppMessageCoder.decodeServer(written)).flatMap { $0 }
    try promise(again == message, "\(SIPDoors.text(written)) says something else")
  }
}

/// The gateway's end. Steps stand with a byte 0x1E between; `a` to `d` is a message on one of four connections, `+` is
/// time, `p` a pong, `x` ends a connection, `e` an event of the engine, `D` drains.
private final class DoorBench {
  private static let maximumSteps = 64
  private let door: AppDoor
  private var now = MonotonicInstant.zero
  private let clock = Instant(milliseconds: 1_700_000_000_000)
  private var sessions: Set<SessionID> = []
  private var open: Set<ConnectionID> = []
  private var token = ""
  private var name = ""
  private var requests = 0
  private var replies = 0

  init() {
    var configuration = AppDoor.Configuration(version: "1")
    configuration.maximumSessions = 4
    configuration.maximumBufferedEvents = 8
    configuration.maximumPendingRequests = 4
    // Names are drawn until one is new: always the same number would be drawn for ever.
    let drawn = DrawnNumbers()
    door = AppDoor(configuration, draw: { drawn.next() })
  }

  func play(_ input: [UInt8]) throws(BrokenPromise) {
    for number in 1...4 as ClosedRange<UInt64> { try handle(.opened(ConnectionID(number), host: SIPDoors.host)) }
    for step in input.split(separator: 0x1E).prefix(Self.maximumSteps) {
      guard let kind = step.first else { continue }
      let number = ConnectionID(UInt64(kind & 3) + 1)
      switch kind {
      case UInt8(ascii: "a")...UInt8(ascii: "d"): try handle(.text(number, filled(step.dropFirst())))
      case UInt8(ascii: "+"): try pass(milliseconds: 100 << Int64(min(step.count, 10)))
      case UInt8(ascii: "p")...UInt8(ascii: "s"): try handle(.pong(number))
      case UInt8(ascii: "t")...UInt8(ascii: "w"): try handle(.closed(number))
      case UInt8(ascii: "A")...UInt8(ascii: "C"):
        open.remove(number)
        try handle(.closed(number))
        try handle(.opened(number, host: SIPDoors.host))
      case UInt8(ascii: "e"):
        if let session = sessions.first {
          try handle(.event(session, .ringing(CallID(unchecked: "call-1"), headers: CustomHeaders())))
        }
      // A call for the user rings here, and is over.
      case UInt8(ascii: "I"), UInt8(ascii: "E"):
        guard let session = sessions.first else { continue }
        let call = CallID(unchecked: "call-in")
        if kind == UInt8(ascii: "I"), let user = try? UserID("alice") {
          let caller = CallerIdentity(kind: .user, value: "bob", name: "")
          try handle(.event(session, .incoming(call, Invitation(from: caller, to: user, expiresAt: clock))))
        } else {
          let summary = CallSummary(startedAt: clock, endedAt: clock, cause: .canceled, currency: "EUR", isMissed: true)
          try handle(.event(session, .ended(call, summary)))
        }
      case UInt8(ascii: "D"): try handle(.drain)
      default: continue
      }
      try promise(door.sessionCount <= 4 && door.connectionCount <= 4, "more than the limits")
    }
    try handle(.shutDown)
    try promise(door.sessionCount == 0 && door.connectionCount == 0, "something stays")
    try pass(milliseconds: 100_000)
    try promise(door.nextDeadline == nil && door.verificationCount == 0, "something waits")
    try promise(sessions.isEmpty, "a session did not end")
  }

  private func pass(milliseconds: Int64) throws(BrokenPromise) {
    let end = now.advanced(byMilliseconds: milliseconds)
    for _ in 0..<4096 {
      guard let next = door.nextDeadline, next <= end else { break }
      now = max(now, next)
      var effects: [AppDoorEffect] = []
      door.advance(to: now, clock: clock, into: &effects)
      if let following = door.nextDeadline { try promise(following > now, "a deadline stayed behind") }
      try follow(effects)
    }
    now = end
  }

  private func handle(_ input: AppDoorInput) throws(BrokenPromise) {
    var effects: [AppDoorEffect] = []
    if case .opened(let connection, _) = input { open.insert(connection) }
    if case .closed(let connection) = input { open.remove(connection) }
    door.handle(input, at: now, clock: clock, into: &effects)
    try follow(effects)
  }

  private func follow(_ effects: [AppDoorEffect]) throws(BrokenPromise) {
    try promise(effects.count <= 64, "\(effects.count) effects of one step")
    var inputs: [AppDoorInput] = []
    for effect in effects {
      switch effect {
      case .send(let connection, let bytes):
        try promise(open.contains(connection), "sent to a connection that is closed")
        let message = (try? AppMessageCoder.decodeServer(bytes)).flatMap { $0 }
        let sent = try promised(message, "our own message is not read: \(SIPDoors.text(bytes))")
        if case .registered(_, let registered) = sent {
          (name, token) = (registered.session, registered.token.exposed)
        }
        if case .resumed(_, let resumed) = sent { token = resumed.token.exposed }
      case .close(let connection, _, _):
        try promise(open.remove(connection) != nil, "closed twice")
      case .verify(let id, let registration, _):
        // An engine that takes every name that is one.
        guard let user = try? UserID(registration.user) else {
          inputs.append(.verified(id, .refused))
          continue
        }
        inputs.append(
          .verified(
            id,
            .accepted(
              AppIdentity(
                application: registration.application, user: user, device: registration.device,
                capabilities: registration.capabilities), nil)))
      case .opened(let session, _, _): try promise(sessions.insert(session).inserted, "a session begins twice")
      case .ended(let session): try promise(sessions.remove(session) != nil, "a session ends twice")
      case .request(let session, let number, let request):
        try promise(sessions.contains(session), "a request of no session")
        requests += 1
        guard requests % 2 == 0 else { continue }
        if case .call = request {
          inputs.append(.event(session, .placed(number, CallID(unchecked: "call-\(requests)"), answer: "v=0")))
        } else {
          inputs.append(.event(session, .done(number)))
        }
      case .absent(let session), .resumed(let session), .listening(let session, _):
        try promise(sessions.contains(session), "news of no session")
      case .ping: continue
      }
    }
    for input in inputs { try handle(input) }
  }

  /// `$S` is the last session's name, `$T` its token.
  private func filled(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    var rest = bytes
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "$"), rest.first == UInt8(ascii: "S") || rest.first == UInt8(ascii: "T") else {
        result.append(byte)
        continue
      }
      result += (rest.removeFirst() == UInt8(ascii: "S") ? name : token).utf8
    }
    return result
  }
}

/// The app's end. `a` is a message of the gateway, `+` time, `o` opens the connection, `x` ends it, `n` another network,
/// `c` and `h` ask for something.
private final class ClientBench {
  private static let maximumSteps = 64
  private var configuration = AppSessionClient.Configuration(client: "fuzz")
  private let client: AppSessionClient
  private var now = MonotonicInstant.zero
  private var connection: ConnectionID?
  private var isOpen = false

  init() {
    configuration.maximumPending = 8
    let drawn = DrawnNumbers()
    client = AppSessionClient(configuration, draw: { drawn.next() })
  }

  func play(_ input: [UInt8]) throws(BrokenPromise) {
    try handle(
      .start(
        Registration(
          application: "app", user: "alice", device: "phone", proof: .token("t"), capabilities: [.calling])))
    for step in input.split(separator: 0x1E).prefix(Self.maximumSteps) {
      guard let kind = step.first else { continue }
      switch kind {
      case UInt8(ascii: "a"): if isOpen, let connection { try handle(.text(connection, Array(step.dropFirst()))) }
      case UInt8(ascii: "o"):
        if !isOpen, let connection {
          isOpen = true
          try handle(.opened(connection))
        }
      case UInt8(ascii: "x"): if let connection { try lose(.closed(connection, code: step.count > 1 ? 4000 : nil)) }
      case UInt8(ascii: "v"): if let connection { try lose(.violation(connection)) }
      case UInt8(ascii: "n"): try handle(.networkChanged)
      case UInt8(ascii: "+"): try pass(milliseconds: 100 << Int64(min(step.count, 10)))
      case UInt8(ascii: "c"):
        let call = PlaceCall(kind: .phone, target: "+46701234567", offer: "v=0")
        var effects: [AppSessionClientEffect] = []
        _ = client.send(.call(call), at: now, into: &effects)
        try follow(effects)
      default: continue
      }
    }
    try handle(.stop)
    guard case .ended = client.state else { throw BrokenPromise(description: "stopped, and not ended") }
    try promise(client.nextDeadline == nil, "an ended session waits for something")
    try promise(client.liveCalls.isEmpty, "calls live on without a session")
  }

  private func lose(_ input: AppSessionClientInput) throws(BrokenPromise) {
    connection = nil
    isOpen = false
    try handle(input)
  }

  private func pass(milliseconds: Int64) throws(BrokenPromise) {
    let end = now.advanced(byMilliseconds: milliseconds)
    for _ in 0..<4096 {
      guard let next = client.nextDeadline, next <= end else { break }
      now = max(now, next)
      var effects: [AppSessionClientEffect] = []
      client.advance(to: now, into: &effects)
      if let following = client.nextDeadline { try promise(following > now, "a deadline stayed behind") }
      try follow(effects)
    }
    now = end
  }

  private func handle(_ input: AppSessionClientInput) throws(BrokenPromise) {
    var effects: [AppSessionClientEffect] = []
    client.handle(input, at: now, into: &effects)
    try follow(effects)
  }

  private func follow(_ effects: [AppSessionClientEffect]) throws(BrokenPromise) {
    for effect in effects {
      switch effect {
      case .connect(let id):
        connection = id
        isOpen = false
      case .send(let id, let bytes):
        try promise(id == connection && isOpen, "sent to no open connection")
        try promise((try? AppMessageCoder.decodeRequest(bytes)) != nil, "not read: \(SIPDoors.text(bytes))")
      case .close(let id, _):
        if id == connection {
          connection = nil
          isOpen = false
        }
      case .signAgain(let least): try handle(.proof(.signature("signed again", sequence: least)))
      case .state, .event, .lost, .keep, .draining: continue
      }
    }
  }
}
