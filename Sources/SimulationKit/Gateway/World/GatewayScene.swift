import AppProtocol
import CallEngine
import CallModel
import LedgerCore
import NodeCore
import RoutingCore
import SIPCore
import Synchronization

/// One run of the whole gateway: a node, carriers, apps, a ledger, and the time. Nothing happens but by the schedule and
/// the deadlines of the cores, and nothing is decided but by the seed.
final class GatewayScene {
  /// What is going to happen.
  enum Happening {
    case datagram([UInt8], trunk: Int, toTrunk: Bool)
    case frame(SimulatedLink, SimulatedFrame, toNode: Bool)
    case linkOpens(SimulatedLink)
    case linkLost(SimulatedLink, atNode: Bool)
    case node(life: Int, NodeInput)
    case secure(life: Int, CallID, LegID)
    case silence(life: Int, CallID, LegID, since: MonotonicInstant)
    case ledgerTurn(life: Int)
    case restart(life: Int)
    case boot
    case peer
    case trunkDeed(SimulatedTrunk.Leg, SimulatedTrunk.Deed)
    case trunkReturns(Int)
    case place(Int, tries: Int)
    case appDeed(Int, GatewayPlan.Deed)
    case ringDeed(app: Int, CallID, RingDeed)
    case listens(Int)
    case appReturns(Int)
    case mediaChanges
    case fault(GatewayPlan.Fault)
    case quiet(Int)
  }

  /// What a device does about a call for its user.
  enum RingDeed { case alert, act, actAgain, hangUp }

  private static let oldAppsPerThousand: UInt64 = 50
  static let environment = "production"
  static let nodeID = NodeID(unchecked: "gw-1")
  /// Each account has an application of its own.
  static func applicationKey(_ account: Int) -> String { "196087a1-e815-4bc4-8984-60d8d8a43f\(10 + account)" }
  /// Planted: none of these may ever be seen where they do not belong.
  static let applicationSecret = "Zq7planted+application+secret=="
  static let trunkPassword = "Zq7planted-trunk-password"
  static func accountName(_ index: Int) -> String { "acme\(index)" }
  /// After everybody has hung up: until nothing may be left, in milliseconds.
  static let settling: Int64 = 420_000
  /// Inputs of one planned call; a livelock takes more.
  static let stepsPerCall = 200_000

  let seed: UInt64
  let hours: Int
  let canary: GatewayCanary?
  let plan: GatewayPlan
  var random: SeededGenerator
  private var canaryRandom: SeededGenerator
  var network: GatewayNetwork
  var schedule = EventSchedule<Happening>()
  private var alarms = Alarms()
  private(set) var now = MonotonicInstant(milliseconds: 1000)
  private var wallOffset: Int64
  private let trueOffset: Int64
  var digest = GatewayDigest()
  var steps = 0
  var report: GatewayReport
  let oracles = GatewayOracles()
  let ledger = SimulatedLedger()
  /// On disk: it outlives the node.
  var spool: [LedgerOperation] = []
  /// Operations that the ledger was asked for and has not answered.
  var underWay: [LedgerOperation] = []
  /// Whether a planted bug keeps the BYEs of a leg, by SIP's Call-ID.
  var suppressedLegs: [String: Bool] = [:]
  var ledgerAwayUntil = MonotonicInstant.zero
  var ledgerSlowUntil = MonotonicInstant.zero
  var node: SimulatedNode?
  var lives = 0
  /// For bugs that tell of a call once more.
  var lastInvitations: [CallID: Invitation] = [:]
  var configuration: EngineConfiguration
  var trunks: [SimulatedTrunk] = []
  /// Legs of trunks that are not over.
  var legsByPort: [Int: SimulatedTrunk.Leg] = [:]
  var lastPort = 38_000
  var forks: Set<String> = []
  var forkedCalls: Set<String> = []
  var originations: UInt64 = 0
  /// An operator mutes a participant: its call goes on and is charged, unlike one that is muted for want of credit.
  var isSilencing = false
  var apps: [SimulatedApp] = []
  var lastConnection: UInt64 = 0
  var sequences: [String: UInt64] = [:]
  var credentials: [String: StoredCredential] = [:]
  var keys = 0
  var logErrors = 0
  var isQuiet = false
  let ratePlan: RatePlan
  let denyRanges: DenyRanges
  let callerNumbers: [E164Number]
  private(set) var violation: (rule: String, detail: String)?
  private var trace: [String]?

  /// Why the account was locked by a rule, and when.
  var lock: (reason: String, atMilliseconds: Int64)?
  /// How calls were refused before anybody was dialled, by the refusal's name.
  var refusalNames: [String: Int] = [:]

