import CallModel
import SIPCore

/// Whole agents with calls, on a clock of their own.
enum SIPCallDoors {
  static let all = [
    FuzzDoor("sip-called", "messages to an agent that is called", dictionary: "sip-call", maximumBytes: 8192) {
      (input) throws(BrokenPromise) in
      try CallBench(isCaller: false).play(input)
    },
    FuzzDoor("sip-calling", "messages to an agent with a call of its own", dictionary: "sip-call", maximumBytes: 8192) {
      (input) throws(BrokenPromise) in
      try CallBench(isCaller: true).play(input)
    },
    FuzzDoor("sip-registered", "answers to a registration and a query", dictionary: "sip-call", maximumBytes: 8192) {
      (input) throws(BrokenPromise) in
      let bench = CallBench(isCaller: false)
      bench.register()
      try bench.play(input)
    },
  ]
}

/// The input is a row of steps with a byte 0x1E between them; the first letter of each says what it is.
///
/// - `u`, `t`: a message by UDP or TCP. `s`: one by UDP from a stranger's address.
/// - `+`: as many tenths of a second pass as bytes follow, doubled with each.
/// - `h`, `o`, `i`, `r`, `x`: our side hangs up, offers, sends a key, refuses the last offer, transfers.
/// - `f`: the last thing sent could not be sent.
///
/// So that chance meets our own identifiers, `$V $F $T $I $Q` stand for the Via, From, To, Call-ID and CSeq number of the
/// last request that was sent, and `$f $t` for the two of the last response.
private final class CallBench {
  /// Steps of one input at most.
  private static let maximumSteps = 48
  /// Messages that one step may cause: an answer, an ACK and a few repeats for each of a handful of dialogs.
  private static let maximumSends = 64
  /// What a peer may make the agent hold with that many steps.
  private static let maximumHeld = 12 * maximumSteps
  private static let separator: UInt8 = 0x1E

  private let agent: UserAgent
  private var now = MonotonicInstant.zero
  private var live: Set<CallHandle> = []
  private var over: Set<CallHandle> = []
  private var offers: [ExchangeID] = []
  private var request: SIPMessage?
  private var answer: SIPMessage?
  private var lastSent: TransactionID?
  private var exchanges: UInt64 = 1_000_000

  init(isCaller: Bool) {
    var limits = UserAgentLimits.standard
    limits.calls = 8
    let drawn = DrawnNumbers()
    agent = UserAgent(
      UserAgentConfiguration(
        addresses: [
          AdvertisedAddress(listener: ListenerID(1), transport: .udp, host: SIPDoors.host, port: 5060),
          AdvertisedAddress(listener: ListenerID(1), transport: .tcp, host: SIPDoors.host, port: 5060),
        ],
        limits: limits, acceptsCalls: true, allowsTransfer: true, trustsCallers: true),
      identifiers: IdentifierSource { drawn.next() })
    guard isCaller else { return }
    let call = CallHandle(1)
    live.insert(call)
    let plan = OutgoingCall(
      target: SIPURI(scheme: .sip, user: "+46701234567", host: SIPDoors.host, port: 5080),
      paths: [SIPDoors.path(.udp)],
      identity: OutgoingIdentity(from: NameAddress(SIPDoors.own)), offer: body,
      account: DigestAccount(username: "gw", password: Redacted("secret")), allowsTransfer: true,
      maximumRedirections: 2)
    start.append(.placeCall(call, plan))
  }

  private var start: [UserAgentCommand] = []

  func register() {
    let address = NameAddress(SIPDoors.own)
    let account = DigestAccount(username: "gw", password: Redacted("secret"))
    start.append(
      .register(
        QueryID(1),
        OutgoingRegistration(
          registrar: SIPURI(scheme: .sip, user: nil, host: SIPDoors.host, port: 5080),
          paths: [SIPDoors.path(.udp)], address: address, contactUser: "gw", account: account)))
    start.append(
      .ping(
        QueryID(2),
        OutgoingQuery(
          target: SIPURI(scheme: .sip, user: nil, host: SIPDoors.host, port: 5080), paths: [SIPDoors.path(.udp)],
          from: address, account: account)))
  }

  private let body = MessageBody(
    sessionDescription: Array("v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n".utf8))

  func play(_ input: [UInt8]) throws(BrokenPromise) {
    for command in start { try perform(command) }
    for step in input.split(separator: Self.separator).prefix(Self.maximumSteps) {
      guard let kind = step.first else { continue }
      let rest = step.dropFirst()
      switch kind {
      case UInt8(ascii: "u"): try receive(rest, SIPDoors.path(.udp))
      case UInt8(ascii: "t"): try receive(rest, SIPDoors.path(.tcp))
      case UInt8(ascii: "s"):
        try receive(
          rest,
          SIPPath(listener: ListenerID(1), remote: TransportAddress(.udp, .ipv4(0xC633_6401), port: 5060)))
      case UInt8(ascii: "+"): try pass(milliseconds: 100 << Int64(min(rest.count, 12)))
      case UInt8(ascii: "h"):
        for call in live.sorted(by: { $0.number < $1.number }) { try perform(.hangUp(call, HangUp())) }
      case UInt8(ascii: "o"):
        exchanges += 1
        if let call = live.first { try perform(.offer(call, ExchangeID(exchanges), body)) }
      case UInt8(ascii: "i"):
        if let call = live.first, let info = DTMFInfo(key: "5") { try perform(.sendInfo(call, info.body)) }
      case UInt8(ascii: "r"):
        if let offer = offers.popLast() { try perform(.refuse(offer, status: 488, warning: "no codec")) }
      case UInt8(ascii: "x"):
        if let call = live.first { try perform(.transfer(call, to: NameAddress(SIPDoors.own))) }
      case UInt8(ascii: "f"):
        if let lastSent {
          var effects: [UserAgentEffect] = []
          agent.transportFailed(lastSent, at: now, into: &effects)
          try follow(effects)
        }
      default: continue
      }
      let held = agent.holdings.values.reduce(0, +)
      try promise(held <= Self.maximumHeld, "\(held) things are held: \(agent.holdings)")
    }
    try end()
  }

