import CallModel

/// So many a second on average, and so many at once.
struct TokenBucket {
  private let perSecond: Int64
  /// In thousandths.
  private let capacity: Int64
  private var tokens: Int64
  private var filledAt: MonotonicInstant

  /// A full bucket.
  init(perSecond: Int64, burst: Int64, at now: MonotonicInstant) {
    self.perSecond = min(max(perSecond, 1), 1_000_000)
    capacity = min(max(burst, 1), 1_000_000) * 1000
    tokens = capacity
    filledAt = now
  }

  private mutating func fill(at now: MonotonicInstant) {
    let elapsed = min(max(now.milliseconds(since: filledAt), 0), 3_600_000)
    guard elapsed > 0 else { return }
    tokens = min(tokens + elapsed * perSecond, capacity)
    filledAt = now
  }

  /// - Returns: `false` when there is none.
  mutating func take(at now: MonotonicInstant) -> Bool {
    fill(at: now)
    guard tokens >= 1000 else { return false }
    tokens -= 1000
    return true
  }

  /// Takes so many even where they are not there: they are owed, up to as many as fit in.
  mutating func owe(_ count: Int64, at now: MonotonicInstant) {
    fill(at: now)
    tokens = max(tokens - count * 1000, -max(capacity, count * 1000))
  }

  /// Whole seconds until there is one again, at least one.
  var waitSeconds: Int {
    let milliseconds = (max(1000 - tokens, 0) + perSecond - 1) / perSecond
    return Int(max((milliseconds + 999) / 1000, 1))
  }

  mutating func isFull(at now: MonotonicInstant) -> Bool {
    fill(at: now)
    return tokens == capacity
  }
}
