import AppProtocol
import CallEngine
import CallModel
import LedgerCore
import SDPCore
import SIPCore
import Testing

/// An engine over a real agent, whose datagrams reach a second agent that plays the trunk.
private final class Joined {
  let bench: Bench
  private let gateway: UserAgent
  private let trunk: UserAgent
  private static let gatewayAddress = TransportAddress(.udp, .ipv4(0xC000_0201), port: 5060)
  private static let trunkAddress = TransportAddress(.udp, .ipv4(0xC633_6401), port: 5060)
  private static let listener = ListenerID(0)
  /// Datagrams on their way, and commands of the engine that were not performed yet.
  private var wire: [(bytes: [UInt8], toTrunk: Bool)] = []
  private var performed = 0
  /// Datagrams to the trunk wait while it is set.
  var holdsBack = false
  private(set) var heard: [UserAgentEvent] = []
  var peer = TrunkPeer()

  init() throws {
    let trunk = try Scene.trunk(
      "carrier-1", host: 0xC633_6401, paths: [SIPPath(listener: Joined.listener, remote: Joined.trunkAddress)])
    bench = try Bench(Scene.configuration([trunk]))
    func agent(_ address: TransportAddress) -> UserAgent {
      UserAgent(
        UserAgentConfiguration(
          addresses: [
            AdvertisedAddress(listener: Joined.listener, transport: .udp, host: address.host, port: address.port)
          ], acceptsCalls: true), identifiers: .system)
    }
    gateway = agent(Joined.gatewayAddress)
    self.trunk = agent(Joined.trunkAddress)
  }

  /// Has everything happen that follows from what is there.
  func run() {
    while true {
      if performed < bench.effects.count {
        let effect = bench.effects[performed]
        performed += 1
        if case .sip(let command) = effect {
          var effects: [UserAgentEffect] = []
          gateway.handle(command, at: bench.now, into: &effects)
          deliver(effects, ofTrunk: false)
        }
        continue
      }
      guard let index = wire.firstIndex(where: { !($0.toTrunk && holdsBack) }) else { return }
      let (bytes, toTrunk) = wire.remove(at: index)
      var effects: [UserAgentEffect] = []
      let path = SIPPath(
        listener: Joined.listener, remote: toTrunk ? Joined.gatewayAddress : Joined.trunkAddress)
      (toTrunk ? trunk : gateway).receive(bytes, from: path, at: bench.now, into: &effects)
      deliver(effects, ofTrunk: toTrunk)
    }
  }

  private func deliver(_ effects: [UserAgentEffect], ofTrunk: Bool) {
    for effect in effects {
      switch effect {
      case .send(let bytes, _, _): wire.append((bytes, !ofTrunk))
      case .locate: Issue.record("no name is to be resolved")
      case .event(let event):
        if ofTrunk { heard.append(event) } else { bench.feed(.sip(event)) }
      }
    }
  }

  /// What the trunk does.
  func trunk(_ command: UserAgentCommand) {
    var effects: [UserAgentEffect] = []
    trunk.handle(command, at: bench.now, into: &effects)
    deliver(effects, ofTrunk: true)
    run()
  }

  var incoming: (handle: CallHandle, call: IncomingCall)? {
    for event in heard { if case .incoming(let handle, let call) = event { return (handle, call) } }
    return nil
  }

  func place() throws -> CallID {
    let call = try #require(bench.place(headers: [.init(name: "x-order", value: "7")]))
    run()
    return call
  }

  func accept() throws {
    let (handle, call) = try #require(incoming)
    trunk(.accept(handle, body: try peer.answer(call.offer), headers: CustomHeaders()))
  }

  /// Lets the agents' timers fire.
  func pass(milliseconds: Int64) {
    bench.pass(milliseconds: milliseconds)
    for isTrunk in [false, true] {
      var effects: [UserAgentEffect] = []
      (isTrunk ? trunk : gateway).advance(to: bench.now, into: &effects)
      deliver(effects, ofTrunk: isTrunk)
    }
    run()
  }
}

