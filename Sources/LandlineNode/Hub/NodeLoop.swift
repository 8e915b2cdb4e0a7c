import AppProtocol
import CallEngine
import CallModel
import LandlineOutbound
import LandlineWire
import Logging
import MediaCore
import NIOCore
import NodeCore
import SIPCore

/// The loop around a node's core: it reads the clocks, hands in one input after the other, and performs the effects of
/// each in their order before the next. It decides nothing.
final class NodeLoop {
  let eventLoop: any EventLoop
  let log: Logger
  let configuration: HubConfiguration
  let core: NodeCore
  let wire: SIPWire
  let transports: SIPTransports
  let environments: [String: HubEnvironment]
  let errands: [String: LedgerErrands]
  let verifier: any RegistrationVerifier
  let locator: any SIPLocator
  let web: WebClient
  let media: HubMedia
  let meter: HubMeter
  /// `nil` where traces are not kept.
  let traces: HubTraces?
  /// `nil` where no file is kept.
  let journal: DialogJournal?
  weak var hub: CallHub?

  var connections: [AppProtocol.ConnectionID: any AppConnection] = [:]
  var originations: [OriginationID: @Sendable (Result<CallID, CallFailure>) -> Void] = [:]
  var orders: [CallOrderID: @Sendable (CallFailure?) -> Void] = [:]
  var nextOrder: UInt64 = 1
  var nextOrigination: UInt64 = 1
  var watchers: [UInt64: AsyncStream<CallSnapshot>.Continuation] = [:]
  var nextWatcher: UInt64 = 1
  var waiters: [Waiter] = []
  /// Told once whether the node's life has begun.
  var started: EventLoopPromise<Void>?

  private var inputs = CircularBuffer<NodeInput>()
  /// What apps are told in this turn; what follows each other on a connection goes in one piece.
  private var outbox: [(id: AppProtocol.ConnectionID, connection: any AppConnection, texts: [[UInt8]])] = []
  private var isEndingTurn = false
  private var effects: [NodeEffect] = []
  private var isRunning = false
  private(set) var isStopped = false
  private var wakeUp: (at: MonotonicInstant, task: Scheduled<Void>)?
  private var memory = MemoryReturn()
  let inbox: HubInbox
  /// When the unanswered ring was sent; nil when none is pending.
  var rungAt: MonotonicInstant?
  /// Whether a tick is due, and whether anything came in since the last one.
  private var isTicking = false
  private var hasNews = false
  /// How often it is looked whether the loop is behind, while anything comes in.
  private static let tickMilliseconds: Int64 = 20

  init(
    _ configuration: HubConfiguration, core: NodeCore, wire: SIPWire, errands: [String: LedgerErrands],
    verifier: any RegistrationVerifier, locator: any SIPLocator, web: WebClient, media: HubMedia, meter: HubMeter,
    exporter: HEPExporter?, journal: DialogJournal?, inbox: HubInbox, log: Logger
  ) {
    self.configuration = configuration
    self.core = core
    self.wire = wire
    transports = wire.transports.value
    environments = Dictionary(uniqueKeysWithValues: configuration.environments.map { ($0.name, $0) })
    self.errands = errands
    self.verifier = verifier
    self.locator = locator
    self.web = web
    self.media = media
    self.meter = meter
    traces = configuration.keepsTraces || exporter != nil ? HubTraces(exporter: exporter) : nil
    self.journal = journal
    self.inbox = inbox
    eventLoop = wire.eventLoop
    self.log = log
  }

  /// Lets the node's life begin.
  /// - Returns: done when every ledger has given it one.
  func start(_ hub: CallHub) -> EventLoopFuture<Void> {
    self.hub = hub
    transports.delegate = self
    let promise = eventLoop.makePromise(of: Void.self)
    started = promise
    handle(.start)
    return promise.futureResult
  }

