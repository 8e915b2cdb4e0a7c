import CallModel
import SIPCore
import Testing

/// Two agents, and two things that they do at nearly the same time, on a wire with delay, reordering and a loss.
@Suite("Glare between two agents")
struct AgentGlareTests {
  enum Act: String, CaseIterable, Sendable {
    case callerHangsUp, calleeHangsUp, callerOffers, calleeOffers
    // Before the answer only.
    case accept, reject, ring

    static let late: [Act] = [.callerHangsUp, .calleeHangsUp, .callerOffers, .calleeOffers]
  }

  struct Pair: Sendable, CustomTestStringConvertible {
    var first: Act
    var second: Act
    var isUp: Bool
    var testDescription: String { "\(isUp ? "up" : "early"): \(first.rawValue), \(second.rawValue)" }
  }

  static let pairs: [Pair] =
    Act.late.flatMap { first in Act.late.map { Pair(first: first, second: $0, isUp: true) } }
    + Act.allCases.flatMap { first in Act.allCases.map { Pair(first: first, second: $0, isUp: false) } }

  static let timings = 8

  @Test("both end once, agree on the session, and keep nothing", arguments: pairs)
  func glare(_ pair: Pair) {
    for number in 0..<AgentGlareTests.timings {
      let scene = Scene(pair, number: number)
      scene.run()
      let problems = scene.problems
      #expect(problems.isEmpty, "timing \(number), \(scene.timing): \(problems.joined(separator: "; "))")
    }
  }

  /// One agent and what it knows.
  private final class Side {
    let agent: UserAgent
    let host: SIPHost
    var call: CallHandle?
    var offer: MessageBody?
    var ends = 0
    var established = 0
    var isAccepted = false
    var openOffers: [ExchangeID: MessageBody] = [:]
    var unexpected: [String] = []
    var local: MessageBody?
    var remote: MessageBody?
    var descriptions = 0

    init(_ last: UInt32, _ random: Random, acceptsCalls: Bool) {
      host = .ipv4(0xC633_6400 + last)
      var configuration = UserAgentConfiguration(addresses: [
        AdvertisedAddress(listener: ListenerID(1), transport: .udp, host: host, port: 5060)
      ])
      configuration.acceptsCalls = acceptsCalls
      agent = UserAgent(configuration, identifiers: IdentifierSource { random.next() })
    }

    func description(_ name: String) -> MessageBody {
      descriptions += 1
      return MessageBody(sessionDescription: Array("v=0 \(name) \(descriptions)".utf8))
    }
  }

