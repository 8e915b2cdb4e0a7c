package import CallModel

/// One moment by both clocks, as the shell read them for one input.
package struct NodeTime: Hashable, Sendable {
  /// For durations and deadlines.
  package var now: MonotonicInstant
  /// As people read it, in microseconds since 1970: for traces.
  package var unixMicroseconds: Int64

  package init(now: MonotonicInstant, unixMicroseconds: Int64) {
    self.now = now
    self.unixMicroseconds = unixMicroseconds
  }

  package init(now: MonotonicInstant, clock: Instant) {
    self.init(now: now, unixMicroseconds: clock.milliseconds &* 1000)
  }

  /// As people read it, in whole milliseconds: for records and prices.
  package var clock: Instant {
    let (milliseconds, rest) = unixMicroseconds.quotientAndRemainder(dividingBy: 1000)
    return Instant(milliseconds: rest < 0 ? milliseconds - 1 : milliseconds)
  }
}