@Suite("The engine over a real agent")
struct JoinedTests {
  @Test("call, ring, answer, hold, resume, hang up")
  func whole() throws {
    let joined = try Joined()
    let call = try joined.place()
    let (handle, incoming) = try #require(joined.incoming)
    #expect(incoming.headers["x-order"] == "7")
    joined.trunk(.ring(handle, status: 180, body: nil, headers: try CustomHeaders([(name: "x-r", value: "1")])))
    #expect(joined.bench.engine.call(call)?.state == .ringing)
    joined.bench.secured(call)
    try joined.accept()
    #expect(joined.bench.engine.call(call)?.state == .established)
    for direction in ["sendonly", "sendrecv"] {
      joined.bench.request(
        .offer(call, Scene.appOffer(direction, version: direction == "sendonly" ? 2 : 3)))
      joined.run()
      let offered = joined.heard.reversed().lazy.compactMap { event -> (ExchangeID, MessageBody)? in
        if case .offered(_, let exchange, let body?) = event { return (exchange, body) }
        return nil
      }.first
      let (exchange, offer) = try #require(offered)
      joined.trunk(.answer(exchange, try joined.peer.answer(offer)))
      #expect(joined.bench.ladder().last == "media plan far \(direction)")
      joined.pass(milliseconds: 1000)
    }
    joined.bench.request(.hangUp(call))
    joined.run()
    let end = joined.heard.lazy.compactMap { event -> CallEnd? in
      if case .ended(_, let end) = event { return end }
      return nil
    }.first
    #expect(end?.cause == .remote)
    #expect(end?.reasons.first?.cause == 16)
    #expect(joined.bench.summary(of: call)?.durationMilliseconds == 2_000)
    #expect(joined.bench.records.count == 1)
  }

  @Test("the trunk holds by re-INVITE, and hangs up")
  func peer() throws {
    let joined = try Joined()
    let call = try joined.place()
    joined.bench.secured(call)
    try joined.accept()
    let (handle, _) = try #require(joined.incoming)
    joined.pass(milliseconds: 1000)
    joined.trunk(.offer(handle, ExchangeID(1 << 60), try joined.peer.offer(.sendOnly)))
    #expect(joined.bench.ladder().last == "app held true")
    joined.trunk(.hangUp(handle, HangUp(headers: try CustomHeaders([(name: "x-why", value: "done")]))))
    #expect(joined.bench.summary(of: call)?.cause == .hungUp)
    #expect(joined.bench.summary(of: call)?.headers["x-why"] == "done")
  }

  @Test("given up while it rings: CANCEL, 487, void")
  func cancelled() throws {
    let joined = try Joined()
    let call = try joined.place()
    let (handle, _) = try #require(joined.incoming)
    joined.trunk(.ring(handle, status: 180, body: nil, headers: CustomHeaders()))
    joined.bench.request(.hangUp(call))
    joined.run()
    #expect(joined.bench.summary(of: call)?.cause == .canceled)
    #expect(joined.bench.records.count == 1)
    #expect(joined.bench.engine.isIdle)
  }

  @Test("a CANCEL that crosses the 200: ACK and BYE, nobody is charged")
  func crossing() throws {
    let joined = try Joined()
    let call = try joined.place()
    let (handle, _) = try #require(joined.incoming)
    joined.trunk(.ring(handle, status: 180, body: nil, headers: CustomHeaders()))
    joined.holdsBack = true
    joined.bench.request(.hangUp(call))
    joined.run()
    try joined.accept()
    joined.holdsBack = false
    joined.run()
    #expect(joined.bench.count("ledger void") == 1)
    #expect(joined.bench.count("ledger answer") == 0)
    let ends = joined.heard.count {
      if case .ended = $0 { return true }
      return false
    }
    #expect(ends == 1, "the trunk's leg is over too")
    #expect(joined.bench.records.first?.flags == [.cancelRace])
    #expect(joined.bench.engine.isIdle)
  }

  @Test("busy: the status, its headers and the Call-ID reach the record")
  func busy() throws {
    let joined = try Joined()
    let call = try joined.place()
    let (handle, incoming) = try #require(joined.incoming)
    joined.trunk(.reject(handle, Rejection(486, headers: try CustomHeaders([(name: "x-b", value: "1")]))))
    let summary = try #require(joined.bench.summary(of: call))
    #expect(summary.failure?.sipStatus == 486)
    #expect(summary.headers["x-b"] == "1")
    #expect(joined.bench.records.first?.sipCallID == incoming.callID)
  }
}
