import AppProtocol
import CallEngine
import CallModel
import Foundation
import LedgerCore
import SDPCore
import SIPCore
import Testing

/// One call of an engine over a real agent and a real ledger, to a trunk that is a real agent too, with two events at the
/// timing of a ``GlareCase``. All time is virtual, all chance comes from the case: the same case runs the same way.
final class GlareRun {
  /// Something that reached the gateway or left it, in order.
  struct Entry {
    enum Kind {
      case hangUp, sessionEnded
      case incoming(GlareLine)
      case outgoing(GlareLine)
    }
    let time: Int64
    let kind: Kind
  }

  private enum Action {
    case datagram([UInt8], toTrunk: Bool)
    case event(GlareEvent, isSecond: Bool)
    case ledger(LedgerStep, CallOperation)
    case receipt(CallID, LedgerStep, LedgerReceipt)
    case answerOffer(ExchangeID, MessageBody?)
    case accept
    case offerAgain
    case secured
    case silence
    case sessionEnd
    case repeatUpdate([UInt8], sequence: Int, after: Int64)
    case lastHangUp
    case cleanUp
  }

  static let ringMilliseconds: Int64 = 2_000
  static let longRingMilliseconds: Int64 = 20_000
  /// Seconds that the credit buys where it runs out.
  static let creditSeconds: Int64 = 3
  static let rate: MicroUnits = 1_000
  static let deck = """
    prefix,name,currency,rate,unit,fee,initial,increment,grace
    46,Sweden,EUR,0.06,60,0,1,1,0

    """
  private static let plan = Result { try Scene.plan(deck) }
  private static let gatewayAddress = TransportAddress(.udp, .ipv4(0xC000_0201), port: 5060)
  private static let trunkAddress = TransportAddress(.udp, .ipv4(0xC633_6401), port: 5060)
  private static let listener = ListenerID(0)
  private static let maximumSteps = 5_000

  let it: GlareCase
  let bench: Bench
  let gateway: UserAgent
  let trunk: UserAgent
  let ringMilliseconds: Int64
  /// Seconds of the answered call that the credit pays for; `nil` for more than any run takes.
  let paidSeconds: Int64?
  let credit: MicroUnits
  private let ledger: GlareLedger
  private(set) var account = Scene.account
  private var random: SplitMix

  private var queue: [(time: Int64, order: Int, action: Action)] = []
  private var order = 0
  private var performed = 0

  // What was seen.
  private(set) var entries: [Entry] = []
  private(set) var call: CallID?
  private(set) var closedAt: Int64?
  private(set) var recordedAt: Int64?
  private(set) var farPlan: MediaPlan?
  private(set) var farOpenAt: Int64?
  private(set) var cutAt: Int64?
  private(set) var trunkEnds: [(time: Int64, end: CallEnd)] = []
  private(set) var trunkAnsweredAt: Int64?
  private(set) var trunkByeAt: Int64?
  private(set) var receipts: [(step: LedgerStep, operation: CallOperation, receipt: LedgerReceipt)] = []
  private(set) var problems: [String] = []

  // The trunk.
  private var trunkHandle: CallHandle?
  private var inviteOffer: MessageBody?
  private var lastSuccess: [UInt8] = []
  private var firstInvite: [UInt8] = []
  private var trunkWish = MediaDirection.sendAndReceive
  private var trunkOffers: UInt64 = 1 << 60
  private var descriptions = 0
  /// How sound flows as the trunk knows it.
  private(set) var trunkDirection: MediaDirection?
  /// CSeq numbers of UPDATEs that the trunk's agent knows nothing of, and the highest number that it sent itself.
  private var foreign: [Int] = []
  private var highestSequence = 0
  private var answeredForeign: Set<Int> = []
  private var lastForeignAnswered = 0
  /// Transactions of the gateway by who took them: the trunk's agent, or nobody, for an offer of ours was open.
  private var taken: Set<String> = []
  private var refused: Set<String> = []
  private var foreignDirection: [Int: MediaDirection] = [:]
  private var appOffers = 1
  private var appDirection = MediaDirection.sendAndReceive
  private var refusals = 0
  /// Times that the trunk offers again what its agent could not offer at once.
  private static let maximumRefusals = 10