  func stop() {
    isStopped = true
    for entry in inbox.close() { handle(entry) }
    transports.delegate = nil
    traces?.close()
    journal?.close()
    wakeUp?.task.cancel()
    wakeUp = nil
    sendTexts()
    endWatchers()
    // Calls that were still being prepared: whoever ordered one waits for its answer.
    for answer in originations.values { answer(.failure(.noNewCalls)) }
    originations = [:]
    for answer in orders.values { answer(.noNewCalls) }
    orders = [:]
    for connection in connections.values { connection.close(code: 1001, reason: "the gateway stops") }
    connections = [:]
  }

  // MARK: One input after the other

  func handle(_ input: NodeInput, isNews: Bool = true) {
    inputs.append(input)
    if isNews { hasNews = true }
    guard !isRunning else { return }
    isRunning = true
    while let input = inputs.popFirst(), !isStopped {
      let time = NodeClock.time()
      core.handle(input, at: time, into: &effects)
      for effect in effects { perform(effect, at: time) }
      effects.removeAll(keepingCapacity: true)
    }
    inputs.removeAll(keepingCapacity: true)
    isRunning = false
    guard !isEndingTurn else { return }
    isEndingTurn = true
    // The loop does it before it waits for anything more, after all that came with this input.
    eventLoop.assumeIsolated().execute { [weak self] in self?.endTurn() }
  }

  /// Rings at what others have to do, once for all inputs that came together: to wake a thread costs as much as to read a
  /// message.
  private func endTurn() {
    isEndingTurn = false
    media.wake()
    sendTexts()
    transports.flush()
    schedule()
    startTicking()
    completeWaiters()
    if memory.isDue(live: core.transactionCount, at: NodeClock.now()) { MemoryReturn.giveBack() }
  }

  // MARK: To apps

  func put(_ text: [UInt8], for id: AppProtocol.ConnectionID) {
    if outbox.last?.id == id {
      outbox[outbox.count - 1].texts.append(text)
    } else if let connection = connections[id] {
      outbox.append((id, connection, [text]))
    }
  }

  func sendTexts() {
    for message in outbox { message.connection.send(message.texts) }
    outbox.removeAll(keepingCapacity: true)
  }

  // MARK: Time

  /// Looks every 20 ms how late the loop comes to what is due, and to its descriptors, for as long as anything comes in or
  /// calls are refused. A loop that nothing comes to sleeps.
  private func startTicking() {
    guard !isTicking, !isStopped, hasNews || !core.admission.isOpen else { return }
    isTicking = true
    hasNews = false
    let due = NodeClock.now().advanced(byMilliseconds: NodeLoop.tickMilliseconds)
    eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(NodeLoop.tickMilliseconds)) { [weak self] in
      guard let self else { return }
      isTicking = false
      let now = NodeClock.now()
      let late = max(0, now.microseconds(since: due), rungAt.map { now.microseconds(since: $0) } ?? 0)
      rungAt = rungAt ?? now
      inbox.bell.ring()
      meter.late(microseconds: late)
      handle(.waited(NodeClock.observation(delayMicroseconds: late)), isNews: false)
    }
  }

  /// Keeps one wake-up, never later than the core's next deadline. Times are of the boot clock; the loop's own clock
  /// stands still while the machine is suspended, so a wake-up is never more than a second away.
  private func schedule() {
    guard !isStopped else { return }
    let now = NodeClock.now()
    let latest = now.advanced(byMilliseconds: 1000)
    let deadline = min(latest, core.nextDeadline ?? latest)
    if let wakeUp, wakeUp.at <= deadline { return }
    wakeUp?.task.cancel()
    // Never in the past, so that a deadline that stays due cannot starve the loop.
    let delay = max(1000, deadline.microseconds(since: now))
    let task = eventLoop.assumeIsolated().scheduleTask(in: .microseconds(delay)) { [weak self] in
      self?.meter.late(microseconds: NodeClock.now().microseconds(since: now.advanced(byMicroseconds: delay)))
      self?.wakeUp = nil
      self?.handle(.due, isNews: false)
    }
    wakeUp = (deadline, task)
  }
}
