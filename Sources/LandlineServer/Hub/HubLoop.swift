import AppProtocol
import CallEngine
import CallModel
import Foundation
import LandlineGateway
import LedgerCore
import Logging
import MediaCore
import NIOCore
import RoutingCore
import SIPCore

/// What a hub keeps on its loop: the door of the apps, the engine of the calls, and the way of every effect. One input
/// is handled with all its effects before the next.
final class HubLoop {
  private enum Input {
    case door(AppDoorInput)
    case engine(EngineInput)
    case deadline
  }

  /// Numbers of the trunks' registrations start here; below are the engine's own queries.
  static let firstRegistration: UInt64 = 1 << 63
  /// Handles of legs that an earlier life left start here; the engine's are below, those of calls that come in above.
  static let firstRelease: UInt64 = 1 << 62

  let eventLoop: any EventLoop
  let log: Logger
  private(set) var configuration: HubConfiguration
  private let environments: [String: HubEnvironment]
  private let lines: [String: LedgerLine]
  private let verifier: any RegistrationVerifier
  private let media: HubMedia
  private let meter: HubMeter
  /// `nil` where traces are not kept.
  let traces: HubTraces?
  /// `nil` where no file is kept.
  private let journal: DialogJournal?
  private let door: AppDoor
  private let engine: CallEngine
  weak var node: SIPNode?
  private weak var hub: CallHub?

  private var connections: [AppProtocol.ConnectionID: any AppConnection] = [:]
  private var identities: [SessionID: AppIdentity] = [:]
  private var originations: [OriginationID: @Sendable (Result<CallID, CallFailure>) -> Void] = [:]
  private var nextOrigination: UInt64 = 1
  private var watchers: [UInt64: AsyncStream<CallSnapshot>.Continuation] = [:]
  private var nextWatcher: UInt64 = 1
  private var accountVersions: [String: AccountState] = [:]
  private var idleWaiters: [EventLoopPromise<Void>] = []
  private var isDraining = false
  private var trunkStatistics = TrunkStatistics()

  private var inputs = CircularBuffer<Input>()
  private var doorEffects: [AppDoorEffect] = []
  private var engineEffects: [EngineEffect] = []
  /// Those that are being carried out; the arrays change places, so that none is allocated anew.
  private var doorWork: [AppDoorEffect] = []
  private var engineWork: [EngineEffect] = []
  private var isRunning = false
  private var wakeUp: (at: MonotonicInstant, task: Scheduled<Void>)?
  private var isStopped = false
  private let inbox: HubInbox
  /// Since when the bell was not heard, where that is asked.
  private var rungAt: MonotonicInstant?
  /// Whether a tick is due, and whether anything came in since the last one.
  private var isTicking = false
  private var hasNews = false
  /// What tells of a loop that is behind.
  private static let tickMilliseconds: Int64 = 20

  /// What an account was like when its calls were last told.
  struct AccountState: Hashable {
    var posted: Int64
    var revision: Int64
    var isLocked: Bool
  }

  init(
    _ configuration: HubConfiguration, lines: [String: LedgerLine], verifier: any RegistrationVerifier,
    media: HubMedia, meter: HubMeter, exporter: HEPExporter?, journal: DialogJournal?, inbox: HubInbox,
    on eventLoop: any EventLoop, log: Logger
  ) {
    self.configuration = configuration
    environments = Dictionary(uniqueKeysWithValues: configuration.environments.map { ($0.name, $0) })
    self.lines = lines
    self.verifier = verifier
    self.media = media
    self.meter = meter
    traces = configuration.keepsTraces || exporter != nil ? HubTraces(exporter: exporter) : nil
    self.journal = journal
    self.inbox = inbox
    self.eventLoop = eventLoop
    self.log = log
    let draw: () -> UInt64 = {
      var generator = SystemRandomNumberGenerator()
      return generator.next()
    }
    door = AppDoor(configuration.door, draw: draw)
    engine = CallEngine(configuration.engine, draw: draw, at: NodeClock.now())
  }

  func start(_ hub: CallHub, node: SIPNode) {
    self.hub = hub
    self.node = node
    for (index, registration) in configuration.registrations.enumerated() {
      node.execute(.register(QueryID(HubLoop.firstRegistration + UInt64(index)), registration))
    }
    releaseLeftOver(node)
    schedule()
  }

