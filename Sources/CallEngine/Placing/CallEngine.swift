import AppProtocol
public import CallModel
import LedgerCore
import RoutingCore
import SDPCore
public import SIPCore

/// The calls of one node's loop. No clock, socket, file or random source inside: every input carries the time, effects are
/// appended in the order in which they are to be performed.
///
/// The engine never waits: each question to the ledger, the media or a trunk has a deadline, and an answer that comes later
/// is taken for what it is. The shell performs the ledger's operations of one call in the order in which they were asked,
/// answers each of them once, and keeps `settle` and `void` until the ledger has taken them.
public final class CallEngine {
  let context: EngineContext
  var calls: [CallID: CallMachine] = [:]
  /// Names of second legs in the ledger, and the calls they belong to.
  var billedCalls: [CallID: CallID] = [:]
  var sessions: [SessionID: Set<CallID>] = [:]
  /// Calls for a user, whether or not they still ring.
  private var ringing: [RingKey: Set<CallID>] = [:]
  /// The last calls of apps that are over, for reports that come after the end.
  private var recent: [CallID: (session: SessionID, environment: String)] = [:]
  private var recentOrder: [CallID] = []
  /// Calls that trunks sent us and that wait to hear who pays.
  var arrivals: [CallHandle: Arrival] = [:]
  /// Calls of telephones that wait to hear who pays.
  var phoneArrivals: [CallHandle: PhoneArrival] = [:]
  /// OPTIONS that are out, and the trunks they went to.
  var pings: [QueryID: (trunk: String, sentAt: MonotonicInstant)] = [:]
  /// Microseconds from the last OPTIONS of each trunk to its answer; none where none came.
  var roundTrips: [String: Int64] = [:]
  var lastQuery: UInt64 = 1 << 62
  /// New calls, emergency calls too, are refused with 503; set by ``EngineInput/drain`` for good.
  public internal(set) var isDraining = false
  /// How many calls may be prepared at a time, by how far the node is behind.
  public internal(set) var admission = AdmissionGate()
  /// Calls under preparation: what ``admission`` limits.
  public private(set) var preparing = 0

  /// - Parameter draw: 64 random bits each time, from the system's generator: keys and names are made of them.
  public init(_ configuration: EngineConfiguration, draw: @escaping () -> UInt64, at now: MonotonicInstant) {
    context = EngineContext(configuration, draw: draw, at: now)
  }

  /// As ``EngineInput/configure(_:)`` gave it last.
  public var configuration: EngineConfiguration { context.configuration }

  /// When ``advance(to:clock:into:)`` is due next; `nil` while nothing waits.
  public var nextDeadline: MonotonicInstant? { context.deadlines.next }

  /// No call is live, none waits for its receipts.
  public var isIdle: Bool { calls.isEmpty }

  /// Oldest first.
  public var liveCalls: [CallSnapshot] {
    calls.values.lazy.filter(\.isLive).map(\.snapshot).sorted {
      ($0.startedAt, $0.id) < ($1.startedAt, $1.id)
    }
  }

  /// A call as lists of live calls show it; `nil` while it is being prepared and once it ends.
  public func call(_ id: CallID) -> CallSnapshot? {
    calls[id].flatMap { $0.isLive ? $0.snapshot : nil }
  }

  /// A call in any state, from its first effect to its record.
  public func anyCall(_ id: CallID) -> CallSnapshot? { calls[id]?.snapshot }

  /// Which call an attempt at a trunk belongs to, to which of its legs, and the trunk's name; `nil` once the attempt is over.
  public func attempt(_ handle: CallHandle) -> (call: CallID, leg: LegID, trunk: String)? {
    guard let id = context.handles[handle], let call = calls[id] else { return nil }
    if let phone = call[.far].ring?.phone(of: handle) { return (id, .far, phone.name) }
    guard let leg = call.leg(of: handle), let attempt = call[leg].trunk?.current else { return nil }
    return (id, leg, attempt.name)
  }

