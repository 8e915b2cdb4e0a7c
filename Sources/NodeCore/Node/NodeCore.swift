import AppProtocol
import CallEngine
package import CallModel
import LedgerCore
package import SIPCore

/// All that one node decides: the door of apps, the calls, the SIP agent, the way to the ledgers and the keeping of lives
/// there, joined in one place. No clock, socket, file, lock or random source inside: every input carries the time, effects
/// are appended in the order in which they are to be performed.
///
/// ```
///   input ─▶ door ⇄ engine ⇄ agent ─▶ effects
///                     │  ▲
///                     ▼  │
///              billing line, keeper (one of each for an environment)
/// ```
///
/// One input is handled with everything that comes of it before the next: an INVITE leaves in the turn of the receipt that
/// allowed it. What the operations of a turn ask of a ledger goes out at its end, as one errand.
package final class NodeCore {
  /// Numbers of the trunks' registrations start here; below are the engine's own queries.
  static let firstRegistration: UInt64 = 1 << 63
  /// Handles of legs that an earlier life left start here; the engine's are below, those of calls that come in above.
  static let firstRelease: UInt64 = 1 << 62
  /// From the record of a call to the moment its trace is kept: the last messages of its dialogs come after the record.
  static let traceLingerMilliseconds: Int64 = 1000
  /// After that, until it is forgotten: what still comes is kept as well.
  static let traceLateMilliseconds: Int64 = 5000

  /// What one core has for another within a turn.
  enum Work {
    case door(AppDoorInput)
    case engine(EngineInput)
  }

  enum Timer: Hashable {
    case keepTrace(CallID)
    case forgetTrace(CallID)
    case certificate(CertificateFetchID)
  }

  let configuration: NodeConfiguration
  var settings: NodeSettings
  let door: AppDoor
  let engine: CallEngine
  let agent: UserAgent
  let ledgers: [String: NodeLedger]
  var dialogs = DialogBook()
  /// Whether the last leg had no room in the journal, which the log says once.
  var isJournalFull = false
  var identities: [SessionID: AppIdentity] = [:]
  package internal(set) var devices = DeviceDirectory()
  package internal(set) var phones = PhoneDirectory()
  /// Calls for users that have no session, until it is known whether they exist.
  var lookUps: [DeviceDirectory.Person: [LookUp]] = [:]
  /// INVITEs that begin a call which does not exist yet.
  var freshInvites: [CallHandle: FreshInvite] = [:]
  var peerNames = PeerNames()
  var trunkStatistics = TrunkStatistics()
  var certificates = CertificateShelf()
  var timers = DeadlineQueue<Timer>()
  /// No new calls and sessions: see ``NodeInput/drain``.
  package private(set) var isDraining = false
  /// Whether the life was asked for, and whether every ledger has given it.
  var hasStarted = false
  var hasBegun = false
  let draw: () -> UInt64

  var time: NodeTime
  var effects: [NodeEffect] = []
  private var work: [Work] = []
  private var nextWork = 0
  /// Filled by one core and performed before the next input; the arrays keep their room.
  private var doorEffects: [AppDoorEffect] = []
  private var engineEffects: [EngineEffect] = []
  var agentEffects: [UserAgentEffect] = []

  /// - Parameters:
  ///   - draw: 64 random bits each time, from the system's generator: keys and names are made of them.
  ///   - identifiers: tags and branches of SIP.
  package init(
    _ configuration: NodeConfiguration, draw: @escaping () -> UInt64, identifiers: IdentifierSource, at time: NodeTime
  ) {
    self.configuration = configuration
    settings = configuration.settings
    self.draw = draw
    self.time = time
    door = AppDoor(configuration.door, draw: draw)
    door.turn = configuration.settings.turn
    engine = CallEngine(configuration.settings.engine, draw: draw, at: time.now)
    agent = UserAgent(configuration.agent, identifiers: identifiers)
    ledgers = Dictionary(
      configuration.environments.map { ($0.name, NodeLedger()) }, uniquingKeysWith: { first, _ in first })
  }

  // MARK: Inputs

  /// Takes one input, and appends all that is to be done because of it.
  package func handle(_ input: NodeInput, at time: NodeTime, into effects: inout [NodeEffect]) {
    self.time = NodeTime(now: max(self.time.now, time.now), unixMicroseconds: time.unixMicroseconds)
    swap(&self.effects, &effects)
    route(input)
    runWork()
    sendErrands()
    swap(&self.effects, &effects)
  }

  private func route(_ input: NodeInput) {
    switch input {
    case .start: start()
    case .due: advance()
    case .door(let input): run(.door(input))
    case .sip(let bytes, let path): receive(bytes, from: path)
    case .unsent(let transaction):
      agent.transportFailed(transaction, at: time.now, into: &agentEffects)
      performAgentEffects()
    case .located(let location, let paths):
      peerNames.found(location, paths)
      perform(.located(location, paths))
    case .fetched(let id, let result): fetched(id, result)
    case .numbers(let environment, let numbers): run(.engine(.numbers(environment: environment, numbers)))
    case .deskPhones(let environment, let phones): replacePhones(phones, environment)
    case .prepared(let call, let result): run(.engine(.prepared(call, result)))
    case .media(let call, let notice): run(.engine(.media(call, notice)))
    case .billed(let environment, let answer): billed(answer, environment)
    case .kept(let environment, let answer): kept(answer, environment)
    case .payer(let environment, let account, let result): payerRead(result, of: account, environment)
    case .originate(let id, let order): originate(id, order)
    case .userLookedUp(let person, let isKnown): lookedUp(person, isKnown: isKnown)
    case .room(let room, let order, let actor): run(.engine(.room(room, order, by: actor)))
    case .roomRecordingEnded(let room, let recording, let state):
      run(.engine(.roomRecordingEnded(room, recording, state)))
    case .hangUp(let call, let actor, let cause): run(.engine(.hangUp(call, by: actor, cause: cause)))
    case .order(let id, let call, let order, let actor): run(.engine(.order(id, call, order, by: actor)))
    case .configure(let settings): configure(settings)
    case .drain:
      isDraining = true
      run(.door(.drain))
      run(.engine(.drain))
    case .endSessions: run(.door(.shutDown))
    case .waited(let observation): run(.engine(.waited(observation)))
    }
  }

  private func configure(_ settings: NodeSettings) {
    self.settings = settings
    door.turn = settings.turn
    for index in self.settings.engine.environments.indices {
      let name = self.settings.engine.environments[index].name
      guard let ledger = ledgers[name] else { continue }
      self.settings.engine.environments[index].origin = .init(node: configuration.node, epoch: ledger.keeper.epoch)
    }
    run(.engine(.configure(self.settings.engine)))
  }

  /// Signs calls with the life that has begun.
  func adoptOrigins() { configure(settings) }

  private func advance() {
    agent.advance(to: time.now, into: &agentEffects)
    performAgentEffects()
    door.advance(to: time.now, clock: time.clock, into: &doorEffects)
    performDoorEffects()
    engine.advance(to: time.now, clock: time.clock, into: &engineEffects)
    performEngineEffects()
    while let timer = timers.popDue(at: time.now) {
      switch timer {
      case .keepTrace(let call):
        effects.append(.keepTrace(call, isLast: false))
        timers.set(.forgetTrace(call), time.now.advanced(byMilliseconds: NodeCore.traceLateMilliseconds))
      case .forgetTrace(let call): effects.append(.keepTrace(call, isLast: true))
      case .certificate(let id): fetched(id, .late)
      }
    }
    for environment in configuration.environments { beginRound(environment.name) }
  }

  /// When ``NodeInput/due`` is due next; `nil` while nothing waits.
  package var nextDeadline: MonotonicInstant? {
    let never = MonotonicInstant(microseconds: .max)
    var next = min(door.nextDeadline ?? never, engine.nextDeadline ?? never)
    next = min(next, agent.nextDeadline ?? never, timers.next ?? never)
    for ledger in ledgers.values {
      next = min(next, ledger.keeper.nextRound ?? never, ledger.line.nextDeadline ?? never)
    }
    return next == never ? nil : next
  }

  // MARK: Work within a turn

  func later(_ input: Work) { work.append(input) }

  func run(_ input: Work) {
    work.append(input)
    runWork()
  }

  func runWork() {
    while nextWork < work.count {
      let input = work[nextWork]
      nextWork += 1
      switch input {
      case .door(let input):
        door.handle(input, at: time.now, clock: time.clock, into: &doorEffects)
        performDoorEffects()
      case .engine(let input):
        engine.handle(input, at: time.now, clock: time.clock, into: &engineEffects)
        performEngineEffects()
      }
    }
    work.removeAll(keepingCapacity: true)
    nextWork = 0
  }

  private func performDoorEffects() {
    var effects: [AppDoorEffect] = []
    swap(&effects, &doorEffects)
    for effect in effects { perform(effect) }
    effects.removeAll(keepingCapacity: true)
    swap(&effects, &doorEffects)
  }

  private func performEngineEffects() {
    var effects: [EngineEffect] = []
    swap(&effects, &engineEffects)
    for effect in effects { perform(effect) }
    effects.removeAll(keepingCapacity: true)
    swap(&effects, &engineEffects)
  }

  func log(_ level: NodeLogEntry.Level, _ message: String, _ facts: KeyValuePairs<String, String> = [:]) {
    effects.append(.log(NodeLogEntry(level, message, facts.map { NodeLogEntry.Fact($0.key, $0.value) })))
  }
}

/// What a node has of one environment's ledger. A class, so that its parts are changed where they are: Swift takes a
/// structure out of a dictionary to change it, and puts it back, at each word of a call.
final class NodeLedger {
  var line = BillingLine()
  var keeper = Keeper()
  var watch = AccountWatch()
  var payers = PayerCache()
}
