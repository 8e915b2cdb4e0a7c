/// A point on a clock that never steps back: milliseconds since an origin that only its own process knows. Timers and
/// durations are measured on it; what is shown to people is an ``Instant``.
public struct MonotonicInstant: Hashable, Comparable, Sendable {
  public let milliseconds: Int64

  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  public static let zero = MonotonicInstant(milliseconds: 0)

  /// Saturates instead of wrapping.
  public func advanced(byMilliseconds delta: Int64) -> MonotonicInstant {
    let (sum, overflow) = milliseconds.addingReportingOverflow(delta)
    return MonotonicInstant(milliseconds: overflow ? (delta > 0 ? .max : .min) : sum)
  }

  /// Milliseconds from `earlier` to this instant; saturates.
  public func milliseconds(since earlier: MonotonicInstant) -> Int64 {
    let (difference, overflow) = milliseconds.subtractingReportingOverflow(earlier.milliseconds)
    return overflow ? (milliseconds > earlier.milliseconds ? .max : .min) : difference
  }

  public static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
    left.milliseconds < right.milliseconds
  }
}