  /// How each trunk stands, in the order of the configuration.
  public var trunkReports: [TrunkStanding] {
    context.configuration.trunks.compactMap { trunk in
      context.state(of: trunk.trunk.name).map { state in
        let reason = state.reason(at: context.now)
        let standing =
          switch (reason, state.health.standing) {
          case (.capacity(.draining), _): "draining"
          case (.health(.resting), _): "resting"
          case (_, .down): "down"
          case (_, .probing): "probing"
          case (_, .up): "up"
          }
        return TrunkStanding(
          name: trunk.trunk.name, standing: standing,
          explanation: reason.map {
            SkippedTrunk(trunk: trunk.trunk.name, reason: $0).explanation(at: context.now)
          } ?? "", liveCalls: state.capacity.liveCalls, roundTripMicroseconds: roundTrips[trunk.trunk.name])
      }
    }
  }

  // MARK: Inputs

  /// - Parameters:
  ///   - now: of the monotonic clock, for durations.
  ///   - clock: the same moment as people read it, for records and prices.
  public func handle(
    _ input: EngineInput, at now: MonotonicInstant, clock: Instant, into effects: inout [EngineEffect]
  ) {
    run(now, clock, &effects) {
      // What was due before this input happened before it.
      advanceDue()
      dispatch(input)
    }
  }

  /// Does everything that is due.
  public func advance(to now: MonotonicInstant, clock: Instant, into effects: inout [EngineEffect]) {
    run(now, clock, &effects) { advanceDue() }
  }

  private func run(
    _ now: MonotonicInstant, _ clock: Instant, _ effects: inout [EngineEffect], _ body: () -> Void
  ) {
    context.now = max(context.now, now)
    context.clock = clock
    swap(&context.effects, &effects)
    body()
    swap(&context.effects, &effects)
  }

  private func advanceDue() {
    while let timer = context.deadlines.popDue(at: context.now) {
      switch timer {
      case .call(let id): with(id) { $0.advance() }
      case .trunk(let name): advance(trunk: name)
      case .room(let key): advance(room: key)
      }
    }
  }

  private func dispatch(_ input: EngineInput) {
    switch input {
    case .request(let session, let number, let request, let caller): perform(request, number, session, caller)
    case .callUser(let session, let number, let request, let caller, let called):
      place(request, number, session, caller, to: called)
    case .deviceListens(let device): deviceListens(device)
    case .sessionAbsent(let session): withCalls(of: session) { $0.sessionAbsent(session) }
    case .sessionResumed(let session): withCalls(of: session) { $0.sessionResumed(session) }
    case .sessionEnded(let session):
      // Calls that wait for their receipts leave the session when they are over.
      withCalls(of: session) { $0.sessionEnded(session) }
    case .originate(let order, let origination): originate(order, origination)
    case .hangUp(let call, let actor, let cause): with(call) { $0.hangUp(by: actor, cause: cause) }
    case .order(let id, let call, let order, let actor):
      context.emit(.ordered(id, self.order(order, call, by: actor)))
    case .room(let room, let order, let actor): self.order(order, in: room, by: actor)
    case .roomRecordingEnded(let room, let recording, let state): recordingEnded(recording, of: room, state)
    case .prepared(let call, let result):
      // The call was refused meanwhile, and its media given back.
      with(call) { $0.prepared(result) }
      linkPrepared(call)
    case .media(let call, let notice): with(call) { $0.noticed(notice) }
    case .ledger(let call, let step, let result):
      with(billedCalls[call] ?? call) { $0.ledger(call, step, result) }
    case .sip(let event): signalled(event)
    case .phoneCalls(let handle, let call, let caller): phoneCalls(handle, call, caller)
    case .payerFound(let handle, let payer): payerFound(handle, payer)
    case .certificatesFound(let handle, let certificates): certificatesFound(handle, certificates)
    case .userFound(let call, let called):
      let called = freed(called)
      with(call) { $0.userFound(called) }
    case .numbers(let environment, let numbers):
      context.numbers[environment] = Dictionary(numbers.map { ($0.number, $0) }) { first, _ in first }
    case .accountChanged(let account, let environment):
      withCalls(of: account, environment) { $0.accountChanged() }
    case .accountLocked(let account, let environment):
      withCalls(of: account, environment) { $0.accountLocked() }
    case .lockAnswered(let account, let environment, let isLocked):
      context.lockAnswered(AccountKey(account: account, environment: environment), isLocked: isLocked)
      if isLocked { withCalls(of: account, environment) { $0.accountLocked() } }
    case .fenced(let environment):
      for (id, call) in calls.sorted(by: { $0.key < $1.key }) where call.payer.environment == environment {
        with(id) { $0.fenced() }
      }
    case .configure(let configuration):
      context.configuration = configuration
      context.loadTrunks()
    case .drain: isDraining = true
    case .waited(let observation): observe(observation)
    }
  }

