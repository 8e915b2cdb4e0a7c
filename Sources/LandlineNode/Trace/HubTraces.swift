import AppProtocol
import CallEngine
import CallModel
import CallStory
import LandlineWire
import LedgerCore
import MediaCore
import NodeCore
import RoutingCore
import SDPCore
import SIPCore
import SecureTransport

/// The traces of calls that are up or were a moment ago. Kept on the hub's loop; what is told of a call that is not here
/// changes nothing.
final class HubTraces {
  /// Traces at a time; calls above it leave none.
  static let maximumTraces = 20_000
  /// Requests for calls that wait for their reply.
  static let maximumRequests = 20_000
  /// Calls that are told of one problem of their way.
  static let toldCalls = 256

  /// A class, so that a trace grows where it is: Swift takes a structure out of a dictionary to change it.
  private final class Entry {
    var recorder: CallTraceRecorder
    let environment: String
    let currency: Currency
    var ways: [LegID: HEPExporter.MediaWay] = [:]
    /// The devices of a called user that rang, by their sessions.
    var callees: [SessionID: String] = [:]
    /// What their media agreed on, until one of them answers.
    var calleePlans: [LegID: MediaPlan] = [:]
    /// What the media of each side are called; none of the called side until a device has answered.
    var media: [LegID: LegID]
    /// Messages when it was last kept; `nil` before.
    var keptMessages: Int?
    /// Where the last INVITE went, until anything comes back.
    var reaching: TransportAddress?

    /// The side that media belong to; `nil` for those of nobody who talks.
    func side(of leg: LegID) -> LegID? { media.first { $0.value == leg }?.key }

    init(_ recorder: CallTraceRecorder, media: [LegID: LegID], environment: String, currency: Currency) {
      self.recorder = recorder
      self.media = media
      self.environment = environment
      self.currency = currency
    }
  }

  private struct Request: Hashable {
    var session: SessionID
    var number: RequestNumber
  }

  private var entries: [CallID: Entry] = [:]
  private var dialogs: [String: CallID] = [:]
  /// Offers of apps for calls that have no id yet, with when they came.
  private var requests: [Request: (call: PlaceCall, at: Int64)] = [:]

  /// Calls by the address that their INVITE went to, until anything comes back.
  private var reaching: [TransportAddress: Set<CallID>] = [:]

  /// Where copies go as well.
  private let exporter: HEPExporter?

  init(exporter: HEPExporter?) { self.exporter = exporter }

  func close() { exporter?.close() }

  /// Calls that have a trace here.
  var calls: [CallID] { Array(entries.keys) }

  /// Adds what a node's core tells.
  /// - Parameter listeners: what each is bound to.
  func add(_ entry: TraceEntry, of listeners: [ListenerID: TransportAddress], at: Int64) {
    switch entry {
    case .began(let call): begin(call)
    case .request(let session, let number, let request): self.request(session, number, request, at: at)
    case .told(let session, let event): self.event(session, event, at: at)
    case .sessionEnded(let session): sessionEnded(session)
    case .dialog(let sipCallID, let call, let leg, let trunk, let name):
      dialog(sipCallID, (call, leg, name), trunk)
    case .message(let bytes, let sipCallID, let isSent, let path):
      message(bytes, sipCallID: sipCallID, isSent: isSent, path, local: listeners[path.listener], at: at)
    case .plan(let call, let leg, let plan): self.plan(call, leg, plan, at: at)
    case .invited(let session, let call, let device): entries[call]?.callees[session] = device
    case .joined(let call, let leg, let side): joined(call, leg, side, at: at)
    }
  }

  // MARK: Life

  /// A call began.
  private func begin(_ call: CallSnapshot) {
    guard entries[call.id] == nil, entries.count < Self.maximumTraces else { return }
    entries[call.id] = Entry(
      CallTraceRecorder(call: call.id.text, startedAt: call.startedAt.milliseconds * 1000),
      media: call.kind == .user || call.from != nil ? [.near: .near] : [.near: .near, .far: .far],
      environment: call.environment,
      currency: call.currency)
  }

  /// Media are those of a side from now on: a device has answered, or a call was transferred.
  private func joined(_ call: CallID, _ leg: LegID, _ side: LegID, at: Int64) {
    guard let entry = entries[call] else { return }
    entry.media[side] = leg
    if let plan = entry.calleePlans[leg] { self.plan(call, leg, plan, at: at) }
    entry.calleePlans = [:]
  }

  func trace(of call: CallID) -> CallTrace? { entries[call]?.recorder.trace }

