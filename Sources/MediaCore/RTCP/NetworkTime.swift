import CallModel

/// NTP time of an instant: the wall clock is looked at once, so that a step of it does not touch round trips.
struct NetworkTime: Sendable {
  /// Seconds from 1900 to 1970.
  private static let epoch: Int64 = 2_208_988_800

  /// Microseconds since 1970 at instant zero.
  private let offset: Int64

  init(unixMicroseconds: Int64, at instant: MonotonicInstant) {
    offset = unixMicroseconds &- instant.microseconds
  }

  /// Seconds since 1900 in the upper half, their fraction in the lower.
  func at(_ instant: MonotonicInstant) -> UInt64 {
    let microseconds = offset &+ instant.microseconds
    let seconds = (microseconds / 1_000_000) &+ NetworkTime.epoch
    let fraction = UInt64(abs(microseconds % 1_000_000)) << 32 / 1_000_000
    return UInt64(truncatingIfNeeded: seconds) << 32 | fraction
  }

  /// Middle 32 bits: seconds modulo 65536 and 1/65536 of them.
  static func middle(_ time: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: time >> 16) }
}