  // The wire.
  private var isCounting = false
  private var sentToTrunk = 0
  private var sentToGateway = 0
  private var provisionalAt: Int64?
  private var answeredAt: Int64?
  private var isScheduled = false

  init(_ it: GlareCase, _ ledger: GlareLedger) async throws {
    self.it = it
    self.ledger = ledger
    random = SplitMix(seed: it.seed)
    ringMilliseconds = it.isRinging && it.has(.timeout) ? GlareRun.ringMilliseconds : GlareRun.longRingMilliseconds
    if it.has(.creditOut) {
      // Beside the end of the session timer: at the same second, or one apart.
      let paid = it.has(.timeout) ? 60 + (it.first == .timeout ? 1 : -1) * (it.delta % 2) : GlareRun.creditSeconds
      paidSeconds = paid
      credit = GlareRun.rate * paid + 500
    } else {
      paidSeconds = nil
      credit = 1_000_000_000
    }
    let carrier = try Scene.trunk(
      "carrier-1", host: 0xC633_6401, sessionTimer: SessionTimerPolicy(interval: 90),
      ringTimeoutMilliseconds: ringMilliseconds,
      paths: [SIPPath(listener: GlareRun.listener, remote: GlareRun.trunkAddress)])
    bench = try Bench(Scene.configuration([carrier]), seed: it.seed)
    bench.ledger = .silent
    let isTimed = !it.has(.timeout)
    func agent(_ address: TransportAddress, _ salt: UInt64) -> UserAgent {
      let chance = Chance(it.seed ^ salt)
      return UserAgent(
        UserAgentConfiguration(
          addresses: [
            AdvertisedAddress(listener: GlareRun.listener, transport: .udp, host: address.host, port: address.port)
          ], acceptsCalls: true, sessionTimer: SessionTimerPolicy(interval: isTimed ? 90 : nil)),
        identifiers: IdentifierSource { chance.next() })
    }
    gateway = agent(GlareRun.gatewayAddress, 0x67)
    trunk = agent(GlareRun.trunkAddress, 0x74)
    account = try await ledger.open(credit, at: bench.clock)
    bench.caller = try Scene.caller(
      Payer(environment: "production", account: account, currency: .eur, plan: GlareRun.plan.get()))
  }

  /// A generator that agents may share with nobody else: each has its own, on one thread.
  private final class Chance: @unchecked Sendable {
    private var random: SplitMix
    init(_ seed: UInt64) { random = SplitMix(seed: seed) }
    func next() -> UInt64 { random.next() }
  }

  var now: Int64 { bench.now.microseconds }

  // MARK: Time

  private func at(_ time: Int64, _ action: Action) {
    order += 1
    queue.append((max(time, now), order, action))
  }

  private func popDue() -> Action? {
    var best: Int?
    for (index, item) in queue.enumerated() where item.time <= now {
      if best.map({ (item.time, item.order) < (queue[$0].time, queue[$0].order) }) ?? true { best = index }
    }
    return best.map { queue.remove(at: $0).action }
  }

  private var nextTime: Int64? {
    var next = queue.map(\.time).min()
    for deadline in [bench.engine.nextDeadline, gateway.nextDeadline, trunk.nextDeadline] {
      if let time = deadline?.microseconds { next = next.map { min($0, time) } ?? time }
    }
    return next
  }

  /// Runs the whole life of the call.
  func run() async throws {
    bench.request(.call(PlaceCall(kind: .phone, target: Scene.phone, offer: Scene.appOffer())))
    pump()
    var steps = 0
    while let next = nextTime {
      steps += 1
      guard steps < GlareRun.maximumSteps else {
        problems.append("it does not come to an end")
        return
      }
      bench.step(to: MonotonicInstant(microseconds: max(next, now)), wakes: false)
      while let action = popDue() {
        try await perform(action)
        pump()
      }
      for isTrunk in [false, true] {
        let agent = isTrunk ? trunk : gateway
        guard let deadline = agent.nextDeadline, deadline <= bench.now else { continue }
        var effects: [UserAgentEffect] = []
        agent.advance(to: bench.now, into: &effects)
        deliver(effects, ofTrunk: isTrunk)
        pump()
      }
      if let deadline = bench.engine.nextDeadline, deadline <= bench.now {
        bench.step(to: bench.now)
        pump()
      }
    }
  }

