public import CallModel

/// How many calls a trunk takes: at a time, and new ones a second.
public struct TrunkCapacity: Sendable {
  /// What the configuration allows a trunk; without a value there is no limit.
  public struct Limits: Hashable, Sendable {
    /// Calls at a time; `nil` for any number.
    public var concurrentCalls: Int?
    /// New calls a second; `nil` for any number.
    public var callsPerSecond: Int?
    /// New calls that may start at once after a quiet time; `nil` for a second's worth.
    public var burst: Int?

    /// Values outside of their range are brought into it: no negative caps, a burst of at least 1, rates up to
    /// ``maximumPerSecond``.
    public init(concurrentCalls: Int? = nil, callsPerSecond: Int? = nil, burst: Int? = nil) {
      self.concurrentCalls = concurrentCalls.map { max(0, $0) }
      self.callsPerSecond = callsPerSecond.map { min(max(0, $0), Limits.maximumPerSecond) }
      self.burst = burst.map { min(max(1, $0), Limits.maximumPerSecond) }
    }

    /// Largest rate and burst.
    public static let maximumPerSecond = TokenBucket.maximum
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
  public var limits: Limits { didSet { applyRate() } }
  /// Refuses every new call; calls that hold a place go on.
  public var isDraining: Bool
  private var live: Set<UInt64> = []
  private var nextNumber: UInt64 = 0
  /// Calls that may start now; `nil` for any number.
  private var starts: TokenBucket?

  /// No call holds a place yet, and a full burst may start at once.
  public init(_ limits: Limits = Limits(), isDraining: Bool = false) {
    self.limits = limits
    self.isDraining = isDraining
    applyRate()
  }

  /// A rate that is new begins with all it allows; of a changed one what was used stays used.
  private mutating func applyRate() {
    guard let rate = limits.callsPerSecond else {
      starts = nil
      return
    }
    let burst = limits.burst ?? rate
    if starts == nil { starts = TokenBucket(perSecond: rate, burst: burst) }
    starts?.change(perSecond: rate, burst: burst)
  }

  /// Calls that hold a place.
  public var liveCalls: Int { live.count }

  /// Why a call would be refused now; changes nothing.
  public func refusal(at now: MonotonicInstant) -> Refusal? {
    if isDraining { return .draining }
    if let limit = limits.concurrentCalls, live.count >= limit { return .concurrentCalls(limit: limit) }
    guard let rate = limits.callsPerSecond, let starts else { return nil }
    let wait = starts.microsecondsToNext(at: now)
    guard wait != 0 else { return nil }
    return .callsPerSecond(limit: rate, retryAfterMilliseconds: wait.map { ($0 + 999) / 1000 })
  }

  /// Takes a place. What is refused takes nothing, so that waiting callers do not use up the rate.
  public mutating func reserve(at now: MonotonicInstant) -> Result<Reservation, Refusal> {
    if let refusal = refusal(at: now) { return .failure(refusal) }
    _ = starts?.consume(at: now)
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
}

extension TrunkCapacity.Refusal: CustomStringConvertible {
  /// For the operator: which cap was reached, and for a rate in how many milliseconds a call may start.
  public var description: String {
    switch self {
    case .draining: "draining"
    case .concurrentCalls(let limit): "cap of \(limit) calls reached"
    case .callsPerSecond(let limit, let retry):
      "cap of \(limit) new calls a second reached" + (retry.map { ", free in \($0) ms" } ?? "")
    }
  }
}