  /// Ends what the last life left at the trunks.
  private func releaseLeftOver(_ node: SIPNode) {
    guard let journal, !journal.leftOver.isEmpty else { return }
    log.notice("legs of an earlier life are ended", metadata: ["legs": "\(journal.leftOver.count)"])
    for (index, left) in journal.leftOver.enumerated() {
      let handle = CallHandle(Self.firstRelease + UInt64(index))
      journal.adopt(handle, callID: left.callID)
      let account = configuration.engine.trunks.first { $0.trunk.name == left.trunk }?.account
      guard let leg = left.leg(over: node.advertisedAddresses, account: account) else {
        log.warning("a leg of an earlier life cannot be ended", metadata: ["trunk": "\(left.trunk)"])
        journal.ended(handle)
        continue
      }
      node.execute(.release(handle, leg))
    }
  }

  /// A leg has its end. Those of an earlier life are no concern of the engine.
  func ended(_ handle: CallHandle) -> Bool {
    journal?.ended(handle)
    return (Self.firstRelease..<Self.firstRegistration).contains(handle.number)
  }

  /// Nobody is served any longer; what was sent before reaches its app first.
  func endSessions() {
    door(.shutDown)
    for watcher in watchers.values { watcher.finish() }
    watchers = [:]
  }

  func stop() {
    isStopped = true
    for entry in inbox.close() { take(entry) }
    traces?.close()
    journal?.close()
    wakeUp?.task.cancel()
    wakeUp = nil
    for watcher in watchers.values { watcher.finish() }
    watchers = [:]
    for connection in connections.values { connection.close(code: 1001, reason: "the gateway stops") }
    connections = [:]
    node = nil
  }

  // MARK: What comes in

  func door(_ input: AppDoorInput) { take(.door(input)) }

  func engine(_ input: EngineInput) { take(.engine(input)) }

  /// The bell: apps have their turn.
  func rang() {
    rungAt = nil
    let entries = inbox.take()
    let now = NodeClock.now()
    let waited = entries.reduce(Int64(0)) { longest, entry in
      guard case .text(_, _, let arrival) = entry else { return longest }
      return max(longest, now.microseconds(since: arrival))
    }
    // That none of them waited tells nothing.
    if waited > AdmissionGate.lateMicroseconds { engine(.waited(microseconds: waited)) }
    for entry in entries { take(entry) }
  }

  private func take(_ entry: HubInbox.Entry) {
    switch entry {
    case .opened(let id, let connection, let host):
      guard !isStopped else { return connection.close(code: 1001, reason: "the gateway stops") }
      connections[id] = connection
      door(.opened(id, host: host))
    case .text(let text, let connection, _):
      meter.appMessage(isIncoming: true)
      door(.text(connection, text))
    case .violated(let connection, let closeCode, let problem):
      door(.violation(connection, closeCode: closeCode, problem))
    case .ponged(let connection): door(.pong(connection))
    case .clogged(let connection): door(.clogged(connection))
    case .closed(let connection):
      guard connections.removeValue(forKey: connection) != nil else { return }
      door(.closed(connection))
    }
  }

  func media(_ events: [MediaLoopEvent]) {
    let now = NodeClock.unixMicroseconds()
    for event in events {
      if let call = media.call(of: event.bridge) { traces?.media(call, event.event, at: now) }
      guard let notice = HubMedia.notice(event.event) else { continue }
      if let call = media.call(of: event.bridge) { take(.engine(.media(call, notice))) }
      if case .closed = event.event { media.forget(event.bridge) }
    }
    checkIdle()
  }

  /// A SIP message on its way in or out.
  func sip(_ message: [UInt8], isSent: Bool, _ path: SIPPath, of node: SIPNode) {
    guard traces != nil || journal != nil, let sipCallID = SIPCallIDScan.callID(in: message) else { return }
    if isSent {
      journal?.sent(message, callID: sipCallID, on: path)
    } else {
      journal?.received(message, callID: sipCallID)
    }
    traces?.message(
      message, sipCallID: sipCallID, isSent: isSent, path, local: node.addresses[path.listener],
      at: NodeClock.unixMicroseconds())
  }

  func sip(_ problem: TransportProblem) { traces?.problem(problem, at: NodeClock.unixMicroseconds()) }