  // MARK: What the engine wants

  private func pump() {
    while performed < bench.effects.count {
      let effect = bench.effects[performed]
      performed += 1
      switch effect {
      case .sip(let command):
        var effects: [UserAgentEffect] = []
        gateway.handle(command, at: bench.now, into: &effects)
        deliver(effects, ofTrunk: false)
      case .app(_, .placed(_, let id, _)):
        call = id
        at(now + 50_000, .secured)
      case .media(_, .plan(.far, let plan)):
        farPlan = plan
        if farOpenAt == nil { farOpenAt = now }
      case .media(_, .close): closedAt = closedAt ?? now
      case .record: recordedAt = now
      default: break
      }
    }
    for (step, operation) in bench.drainQuestions() { at(now + it.ledger / 2, .ledger(step, operation)) }
  }

  private func deliver(_ effects: [UserAgentEffect], ofTrunk: Bool) {
    for effect in effects {
      switch effect {
      case .send(let bytes, _, _): send(bytes, toTrunk: !ofTrunk)
      case .locate: problems.append("a name is to be resolved")
      case .event(let event): if ofTrunk { heard(event) } else { bench.feed(.sip(event)) }
      }
    }
  }

  // MARK: The wire

  private func send(_ bytes: [UInt8], toTrunk: Bool) {
    var bytes = bytes
    let line = GlareLine(bytes)
    if toTrunk {
      entries.append(Entry(time: now, kind: .outgoing(line)))
      if it.has(.timeout), line.isRequest, line.method == "INVITE", line.toTag.isEmpty {
        bytes = GlareText.removing("Session-Expires", from: bytes)
      }
    } else {
      if line.isRequest, !foreign.isEmpty || line.sequence > highestSequence {
        highestSequence = max(highestSequence, line.sequence)
        let number = foreign.reduce(line.sequence) { $1 <= $0 ? $0 + 1 : $0 }
        if number != line.sequence { bytes = GlareText.numbered(number, bytes) }
      }
      if line.isRequest, line.method == "BYE", trunkByeAt == nil { trunkByeAt = now }
      if line.status == 200, line.method == "INVITE", line.sequence == 1 {
        if it.has(.timeout) { bytes = GlareText.adding("Session-Expires: 90;refresher=uas", to: bytes) }
        lastSuccess = bytes
      }
    }
    transmit(bytes, toTrunk: toTrunk)
  }

  private func transmit(_ bytes: [UInt8], toTrunk: Bool) {
    var copies = 1
    if isCounting {
      if toTrunk { sentToTrunk += 1 } else { sentToGateway += 1 }
      let number = toTrunk ? sentToTrunk : -sentToGateway
      if number == it.lost { copies = 0 } else if number == it.doubled { copies = 2 }
    }
    for _ in 0..<copies {
      let delay =
        (toTrunk ? it.toTrunk : it.toGateway) + (it.jitter > 0 ? Int64.random(in: 0...it.jitter, using: &random) : 0)
      at(now + delay, .datagram(bytes, toTrunk: toTrunk))
    }
  }

  private func arrive(_ bytes: [UInt8], toTrunk: Bool) {
    guard cutAt == nil else { return }
    let line = GlareLine(bytes)
    var bytes = bytes
    if toTrunk {
      if firstInvite.isEmpty { firstInvite = bytes }
      if let status = line.status, !foreign.isEmpty {
        if foreign.contains(line.sequence) {
          let isNew = status >= 200 && answeredForeign.insert(line.sequence).inserted
          // The first answer to the latest of them counts (RFC 3261 section 12.2.2): one that comes late or again undoes
          // nothing.
          if isNew, (200...299).contains(status), line.sequence > lastForeignAnswered,
            let wish = foreignDirection[line.sequence], let answer = direction(of: bytes)
          {
            lastForeignAnswered = line.sequence
            trunkDirection = wish.limited(to: answer.mirrored)
          }
          return
        }
        let number = line.sequence - foreign.count { $0 < line.sequence }
        if number != line.sequence { bytes = GlareText.numbered(number, bytes) }
      }
      if isRefused(line, bytes) { return }
    } else {
      entries.append(Entry(time: now, kind: .incoming(line)))
      if line.method == "INVITE", line.sequence == 1, let status = line.status {
        if status < 200, provisionalAt == nil {
          provisionalAt = now
          schedule()
        }
        if status == 200, answeredAt == nil {
          answeredAt = now
          schedule()
        }
      }
    }
    var effects: [UserAgentEffect] = []
    let path = SIPPath(
      listener: GlareRun.listener, remote: toTrunk ? GlareRun.gatewayAddress : GlareRun.trunkAddress)
    (toTrunk ? trunk : gateway).receive(bytes, from: path, at: bench.now, into: &effects)
    deliver(effects, ofTrunk: toTrunk)
  }

