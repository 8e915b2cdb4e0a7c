/// So many a second on average, and so many at once after a quiet time. Counts in whole numbers, so that nothing is won or
/// lost to rounding, however often it is asked.
package struct TokenBucket: Hashable, Sendable {
  /// Largest rate and burst.
  package static let maximum = 1_000_000
  /// What one token costs; a microsecond adds as much as tokens come a second.
  private static let cost: Int64 = 1_000_000

  private var rate: Int64
  private var capacity: Int64
  /// Below zero while something is owed.
  private var level: Int64
  private var filledAt = MonotonicInstant(microseconds: .min)

  /// A full bucket.
  /// - Parameters:
  ///   - perSecond: 0 to ``maximum``; of 0 nothing is ever taken. What lies outside is brought there.
  ///   - burst: 1 to ``maximum``, likewise.
  package init(perSecond: Int, burst: Int) {
    rate = TokenBucket.rate(perSecond)
    capacity = TokenBucket.capacity(perSecond, burst)
    level = capacity
  }

  /// As many at once as a second brings.
  package init(perSecond: Int) { self.init(perSecond: perSecond, burst: perSecond) }

  /// Another rate from the last token on; what the bucket holds stays, as far as there is room.
  package mutating func change(perSecond: Int, burst: Int) {
    rate = TokenBucket.rate(perSecond)
    capacity = TokenBucket.capacity(perSecond, burst)
  }

  private static func rate(_ perSecond: Int) -> Int64 { Int64(min(max(perSecond, 0), maximum)) }

  private static func capacity(_ perSecond: Int, _ burst: Int) -> Int64 {
    perSecond > 0 ? Int64(min(max(burst, 1), maximum)) * cost : 0
  }

  /// A clock that steps back gives nothing and takes nothing.
  private func level(at now: MonotonicInstant) -> Int64 {
    let elapsed = max(now.microseconds(since: filledAt), 0)
    let (gain, overflow) = elapsed.multipliedReportingOverflow(by: rate)
    let (sum, isOver) = level.addingReportingOverflow(gain)
    return overflow || isOver ? capacity : min(sum, capacity)
  }

  private mutating func fill(at now: MonotonicInstant) {
    level = level(at: now)
    filledAt = max(filledAt, now)
  }

  /// - Returns: `false` when there is none; then nothing is taken.
  package mutating func consume(at now: MonotonicInstant) -> Bool {
    fill(at: now)
    guard level >= TokenBucket.cost else { return false }
    level -= TokenBucket.cost
    return true
  }

  /// Takes so many even where they are not there. What is owed is at most a full bucket, or this one debt where that is
  /// more.
  package mutating func owe(_ count: Int, at now: MonotonicInstant) {
    fill(at: now)
    let debt = Int64(min(max(count, 0), TokenBucket.maximum)) * TokenBucket.cost
    level = max(level - debt, -max(capacity, debt))
  }

  package func isFull(at now: MonotonicInstant) -> Bool { level(at: now) >= capacity }

  /// Until there is one, 0 for now; `nil` where none ever comes.
  package func microsecondsToNext(at now: MonotonicInstant) -> Int64? {
    let missing = max(TokenBucket.cost - level(at: now), 0)
    guard missing > 0 else { return 0 }
    return rate > 0 ? (missing + rate - 1) / rate : nil
  }

  /// Whole seconds until there is one, at least one: what somebody who was refused is told.
  package func secondsToNext(at now: MonotonicInstant) -> Int64 {
    guard let microseconds = microsecondsToNext(at: now) else { return .max }
    return max((microseconds + 999_999) / 1_000_000, 1)
  }
}
