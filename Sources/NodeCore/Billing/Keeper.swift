import CallModel
import LedgerCore

/// Keeps one environment alive: the node's life at the ledger, its beat, the calls of dead nodes, what has become of the
/// accounts of live calls, and what may be forgotten. One thing at a time.
///
/// ```
///   replaying ─▶ registering ─▶ recovering ─▶ resting ⇄ working through the duties of a round
/// ```
struct Keeper {
  /// How often it is looked what has become of accounts with live calls: a lock has to be felt within a second.
  static let lookMilliseconds: Int64 = 500
  /// Every so many beats, the calls of nodes that are dead are settled.
  static let recoveryBeats: Int64 = 5
  /// Every so many beats, what repeats no longer need is deleted.
  static let pruneBeats: Int64 = 3600

  enum Duty: Hashable {
    case register, recover, beat, look, prune
  }

  private enum Stage {
    /// What an earlier life left in the spool goes to the ledger in that life's name: once the new one has begun, the
    /// ledger takes nothing from it.
    case replaying
    case registering
    case recovering
    case resting
    case working(then: [Duty])
  }

  private var stage = Stage.replaying
  private var beats: Int64 = 0
  private var nextBeat = MonotonicInstant.zero
  private(set) var epoch: Int64 = 0
  /// Why the environment cannot take calls; `nil` when it can.
  private(set) var problem: String?
  /// When the next round is due; `nil` while one is under way, and before the start.
  private(set) var nextRound: MonotonicInstant?

  var isStarted: Bool {
    switch stage {
    case .replaying, .registering, .recovering: false
    case .resting, .working: true
    }
  }

  /// The spool was tried.
  /// - Returns: what comes next, at the start.
  mutating func replayed() -> Duty? {
    guard case .replaying = stage else { return nil }
    stage = .registering
    return .register
  }

  mutating func registered(epoch: Int64) -> Duty {
    self.epoch = epoch
    stage = .recovering
    return .recover
  }

  /// - Returns: the first duty of a round that is due.
  mutating func beginRound(at now: MonotonicInstant) -> Duty? {
    guard case .resting = stage, let nextRound, nextRound <= now else { return nil }
    self.nextRound = nil
    var duties: [Duty] = []
    if nextBeat <= now {
      nextBeat = now.advanced(byMilliseconds: NodeLease.beatInterval)
      beats += 1
      duties.append(.beat)
      if beats % Keeper.recoveryBeats == 0 { duties.append(.recover) }
      if beats % Keeper.pruneBeats == 0 { duties.append(.prune) }
    }
    duties.append(.look)
    let first = duties.removeFirst()
    stage = .working(then: duties)
    return first
  }

  /// The duty that was handed out is done, or could not be done.
  /// - Parameter isIdle: whether there is no call whose account is to be looked at.
  /// - Returns: the next one of the round.
  mutating func done(at now: MonotonicInstant, isIdle: Bool) -> Duty? {
    switch stage {
    case .working(var duties) where !duties.isEmpty:
      let next = duties.removeFirst()
      stage = .working(then: duties)
      return next
    case .recovering:
      nextBeat = now.advanced(byMilliseconds: NodeLease.beatInterval)
      rest(at: now, isIdle)
      return nil
    case .working:
      rest(at: now, isIdle)
      return nil
    case .replaying, .registering, .resting: return nil
    }
  }

  private mutating func rest(at now: MonotonicInstant, _ isIdle: Bool) {
    stage = .resting
    let look = now.advanced(byMilliseconds: Keeper.lookMilliseconds)
    nextRound = isIdle ? max(nextBeat, now) : min(look, max(nextBeat, now))
  }

  /// What the ledger answered to a beat.
  mutating func beaten(isAlive: Bool) { problem = isAlive ? nil : "the node was declared dead" }

  /// The ledger is away: what else was to be done in this round would not be either, but for a look.
  mutating func failed(_ problem: String) {
    self.problem = problem
    if case .working(let duties) = stage { stage = .working(then: duties.filter { $0 == .look }) }
  }
}