  /// What is to be kept of a call now, unless nothing has come since the last time.
  func toKeep(_ call: CallID) -> (environment: String, trace: CallTrace)? {
    guard let entry = entries[call] else { return nil }
    let messages = entry.recorder.messageCount
    guard entry.keptMessages != messages else { return nil }
    entry.keptMessages = messages
    return (entry.environment, entry.recorder.trace)
  }

  func forget(_ call: CallID) {
    reached(call)
    guard let entry = entries.removeValue(forKey: call) else { return }
    for dialog in entry.recorder.trace.dialogs { dialogs[dialog.sipCallID] = nil }
    exporter?.forget(call)
  }

  // MARK: SIP

  private func dialog(
    _ sipCallID: String, _ attempt: (call: CallID, leg: LegID, trunk: String), _ facts: CallTrunk?
  ) {
    guard let entry = entries[attempt.call] else { return }
    dialogs[sipCallID] = attempt.call
    entry.recorder.dialog(
      CallTrace.Dialog(sipCallID: sipCallID, side: attempt.leg, trunk: attempt.trunk),
      facts: facts.map { CallStorySources.TrunkFacts($0) })
  }

  private func message(
    _ bytes: [UInt8], sipCallID: String, isSent: Bool, _ path: SIPPath, local: TransportAddress?, at: Int64
  ) {
    guard let call = dialogs[sipCallID], let entry = entries[call] else { return }
    let message = entry.recorder.message(
      bytes, of: sipCallID, isSent: isSent, transport: path.remote.transport.rawValue,
      local: local.map(Self.text) ?? "", remote: Self.text(path.remote), at: at)
    if !isSent {
      reached(call)
    } else if bytes.starts(with: Self.invite) {
      reached(call)
      entry.reaching = path.remote
      reaching[path.remote, default: []].insert(call)
    }
    if let exporter, let message { exporter.send(message, startedAt: entry.recorder.startedAt, of: call) }
  }

  private static let invite = Array("INVITE ".utf8)

  private func reached(_ call: CallID) {
    guard let entry = entries[call], let address = entry.reaching else { return }
    entry.reaching = nil
    reaching[address]?.remove(call)
    if reaching[address]?.isEmpty ?? false { reaching[address] = nil }
  }

  /// Something went wrong on the way to a peer: the calls that are on this way are told.
  func problem(_ problem: TransportProblem, at: Int64) {
    guard let remote = problem.remote, let calls = reaching[remote] else { return }
    for call in calls.prefix(Self.toldCalls) { entries[call]?.recorder.note(.story, side: nil, "\(problem)", at: at) }
  }

  static func text(_ address: TransportAddress) -> String { "\(address.host):\(address.port)" }

  // MARK: The app

  private func request(_ session: SessionID, _ number: RequestNumber, _ request: AppRequest, at: Int64) {
    switch request {
    case .call(let call):
      guard requests.count < Self.maximumRequests else { return }
      requests[Request(session: session, number: number)] = (call, at)
    case .hangUp(let call): line(call, "hangup", "", isFromApp: true, session, at)
    case .sendDigits(let call, let digits): line(call, "dtmf", "\(digits.count) keys", isFromApp: true, session, at)
    case .offer(let call, let description): line(call, "offer", "", description, isFromApp: true, session, at)
    case .answer(let call, let description): line(call, "answer", "", description, isFromApp: true, session, at)
    case .mute(let call, let isMuted): line(call, "mute", isMuted ? "on" : "off", isFromApp: true, session, at)
    case .listen, .room: break
    case .record(let call, let state): line(call, "record", state.rawValue, isFromApp: true, session, at)
    case .transfer(let call, let order):
      let way = order.consults ? ", after talking" : ""
      line(call, "transfer", "to \(order.kind.rawValue) \(order.target)\(way)", isFromApp: true, session, at)
    case .join(let call, let other): line(call, "transfer", "with \(other)", isFromApp: true, session, at)
    case .completeTransfer(let call): line(call, "complete", "", isFromApp: true, session, at)
    case .takeBack(let call): line(call, "take-back", "", isFromApp: true, session, at)
    case .alert(let call, let offer): line(call, "alert", "", offer, isFromApp: true, session, at)
    case .accept(let call, let offer, _): line(call, "accept", "", offer, isFromApp: true, session, at)
    case .decline(let call, let scope, let reason):
      line(call, "decline", "\(reason.rawValue), \(scope.rawValue)", isFromApp: true, session, at)
    case .report(let call, let statistics):
      line(call, "report", "\(statistics.figures.count) figures", isFromApp: true, session, at)
    }
  }

