public import CallModel

/// Time that only the simulation moves: a wall clock that can be set back and forth, and a monotonic one that cannot.
public struct VirtualClock: Hashable, Sendable {
  /// What the operating system's wall clock shows.
  public private(set) var now: Instant
  /// Milliseconds since the start that really went by.
  public private(set) var monotonicMilliseconds: Int64 = 0

  /// The wall clock starts at `now`, the monotonic one at 0.
  public init(_ now: Instant) { self.now = now }

  /// Lets time go by; a negative amount is taken as none.
  public mutating func advance(milliseconds: Int64) {
    let elapsed = max(milliseconds, 0)
    now = now.advanced(byMilliseconds: elapsed)
    monotonicMilliseconds += elapsed
  }

  /// Sets the wall clock by `milliseconds` forward, or back if negative, as time synchronisation may (RFC 5905).
  public mutating func step(milliseconds: Int64) { now = now.advanced(byMilliseconds: milliseconds) }
}