  /// While an UPDATE that the agent knows nothing of waits for its answer, an offer of the gateway gets 491 (RFC 3261
  /// section 14.2, RFC 3311 section 5.2).
  private func isRefused(_ line: GlareLine, _ bytes: [UInt8]) -> Bool {
    guard line.isRequest else { return false }
    if line.method == "ACK" { return refused.contains("INVITE \(line.sequence) \(line.branch)") }
    guard line.hasBody, line.method == "INVITE" || line.method == "UPDATE", !taken.contains(line.transaction) else {
      return false
    }
    let isOpen = trunkEnds.isEmpty && !answeredForeign.isSuperset(of: foreign)
    guard isOpen || refused.contains(line.transaction) else {
      taken.insert(line.transaction)
      return false
    }
    refused.insert(line.transaction)
    let fields = ["Via", "From", "To", "Call-ID", "CSeq"].map { "\($0): \(GlareText.value($0, in: bytes))" }
    let response = ["SIP/2.0 491 Request Pending"] + fields + ["Content-Length: 0", "", ""]
    transmit(Array(response.joined(separator: "\r\n").utf8), toTrunk: false)
    return true
  }

  // MARK: When

  private func schedule() {
    guard !isScheduled else { return }
    let firstAt: Int64
    let secondAt: Int64
    if it.isRinging {
      guard let provisionalAt else { return }
      if it.has(.timeout) {
        let ring = provisionalAt + ringMilliseconds * 1000
        (firstAt, secondAt) = it.first == .timeout ? (ring, ring + it.delta) : (ring - min(it.delta, 1_900_000), ring)
      } else {
        firstAt = provisionalAt + 300_000
        secondAt = firstAt + it.delta
      }
      if let pickUp = it.pickUp { at(firstAt + pickUp, .accept) }
    } else {
      guard let answeredAt else {
        at(now + 200_000, .accept)
        return
      }
      let driven: Int64? =
        it.has(.creditOut)
        ? paidSeconds.map { answeredAt + $0 * 1_000_000 } : it.has(.timeout) ? answeredAt + 60_000_000 : nil
      if let driven {
        if it.first.isDriven {
          (firstAt, secondAt) = (driven, driven + it.delta)
        } else {
          (firstAt, secondAt) = (driven - min(it.delta, 2_900_000), driven)
        }
      } else {
        firstAt = answeredAt + it.talk
        secondAt = firstAt + it.delta
      }
    }
    isScheduled = true
    at(firstAt, .event(it.first, isSecond: false))
    at(secondAt, .event(it.second, isSecond: true))
    let changes: Set<GlareEvent> = [.reinvite, .hold, .update]
    let patience: Int64 =
      it.has(.trunkLoss) ? 75 : changes.contains(it.first) || changes.contains(it.second) ? 20 : 6
    at(max(firstAt, secondAt) + it.absence + patience * 1_000_000, .lastHangUp)
    // Everything that is repeated is given up after 64 × T1, a CANCEL that finds nobody after twice that.
    at(max(firstAt, secondAt) + (patience + 140) * 1_000_000, .cleanUp)
  }

  // MARK: What happens

