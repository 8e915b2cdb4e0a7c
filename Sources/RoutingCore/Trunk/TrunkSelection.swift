public import CallModel

/// A trunk with what is known of it now.
public struct TrunkState: Sendable {
  /// As the configuration describes it now.
  public var trunk: Trunk
  /// Whether it answers, and whether it asked for no calls.
  public var health: TrunkHealth
  /// The places that calls hold in it.
  public var capacity: TrunkCapacity

  /// As at a start: the trunk counts as up, and no call holds a place.
  public init(_ trunk: Trunk, at now: MonotonicInstant) {
    self.trunk = trunk
    health = TrunkHealth(trunk.healthPolicy, at: now)
    capacity = TrunkCapacity(trunk.limits, isDraining: trunk.isDraining)
  }

  /// A call's place in a trunk.
  public struct Ticket: Hashable, Sendable {
    /// `nil` for a call that the trunk sent us, which says nothing about how it takes ours.
    fileprivate let admission: TrunkHealth.Admission?
    fileprivate let reservation: TrunkCapacity.Reservation
  }

  /// Why no call may go there now.
  public func reason(at now: MonotonicInstant) -> SkippedTrunk.Reason? {
    // An outage says more than a full trunk.
    if trunk.isDraining || capacity.isDraining { return .capacity(.draining) }
    if let refusal = health.refusal(at: now) { return .health(refusal) }
    return capacity.refusal(at: now).map { .capacity($0) }
  }

  /// Begins an attempt; refused, nothing is taken.
  public mutating func begin(at now: MonotonicInstant) -> Result<Ticket, SkippedTrunk> {
    if let reason = reason(at: now) { return .failure(SkippedTrunk(trunk: trunk.name, reason: reason)) }
    switch capacity.reserve(at: now) {
    case .failure(let refusal): return .failure(SkippedTrunk(trunk: trunk.name, reason: .capacity(refusal)))
    case .success(let reservation):
      switch health.admit(at: now) {
      case .success(let admission):
        return .success(Ticket(admission: admission, reservation: reservation))
      case .failure(let refusal):
        capacity.release(reservation)
        return .failure(SkippedTrunk(trunk: trunk.name, reason: .health(refusal)))
      }
    }
  }

  /// A place for a call that the trunk sends us: its caps count it, whatever its health is.
  public mutating func beginIncoming(at now: MonotonicInstant) -> Result<Ticket, SkippedTrunk> {
    switch capacity.reserve(at: now) {
    case .failure(let refusal): .failure(SkippedTrunk(trunk: trunk.name, reason: .capacity(refusal)))
    case .success(let reservation): .success(Ticket(admission: nil, reservation: reservation))
    }
  }

  /// As ``TrunkHealth/callEnded(_:_:at:into:)``. The place stays taken until ``end(_:)``.
  public mutating func learn(
    _ ticket: Ticket, _ outcome: TrunkHealth.Outcome, at now: MonotonicInstant, into actions: inout [TrunkHealth.Action]
  ) {
    guard let admission = ticket.admission else { return }
    health.callEnded(admission, outcome, at: now, into: &actions)
  }

  /// The call, or the failed attempt, is over.
  /// - Returns: Whether the place was still held.
  @discardableResult
  public mutating func end(_ ticket: Ticket) -> Bool { capacity.release(ticket.reservation) }
}

/// A trunk that a call could not use, and why.
public struct SkippedTrunk: Error, Hashable, Sendable {
  /// What kept the call away from the trunk.
  public enum Reason: Hashable, Sendable {
    case health(TrunkHealth.Refusal)
    case capacity(TrunkCapacity.Refusal)
    /// The call has been there.
    case tried
  }

  /// ``Trunk/name``.
  public let trunk: String
  /// The first obstacle found; draining and outages are named before a full trunk.
  public let reason: Reason

  /// `trunk` is a ``Trunk/name``.
  public init(trunk: String, reason: Reason) {
    self.trunk = trunk
    self.reason = reason
  }

  /// `carrier-1: down for 12 s: no answer`
  public func explanation(at now: MonotonicInstant) -> String {
    switch reason {
    case .health(let refusal): "\(trunk): \(refusal.explanation(at: now))"
    case .capacity(let refusal): "\(trunk): \(refusal)"
    case .tried: "\(trunk): tried already"
    }
  }
}

/// Which trunks a call may use now, in the order to try, and why not the others.
public struct TrunkSelection: Hashable, Sendable {
  /// Names, best first.
  public let order: [String]
  /// Trunks that are not in ``order``, in the order in which they were given.
  public let skipped: [SkippedTrunk]

  /// Lowest priority number first; inside a priority trunks that are up before those on trial, each next one drawn by
  /// weight.
  /// - Parameters:
  ///   - tried: Trunks that the call has been at.
  ///   - draw: 64 random bits a call.
  public init(from states: [TrunkState], tried: Set<String> = [], at now: MonotonicInstant, draw: () -> UInt64) {
    var usable: [(trunk: Trunk, rank: Int)] = []
    var skipped: [SkippedTrunk] = []
    for state in states {
      if tried.contains(state.trunk.name) {
        skipped.append(SkippedTrunk(trunk: state.trunk.name, reason: .tried))
      } else if let reason = state.reason(at: now) {
        skipped.append(SkippedTrunk(trunk: state.trunk.name, reason: reason))
      } else {
        usable.append((state.trunk, state.health.standing == .up ? 0 : 1))
      }
    }
    var order: [String] = []
    while let best = usable.map({ [Int($0.trunk.priority), $0.rank] }).min(by: { $0.lexicographicallyPrecedes($1) }) {
      let group = usable.indices.filter { [Int(usable[$0].trunk.priority), usable[$0].rank] == best }
      let index = group[TrunkSelection.drawn(group.map { usable[$0].trunk.weight }, draw)]
      order.append(usable.remove(at: index).trunk.name)
    }
    self.order = order
    self.skipped = skipped
  }

  /// The place of one of the weights, each with a chance that follows it; zeros are drawn among themselves at last.
  private static func drawn(_ weights: [UInt16], _ draw: () -> UInt64) -> Int {
    guard weights.count > 1 else { return 0 }
    let isFlat = weights.allSatisfy { $0 == 0 }
    let chances = weights.map { isFlat ? 1 : UInt64($0) }
    var rest = draw().multipliedFullWidth(by: chances.reduce(0, +)).high
    for (index, chance) in chances.enumerated() {
      if rest < chance { return index }
      rest -= chance
    }
    return weights.count - 1
  }

  /// One line for each trunk that was left out.
  public func explanation(at now: MonotonicInstant) -> String {
    skipped.map { $0.explanation(at: now) }.joined(separator: "; ")
  }
}