  private func event(_ session: SessionID, _ event: AppEvent, at: Int64) {
    switch event {
    case .placed(let number, let call, let answer):
      asked(number, session, call)
      line(call, "placed", "", answer, isFromApp: false, session, at)
    case .refused(let number, let failure):
      guard let call = failure.correlationID.flatMap({ CallID($0) }), entries[call] != nil else {
        requests[Request(session: session, number: number)] = nil
        break
      }
      asked(number, session, call)
      line(call, "error", failure.code.rawValue, isFromApp: false, session, at)
    case .incoming(let call, _): line(call, "incoming", "", isFromApp: false, session, at)
    case .done: break
    case .answered(_, let call, let description): line(call, "answer", "", description, isFromApp: false, session, at)
    case .progressing(let call, _): line(call, "progress", "", isFromApp: false, session, at)
    case .ringing(let call, _): line(call, "ringing", "", isFromApp: false, session, at)
    case .earlyMedia(let call): line(call, "early", "", isFromApp: false, session, at)
    case .accepted(let call, _): line(call, "accepted", "", isFromApp: false, session, at)
    case .established(let call): line(call, "established", "", isFromApp: false, session, at)
    case .recording(let call, let state): line(call, "recording", state.rawValue, isFromApp: false, session, at)
    case .price(let call, let price):
      line(call, "price", "\(price.secondsAvailable) s of credit", isFromApp: false, session, at)
    case .creditEnds(let call, let seconds):
      line(call, "credit", seconds.map { "ends in \($0) s" } ?? "is enough again", isFromApp: false, session, at)
    case .digit(let call, _, let milliseconds):
      line(call, "digit", "a key, \(milliseconds) ms", isFromApp: false, session, at)
    case .held(let call, let isHeld):
      line(call, "held", isHeld ? "on hold" : "taken back", isFromApp: false, session, at)
    case .transfer(let call, let progress):
      let code = progress.failure.map { " \($0.code.rawValue)" } ?? ""
      line(call, "transfer", progress.step.rawValue + code, isFromApp: false, session, at)
    case .offered(let call, let description): line(call, "offer", "", description, isFromApp: false, session, at)
    case .quality, .members, .speakers: break
    case .warning(let call, let warning, let isRaised):
      line(call, "warning", "\(warning.rawValue) \(isRaised ? "raised" : "cleared")", isFromApp: false, session, at)
    case .ended(let call, let summary):
      let code = summary.failure.map { " \($0.code.rawValue)" } ?? ""
      line(call, "ended", summary.cause.rawValue + code, isFromApp: false, session, at)
    }
  }

  /// The request that a call came of has its id now.
  private func asked(_ number: RequestNumber, _ session: SessionID, _ call: CallID) {
    guard let asked = requests.removeValue(forKey: Request(session: session, number: number)) else { return }
    line(
      call, "call", "\(asked.call.kind.rawValue) \(asked.call.target)", asked.call.offer, isFromApp: true, session,
      asked.at)
  }

  /// The session is over: nobody waits for its replies.
  private func sessionEnded(_ session: SessionID) {
    for request in requests.keys where request.session == session { requests[request] = nil }
  }

  private func line(
    _ call: CallID, _ type: String, _ text: String, _ description: String? = nil, isFromApp: Bool,
    _ session: SessionID, _ at: Int64
  ) {
    guard let entry = entries[call] else { return }
    entry.recorder.line(
      type, text, description: description, isFromApp: isFromApp, device: entry.callees[session], at: at)
  }

  // MARK: Media and ledger

  private func plan(_ call: CallID, _ leg: LegID, _ plan: MediaPlan, at: Int64) {
    guard let entry = entries[call] else { return }
    guard let side = entry.side(of: leg) else {
      entry.calleePlans[leg] = plan
      return
    }
    let security =
      switch plan.protection {
      case .none: "RTP"
      case .sdes: "SDES"
      case .dtls: "DTLS-SRTP"
      }
    let remote = plan.remote.host.map { "\($0):\(plan.remote.port)" } ?? ""
    entry.ways[side] = HEPExporter.MediaWay(
      clockRate: plan.audio.send.codec.clockRate, remote: remote)
    entry.recorder.plan(
      CallTrace.Plan(
        at: entry.recorder.offset(at), side: side, codec: plan.audio.send.codec.rawValue,
        clockRate: plan.audio.send.codec.clockRate, payloadType: Int(plan.audio.send.payloadType.number),
        packetMilliseconds: plan.audio.packetTime, security: security, direction: plan.audio.direction.rawValue,
        remote: remote))
  }

