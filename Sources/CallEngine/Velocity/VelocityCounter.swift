package import CallModel

/// What each account and user did within the last hour, as far as a ``VelocityRule`` concerns it.
///
/// An hour is seven slots of ten minutes, the one that runs included: what comes within any 60 minutes is always counted
/// together. The price of a grant is counted when the ledger makes it, before it is used, so that no two calls have the same
/// room; what is given back leaves the slot in which it was counted.
package struct VelocityCounter {
  package static let slotMilliseconds: Int64 = 600_000
  static let slots: Int64 = 7
  /// Most hours that are kept; users that come later share one.
  package static let maximumHours = 65_536
  /// Between two looks through a full table.
  static let pruneMilliseconds: Int64 = 1_000

  /// Whose hour, under which rule.
  struct Key: Hashable {
    let rule: VelocityRule
    let environment: String
    let account: AccountName
    /// Application and user; `nil` for the whole account.
    let user: String?
  }

  /// One call in the hours that it counts in.
  package struct Mark {
    fileprivate(set) var keys: [Key]
    /// The slot of the last price that was counted.
    fileprivate(set) var slot: Int64
  }

  /// Calls and micro-units by slot.
  private struct Hour {
    private var calls = SIMD8<Int64>.zero
    private var spend = SIMD8<Int64>.zero
    /// The newest slot in which anything was counted.
    private(set) var newest: Int64
    /// The slot in which it was told that the rule is reached.
    var toldIn: Int64?

    init(_ slot: Int64) { newest = slot }

    /// Empties slots that are no longer part of the hour.
    mutating func advance(to slot: Int64) {
      guard slot > newest else { return }
      for passed in (max(newest, slot - 8) + 1)...slot {
        calls[Int(passed & 7)] = 0
        spend[Int(passed & 7)] = 0
      }
      newest = slot
      // The eighth is over an hour old.
      calls[Int((slot + 1) & 7)] = 0
      spend[Int((slot + 1) & 7)] = 0
    }

    mutating func add(calls count: Int64, spend amount: MicroUnits, in slot: Int64) {
      guard slot > newest - VelocityCounter.slots, slot <= newest else { return }
      let place = Int(slot & 7)
      calls[place] = max(0, calls[place] + count)
      // Holds are far below what would wrap, and a sum that would is past every rule.
      let (sum, overflow) = spend[place].addingReportingOverflow(amount.count)
      spend[place] = overflow ? .max / 8 : min(max(0, sum), .max / 8)
    }

    var callCount: Int64 { calls.wrappedSum() }

    /// Whether so much more would be past what a rule lets be. A price is judged when there is one.
    func passes(_ rule: VelocityRule, calls more: Int64, spend amount: MicroUnits) -> Bool {
      if let limit = rule.calls, more > 0, callCount + more > Int64(limit) { return true }
      guard let limit = rule.spendMicro?.count else { return false }
      let spent = spend.wrappedSum()
      return amount > .zero ? spent + min(amount.count, .max / 8) > limit : more > 0 && spent >= max(limit, 1)
    }

    var isEmpty: Bool { calls == .zero && spend == .zero }
  }

  private var hours: [Key: Hour] = [:]
  private var prunedAt = MonotonicInstant.zero

  package init() {}

  package var hourCount: Int { hours.count }

  static func slot(at now: MonotonicInstant) -> Int64 { now.milliseconds / slotMilliseconds }

  /// What rules say to one more call, or to its price.
  package enum Verdict {
    /// Counted; the rules whose alarm it raised.
    case admitted(Mark, alarms: [VelocityRule])
    /// Not counted.
    case refused(Refusal)
  }

  package struct Refusal {
    package let rule: VelocityRule
    /// Whether nobody was told within the hour.
    package let isFirst: Bool
    /// Whether the account is to be locked. The price of a single call locks nobody, however dear it is.
    package let locks: Bool
  }

  /// Counts a call.
  /// - Parameter user: `nil` where no user asked.
  package mutating func admit(
    _ rules: [VelocityRule], environment: String, account: AccountName, user: String?,
    to destinations: VelocityRule.Destinations, at now: MonotonicInstant
  ) -> Verdict {
    var mark = Mark(keys: [], slot: VelocityCounter.slot(at: now))
    for rule in rules where rule.destinations == .any || rule.destinations == destinations {
      guard rule.party == .account || user != nil else { continue }
      let key = Key(
        rule: rule, environment: environment, account: account, user: rule.party == .user ? user : nil)
      mark.keys.append(place(key, at: now))
    }
    return add(mark, calls: 1, spend: .zero, at: now)
  }

  /// Counts the price of a grant to a call that was admitted.
  mutating func count(_ amount: MicroUnits, _ mark: Mark, at now: MonotonicInstant) -> Verdict {
    add(mark, calls: 0, spend: amount, at: now)
  }

  private mutating func add(_ mark: Mark, calls: Int64, spend: MicroUnits, at now: MonotonicInstant) -> Verdict {
    let slot = VelocityCounter.slot(at: now)
    for key in mark.keys { hours[key, default: Hour(slot)].advance(to: slot) }
    let excess = mark.keys.filter { key in
      hours[key]?.passes(key.rule, calls: calls, spend: spend) ?? false
    }
    if let key = excess.first(where: { $0.rule.consequence == .lock })
      ?? excess.first(where: { $0.rule.consequence == .refuse })
    {
      let locks = key.rule.consequence == .lock && (calls > 0 || (hours[key]?.callCount ?? 0) > 1)
      return .refused(Refusal(rule: key.rule, isFirst: isToBeTold(key, slot), locks: locks))
    }
    var mark = mark
    mark.slot = slot
    change(mark, calls: calls, spend: spend)
    return .admitted(mark, alarms: excess.filter { isToBeTold($0, slot) }.map(\.rule))
  }

  /// What was counted turned out to be more or less, or was given back. A call that was refused is counted no more.
  mutating func correct(_ mark: Mark, by difference: MicroUnits, isRefused: Bool = false) {
    change(mark, calls: isRefused ? -1 : 0, spend: difference)
  }

  /// A locked account begins anew when it is unlocked.
  mutating func forget(_ account: AccountName, environment: String) {
    hours = hours.filter { $0.key.account != account || $0.key.environment != environment }
  }

  private mutating func change(_ mark: Mark, calls: Int64, spend: MicroUnits) {
    for key in mark.keys where hours[key] != nil {
      hours[key]?.advance(to: mark.slot)
      hours[key]?.add(calls: calls, spend: spend, in: mark.slot)
    }
  }

  /// Whether it is to be told that a rule is reached: once an hour, however many calls it stops.
  private mutating func isToBeTold(_ key: Key, _ slot: Int64) -> Bool {
    if let told = hours[key]?.toldIn, slot < told + VelocityCounter.slots { return false }
    hours[key]?.toldIn = slot
    return true
  }

  /// The hour that is counted in: a full table has one for all users that have none yet.
  private mutating func place(_ key: Key, at now: MonotonicInstant) -> Key {
    guard hours[key] == nil, hours.count >= VelocityCounter.maximumHours else { return key }
    if prunedAt.advanced(byMilliseconds: VelocityCounter.pruneMilliseconds) <= now {
      prunedAt = now
      let slot = VelocityCounter.slot(at: now)
      hours = hours.compactMapValues { hour in
        var hour = hour
        hour.advance(to: slot)
        return hour.isEmpty ? nil : hour
      }
    }
    guard hours.count >= VelocityCounter.maximumHours, key.user != nil else { return key }
    return Key(rule: key.rule, environment: key.environment, account: key.account, user: "")
  }
}