  private func perform(_ action: Action) async throws {
    switch action {
    case .datagram(let bytes, let toTrunk): arrive(bytes, toTrunk: toTrunk)
    case .event(let event, let isSecond):
      isCounting = true
      happen(event, again: isSecond && it.first == it.second)
    case .ledger(let step, let operation):
      let receipt = try await ledger.perform(operation, at: bench.clock)
      receipts.append((step, operation, receipt))
      at(now + it.ledger - it.ledger / 2, .receipt(operation.call, step, receipt))
    case .receipt(let call, let step, let receipt): bench.feed(.ledger(call, step, .success(receipt)))
    case .answerOffer(let exchange, let offer): answerOffer(exchange, offer)
    case .accept: accept()
    case .offerAgain: if trunkEnds.isEmpty { offerFromTrunk(trunkWish) }
    case .secured: bench.secured(call)
    case .silence:
      // It sent until then.
      if let call, closedAt == nil {
        for notice in [MediaNotice.firstMedia(.far), .silence(.far)] { bench.feed(.media(call, notice)) }
      }
    case .sessionEnd:
      entries.append(Entry(time: now, kind: .sessionEnded))
      bench.feed(.sessionEnded(bench.session))
    case .repeatUpdate(let bytes, let sequence, let after):
      guard !answeredForeign.contains(sequence), trunkEnds.isEmpty, after < 32_000_000 else { return }
      transmit(bytes, toTrunk: false)
      at(now + after, .repeatUpdate(bytes, sequence: sequence, after: after * 2))
    case .lastHangUp:
      checkDirections()
      hangUp()
    case .cleanUp: cleanUp()
    }
  }

  private func happen(_ event: GlareEvent, again: Bool) {
    switch event {
    case .bye: if let trunkHandle { command(.hangUp(trunkHandle, HangUp())) }
    case .cancel, .hangUp: hangUp()
    case .answer: accept()
    case .reinvite: offerFromTrunk(again ? .sendAndReceive : .sendOnly)
    case .update:
      if it.isRinging { offerFromTrunk(again ? .sendAndReceive : .sendOnly) } else { update(again) }
    case .hold:
      guard let call else { return }
      appOffers += 1
      appDirection = again ? .sendAndReceive : .sendOnly
      bench.request(.offer(call, Scene.appOffer(appDirection.rawValue, version: appOffers)))
    // They come by themselves.
    case .timeout, .creditOut: break
    case .appLoss:
      bench.feed(.sessionAbsent(bench.session))
      at(now + it.absence, .sessionEnd)
    case .trunkLoss:
      guard cutAt == nil else { return }
      cutAt = now
      at(max(now, farOpenAt ?? now) + bench.engine.configuration.limits.silenceMilliseconds * 1000, .silence)
    }
  }

  private func hangUp() {
    guard let call else { return }
    entries.append(Entry(time: now, kind: .hangUp))
    bench.request(.hangUp(call))
  }

  private func cleanUp() {
    guard let trunkHandle else { return }
    let isLeft = trunkEnds.isEmpty
    // A trunk that nobody could tell of the end is told by its operator.
    if isLeft, cutAt == nil { problems.append("the trunk's call is still up") }
    command(.hangUp(trunkHandle, HangUp()))
  }

  // MARK: The trunk

  private func command(_ command: UserAgentCommand) {
    var effects: [UserAgentEffect] = []
    trunk.handle(command, at: bench.now, into: &effects)
    deliver(effects, ofTrunk: true)
  }

  private func heard(_ event: UserAgentEvent) {
    switch event {
    case .incoming(let handle, let call):
      trunkHandle = handle
      inviteOffer = call.offer
      if it.isReliable, let offer = call.offer {
        command(.ring(handle, status: 183, body: answer(to: offer), headers: CustomHeaders()))
      } else {
        command(.ring(handle, status: 180, body: nil, headers: CustomHeaders()))
      }
    case .offered(_, let exchange, let body): at(now + it.answering, .answerOffer(exchange, body))
    case .answered(_, _, let body):
      if let answer = direction(of: body.bytes) { trunkDirection = trunkWish.limited(to: answer.mirrored) }
    case .ended(_, let end): trunkEnds.append((now, end))
    case .offerRefused(_, let exchange, _):
      guard exchange.number >= 1 << 60, refusals < GlareRun.maximumRefusals else { return }
      refusals += 1
      at(now + 1_000_000, .offerAgain)
    case .trying, .progress, .established, .info, .transferRequested, .transferProgress, .queryAnswered,
      .registration, .phoneBindings:
      break
    }
  }

  private func accept() {
    guard let trunkHandle, let inviteOffer, trunkEnds.isEmpty else { return }
    guard trunkAnsweredAt == nil else {
      // Once more, as if its ACK had not come.
      if !lastSuccess.isEmpty { transmit(lastSuccess, toTrunk: false) }
      return
    }
    trunkAnsweredAt = now
    command(.accept(trunkHandle, body: it.isReliable ? nil : answer(to: inviteOffer), headers: CustomHeaders()))
  }

