import AppProtocol
import CallEngine
import CallModel
import SIPCore

/// What telephones send that register and call.
enum RegistrarDoors {
  static let all = [
    FuzzDoor("sip-register", "REGISTERs of a telephone", dictionary: "sip", maximumBytes: 8192, register),
    FuzzDoor("sip-dialled", "what a telephone dials", dictionary: "sip", maximumBytes: 400, dialled),
    FuzzDoor("sip-phone", "messages of a telephone without a proof", dictionary: "sip", maximumBytes: 8192, stranger),
  ]

  private static let separator: UInt8 = 0x1E
  private static let maximumMessages = 16

  /// Messages with a byte 0x1E between them, each a second after the other. A REGISTER that is refused changes nothing, and no
  /// more is kept than may be.
  private static func register(_ input: [UInt8]) throws(BrokenPromise) {
    let limits = RegistrarLimits.standard
    var registrar = Registrar(limits)
    var now = MonotonicInstant(milliseconds: 1_000_000)
    for bytes in input.split(separator: separator, maxSplits: maximumMessages) {
      now = now.advanced(byMilliseconds: 1000)
      guard case .success(let scanned) = SIPGate.admit(Array(bytes), transport: .udp),
        case .success(let request) = MessageParser.values(of: scanned), request.method == .register
      else { continue }
      _ = registrar.expire("lobby", at: now)
      let before = registrar.bindings(of: "lobby")
      let path = SIPDoors.path(.udp)
      let outcome = registrar.register(request, by: "lobby", of: "alice", from: path, at: now)
      let after = registrar.bindings(of: "lobby")
      try promise(after.count <= limits.bindingsPerOwner, "\(after.count) bindings")
      try promise(
        after.allSatisfy { (1...Int64(limits.maximumSeconds)).contains($0.seconds(at: now)) }, "a time out of range")
      try promise(
        Set(after.map(\.number)).count == after.count && after.allSatisfy { $0.phone == "lobby" }, "bindings mixed up")
      try promise([200, 400, 403, 423, 500].contains(outcome.response.status), "\(outcome.response.status)")
      try promise(outcome.response.status == 200 || after == before, "a refusal changes bindings")
      try promise(after == before || outcome.changed.contains("lobby"), "a change is not told")
      try promise(
        (try? outcome.response.encoded(to: request, receivedFrom: path)) != nil, "the answer cannot be written")
    }
  }

  /// What is read as a number is one, or what apps would be refused with.
  private static func dialled(_ input: [UInt8]) throws(BrokenPromise) {
    guard let first = input.first, let user = try? UserID("alice") else { return }
    let identity = AppIdentity(application: "app", user: user, device: "desk phone lobby", capabilities: [.calling])
    let caller = PhoneCaller(
      identity: identity, session: SessionID(1), environment: "production", account: AccountName(unchecked: "acme"),
      country: first == 0 ? nil : Int(first))
    let text = String(decoding: input.dropFirst(), as: UTF8.self)
    guard let (kind, target) = caller.dialled(text) else { return }
    try promise(kind == .phone || kind == .user, "\(kind)")
    try promise(!target.isEmpty, "nobody")
    guard kind == .phone, let destination = try? Destination(.phone, target) else { return }
    try promise(destination.text == target, "\(target) is \(destination.text)")
  }

  /// Chance proves nothing: whatever comes, no call and no binding, and no more answers than messages.
  private static func stranger(_ input: [UInt8]) throws(BrokenPromise) {
    let drawn = DrawnNumbers()
    var configuration = UserAgentConfiguration(
      addresses: [AdvertisedAddress(listener: ListenerID(1), transport: .udp, host: SIPDoors.host, port: 5060)],
      acceptsCalls: true)
    configuration.acquaintance = .peers([])
    let agent = UserAgent(configuration, identifiers: IdentifierSource { drawn.next() })
    var effects: [UserAgentEffect] = []
    guard let keys = try? PhoneKeys(password: Redacted("a-long-enough-password"), name: "lobby") else { return }
    agent.handle(.phones([PhoneCredential(name: "lobby", owner: "alice", keys: keys)]), at: .zero, into: &effects)
    for bytes in input.split(separator: separator, maxSplits: maximumMessages) {
      agent.receive(Array(bytes), from: SIPDoors.path(.udp), at: .zero, into: &effects)
    }
    var answers = 0
    for effect in effects {
      switch effect {
      case .send: answers += 1
      case .event(let event): throw BrokenPromise(description: "\(event)")
      case .locate: throw BrokenPromise(description: "somebody is looked for")
      }
    }
    try promise(answers <= maximumMessages + 1, "\(answers) answers")
    try promise(agent.holdings["transactions"] == 0 && agent.holdings["bindings"] == 0, "\(agent.holdings)")
  }
}
