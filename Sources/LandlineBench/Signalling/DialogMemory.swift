import CLandlineLedgerFloor
import CallModel
import SIPCore

/// What an established call keeps in memory: two agents joined directly, no sockets.
enum DialogMemory {
  /// Milliseconds after which no transaction of the set-up lives on.
  static let settled: Int64 = 40_000

  static func measure(dialogs: Int) throws -> SIPBenchReport.Memory {
    var pair = AgentPair(calls: dialogs)
    // The first round pays for tables that grow only once.
    try round(&pair, dialogs, from: 0)
    let before = landline_heap_bytes()
    try pair.establish(dialogs, number: dialogs)
    pair.settle()
    let held = Double(landline_heap_bytes() - before)
    pair.hangUpAll()
    pair.settle()
    let left = Double(landline_heap_bytes() - before)
    guard pair.liveCalls == 0 else { throw BenchProblem("\(pair.liveCalls) calls did not end") }
    // Each call is two dialogs here, one on each side.
    return SIPBenchReport.Memory(
      dialogs: dialogs, bytesPerDialog: held / Double(2 * dialogs), bytesLeftPerDialog: left / Double(2 * dialogs))
  }

  private static func round(_ pair: inout AgentPair, _ dialogs: Int, from first: Int) throws {
    try pair.establish(dialogs, number: first)
    pair.settle()
    pair.hangUpAll()
    pair.settle()
  }
}

/// A caller and a callee whose datagrams reach each other at once.
private struct AgentPair {
  private let caller: UserAgent
  private let callee: UserAgent
  private var now = MonotonicInstant.zero
  private var established: [CallHandle] = []

  private static let host = SIPHost.ipv4(0x7F00_0001)
  private static let callerPort: UInt16 = 5060
  private static let calleePort: UInt16 = 5080
  private static let body = MessageBody(
    sessionDescription: Array(
      "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 7000 RTP/AVP 0\r\n".utf8))

  init(calls: Int) {
    var limits = UserAgentLimits.standard
    limits.calls = calls + 1
    limits.incomingCallsPerSecond = calls + 1
    func agent(_ port: UInt16, acceptsCalls: Bool) -> UserAgent {
      UserAgent(
        UserAgentConfiguration(
          addresses: [AdvertisedAddress(listener: ListenerID(1), transport: .udp, host: Self.host, port: port)],
          limits: limits, acceptsCalls: acceptsCalls, sessionTimer: SessionTimerPolicy(interval: nil)),
        identifiers: .system)
    }
    caller = agent(Self.callerPort, acceptsCalls: false)
    callee = agent(Self.calleePort, acceptsCalls: true)
  }

  var liveCalls: UInt64 { caller.counters.calls + callee.counters.calls }

  mutating func establish(_ count: Int, number first: Int) throws {
    for number in first..<first + count {
      let call = OutgoingCall(
        target: SIPURI(scheme: .sip, user: "b", host: Self.host, port: Self.calleePort), paths: [path(Self.calleePort)],
        identity: OutgoingIdentity(from: NameAddress(SIPURI(scheme: .sip, user: "a", host: Self.host))),
        offer: Self.body,
        sessionTimer: SessionTimerPolicy(interval: nil))
      var effects: [UserAgentEffect] = []
      caller.handle(.placeCall(CallHandle(UInt64(number)), call), at: now, into: &effects)
      let before = established.count
      deliver(effects, from: caller)
      guard established.count == before + 1 else { throw BenchProblem("a call between two agents was not established") }
    }
  }

  mutating func hangUpAll() {
    for call in established {
      var effects: [UserAgentEffect] = []
      caller.handle(.hangUp(call, HangUp()), at: now, into: &effects)
      deliver(effects, from: caller)
    }
    established = []
  }

  /// Lets every timer of the exchanges so far run out.
  mutating func settle() {
    now = now.advanced(byMilliseconds: DialogMemory.settled)
    for agent in [caller, callee] {
      var effects: [UserAgentEffect] = []
      agent.advance(to: now, into: &effects)
      deliver(effects, from: agent)
    }
  }

  private func path(_ port: UInt16) -> SIPPath {
    SIPPath(listener: ListenerID(1), remote: TransportAddress(.udp, Self.host, port: port))
  }

  private mutating func deliver(_ effects: [UserAgentEffect], from sender: UserAgent) {
    var queue = effects.map { (sender, $0) }
    var next = 0
    while next < queue.count {
      let (agent, effect) = queue[next]
      next += 1
      var made: [UserAgentEffect] = []
      var maker = agent
      switch effect {
      case .send(let bytes, _, _):
        maker = agent === caller ? callee : caller
        maker.receive(bytes, from: path(agent === caller ? Self.callerPort : Self.calleePort), at: now, into: &made)
      case .event(.incoming(let call, _)):
        agent.handle(.accept(call, body: Self.body, headers: CustomHeaders()), at: now, into: &made)
      case .event(.established(let call, _)):
        if agent === caller { established.append(call) }
      default: continue
      }
      queue += made.map { (maker, $0) }
    }
  }
}
