import CallModel

/// So many a second, and as many at once as a second allows: a bucket that fills with time.
struct RateCap: Sendable {
  private let perSecond: Int64
  /// Thousandths of one.
  private var level: Int64
  private var filledAt: MonotonicInstant?

  init(perSecond: Int) {
    self.perSecond = Int64(min(max(0, perSecond), 1_000_000))
    level = self.perSecond * 1000
  }

  mutating func take(at now: MonotonicInstant) -> Bool {
    let elapsed = min(filledAt.map { now.milliseconds(since: $0) } ?? 0, 1000)
    filledAt = now
    level = min(perSecond * 1000, level + max(0, elapsed) * perSecond)
    guard level >= 1000 else { return false }
    level -= 1000
    return true
  }
}