  func media(_ call: CallID, _ event: MediaEvent, at: Int64) {
    guard let entry = entries[call] else { return }
    func note(_ kind: CallTrace.Note.Kind, _ leg: LegID, _ text: String = "") {
      guard let side = entry.side(of: leg) else { return }
      entry.recorder.note(kind, side: side, text, at: at)
    }
    switch event {
    // Plain RTP tells the same, without a suite: there are no keys.
    case .transport(let leg, .secured(let suite)): if let suite { note(.secured, leg, suite.rawValue) }
    case .transport(let leg, .failed(let failure)): note(.mediaFailed, leg, failure.rawValue)
    case .transport(let leg, .closedByPeer): note(.mediaFailed, leg, "closedByPeer")
    case .transport(let leg, .moved(let address)): note(.moved, leg, "\(address)")
    case .wayLost(let leg, _): note(.wayLost, leg)
    case .wayBack(let leg): note(.wayBack, leg)
    case .firstMedia(let leg): note(.firstMedia, leg)
    case .silence(let leg): note(.silence, leg)
    case .soundAgain(let leg): note(.soundAgain, leg)
    case .promptEnded(let leg, let finished): note(.promptEnded, leg, finished ? "finished" : "cut short")
    case .statistics(let leg, let statistics):
      guard let side = entry.side(of: leg) else { return }
      let second = CallTrace.Second(
        at: entry.recorder.offset(at), side: side,
        received: CallTrace.Direction(received: statistics.received), sent: CallTrace.Direction(statistics.sent),
        roundTrip: statistics.roundTrip, reports: Int64(clamping: statistics.reports))
      entry.recorder.second(second)
      exporter?.send(
        second, startedAt: entry.recorder.startedAt, entry.ways[second.side] ?? HEPExporter.MediaWay(), of: call)
    case .transport, .thinLink, .digit, .recorded, .recordingEnded, .bye, .speaking, .leadsTalk, .roomRefused, .closed:
      break
    }
  }

  /// A step at the ledger is over.
  func ledger(
    _ call: CallID, _ step: LedgerStep, _ result: Result<LedgerReceipt, LedgerUnavailable>, microseconds: Int64,
    at: Int64
  ) {
    guard let entry = entries[call] else { return }
    let outcome =
      switch result {
      case .success(let receipt): HubTraces.words(receipt.outcome, entry.currency)
      case .failure(let problem): "the ledger is away: \(problem.cause.rawValue)"
      }
    let name =
      switch step {
      case .authorise: "authorise"
      case .answer: "answer"
      case .extend: "extend"
      case .end: "end"
      }
    entry.recorder.note(
      .ledger, "\(name): \(outcome), in \(DecimalText.format(microseconds, scale: 3)) ms",
      at: at)
  }

  /// For people, every number with its unit.
  static func words(_ outcome: LedgerOutcome, _ currency: Currency) -> String {
    func money(_ micros: MicroUnits) -> String { "\(micros.brief) \(currency)" }
    return switch outcome {
    case .changed: "changed"
    case .posted(_, let amount, let balance): "\(money(amount)) booked, balance \(money(balance))"
    case .granted(let seconds, let amount, let isFinal):
      "\(money(amount)) held for \(seconds) s" + (isFinal ? ", the last that there is" : "")
    case .answered: "answer booked"
    case .settled(_, let billed, let cost, _): "\(money(cost)) charged for \(billed) s"
    case .voided: "hold given back"
    case .refused(let refusal): "refused, \(refusal.explanation)"
    }
  }
}

extension CallTrace.Direction {
  init(_ direction: MediaStatistics.Direction) {
    self.init(
      packets: Int64(clamping: direction.packets), bytes: Int64(clamping: direction.bytes), lost: direction.lost,
      lossRate: direction.lossRate, jitter: direction.jitter, score: direction.meanOpinionScore,
      buffered: direction.buffered, effectiveLoss: direction.effectiveLoss)
  }

  /// With what is known of a direction only where it comes in.
  fileprivate init(received: MediaStatistics.Direction) {
    self.init(received)
    tooLate = Int64(clamping: received.tooLate)
    recovered = Int64(clamping: received.recovered)
    clockDrift = received.clockDrift
  }
}

extension CallStorySources.TrunkFacts {
  init(_ trunk: CallTrunk) {
    let protection = trunk.media.protection
    let isSecret = protection.contains(.sdes) || protection.contains(.dtls)
    let fromUser =
      switch trunk.identity.fromUser {
      case .callerNumber: "caller"
      case .fixed(let user): user
      }
    let format = trunk.identity.dialFormat
    self.init(
      uri: TrunkAddress.text(trunk.uri), codecs: trunk.media.codecs.map(\.rawValue),
      encryption: isSecret ? (protection.contains(.none) ? "offered" : "required") : "none",
      username: trunk.account?.username, fromUser: fromUser, assertsIdentity: trunk.identity.assertion != .none,
      dialFormat: format.prefix + (format.keepsPlus ? "+" : ""), maximumCalls: trunk.trunk.limits.concurrentCalls)
  }
}