  func originate(
    _ origination: Origination, answer: @escaping @Sendable (Result<CallID, CallFailure>) -> Void
  ) {
    let id = OriginationID(nextOrigination)
    nextOrigination += 1
    originations[id] = answer
    engine(.originate(id, origination))
  }

  func configure(
    _ settings: EngineConfiguration, applications: [String: [String: HubEnvironment.Application]],
    keepsClientStatistics: Bool
  ) {
    var settings = settings
    // Who signs the ledger's operations is decided at the start of a node's life.
    for index in settings.environments.indices {
      let name = settings.environments[index].name
      guard let origin = configuration.engine.environments.first(where: { $0.name == name })?.origin else { continue }
      settings.environments[index].origin = origin
    }
    configuration.engine = settings
    configuration.keepsClientStatistics = keepsClientStatistics
    for index in configuration.environments.indices {
      configuration.environments[index].applications = applications[configuration.environments[index].name] ?? [:]
    }
    engine(.configure(settings))
  }

  func drain() {
    isDraining = true
    door(.drain)
    engine(.drain)
  }

  // MARK: What is asked

  var liveCalls: [CallSnapshot] { engine.liveCalls }
  func liveCall(_ id: CallID) -> CallSnapshot? { engine.call(id) }
  var sessionCount: Int { door.sessionCount }
  var bridgeCount: Int { media.callCount }
  /// How the engine's trunks do, with the configuration's facts beside.
  var trunkStandings: [TrunkReport] {
    engine.trunkReports.map { report in
      let trunk = configuration.engine.trunks.first { $0.trunk.name == report.name }
      return TrunkReport(
        name: report.name, uri: trunk.map { TrunkAddress.text($0.uri) } ?? "",
        environments: configuration.engine.environments.filter { $0.trunks.contains(report.name) }.map(\.name),
        standing: report.standing, explanation: report.explanation, liveCalls: report.liveCalls,
        maximumCalls: trunk?.trunk.limits.concurrentCalls,
        figures: trunkStatistics.figures(of: report.name, at: NodeClock.wallClock()),
        optionsMilliseconds: report.roundTripMicroseconds.map { Double($0) / 1000 })
    }
  }
  var isIdle: Bool { engine.isIdle && media.callCount == 0 }
  /// How many calls may be prepared at a time, and how many were refused because no more might.
  var admission: AdmissionGate { engine.admission }
  var drains: Bool { isDraining }

  func watch() -> AsyncStream<CallSnapshot> {
    let number = nextWatcher
    nextWatcher += 1
    let (stream, continuation) = AsyncStream.makeStream(
      of: CallSnapshot.self, bufferingPolicy: .bufferingNewest(CallHub.watchedChanges))
    guard !isStopped else {
      continuation.finish()
      return stream
    }
    watchers[number] = continuation
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    continuation.onTermination = { _ in
      bound.eventLoop.execute { bound.value.watchers[number] = nil }
    }
    return stream
  }

