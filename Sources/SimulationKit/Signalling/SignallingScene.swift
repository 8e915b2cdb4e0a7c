import CallModel
import SIPCore

/// One run: two agents, their layers above, the network between them and the time.
final class SignallingScene {
  /// What is going to happen.
  enum Happening {
    case arrival([UInt8], sender: Int, isDamaged: Bool)
    case place(Int)
    case located(party: Int, LocationID, [SIPPath])
    case deed(SimulatedLeg, Deed)
  }

  /// What the layer above does with a call.
  enum Deed {
    case ring(status: Int, hasDescription: Bool)
    case decide
    case hangUp
    case offer
    case answer(ExchangeID)
    case refuse(ExchangeID)
    case inform
    case transfer
    case answerTransfer(Bool)
    case reportTransfer(Int)
  }

  /// Virtual time after which everything has to be at rest.
  static let longest: Int64 = 3_600_000
  /// Inputs that one call may take; a livelock takes more.
  static let stepsPerCall = 20_000
  /// How long both sides may believe different things while a change is on its way.
  static let longestDifference: Int64 = 40_000

  let seed: UInt64
  let options: SignallingOptions
  var random: SeededGenerator
  var network: SimulatedNetwork
  let parties: [SimulatedParty]
  let calls: [SimulatedCall]
  var legs: [[CallHandle: SimulatedLeg]] = [[:], [:]]
  var callsByIdentifier: [String: SimulatedCall] = [:]
  private(set) var now: MonotonicInstant = .zero
  var schedule = EventSchedule<Happening>()
  private(set) var violation: (call: Int?, detail: String)?
  private var trace: [(call: Int?, line: String)]?
  private var digest = OutcomeDigest()
  var counts: SignallingReport
  private var lastExchange: UInt64 = 1 << 32
  private var lastDescription = 0
  private var lastInformation = 0
  var planted = 0
  /// What an agent says to a damaged message repeats fields of it, damage and all.
  private var isHearingDamage = false

  init(seed: UInt64, calls count: Int, options: SignallingOptions, isTraced: Bool) {
    self.seed = seed
    self.options = options
    var random = SeededGenerator(seed: seed)
    network = SimulatedNetwork(options, random: random.fork())
    parties = [SimulatedParty(index: 0, random: &random), SimulatedParty(index: 1, random: &random)]
    calls = (1...max(1, count)).map { number in
      var own = random.fork()
      return SimulatedCall(number: number, script: CallScript(&own), random: own)
    }
    self.random = random
    trace = isTraced ? [] : nil
    counts = SignallingReport(seed: seed)
    for call in calls {
      schedule.add(.place(call.number), at: MonotonicInstant(milliseconds: call.script.startsAt))
    }
  }

  // MARK: - Running

  func run() {
    let limit = calls.count * SignallingScene.stepsPerCall
    var steps = 0
    while violation == nil, let next = nextInstant {
      now = max(now, next)
      steps += 1
      guard now.milliseconds <= SignallingScene.longest, steps <= limit else {
        fail(nil, "not at rest after \(now.milliseconds) ms and \(steps) steps: \(stillOpen)")
        break
      }
      step()
    }
    if violation == nil { checkRest() }
  }

  private var nextInstant: MonotonicInstant? {
    ([schedule.next] + parties.map(\.agent.nextDeadline)).compactMap { $0 }.min()
  }

  /// One input: of what is due at the same time, a random one first.
  private func step() {
    var due: [Int] = parties.indices.filter { parties[$0].agent.nextDeadline.map { $0 <= now } ?? false }
    if let next = schedule.next, next <= now { due.append(parties.count) }
    guard let chosen = due.count == 1 ? due.first : random.element(of: due) else { return }
    if chosen < parties.count {
      input(chosen) { agent, effects in agent.advance(to: now, into: &effects) }
    } else if let happening = schedule.popDue(at: now) {
      carryOut(happening)
    }
  }

  private func carryOut(_ happening: Happening) {
    switch happening {
    case .arrival(let bytes, let sender, let isDamaged):
      let path = SimulatedParty.path(to: SimulatedParty.address(sender))
      isHearingDamage = isDamaged
      let events = input(1 - sender) { agent, effects in agent.receive(bytes, from: path, at: now, into: &effects) }
      isHearingDamage = false
      if isDamaged, events > 0 { fail(nil, "a damaged message led to an event") }
    case .place(let number): place(calls[number - 1])
    case .located(let party, let location, let paths): command(party, .located(location, paths))
    case .deed(let leg, let deed): perform(deed, by: leg)
    }
  }

