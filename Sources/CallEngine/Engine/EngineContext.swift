import CallModel
import LedgerCore
import RoutingCore
import SDPCore
import SIPCore

/// What has a deadline of its own.
enum EngineTimer: Hashable, Sendable {
  case call(CallID)
  case trunk(String)
  case room(RoomKey)
}

/// What the calls of one engine share: the time, the trunks, numbers to name things by, and the effects of one input.
final class EngineContext {
  /// Who is in which conference.
  let rooms = RoomBook()
  var configuration: EngineConfiguration
  var now: MonotonicInstant
  var clock = Instant(milliseconds: 0)
  var effects: [EngineEffect] = []
  var deadlines = DeadlineQueue<EngineTimer>()
  /// The trunks of the configuration by name.
  private(set) var trunks: [String: CallTrunk] = [:]
  /// Also of trunks that are configured no more, while calls are up on them.
  private var states: [String: TrunkState] = [:]
  var velocity = VelocityCounter()
  /// Numbers that trunks may call, by environment.
  var numbers: [String: [E164Number: InboundNumber]] = [:]
  /// Accounts that the ledger is asked to lock.
  var accountsBeingLocked: Set<AccountKey> = []
  /// Accounts that the ledger locked when it was asked to, and has granted nothing since.
  var accountsLocked: Set<AccountKey> = []
  /// Which call a handle belongs to.
  var handles: [CallHandle: CallID] = [:]
  let draw: () -> UInt64

  private var lastHandle: UInt64 = 0
  private var ids: CallIDMaker
  /// The agent counts its own exchanges from 1, and never comes this far.
  static let lastForeignExchange: UInt64 = 1 << 63
  private var lastExchange = lastForeignExchange

  init(_ configuration: EngineConfiguration, draw: @escaping () -> UInt64, at now: MonotonicInstant) {
    self.configuration = configuration
    self.draw = draw
    self.now = now
    ids = CallIDMaker(origin: configuration.callOrigin)
    loadTrunks()
  }

  var limits: EngineConfiguration.Limits { configuration.limits }

  func environment(of payer: Payer) -> EngineConfiguration.Environment? {
    configuration.environments.first { $0.name == payer.environment }
  }

  func emit(_ effect: EngineEffect) { effects.append(effect) }

  func log(_ level: CallLogEntry.Level, _ call: CallID?, _ message: String) {
    effects.append(.log(CallLogEntry(level, call: call, message)))
  }

  // MARK: Names

  func newHandle(for call: CallID) -> CallHandle {
    lastHandle += 1
    let handle = CallHandle(lastHandle)
    handles[handle] = call
    return handle
  }

  func newExchange() -> ExchangeID {
    lastExchange += 1
    return ExchangeID(lastExchange)
  }

  func newCallID() -> CallID { ids.next(at: clock, draw: draw) }

  /// 128 random bits as 26 letters and digits (Crockford's base 32): unique, and tells nothing of the host (RFC 3261
  /// section 8.1.1.4).
  func newSIPCallID() -> String {
    let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
    var text: [UInt8] = []
    for (word, letters) in [(draw(), 13), (draw(), 13)] {
      var word = word
      for _ in 0..<letters {
        text.append(alphabet[Int(word & 31)])
        word >>= 5
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  func newKeyMaterial() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(LocalMedia.keyMaterialLength + 8)
    while bytes.count < LocalMedia.keyMaterialLength {
      let word = draw()
      for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
    }
    return Array(bytes.prefix(LocalMedia.keyMaterialLength))
  }

  // MARK: Trunks

  /// Takes the configuration's trunks over; what is known of one that stays is kept.
  func loadTrunks() {
    trunks = Dictionary(configuration.trunks.map { ($0.trunk.name, $0) }) { first, _ in first }
    // In order of names, so that one seed is one sequence in a simulation.
    for (name, state) in states.sorted(by: { $0.key < $1.key }) where trunks[name] == nil {
      if state.capacity.liveCalls == 0 {
        states[name] = nil
        deadlines.set(.trunk(name), nil)
      } else {
        states[name]?.trunk.isDraining = true
        states[name]?.capacity.isDraining = true
      }
    }
    for (name, trunk) in trunks.sorted(by: { $0.key < $1.key }) {
      if var state = states[name] {
        if state.trunk.healthPolicy != trunk.trunk.healthPolicy {
          state.health = TrunkHealth(trunk.trunk.healthPolicy, at: now)
        }
        state.trunk = trunk.trunk
        state.capacity.limits = trunk.trunk.limits
        state.capacity.isDraining = trunk.trunk.isDraining
        states[name] = state
      } else {
        states[name] = TrunkState(trunk.trunk, at: now)
      }
      watch(trunk: name)
    }
  }

  func state(of trunk: String) -> TrunkState? { states[trunk] }

  func begin(at trunk: String) -> Result<TrunkState.Ticket, SkippedTrunk>? { states[trunk]?.begin(at: now) }

  /// A place for a call that a trunk sends us.
  func beginIncoming(at trunk: String) -> Result<TrunkState.Ticket, SkippedTrunk>? {
    states[trunk]?.beginIncoming(at: now)
  }

  func learn(_ ticket: TrunkState.Ticket, of trunk: String, _ outcome: TrunkHealth.Outcome) {
    changeHealth(of: trunk) { $0.learn(ticket, outcome, at: now, into: &$1) }
  }

  func release(_ ticket: TrunkState.Ticket, of trunk: String) {
    states[trunk]?.end(ticket)
    if trunks[trunk] == nil, states[trunk]?.capacity.liveCalls == 0 {
      states[trunk] = nil
      deadlines.set(.trunk(trunk), nil)
    }
  }

  /// - Returns: Whether a ping is due.
  @discardableResult
  func changeHealth(
    of trunk: String, _ change: (inout TrunkState, inout [TrunkHealth.Action]) -> Void
  ) -> Bool {
    guard var state = states.removeValue(forKey: trunk) else { return false }
    var actions: [TrunkHealth.Action] = []
    change(&state, &actions)
    states[trunk] = state
    watch(trunk: trunk)
    var isPingDue = false
    for action in actions {
      switch action {
      case .ping: isPingDue = true
      case .changed(.up): log(.info, nil, "trunk \(trunk) is up")
      case .changed(.probing): log(.info, nil, "trunk \(trunk) shows life and takes one call at a time")
      case .changed(.down(_, let trouble)): log(.warning, nil, "trunk \(trunk) is down: \(trouble.rawValue)")
      }
    }
    return isPingDue
  }

  private func watch(trunk: String) { deadlines.set(.trunk(trunk), states[trunk]?.health.nextDeadline) }
}