  /// Done when no call is left, or when the time is over.
  func whenIdle(within milliseconds: Int64) -> EventLoopFuture<Void> {
    if isIdle { return eventLoop.makeSucceededVoidFuture() }
    let promise = eventLoop.makePromise(of: Void.self)
    idleWaiters.append(promise)
    let end = eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(milliseconds)) { [weak self] in
      self?.giveUpWaiting()
    }
    return promise.futureResult.always { _ in end.cancel() }
  }

  private func giveUpWaiting() {
    let waiters = idleWaiters
    idleWaiters = []
    for waiter in waiters { waiter.succeed(()) }
  }

  private func checkIdle() {
    guard !idleWaiters.isEmpty, isIdle else { return }
    giveUpWaiting()
  }

  /// Accounts with live calls, by environment.
  var payingAccounts: [String: Set<AccountName>] {
    engine.liveCalls.reduce(into: [:]) { $0[$1.environment, default: []].insert($1.account) }
  }

  /// Tells calls what has become of their accounts; changes of any process on the ledger are seen here.
  func accounts(_ rows: [LedgerAccount], in environment: String) {
    for row in rows {
      let key = "\(environment)/\(row.name)"
      let state = AccountState(posted: row.posted, revision: row.revision, isLocked: row.status == .locked)
      let former = accountVersions[key]
      accountVersions[key] = state
      guard let former, former != state else { continue }
      let name = AccountName(unchecked: row.name)
      if state.isLocked, !former.isLocked {
        engine(.accountLocked(name, environment: environment))
      } else if state.posted > former.posted || state.revision != former.revision {
        engine(.accountChanged(name, environment: environment))
      }
    }
    let paying = Set(payingAccounts.flatMap { entry in entry.value.map { "\(entry.key)/\($0.text)" } })
    accountVersions = accountVersions.filter { paying.contains($0.key) }
  }

  // MARK: One input after the other

  private func take(_ input: Input, isNews: Bool = true) {
    inputs.append(input)
    if isNews { hasNews = true }
    guard !isRunning else { return }
    isRunning = true
    while let input = inputs.popFirst(), !isStopped {
      let now = NodeClock.now()
      let clock = NodeClock.wallClock()
      switch input {
      case .door(let input): door.handle(input, at: now, clock: clock, into: &doorEffects)
      case .engine(let input): engine.handle(input, at: now, clock: clock, into: &engineEffects)
      case .deadline:
        door.advance(to: now, clock: clock, into: &doorEffects)
        engine.advance(to: now, clock: clock, into: &engineEffects)
      }
      perform(at: clock)
    }
    inputs.removeAll(keepingCapacity: true)
    isRunning = false
    schedule()
    startTicking()
    checkIdle()
  }

  private func perform(at clock: Instant) {
    swap(&doorEffects, &doorWork)
    for effect in doorWork { perform(effect, at: clock) }
    doorWork.removeAll(keepingCapacity: true)
    swap(&engineEffects, &engineWork)
    for effect in engineWork { perform(effect, at: clock) }
    engineWork.removeAll(keepingCapacity: true)
  }

  private func perform(_ effect: AppDoorEffect, at clock: Instant) {
    switch effect {
    case .send(let connection, let text):
      meter.appMessage(isIncoming: false)
      connections[connection]?.send(text)
    case .ping(let connection): connections[connection]?.ping()
    case .close(let connection, let code, let reason):
      connections.removeValue(forKey: connection)?.close(code: code, reason: reason)
    case .verify(let verification, let registration, let host):
      let bound = NIOLoopBound(self, eventLoop: eventLoop)
      Task { [verifier, weak hub = self.hub] in
        let verdict = await verifier.verify(registration, clock: clock)
        if verdict == .refused { hub?.countRefusedProof(of: host) }
        bound.eventLoop.execute { bound.value.door(.verified(verification, verdict)) }
      }
    case .opened(let session, let identity):
      identities[session] = identity
      log.info(
        "a session opened", metadata: ["application": "\(identity.application)", "device": "\(identity.device)"])
    case .request(let session, let number, let request): ask(session, number, request, at: clock)
    case .absent(let session): inputs.append(.engine(.sessionAbsent(session)))
    case .resumed(let session): inputs.append(.engine(.sessionResumed(session)))
    case .ended(let session):
      identities[session] = nil
      traces?.sessionEnded(session)
      inputs.append(.engine(.sessionEnded(session)))
    }
  }

  /// Adds who asks and who pays. Only a call needs the payer's prices: what is not known yet is read first.
  private func ask(_ session: SessionID, _ number: RequestNumber, _ request: AppRequest, at clock: Instant) {
    guard let identity = identities[session] else { return }
    // Before anything is done for it: what is refused must cost next to nothing.
    if case .call(let call) = request, let failure = engine.overload(of: call) {
      inputs.append(.door(.event(session, .refused(number, failure))))
      return
    }
    traces?.request(session, number, request, at: NodeClock.unixMicroseconds())
    guard let (environment, application) = application(identity.application) else {
      // The application was taken out of the configuration while the session stood.
      inputs.append(
        .door(.event(session, .refused(number, CallFailure(.policy, refusal: .accountClosed, leg: .app)))))
      return
    }
    let payers = environment.payers
    let payer: Payer?
    if case .call = request {
      payer = payers.known(application.account, at: clock)
    } else {
      // About a call that exists, whose price is frozen.
      payer =
        payers.lastKnown(application.account)
        ?? Payer(environment: environment.name, account: application.account, currency: Currency.none, plan: nil)
    }
    if let payer {
      let caller = AppCaller(identity: identity, payer: payer, callerNumbers: application.callerNumbers)
      inputs.append(.engine(.request(session, number, request, caller)))
      return
    }
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    Task { [log] in
      let payer: Payer?
      do {
        let known = try await environment.payers.payer(application.account, at: clock)
        if known == nil {
          log.warning(
            "an application's account is not in the ledger: only free numbers can be called",
            metadata: [
              "account": "\(application.account)", "environment": "\(environment.name)",
              "ledger": "\(environment.payers.path)",
              "fix": "landline account create \(application.account) --currency EUR",
            ])
        }
        payer = known ?? .missing(application.account, environment: environment.name)
      } catch {
        log.error("the payer's prices cannot be read", metadata: ["problem": "\(error)"])
        payer = nil
      }
      bound.eventLoop.execute {
        let loop = bound.value
        guard let payer else {
          loop.door(.event(session, .refused(number, CallFailure(CallRefusal.billingUnavailable))))
          return
        }
        let caller = AppCaller(identity: identity, payer: payer, callerNumbers: application.callerNumbers)
        loop.engine(.request(session, number, request, caller))
      }
    }
  }

  private func application(_ key: String) -> (HubEnvironment, HubEnvironment.Application)? {
    for environment in configuration.environments {
      if let application = environment.applications[key] { return (environment, application) }
    }
    return nil
  }

  private func perform(_ effect: EngineEffect, at clock: Instant) {
    switch effect {
    case .app(let session, let event):
      traces?.event(session, event, at: NodeClock.unixMicroseconds())
      inputs.append(.door(.event(session, event)))
    case .originated(let id, let result): originations.removeValue(forKey: id)?(result)
    case .prepare(let call, let needs):
      // The first that is asked for a call.
      if let traces, let snapshot = engine.anyCall(call) { traces.begin(snapshot) }
      let bound = NIOLoopBound(self, eventLoop: eventLoop)
      media.prepare(call, needs) { result in
        bound.eventLoop.execute { bound.value.engine(.prepared(call, result)) }
      }
    case .media(let call, let order):
      if case .plan(let side, let plan) = order { traces?.plan(call, side, plan, at: NodeClock.unixMicroseconds()) }
      media.perform(order, for: call)
    case .ledger(let environment, let step, let operation):
      ledger(environment, step, operation, at: clock)
    case .lock(let account, let environment, let reason): lock(account, environment, reason, at: clock)
    case .velocity(let rule, let environment): meter.reached(rule, environment: environment)
    case .sip(let command):
      if case .placeCall(let handle, let plan) = command, let sipCallID = plan.callID,
        let attempt = engine.attempt(handle)
      {
        traces?.dialog(
          sipCallID, attempt, configuration.engine.trunks.first { $0.trunk.name == attempt.trunk })
        if attempt.trunk != configuration.innerTrunk {
          journal?.begin(handle, callID: sipCallID, trunk: attempt.trunk, at: clock)
        }
      }
      node?.execute(command)
    case .changed(let snapshot):
      // The engine tells each call once as it begins.
      if snapshot.state == .initiating { meter.started(snapshot) }
      for watcher in watchers.values { watcher.yield(snapshot) }
    case .record(let record):
      meter.ended(record)
      trunkStatistics.add(record, at: clock)
      keep(record)
      keepTrace(record.call.id, after: HubTraces.lingerMilliseconds, isLast: false)
    case .statistics(let call, let environment, let figures):
      guard configuration.keepsClientStatistics, let store = environments[environment]?.stores.records else { return }
      hub?.keep(.statistics(figures, call), in: store)
    case .pinged(let trunk, let microseconds): trunkStatistics.pinged(trunk, microseconds: microseconds, at: clock)
    case .log(let entry): log(entry)
    }
  }

  private func ledger(_ environment: String, _ step: LedgerStep, _ operation: CallOperation, at clock: Instant) {
    guard let line = lines[environment] else { return }
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    let asked = NodeClock.now()
    let request = LedgerOperation(
      .call(operation), at: clock, uptime: asked.milliseconds, actor: configuration.node)
    line.submit(request) { [meter] result in
      let taken = NodeClock.now().microseconds(since: asked)
      meter.ledger(step, microseconds: taken, result)
      bound.eventLoop.execute {
        bound.value.traces?.ledger(operation.call, step, result, microseconds: taken)
        bound.value.engine(.ledger(operation.call, step, result))
      }
    }
  }

  /// Locks an account by a rule of what may be done within an hour.
  private func lock(_ account: AccountName, _ environment: String, _ reason: String, at clock: Instant) {
    guard let line = lines[environment] else { return }
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    let key = RequestKey(unchecked: "velocity-\(UUID().uuidString.lowercased())")
    let request = LedgerOperation(
      .administer(AccountAdministration(account: account, key: key, .lock, reason: reason)), at: clock,
      actor: configuration.node)
    line.submit(request) { [log] result in
      var isLocked = false
      if case .success(let receipt) = result { isLocked = receipt.refusal == nil }
      if !isLocked {
        log.error(
          "an account could not be locked",
          metadata: ["account": "\(account)", "environment": "\(environment)", "answer": "\(result)"])
      }
      bound.eventLoop.execute { [isLocked] in
        bound.value.engine(.lockAnswered(account, environment: environment, isLocked: isLocked))
      }
    }
  }

  /// Hands a trace to its store: once when the last messages of the call should have come, and again where more came.
  private func keepTrace(_ call: CallID, after milliseconds: Int64, isLast: Bool) {
    guard traces?.has(call) == true else { return }
    eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(milliseconds)) { [weak self] in
      guard let self, let traces else { return }
      submitTrace(call)
      if isLast { traces.forget(call) } else { keepTrace(call, after: HubTraces.lateMilliseconds, isLast: true) }
    }
  }

  /// At the end: all that is not kept yet.
  func keepTraces() {
    for call in traces?.calls ?? [] { submitTrace(call) }
  }

  private func submitTrace(_ call: CallID) {
    guard configuration.keepsTraces, let (environment, trace) = traces?.toKeep(call),
      let store = environments[environment]?.stores.traces
    else {
      return
    }
    hub?.keep(trace, of: call, in: store)
  }

  private func keep(_ record: CallRecord) {
    guard let store = environments[record.call.environment]?.stores.records else { return }
    var record = record
    if !configuration.keepsClientStatistics { record.clientStatistics = [:] }
    hub?.keep(.record(record), in: store)
  }

  private func log(_ entry: CallLogEntry) {
    let level: Logger.Level =
      switch entry.level {
      case .debug: .debug
      case .info: .info
      case .warning: .warning
      case .error: .error
      }
    log.log(level: level, "\(entry.message)", metadata: entry.call.map { ["call": "\($0)"] })
  }

  // MARK: Time

  /// Looks every 20 ms how late the loop comes to what is due, and to its descriptors, for as long as anything comes in or
  /// calls are refused. A loop that nothing comes to sleeps.
  private func startTicking() {
    guard !isTicking, !isStopped, hasNews || !engine.admission.isOpen else { return }
    isTicking = true
    hasNews = false
    let due = NodeClock.now().advanced(byMilliseconds: HubLoop.tickMilliseconds)
    eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(HubLoop.tickMilliseconds)) { [weak self] in
      guard let self else { return }
      isTicking = false
      let now = NodeClock.now()
      let late = max(0, now.microseconds(since: due), rungAt.map { now.microseconds(since: $0) } ?? 0)
      rungAt = rungAt ?? now
      inbox.bell.ring()
      meter.late(microseconds: late)
      take(.engine(.waited(microseconds: late)), isNews: false)
    }
  }

  /// Keeps one wake-up, never later than the next deadline of door or engine. Times are of the boot clock; the loop's own
  /// clock stands still while the machine is suspended, so a wake-up is never more than a second away.
  private func schedule() {
    guard !isStopped else { return }
    let now = NodeClock.now()
    var deadline = now.advanced(byMilliseconds: 1000)
    if let due = door.nextDeadline { deadline = min(deadline, due) }
    if let due = engine.nextDeadline { deadline = min(deadline, due) }
    if let wakeUp, wakeUp.at <= deadline { return }
    wakeUp?.task.cancel()
    // Never in the past, so that a deadline that stays due cannot starve the loop.
    let delay = max(1000, deadline.microseconds(since: now))
    let task = eventLoop.assumeIsolated().scheduleTask(in: .microseconds(delay)) { [weak self] in
      self?.meter.late(microseconds: NodeClock.now().microseconds(since: now.advanced(byMicroseconds: delay)))
      self?.wakeUp = nil
      self?.take(.deadline, isNews: false)
    }
    wakeUp = (deadline, task)
  }
}