  /// - Parameter drill: what happens in place of what the seed would decide.
  init(seed: UInt64, hours: Int, canary: GatewayCanary?, isTraced: Bool, drill: FraudDrill? = nil) throws {
    self.seed = seed
    self.hours = hours
    self.canary = canary
    var random = SeededGenerator(seed: seed)
    plan =
      drill.map { GatewayPlan($0, &random) }
      ?? GatewayPlan(&random, rooms: SeededGenerator(seed: seed ^ 0xC0_4FE7), hours: hours)
    canaryRandom = SeededGenerator(seed: seed ^ 0xCA4A_5115)
    network = GatewayNetwork(plan, random: random.fork())
    // Near midnights and changes of the clocks, and on a plain day.
    let starts: [Int64] = [1_792_800_000, 1_774_656_000, 1_795_000_000]
    trueOffset = starts[random.index(starts.count)] * 1000 + random.number(0...86_400_000)
    wallOffset = trueOffset
    report = GatewayReport(seed: seed)
    trace = isTraced ? [] : nil
    ratePlan = try GatewayScene.makePlan(drill.map { _ in FraudDrill.deck } ?? GatewayScene.deck)
    denyRanges = try DenyRanges([(prefix: NumberDigits("4690"), ruling: DenyRanges.Ruling.denied(.premium))])
    callerNumbers = [try E164Number("+46850000001")]
    configuration = try GatewayScene.makeConfiguration(&random)
    drill?.apply(to: &configuration)
    self.random = random
    for index in 0..<GatewayPlan.trunkCount { trunks.append(SimulatedTrunk(index, identifiers: newIdentifiers())) }
    for index in 0..<plan.apps {
      var own = self.random.fork()
      let owner = plan.owner(of: index)
      apps.append(
        SimulatedApp(
          index, owner: owner, account: drill == nil ? GatewayPlan.account(ofUser: owner.user) : 0,
          isOld: own.chance(Self.oldAppsPerThousand), pingMilliseconds: plan.pingMilliseconds, draw: { own.next() }))
    }
    alarms = Alarms(parties: 2 + GatewayPlan.trunkCount + plan.apps)
    oracles.plant(GatewayScene.applicationSecret)
    oracles.plant(GatewayScene.trunkPassword)
  }

  func newIdentifiers() -> IdentifierSource {
    let identifiers = SeededIdentifiers(random.fork())
    return IdentifierSource { identifiers.next() }
  }

  // MARK: Time

  /// The node's wall clock.
  var clock: Instant { Instant(milliseconds: wallOffset &+ now.milliseconds) }
  /// The clock of others.
  var trueClock: Instant { Instant(milliseconds: trueOffset &+ now.milliseconds) }
  func stepClock(milliseconds: Int64) { wallOffset += milliseconds }

  /// What the node decides by.
  var settings: NodeSettings {
    NodeSettings(
      engine: configuration,
      applications: Dictionary(
        uniqueKeysWithValues: (0..<GatewayPlan.accountCount).map { account in
          (
            GatewayScene.applicationKey(account),
            NodeApplication(
              environment: GatewayScene.environment,
              account: AccountName(unchecked: GatewayScene.accountName(account)), callerNumbers: callerNumbers,
              busyRule: plan.busyRule)
          )
        }))
  }

  // MARK: Running

  func run() {
    setUp()
    let end = MonotonicInstant(milliseconds: plan.window + GatewayScene.settling)
    let limit = plan.calls.count * GatewayScene.stepsPerCall
    while violation == nil, let next = nextInstant, next <= end {
      now = max(now, next)
      guard steps < limit else { return fail("rest", "\(steps) steps and no end") }
      step()
    }
    guard violation == nil else { return }
    now = end
    oracles.checkRest(self)
  }

  private func setUp() {
    for index in 0..<GatewayPlan.accountCount {
      administer(
        index,
        .create(
          kind: .prepaid, currency: .eur, creditLimit: 0, plan: "retail",
          caps: AccountCaps(concurrentCalls: plan.caps[index]), zone: ["UTC", "Europe/Stockholm"][index % 2]))
      topUp(index, plan.credits[index])
    }
    boot()
    for app in apps { start(app) }
    for call in plan.calls {
      schedule.add(.place(call.number, tries: 0), at: MonotonicInstant(milliseconds: call.startsAt))
    }
    for (at, fault) in plan.faults { schedule.add(.fault(fault), at: MonotonicInstant(milliseconds: at)) }
    for phase in 0..<GatewayScene.quietPhases.count {
      schedule.add(
        .quiet(phase), at: MonotonicInstant(milliseconds: plan.window + GatewayScene.quietPhases[phase]))
    }
    if plan.hasPeer { schedule.add(.peer, at: MonotonicInstant(milliseconds: 5000)) }
  }

