package import CallModel

/// When something that waits for an acknowledgement is sent again: after T1, then after twice as long each time, until
/// 64 × T1 have gone by (RFC 3261 section 13.3.1.4, RFC 3262 section 3).
package struct RetransmissionSchedule: Hashable, Sendable {
  /// T1 of RFC 3261 section 17.1.1.1.
  package static let firstInterval: Int64 = 500
  /// T2.
  package static let longestInterval: Int64 = 4000
  /// 64 × T1.
  package static let lifetime: Int64 = 32_000

  package enum Tick: Hashable, Sendable {
    case repeatNow
    /// Nobody acknowledged in time; the last tick.
    case expire
  }

  private let cap: Int64?
  private let end: MonotonicInstant
  private var interval = RetransmissionSchedule.firstInterval
  private var next: MonotonicInstant

  /// - Parameters:
  ///   - start: When it was sent first.
  ///   - cap: Longest interval in milliseconds; `nil` doubles to the end.
  package init(from start: MonotonicInstant, cap: Int64?) {
    self.cap = cap
    end = start.advanced(byMilliseconds: RetransmissionSchedule.lifetime)
    next = start.advanced(byMilliseconds: RetransmissionSchedule.firstInterval)
  }

  package var deadline: MonotonicInstant { min(next, end) }

  /// What is due. Counts on from `now`, so that a late call repeats once and not for every interval that was missed.
  package mutating func advance(to now: MonotonicInstant) -> Tick? {
    if now >= end { return .expire }
    guard now >= next else { return nil }
    interval = min(interval * 2, cap ?? RetransmissionSchedule.lifetime)
    next = now.advanced(byMilliseconds: interval)
    return .repeatNow
  }
}