  func command(_ party: Int, _ command: UserAgentCommand) {
    input(party) { agent, effects in agent.handle(command, at: now, into: &effects) }
  }

  func command(_ leg: SimulatedLeg, _ command: UserAgentCommand) {
    note(leg.call) { "\(leg.party) does    \(SignallingScene.name(of: command))" }
    self.command(leg.party, command)
  }

  func later(_ milliseconds: Int64, _ leg: SimulatedLeg, _ deed: Deed) {
    schedule.add(.deed(leg, deed), at: now.advanced(byMilliseconds: milliseconds))
  }

  /// Hands one input to an agent and performs what comes of it.
  /// - Returns: How many events it told.
  @discardableResult
  private func input(_ party: Int, _ action: (UserAgent, inout [UserAgentEffect]) -> Void) -> Int {
    var effects: [UserAgentEffect] = []
    action(parties[party].agent, &effects)
    var events = 0
    for effect in effects where violation == nil {
      switch effect {
      case .send(let bytes, let path, _): send(bytes, to: path, from: party)
      case .locate(let location, let uri): locate(location, uri, for: party)
      case .event(let event):
        events += 1
        tell(event, to: party)
      }
    }
    return events
  }

  private func locate(_ location: LocationID, _ uri: SIPURI, for party: Int) {
    let call = uri.user.flatMap { Int($0.drop { !$0.isNumber }) }.flatMap {
      calls.indices.contains($0 - 1) ? calls[$0 - 1] : nil
    }
    guard let call else { return fail(nil, "a question where \(uri.user ?? "nobody") lives") }
    let isLost: Bool
    if case .nowhere = call.script.way { isLost = true } else { isLost = false }
    if isLost { call.isUnlocatable = true }
    let paths = isLost ? [] : [SimulatedParty.path(to: SimulatedParty.address(1 - party))]
    schedule.add(
      .located(party: party, location, paths), at: now.advanced(byMilliseconds: call.random.one(0, 30, 3000)))
  }

  // MARK: - Messages

  private func send(_ bytes: [UInt8], to path: SIPPath, from party: Int) {
    var bytes = bytes
    counts.sent += 1
    if options.planted == .unreadableMessage, counts.sent % 10 == 0, let last = bytes.indices.last {
      bytes[last / 2] = 0
    }
    guard case .success(let scanned) = SIPGate.admit(bytes, transport: .udp),
      case .success(let message) = MessageParser.values(of: scanned)
    else {
      if isHearingDamage { return relay(bytes, from: party, nil, "refusal") }
      return fail(nil, "an agent sent what no agent accepts: \(String(decoding: bytes.prefix(300), as: UTF8.self))")
    }
    let call = self.call(of: message)
    let kind = message.method?.rawValue ?? "\(message.status ?? 0)"
    counts.messages[kind, default: 0] += 1
    digest.add(now.milliseconds)
    digest.add(String(decoding: bytes, as: UTF8.self))
    let name = { "\(kind)\(message.method == nil ? " to" : "") \(message.cseq.method.rawValue) \(message.cseq.number)" }
    guard path.listener == SimulatedParty.listener, path.remote.transport == .udp else {
      return fail(call?.number, "a message for a way that does not exist")
    }
    guard path.remote == SimulatedParty.address(1 - party) else {
      return note(call?.number) { "\(party) sends   \(name()), to nobody" }
    }
    if isSwallowed(message) { return note(call?.number) { "\(party) sends   \(name()), swallowed" } }
    let description = message.body?.isType("application/sdp") == true ? " sdp" : ""
    relay(tampered(bytes, message), from: party, call, name() + description)
  }

  private func relay(_ bytes: [UInt8], from party: Int, _ call: SimulatedCall?, _ name: String) {
    let deliveries = network.deliveries(from: party, at: now)
    if deliveries.isEmpty { call?.losses += 1 }
    var fate = deliveries.isEmpty ? ", lost" : ""
    for delivery in deliveries {
      var arriving = bytes
      if delivery.isDamaged {
        call?.losses += 1
        call?.damages += 1
        arriving = network.damage(bytes)
        // What makes sense in spite of its damage would be another message; a checksum keeps it from us.
        if SignallingScene.isReadable(arriving) { continue }
      }
      fate += delivery.isDamaged ? " damaged" : " +\(delivery.afterMilliseconds)"
      schedule.add(
        .arrival(arriving, sender: party, isDamaged: delivery.isDamaged),
        at: now.advanced(byMilliseconds: delivery.afterMilliseconds))
    }
    note(call?.number) { "\(party) sends   \(name)\(fate)" }
  }