  private func observe(_ observation: AdmissionGate.Observation) {
    switch admission.observe(observation, preparing: preparing, at: context.now) {
    case nil: break
    case .began(let window):
      context.log(
        .warning, nil,
        "overload: new calls are refused while \(window) are being prepared, for what comes in waits too long")
    case .ended(let time, let refusals):
      context.log(
        .warning, nil, "the overload is over after \(time / 1000) ms: calls are taken again, \(refusals) were refused")
    }
  }

  private func perform(
    _ request: AppRequest, _ number: RequestNumber, _ session: SessionID, _ caller: AppCaller
  ) {
    let id: CallID
    switch request {
    case .call(let call): return place(call, number, session, caller)
    // The door has told whoever knows the devices.
    case .listen: return context.emit(.app(session, .done(number)))
    case .hangUp(let call), .sendDigits(let call, _), .offer(let call, _), .answer(let call, _), .mute(let call, _),
      .alert(let call, _), .accept(let call, _, _), .decline(let call, _, _), .report(let call, _),
      .transfer(let call, _), .join(let call, _), .completeTransfer(let call), .takeBack(let call),
      .room(let call, _), .record(let call, _):
      id = call
    }
    guard sessions[session]?.contains(id) ?? false else {
      // It put the other side through, and the call goes on without it.
      if case .report(_, let report) = request, let call = calls[id], call.hasLeft(session) {
        with(id) { $0.reportedAfterLeaving(report, of: session) }
        return context.emit(.app(session, .done(number)))
      }
      if case .report(_, let report) = request, let call = recent[id], call.session == session {
        let figures = report.figures.sorted { $0.key < $1.key }.prefix(ClientStatistics.maximumFigures)
        context.emit(.app(session, .done(number)))
        return context.emit(
          .statistics(
            id, environment: call.environment, Dictionary(uniqueKeysWithValues: figures.map { ($0.key, $0.value) })))
      }
      switch request {
      // It crossed the end of its call, and has what it wants.
      case .hangUp, .decline: context.emit(.app(session, .done(number)))
      case .accept, .alert:
        context.emit(.app(session, .refused(number, CallMachine.tooLate(id))))
      default: context.emit(.app(session, .refused(number, CallMachine.unknownCall(id))))
      }
      return
    }
    if case .transfer(_, let order) = request { return transfer(id, order, number, session) }
    if case .join(_, let other) = request { return join(id, with: other, number, session) }
    if case .record(_, let wanted) = request { return record(id, wanted, number, session, caller) }
    with(id) { $0.requested(number, request, by: session) }
  }

  /// Rings for the calls that ring for its user now.
  private func deviceListens(_ device: CalledDevice) {
    let key = RingKey(application: device.identity.application, user: device.identity.user)
    for id in (ringing[key] ?? []).sorted() {
      guard let call = calls[id], let user = call[call.ringLeg].terms?.user, let device = freed(device, of: user) else {
        continue
      }
      with(id) { $0.deviceListens(device) }
    }
  }

  // MARK: Calls

  /// - Parameter refusal: Why a call that a trunk sent us is not taken: it ends with its first word.
  func add(_ call: CallMachine, refusal: CallFailure? = nil) {
    calls[call.id] = call
    if call.isPreparing { preparing += 1 }
    for billed in call.billedCalls where billed != call.id { billedCalls[billed] = call.id }
    for session in call.sessions { sessions[session, default: []].insert(call.id) }
    if let key = call.ringKey { ringing[key, default: []].insert(call.id) }
    with(call.id) { $0.start(refusal: refusal) }
  }