  // One test owns it; the source's closure only has to be Sendable by its type.
  private final class Random: @unchecked Sendable {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }
    func next() -> UInt64 {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return state
    }
    func below(_ bound: Int64) -> Int64 { bound <= 0 ? 0 : Int64(next() % UInt64(bound)) }
  }

  private final class Scene {
    private enum Item {
      case message([UInt8], toCallee: Bool)
      case act(Act)
      case callerEnds, calleeEnds
    }

    let pair: Pair
    let caller: Side
    let callee: Side
    private let random: Random
    private let delays: (toCallee: Int64, toCaller: Int64)
    private let jitter: Int64
    private let delta: Int64
    private let lost: Int
    private var sent = 0
    private var isCounting = false
    private var now = MonotonicInstant(milliseconds: 1_000)
    private var queue: [(time: Int64, order: Int, item: Item)] = []
    private var order = 0
    private var exchanges: UInt64 = 1 << 60

    init(_ pair: Pair, number: Int) {
      self.pair = pair
      let seed = pair.testDescription.utf8.reduce(UInt64(number) + 7) { $0 &* 31 &+ UInt64($1) }
      random = Random(seed)
      caller = Side(1, Random(seed ^ 1), acceptsCalls: false)
      callee = Side(2, Random(seed ^ 2), acceptsCalls: true)
      let bounds: [Int64] = [1, 3_000, 120_000, 900_000]
      let bound = bounds[number % bounds.count]
      delays = (random.below(bound), random.below(bound))
      jitter = random.below(bound)
      let deltas = [0, delays.toCallee, delays.toCaller, delays.toCallee + delays.toCaller, random.below(1_500_000)]
      delta = max(0, deltas[Int(random.below(Int64(deltas.count)))] + random.below(3) - 1)
      lost = random.below(2) == 0 ? 0 : Int(random.below(8)) + 1
    }

    var timing: String { "delta \(delta), delays \(delays), jitter \(jitter), lost \(lost)" }

    private func at(_ time: Int64, _ item: Item) {
      order += 1
      queue.append((max(time, now.microseconds), order, item))
    }

    func path(to side: Side) -> SIPPath {
      SIPPath(listener: ListenerID(1), remote: TransportAddress(.udp, side.host, port: 5060))
    }

    func run() {
      let call = CallHandle(1)
      caller.call = call
      let offer = caller.description("caller")
      caller.local = offer
      command(
        caller,
        .placeCall(
          call,
          OutgoingCall(
            target: Ladder.uri("sip:gateway@198.51.100.2"), paths: [path(to: callee)],
            identity: OutgoingIdentity(from: NameAddress(Ladder.uri("sip:caller@198.51.100.1"))), offer: offer)))
      let start = now.microseconds
      // Reliable, so that offers can be made before the answer.
      at(start + 2_000_000, .act(.ring))
      if pair.isUp { at(start + 6_000_000, .act(.accept)) }
      let first = start + 12_000_000
      at(first, .act(pair.first))
      at(first + delta, .act(pair.second))
      at(first + 60_000_000, .callerEnds)
      at(first + 260_000_000, .calleeEnds)
      var steps = 0
      while steps < 3_000 {
        steps += 1
        let times = queue.map(\.time) + [caller, callee].compactMap { $0.agent.nextDeadline?.microseconds }
        guard let next = times.min() else { return }
        now = max(now, MonotonicInstant(microseconds: next))
        isCounting = isCounting || next >= first
        while let index = queue.indices.filter({ queue[$0].time <= now.microseconds }).min(by: {
          (queue[$0].time, queue[$0].order) < (queue[$1].time, queue[$1].order)
        }) {
          perform(queue.remove(at: index).item)
        }
        for side in [caller, callee] where side.agent.nextDeadline.map({ $0 <= now }) ?? false {
          var effects: [UserAgentEffect] = []
          side.agent.advance(to: now, into: &effects)
          deliver(effects, side)
        }
      }
      caller.unexpected.append("no end")
    }

    private func perform(_ item: Item) {
      switch item {
      case .message(let bytes, let toCallee):
        var effects: [UserAgentEffect] = []
        let side = toCallee ? callee : caller
        side.agent.receive(bytes, from: path(to: toCallee ? caller : callee), at: now, into: &effects)
        deliver(effects, side)
      case .act(let act): perform(act)
      case .callerEnds:
        checkAgreement()
        hangUp(caller)
      case .calleeEnds:
        if callee.ends == 0 { callee.unexpected.append("the callee is still up") }
        hangUp(callee)
      }
    }

    private func perform(_ act: Act) {
      switch act {
      case .callerHangsUp: hangUp(caller)
      case .calleeHangsUp: hangUp(callee)
      case .callerOffers: offer(caller)
      case .calleeOffers: offer(callee)
      case .accept:
        guard let call = callee.call, !callee.isAccepted else { return }
        callee.isAccepted = true
        command(callee, .accept(call, body: nil, headers: CustomHeaders()))
      case .reject: if let call = callee.call { command(callee, .reject(call, Rejection(486))) }
      case .ring:
        guard let call = callee.call else { return }
        var answer: MessageBody?
        if callee.local == nil {
          answer = callee.description("callee")
          callee.local = answer
          callee.remote = callee.offer
        }
        command(callee, .ring(call, status: 183, body: answer, headers: CustomHeaders()))
      }
    }

    private func hangUp(_ side: Side) { if let call = side.call { command(side, .hangUp(call, HangUp())) } }

    private func offer(_ side: Side) {
      guard let call = side.call, side.ends == 0 else { return }
      exchanges += 1
      let body = side.description(side === caller ? "caller" : "callee")
      side.openOffers[ExchangeID(exchanges)] = body
      command(side, .offer(call, ExchangeID(exchanges), body))
    }

    private func command(_ side: Side, _ command: UserAgentCommand) {
      var effects: [UserAgentEffect] = []
      side.agent.handle(command, at: now, into: &effects)
      deliver(effects, side)
    }

    private func deliver(_ effects: [UserAgentEffect], _ side: Side) {
      for effect in effects {
        switch effect {
        case .send(let bytes, _, _):
          if isCounting { sent += 1 }
          if isCounting, sent == lost { continue }
          let delay = (side === caller ? delays.toCallee : delays.toCaller) + random.below(jitter)
          at(now.microseconds + delay, .message(bytes, toCallee: side === caller))
        case .event(let event): received(event, side)
        case .locate: side.unexpected.append("a path was asked for")
        }
      }
    }

    private func received(_ event: UserAgentEvent, _ side: Side) {
      switch event {
      case .incoming(let call, let incoming):
        side.call = call
        side.offer = incoming.offer
      case .progress(_, let progress): if let body = progress.body { side.remote = body }
      case .established(_, let answer):
        side.established += 1
        if let body = answer.body { side.remote = body }
      case .offered(_, let exchange, let body):
        let answer = side.description(side === caller ? "caller" : "callee")
        side.remote = body ?? side.remote
        side.local = answer
        command(side, .answer(exchange, answer))
      case .answered(_, let exchange, let body):
        guard let own = side.openOffers.removeValue(forKey: exchange) else {
          side.unexpected.append("an answer to nothing")
          return
        }
        (side.local, side.remote) = (own, body)
      case .offerRefused(_, let exchange, _):
        if exchange.number > 1 << 60, side.openOffers.removeValue(forKey: exchange) == nil {
          side.unexpected.append("an offer refused twice")
        }
      case .ended: side.ends += 1
      case .trying, .info, .transferRequested, .transferProgress, .queryAnswered, .registration, .phoneBindings: break
      }
    }

    /// A minute later, whatever was open is closed, and both know the same session.
    private func checkAgreement() {
      guard caller.ends == 0, callee.ends == 0, callee.isAccepted else { return }
      if caller.local != callee.remote || callee.local != caller.remote {
        caller.unexpected.append("they do not agree on the session")
      }
      for side in [caller, callee] where !side.openOffers.isEmpty { side.unexpected.append("an offer is still open") }
    }

    var problems: [String] {
      var problems = caller.unexpected + callee.unexpected
      for (name, side) in [("caller", caller), ("callee", callee)] {
        if side.ends != 1 { problems.append("the \(name) heard \(side.ends) ends") }
        if side.established > 1 { problems.append("the \(name) was up \(side.established) times") }
        let left = side.agent.holdings.filter { $0.value != 0 }
        if !left.isEmpty { problems.append("the \(name) keeps \(left)") }
        if side.agent.nextDeadline != nil { problems.append("the \(name) waits") }
      }
      return problems
    }
  }
}