  private static func isReadable(_ bytes: [UInt8]) -> Bool {
    guard case .success(let scanned) = SIPGate.admit(bytes, transport: .udp),
      case .success = MessageParser.values(of: scanned)
    else { return false }
    return true
  }

  private func call(of message: SIPMessage) -> SimulatedCall? {
    if let known = callsByIdentifier[message.callID] { return known }
    guard message.method == .invite, message.to.tag == nil, let call = call(named: message.to.uri) else { return nil }
    callsByIdentifier[message.callID] = call
    return call
  }

  func call(named uri: SIPURI) -> SimulatedCall? {
    guard let number = uri.user.flatMap({ Int($0.dropFirst()) }), calls.indices.contains(number - 1) else { return nil }
    return calls[number - 1]
  }

  private func isSwallowed(_ message: SIPMessage) -> Bool {
    switch options.planted {
    case .swallowedAcknowledgements: message.method == .ack
    case .swallowedByes: message.method == .bye
    default: false
    }
  }

  private func tampered(_ bytes: [UInt8], _ message: SIPMessage) -> [UInt8] {
    guard let status = message.status else { return bytes }
    var text = String(decoding: bytes, as: UTF8.self)
    switch options.planted {
    case .rewrittenTag where status == 200 && message.cseq.method == .invite:
      guard let tag = message.to.tag, let range = text.firstRange(of: tag) else { return bytes }
      text.replaceSubrange(range, with: String(tag.reversed()))
    case .alteredDescription where message.body != nil:
      planted += 1
      guard planted % 2 == 0, let range = text.firstRange(of: "s=-") else { return bytes }
      text.replaceSubrange(range, with: "s=x")
    default: return bytes
    }
    return Array(text.utf8)
  }

  // MARK: - Values

  /// A session description that nobody else has.
  func description(isLarge: Bool = false) -> MessageBody {
    lastDescription += 1
    let filler = isLarge ? String(repeating: "a=x-filler:0123456789012345678901234567890123456789\r\n", count: 40) : ""
    return MessageBody(
      sessionDescription: Array(
        """
        v=0\r\no=- \(lastDescription) 1 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\n\
        m=audio \(10_000 + 2 * (lastDescription % 20_000)) RTP/AVP 8\r\n\(filler)
        """.utf8))
  }

  func nextExchange() -> ExchangeID {
    lastExchange += 1
    return ExchangeID(lastExchange)
  }

  func information() -> MessageBody {
    lastInformation += 1
    return MessageBody(
      contentType: "application/dtmf-relay",
      bytes: Array("Signal=\(lastInformation % 10)\r\nDuration=\(40 + lastInformation % 7000)\r\n".utf8))
  }

  // MARK: - Findings

  func fail(_ call: Int?, _ detail: String) {
    guard violation == nil else { return }
    violation = (call, detail)
  }

  func note(_ call: Int?, _ line: () -> String) {
    guard trace != nil else { return }
    trace?.append((call, "\(SignallingScene.clock(now)) \(line())"))
  }

  func digest(_ text: String) { digest.add(text) }

  private static func clock(_ instant: MonotonicInstant) -> String {
    let digits = String(instant.milliseconds)
    return String(repeating: " ", count: max(0, 8 - digits.count)) + digits
  }

  var finding: SignallingViolation? {
    guard let violation else { return nil }
    let lines = (trace ?? []).filter { violation.call == nil || $0.call == nil || $0.call == violation.call }
    return SignallingViolation(
      seed: seed, calls: calls.count, atMilliseconds: now.milliseconds, call: violation.call, detail: violation.detail,
      trace: lines.suffix(2000).map { violation.call == nil ? "[\($0.call ?? 0)] \($0.line)" : $0.line })
  }

  private var stillOpen: String {
    parties.map { party in
      party.agent.holdings.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        .joined(separator: ", ")
    }.joined(separator: " / ")
  }

  var report: SignallingReport {
    var report = counts
    report.calls = calls.count
    report.lost = network.lost
    report.duplicated = network.duplicated
    report.reordered = network.reordered
    report.damaged = network.damaged
    report.virtualMilliseconds = now.milliseconds
    report.digest = digest.text
    return report
  }
}
