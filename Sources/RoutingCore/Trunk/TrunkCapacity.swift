public import CallModel

/// How many calls a trunk takes: at a time, and new ones a second. Counts in whole numbers, so that no call is lost or won
/// to rounding.
public struct TrunkCapacity: Sendable {
  public struct Limits: Hashable, Sendable {
    /// Calls at a time; `nil` for any number.
    public var concurrentCalls: Int?
    /// New calls a second; `nil` for any number.
    public var callsPerSecond: Int?
    /// New calls that may start at once after a quiet time; `nil` for a second's worth.
    public var burst: Int?

    public init(concurrentCalls: Int? = nil, callsPerSecond: Int? = nil, burst: Int? = nil) {
      self.concurrentCalls = concurrentCalls.map { max(0, $0) }
      self.callsPerSecond = callsPerSecond.map { min(max(0, $0), Limits.maximumPerSecond) }
      self.burst = burst.map { min(max(1, $0), Limits.maximumPerSecond) }
    }

    /// Largest rate and burst.
    public static let maximumPerSecond = 1_000_000
  }

  /// A place that one call holds, unique in the life of a capacity.
  public struct Reservation: Hashable, Sendable {
    fileprivate let number: UInt64
  }

  /// Which cap refused a call.
  public enum Refusal: Error, Hashable, Sendable {
    case draining
    /// The cap that is reached; a place comes free when a call ends.
    case concurrentCalls(limit: Int)
    /// `nil` where the limit is no calls at all.
    case callsPerSecond(limit: Int, retryAfterMilliseconds: Int64?)
  }

  /// A change takes effect at the next reservation; calls above a lowered cap go on.
  public var limits: Limits
  public var isDraining: Bool
  private var live: Set<UInt64> = []
  private var nextNumber: UInt64 = 0
  /// Thousandths of a call that may start now: a millisecond adds as many as calls may start a second.
  private var allowance: Int64
  private var filledAt: MonotonicInstant?

  /// Thousandths that a call costs.
  private static let cost: Int64 = 1000

  public init(_ limits: Limits = Limits(), isDraining: Bool = false) {
    self.limits = limits
    self.isDraining = isDraining
    allowance = TrunkCapacity.fullAllowance(limits)
  }

  /// Calls that hold a place.
  public var liveCalls: Int { live.count }

  /// Why a call would be refused now; changes nothing.
  public func refusal(at now: MonotonicInstant) -> Refusal? {
    if isDraining { return .draining }
    if let limit = limits.concurrentCalls, live.count >= limit { return .concurrentCalls(limit: limit) }
    guard let rate = limits.callsPerSecond else { return nil }
    let allowance = filledAllowance(at: now)
    guard allowance < TrunkCapacity.cost else { return nil }
    let rest = Int64(rate)
    return .callsPerSecond(
      limit: rate, retryAfterMilliseconds: rate > 0 ? (TrunkCapacity.cost - allowance + rest - 1) / rest : nil)
  }

  /// Takes a place. What is refused takes nothing, so that waiting callers do not use up the rate.
  public mutating func reserve(at now: MonotonicInstant) -> Result<Reservation, Refusal> {
    if let refusal = refusal(at: now) { return .failure(refusal) }
    if limits.callsPerSecond != nil {
      allowance = filledAllowance(at: now) - TrunkCapacity.cost
      filledAt = max(filledAt ?? now, now)
    }
    let number = nextNumber
    nextNumber += 1
    live.insert(number)
    return .success(Reservation(number: number))
  }

  /// Gives a place back.
  /// - Returns: Whether it was held: a second release changes nothing.
  @discardableResult
  public mutating func release(_ reservation: Reservation) -> Bool {
    live.remove(reservation.number) != nil
  }

  private func filledAllowance(at now: MonotonicInstant) -> Int64 {
    let full = TrunkCapacity.fullAllowance(limits)
    guard let filledAt, let rate = limits.callsPerSecond else { return min(allowance, full) }
    let elapsed = max(0, now.milliseconds(since: filledAt))
    // A rate and an allowance are at most 10^9 and 10^6: the product can overflow for absurd times only, and then it is full.
    let (gain, overflow) = elapsed.multipliedReportingOverflow(by: Int64(rate))
    let (sum, isOver) = allowance.addingReportingOverflow(gain)
    return overflow || isOver ? full : min(sum, full)
  }

  private static func fullAllowance(_ limits: Limits) -> Int64 {
    guard let rate = limits.callsPerSecond, rate > 0 else { return 0 }
    return Int64(limits.burst ?? rate) * cost
  }
}

extension TrunkCapacity.Refusal: CustomStringConvertible {
  public var description: String {
    switch self {
    case .draining: "draining"
    case .concurrentCalls(let limit): "cap of \(limit) calls reached"
    case .callsPerSecond(let limit, let retry):
      "cap of \(limit) new calls a second reached" + (retry.map { ", free in \($0) ms" } ?? "")
    }
  }
}