  /// Everybody hangs up, nobody answers: then nothing is left.
  private func end() throws(BrokenPromise) {
    for call in live.sorted(by: { $0.number < $1.number }) { try perform(.hangUp(call, HangUp())) }
    try perform(.unregister(QueryID(1)))
    for _ in 0..<40 { try pass(milliseconds: 10_000) }
    try promise(live.isEmpty, "a call did not end")
    let held = agent.holdings.filter { $0.value != 0 }
    try promise(held.isEmpty, "left behind: \(held)")
    try promise(agent.nextDeadline == nil, "an idle agent waits for something")
  }

  private func pass(milliseconds: Int64) throws(BrokenPromise) {
    let end = now.advanced(byMilliseconds: milliseconds)
    // Deadline by deadline, as a shell does.
    for _ in 0..<4096 {
      guard let next = agent.nextDeadline, next <= end else { break }
      now = max(now, next)
      var effects: [UserAgentEffect] = []
      agent.advance(to: now, into: &effects)
      if let following = agent.nextDeadline { try promise(following > now, "a deadline stayed behind") }
      try follow(effects)
    }
    now = end
  }

  private func perform(_ command: UserAgentCommand) throws(BrokenPromise) {
    var effects: [UserAgentEffect] = []
    agent.handle(command, at: now, into: &effects)
    try follow(effects)
  }

  private func receive(_ bytes: ArraySlice<UInt8>, _ path: SIPPath) throws(BrokenPromise) {
    var effects: [UserAgentEffect] = []
    agent.receive(filled(bytes), from: path, at: now, into: &effects)
    try follow(effects, from: path)
  }

  // MARK: What comes of it

  private func follow(_ effects: [UserAgentEffect], from path: SIPPath? = nil) throws(BrokenPromise) {
    var commands: [UserAgentCommand] = []
    var sends = 0
    for effect in effects {
      switch effect {
      case .send(let bytes, let target, let message):
        sends += 1
        lastSent = message.transaction ?? lastSent
        try sent(bytes, target)
      case .locate(let location, _): commands.append(.located(location, [SIPDoors.path(.udp)]))
      case .event(let event): try told(event, &commands)
      }
    }
    try promise(sends <= Self.maximumSends, "one step sends \(sends) messages")
    for command in commands { try perform(command) }
  }

  /// What leaves is a message that anybody can read.
  private func sent(_ bytes: [UInt8], _ target: SIPPath) throws(BrokenPromise) {
    switch SIPGate.admit(bytes, transport: target.remote.transport) {
    case .success(let scanned):
      guard case .success(let message) = MessageParser.values(of: scanned) else { return }
      if message.method == nil { answer = message } else { request = message }
    case .failure(let refusal):
      // A refusal of what could hardly be read copies what was there.
      try promise(bytes.starts(with: "SIP/2.0 ".utf8), "\(refusal) for our own \(SIPDoors.text(bytes))")
    }
  }

  private func told(_ event: UserAgentEvent, _ commands: inout [UserAgentCommand]) throws(BrokenPromise) {
    switch event {
    case .incoming(let call, _):
      try promise(live.insert(call).inserted && !over.contains(call), "a call comes twice")
      commands.append(.ring(call, status: 183, body: body, headers: CustomHeaders()))
      commands.append(.accept(call, body: body, headers: CustomHeaders()))
    case .ended(let call, _):
      try promise(live.remove(call) != nil && over.insert(call).inserted, "a call ends twice, or none")
    case .offered(let call, let exchange, _):
      try promise(live.contains(call), "an offer for a call that is over")
      offers.append(exchange)
      if offers.count % 2 == 1 { commands.append(.answer(exchange, body)) }
    case .transferRequested(let call, _, _):
      commands.append(.acceptTransfer(call))
      commands.append(.reportTransfer(call, status: 200))
    case .trying(let call), .progress(let call, _), .established(let call, _), .info(let call, _),
      .answered(let call, _, _), .offerRefused(let call, _, _):
      try promise(live.contains(call), "news of a call that is over")
    case .transferProgress, .queryAnswered, .registration, .phoneBindings: break
    }
  }

  // MARK: Our own identifiers

  private func filled(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    var rest = bytes
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "$"), let letter = rest.first, let text = value(letter) else {
        result.append(byte)
        continue
      }
      rest.removeFirst()
      result += text.utf8
      if result.count > 2 * GateLimits.standard.datagramBytes { break }
    }
    return result
  }

  private func value(_ letter: UInt8) -> String? {
    switch letter {
    case UInt8(ascii: "V"): field(.via, request)
    case UInt8(ascii: "F"): field(.from, request)
    case UInt8(ascii: "T"): field(.to, request)
    case UInt8(ascii: "I"): request?.callID ?? answer?.callID
    case UInt8(ascii: "Q"): request.map { String($0.cseq.number) }
    case UInt8(ascii: "f"): field(.from, answer)
    case UInt8(ascii: "t"): field(.to, answer)
    case UInt8(ascii: "i"): answer?.callID
    default: nil
    }
  }

  private func field(_ kind: HeaderKind, _ message: SIPMessage?) -> String? {
    guard let scanned = message?.scanned, let header = scanned.header(kind) else { return nil }
    return scanned.text(header.value)
  }
}
