/// A point on a clock that never steps back, counted since an origin that only its own process knows. Timers and durations
/// are measured on it; what is shown to people is an ``Instant``.
///
/// Signalling counts in milliseconds; media needs microseconds, for jitter.
public struct MonotonicInstant: Hashable, Comparable, Sendable {
  /// Since the process's own origin; means nothing in another process.
  public let microseconds: Int64

  /// Any value is accepted.
  public init(microseconds: Int64) { self.microseconds = microseconds }

  /// Saturates.
  public init(milliseconds: Int64) {
    let (product, overflow) = milliseconds.multipliedReportingOverflow(by: 1000)
    microseconds = overflow ? (milliseconds > 0 ? .max : .min) : product
  }

  /// The clock's origin.
  public static let zero = MonotonicInstant(microseconds: 0)

  /// Whole milliseconds, rounded down.
  public var milliseconds: Int64 { microseconds >= 0 ? microseconds / 1000 : (microseconds + 1) / 1000 - 1 }

  /// Saturates instead of wrapping.
  public func advanced(byMicroseconds delta: Int64) -> MonotonicInstant {
    let (sum, overflow) = microseconds.addingReportingOverflow(delta)
    return MonotonicInstant(microseconds: overflow ? (delta > 0 ? .max : .min) : sum)
  }

  /// Saturates instead of wrapping.
  public func advanced(byMilliseconds delta: Int64) -> MonotonicInstant {
    advanced(byMicroseconds: MonotonicInstant(milliseconds: delta).microseconds)
  }

  /// Microseconds from `earlier` to this instant; saturates.
  public func microseconds(since earlier: MonotonicInstant) -> Int64 {
    let (difference, overflow) = microseconds.subtractingReportingOverflow(earlier.microseconds)
    return overflow ? (microseconds > earlier.microseconds ? .max : .min) : difference
  }

  /// Whole milliseconds from `earlier` to this instant; saturates.
  public func milliseconds(since earlier: MonotonicInstant) -> Int64 {
    MonotonicInstant(microseconds: microseconds(since: earlier)).milliseconds
  }

  /// The earlier one first.
  public static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
    left.microseconds < right.microseconds
  }
}