  /// Lets a call act, and takes over what became of it. One that is over is not there any more: what comes for it crossed
  /// its end.
  func with(_ id: CallID, _ action: (CallMachine) -> Void) {
    guard let call = calls[id] else { return }
    let wasPreparing = call.isPreparing
    let formerKey = call.ringKey
    let wasEnding = call.isEnding
    let linked = call.linkedCall
    let wasGuest = call.isPresentGuest
    action(call)
    for billed in call.drainNewBills() where billed != id { billedCalls[billed] = id }
    if call.ringKey != formerKey, !call.isOver {
      unlist(id, formerKey)
      if let key = call.ringKey { ringing[key, default: []].insert(id) }
    }
    if wasPreparing, !call.isPreparing { preparing -= 1 }
    for change in call.drainSessionChanges() { list(change.session, id, isMember: change.isMember) }
    if call.isOver {
      remove(call)
    } else {
      context.deadlines.set(.call(id), call.nextDeadline)
    }
    for (key, listener) in call.drainRoomKeys() { with(listener) { $0.hearKey(key) } }
    if call.isPresentGuest != wasGuest, let host = call.snapshot.guestOf { with(host) { $0.guestsChanged(call) } }
    if !wasEnding, call.isEnding || call.isOver, call.hasInvited { endGuests(of: call) }
    // It ended, or its leg to the other call failed: the other one has nobody to talk with.
    if let linked, !wasEnding, call.isEnding || call.linkedCall == nil { linkEnded(linked) }
  }

  private func remove(_ call: CallMachine) {
    calls[call.id] = nil
    for billed in call.billedCalls { billedCalls[billed] = nil }
    context.deadlines.set(.call(call.id), nil)
    for session in call.sessions { list(session, call.id, isMember: false) }
    unlist(call.id, call.ringKey)
    guard let session = call.caller?.session else { return }
    recent[call.id] = (session, call.payer.environment)
    recentOrder.append(call.id)
    if recentOrder.count > context.limits.recentCalls { recent[recentOrder.removeFirst()] = nil }
  }

  private func unlist(_ call: CallID, _ key: RingKey?) {
    guard let key else { return }
    ringing[key]?.remove(call)
    if ringing[key]?.isEmpty ?? false { ringing[key] = nil }
  }

  private func list(_ session: SessionID, _ call: CallID, isMember: Bool) {
    if isMember {
      sessions[session, default: []].insert(call)
    } else {
      sessions[session]?.remove(call)
      if sessions[session]?.isEmpty ?? false { sessions[session] = nil }
    }
  }

  private func withCalls(of session: SessionID, _ action: (CallMachine) -> Void) {
    for id in (sessions[session] ?? []).sorted() { with(id, action) }
  }

  private func withCalls(of account: AccountName, _ environment: String, _ action: (CallMachine) -> Void) {
    for (id, call) in calls.sorted(by: { $0.key < $1.key })
    where call.payer.account == account && call.payer.environment == environment {
      with(id, action)
    }
  }
}

/// How a trunk stands with an engine.
public struct TrunkStanding: Hashable, Sendable {
  /// As the configuration names it; ``CallTrunk/farEnd`` for the built-in one.
  public let name: String
  /// `up`, `probing`, `down`, `resting` or `draining`.
  public let standing: String
  /// Why no call may go there now; empty when one may.
  public let explanation: String
  /// Calls that hold a place under the trunk's cap.
  public let liveCalls: Int
  /// From the last OPTIONS to its answer; `nil` where none was sent or answered.
  public let roundTripMicroseconds: Int64?
}

/// The user that a call is for.
struct RingKey: Hashable {
  let application: String
  let user: UserID
}

extension CallMachine {
  /// Set in a call for a user.
  var ringKey: RingKey? {
    self[ringLeg].terms?.user.map { RingKey(application: $0.application, user: $0.user) }
  }

  /// Whether lists of live calls show it.
  var isLive: Bool {
    switch state {
    case .reaching, .up: true
    case .preparing, .ending, .over: false
    }
  }
}
