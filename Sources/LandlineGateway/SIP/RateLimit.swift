import CallModel

/// At most so many in each second of the clock.
struct RateLimit {
  let perSecond: Int
  private var start = MonotonicInstant.zero
  private var used = 0

  init(perSecond: Int) { self.perSecond = perSecond }

  mutating func takes(at now: MonotonicInstant) -> Bool {
    if now.milliseconds(since: start) >= 1000 {
      start = now
      used = 0
    }
    guard used < perSecond else { return false }
    used += 1
    return true
  }
}