  /// Something was done to the node, a trunk or an app: when it is due next has to be asked again.
  func touchNode() { alarms.touch(1) }
  func touchTrunk(_ index: Int) { alarms.touch(2 + index) }
  func touchApp(_ index: Int) { alarms.touch(2 + trunks.count + index) }

  private var nextInstant: MonotonicInstant? {
    alarms.set(0, schedule.next)
    alarms.refresh { party in
      switch party {
      case 1: node?.nextDeadline
      case 2..<(2 + trunks.count): trunks[party - 2].isDead ? nil : trunks[party - 2].agent.nextDeadline
      default: apps[party - 2 - trunks.count].client.nextDeadline
      }
    }
    return alarms.next
  }

  /// One input: of what is due at the same time, a random one first.
  private func step() {
    let count = alarms.countDue(at: now)
    let chosen = count == 0 ? -1 : alarms.due(count == 1 ? 0 : random.index(count), at: now)
    digest.add(now.microseconds &+ Int64(chosen))
    switch chosen {
    case ..<0: break
    case 0: if let happening = schedule.popDue(at: now) { carryOut(happening) }
    case 1:
      guard let node else { return touchNode() }
      handle(.due, life: node.life)
    case 2..<(2 + trunks.count):
      trunkInput(chosen - 2) { agent, effects in agent.advance(to: now, into: &effects) }
    default:
      appInput(apps[chosen - 2 - trunks.count]) { client, effects in client.advance(to: now, into: &effects) }
    }
  }

  // MARK: Findings

  func plants(_ canary: GatewayCanary, always: Bool = false) -> Bool {
    guard self.canary == canary else { return false }
    return always || canaryRandom.chance(300)
  }

  func fail(_ rule: String, _ detail: String) {
    guard violation == nil else { return }
    violation = (rule, detail)
    note { "VIOLATION \(rule): \(detail)" }
  }

  func note(_ line: () -> String) {
    guard trace != nil else { return }
    trace?.append("\(now.milliseconds).\(now.microseconds % 1000) \(line())")
  }

  func count(_ fault: String) { report.faults[fault, default: 0] += 1 }

  /// The last events that led to what was found, and before them those that name what was found.
  private static let traceLength = 400
  /// Call-IDs are cut to so many letters where messages are told.
  private static let nameLetters = 6

  private func trace(of detail: String) -> [String] {
    let lines = trace ?? []
    let names = detail.split(separator: " ").filter { $0.count >= 4 * Self.nameLetters }.map {
      $0.prefix(Self.nameLetters)
    }
    let recent = lines.suffix(Self.traceLength)
    return lines.dropLast(recent.count).filter { line in
      names.contains { line.contains($0) } || line.contains(" fault: ") || line.contains(" node ")
    }.suffix(Self.traceLength) + recent
  }

  var finding: GatewayViolation? {
    guard let violation else { return nil }
    return GatewayViolation(
      seed: seed, hours: hours, canary: canary, atMilliseconds: now.milliseconds, rule: violation.rule,
      detail: violation.detail, trace: trace(of: violation.detail))
  }

  var finalReport: GatewayReport {
    var report = report
    report.seeds = 1
    report.steps = steps
    report.sent = network.sent
    report.lost = network.lost
    report.duplicated = network.duplicated
    report.reordered = network.reordered
    report.ledgerOperations = ledger.performed
    report.holds = ledger.holds.count
    report.answered = ledger.holds.count { $0.answeredAt != nil }
    report.callMilliseconds = ledger.holds.reduce(0) { $0 + ($1.duration ?? 0) }
    report.checks = oracles.checks
    report.virtualMilliseconds = now.milliseconds
    report.digest = digest.text
    return report
  }
}

/// FNV-1a over words of eight bytes: tells two runs apart, protects nothing.
struct GatewayDigest {
  private var hash: UInt64 = 0xCBF2_9CE4_8422_2325

  mutating func add(_ number: Int64) { hash = (hash ^ UInt64(bitPattern: number)) &* 0x100_0000_01B3 }

  mutating func add(_ bytes: [UInt8]) { bytes.withUnsafeBytes { add($0) } }

  private mutating func add(_ buffer: UnsafeRawBufferPointer) {
    add(Int64(buffer.count))
    var offset = 0
    while offset + 8 <= buffer.count {
      let word = buffer.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      hash = (hash ^ word ^ (word >> 29)) &* 0x100_0000_01B3
      offset += 8
    }
    while offset < buffer.count {
      hash = (hash ^ UInt64(buffer[offset])) &* 0x100_0000_01B3
      offset += 1
    }
  }

  mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
  }

  var text: String {
    let digits = String(hash ^ (hash >> 31), radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}
