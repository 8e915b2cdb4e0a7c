import CallModel
import SIPCore
import Testing

/// Two agents that hear nothing but each other.
@Suite struct JoinedAgentsTests {
  private final class Side {
    let agent: UserAgent
    let host: SIPHost
    var events: [UserAgentEvent] = []

    init(_ last: UInt32, seed: UInt64, acceptsCalls: Bool) {
      host = .ipv4(0xC633_6400 + last)
      let state = Generator(seed)
      var configuration = UserAgentConfiguration(addresses: [
        AdvertisedAddress(listener: ListenerID(1), transport: .udp, host: host, port: 5060)
      ])
      configuration.acceptsCalls = acceptsCalls
      agent = UserAgent(configuration, identifiers: IdentifierSource { state.next() })
    }
  }

  // One test owns it; the source's closure only has to be Sendable by its type.
  private final class Generator: @unchecked Sendable {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }
    func next() -> UInt64 {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return state
    }
  }

  private final class Wire {
    let caller = Side(1, seed: 1, acceptsCalls: false)
    let callee = Side(2, seed: 2, acceptsCalls: true)
    var now = MonotonicInstant(milliseconds: 1_000)
    /// Every how many messages one is lost; 0 for none.
    let loss: Int
    private var count = 0
    private var flying: [(bytes: [UInt8], to: Side, from: Side)] = []

    init(loss: Int) { self.loss = loss }

    func path(to side: Side) -> SIPPath {
      SIPPath(listener: ListenerID(1), remote: TransportAddress(.udp, side.host, port: 5060))
    }

    func command(_ side: Side, _ command: UserAgentCommand) {
      var effects: [UserAgentEffect] = []
      side.agent.handle(command, at: now, into: &effects)
      deliver(effects, side)
      fly()
    }

    func deliver(_ effects: [UserAgentEffect], _ side: Side) {
      for effect in effects {
        switch effect {
        case .send(let bytes, _, _):
          count += 1
          if loss > 0, count % loss == 0 { continue }
          flying.append((bytes, side === caller ? callee : caller, side))
        case .event(let event): side.events.append(event)
        case .locate: Issue.record("a path was asked for")
        }
      }
    }

    func fly() {
      var steps = 0
      while !flying.isEmpty, steps < 10_000 {
        steps += 1
        let next = flying.removeFirst()
        var effects: [UserAgentEffect] = []
        next.to.agent.receive(next.bytes, from: path(to: next.from), at: now, into: &effects)
        deliver(effects, next.to)
      }
    }

    func wait(_ milliseconds: Int64) {
      let end = now.advanced(byMilliseconds: milliseconds)
      var steps = 0
      while steps < 100_000,
        let deadline = [caller.agent.nextDeadline, callee.agent.nextDeadline].compactMap({ $0 }).min(), deadline <= end
      {
        steps += 1
        now = max(now, deadline)
        for side in [caller, callee] {
          var effects: [UserAgentEffect] = []
          side.agent.advance(to: now, into: &effects)
          deliver(effects, side)
        }
        fly()
      }
      now = end
    }
  }

  private func plan(_ wire: Wire) -> OutgoingCall {
    OutgoingCall(
      target: Ladder.uri("sip:gateway@198.51.100.2"), paths: [wire.path(to: wire.callee)],
      identity: OutgoingIdentity(from: NameAddress(Ladder.uri("sip:caller@198.51.100.1"))),
      offer: MessageBody(sessionDescription: Array("v=0 offer".utf8)))
  }

  @Test(arguments: [0, 3, 5, 7]) func aCallComesUpAndGoes(loss: Int) throws {
    let wire = Wire(loss: loss)
    let call = CallHandle(1)
    wire.command(wire.caller, .placeCall(call, plan(wire)))
    wire.wait(8_000)
    let incoming = try #require(
      wire.callee.events.lazy.compactMap { event -> CallHandle? in
        if case .incoming(let handle, _) = event { handle } else { nil }
      }.first)
    wire.command(wire.callee, .ring(incoming, status: 180, body: nil, headers: CustomHeaders()))
    wire.wait(10_000)
    let answer = MessageBody(sessionDescription: Array("v=0 answer".utf8))
    wire.command(wire.callee, .accept(incoming, body: answer, headers: CustomHeaders()))
    wire.wait(15_000)
    let established = wire.caller.events.contains { event in
      if case .established(call, let given) = event { given.body == answer } else { false }
    }
    #expect(established, "loss \(loss): \(wire.caller.events)")
    let acknowledged = wire.callee.events.contains { event in
      if case .established(incoming, _) = event { true } else { false }
    }
    #expect(acknowledged, "loss \(loss)")
    wire.wait(600_000)
    wire.command(wire.caller, .hangUp(call, HangUp()))
    wire.wait(80_000)
    let ended = wire.callee.events.contains { event in
      if case .ended(incoming, let end) = event { end.cause == .remote } else { false }
    }
    #expect(ended, "loss \(loss)")
    for side in [wire.caller, wire.callee] {
      #expect(side.agent.holdings.values.allSatisfy { $0 == 0 }, "loss \(loss), left: \(side.agent.holdings)")
    }
  }

  /// What comes with a call is passed on as it came, whatever it says.
  @Test func identityFieldsArriveAsTheyWereSent() throws {
    let wire = Wire(loss: 0)
    var plan = plan(wire)
    plan.identities = [
      "a.b.c;info=<https://cert.example.org/a.pem>;alg=ES256;ppt=shaken", "..d; ppt=\"div\" ;x",
      String(repeating: "x", count: IdentityExamination.maximumFieldBytes), "\r\nX-Injected: 1",
    ]
    wire.command(wire.caller, .placeCall(CallHandle(1), plan))
    let incoming = try #require(
      wire.callee.events.lazy.compactMap { event -> (handle: CallHandle, call: IncomingCall)? in
        if case .incoming(let handle, let call) = event { (handle, call) } else { nil }
      }.first)
    #expect(incoming.call.identities == Array(plan.identities.dropLast()), "what no field can hold is left out")
    #expect(incoming.call.from?.uri.user == "caller")
    wire.command(wire.callee, .reject(incoming.handle, Rejection(403, phrase: "Stale Date")))
    let failure = wire.caller.events.lazy.compactMap { event -> CallFailure? in
      if case .ended(_, let end) = event { end.failure } else { nil }
    }.first
    #expect(failure?.sipStatus == 403 && failure?.phrase == "Stale Date")
    wire.wait(80_000)
  }

  @Test func aBusyCalleeSaysSo() throws {
    let wire = Wire(loss: 0)
    let call = CallHandle(1)
    wire.command(wire.caller, .placeCall(call, plan(wire)))
    let incoming = try #require(
      wire.callee.events.lazy.compactMap { event -> CallHandle? in
        if case .incoming(let handle, _) = event { handle } else { nil }
      }.first)
    wire.command(wire.callee, .reject(incoming, Rejection(486)))
    let code = wire.caller.events.lazy.compactMap { event -> CallFailureCode? in
      if case .ended(_, let end) = event { end.failure?.code } else { nil }
    }.first
    #expect(code == .busy)
    wire.wait(80_000)
    for side in [wire.caller, wire.callee] {
      #expect(side.agent.holdings.values.allSatisfy { $0 == 0 }, "left: \(side.agent.holdings)")
    }
  }
}