  private func answerOffer(_ exchange: ExchangeID, _ offer: MessageBody?) {
    command(.answer(exchange, offer.map { answer(to: $0) } ?? description(trunkWish)))
  }

  private func offerFromTrunk(_ direction: MediaDirection) {
    guard let trunkHandle else { return }
    trunkWish = direction
    trunkOffers += 1
    command(.offer(trunkHandle, ExchangeID(trunkOffers), description(trunkWish)))
  }

  /// An UPDATE with an offer inside the confirmed dialog: the agent itself sends a re-INVITE there.
  private func update(_ again: Bool) {
    guard !lastSuccess.isEmpty, trunkEnds.isEmpty else { return }
    let wish: MediaDirection = again ? .sendAndReceive : .sendOnly
    trunkWish = wish
    let sequence = foreign.reduce(highestSequence + 1) { $1 <= $0 ? $0 + 1 : $0 }
    foreign.append(sequence)
    foreignDirection[sequence] = wish
    let contact = GlareText.value("Contact", in: firstInvite)
    let uri = contact.split(separator: "<").last?.split(separator: ">").first.map(String.init) ?? "sip:192.0.2.1"
    let body = description(wish).bytes
    let head = [
      "UPDATE \(uri) SIP/2.0", "Via: SIP/2.0/UDP 198.51.100.1:5060;branch=z9hG4bKupdate\(sequence)x\(it.seed)",
      "Max-Forwards: 70", "From: \(GlareText.value("To", in: lastSuccess))",
      "To: \(GlareText.value("From", in: lastSuccess))", "Call-ID: \(GlareText.value("Call-ID", in: lastSuccess))",
      "CSeq: \(sequence) UPDATE", "Contact: <sip:198.51.100.1:5060>", "Supported: timer",
      "Session-Expires: 90;refresher=uac", "Content-Type: application/sdp", "Content-Length: \(body.count)", "", "",
    ].joined(separator: "\r\n")
    let bytes = Array(head.utf8) + body
    transmit(bytes, toTrunk: false)
    at(now + 500_000, .repeatUpdate(bytes, sequence: sequence, after: 1_000_000))
  }

  // MARK: Session descriptions of the trunk

  private func description(_ direction: MediaDirection) -> MessageBody {
    descriptions += 1
    let lines = [
      "v=0", "o=- 99 \(descriptions) IN IP4 198.51.100.9", "s=-", "c=IN IP4 198.51.100.9", "t=0 0",
      "m=audio 20000 RTP/AVP 8", "a=rtpmap:8 PCMA/8000", "a=\(direction.rawValue)",
    ]
    return MessageBody(sessionDescription: Array((lines.joined(separator: "\r\n") + "\r\n").utf8))
  }

  private func answer(to offer: MessageBody) -> MessageBody {
    let offered = direction(of: offer.bytes) ?? .sendAndReceive
    let answer = trunkWish.limited(to: offered.mirrored)
    trunkDirection = answer
    return description(answer)
  }

  private func direction(of bytes: [UInt8]) -> MediaDirection? {
    let text = String(decoding: bytes, as: UTF8.self)
    guard text.contains("m=audio") else { return nil }
    return MediaDirection.allCases.first { text.contains("\r\na=\($0.rawValue)\r\n") } ?? .sendAndReceive
  }

  /// Both ends of a call that stays up must agree who may send, and the app's last wish must stand.
  private func checkDirections() {
    guard closedAt == nil, cutAt == nil, trunkEnds.isEmpty, let far = farPlan?.audio, let trunkDirection else {
      return
    }
    if far.direction != trunkDirection.mirrored {
      problems.append("the gateway's side is \(far.direction.rawValue), the trunk's \(trunkDirection.rawValue)")
    }
    if !appDirection.receives, far.direction.receives {
      problems.append("the app holds, the trunk was not told: \(far.direction.rawValue)")
    }
    if appDirection == .sendAndReceive, foreign.isEmpty, trunkWish == .sendAndReceive,
      far.direction != .sendAndReceive
    {
      problems.append("nobody holds, and sound flows \(far.direction.rawValue)")
    }
  }
}
