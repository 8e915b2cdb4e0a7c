import CallModel
import Foundation
import NIOCore

/// The one place where the time is read.
enum Clock {
  static var now: MonotonicInstant {
    MonotonicInstant(microseconds: Int64(clamping: NIODeadline.now().uptimeNanoseconds / 1_000))
  }

  /// The time of day in microseconds since 1970.
  static var unixMicroseconds: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
  }

  static var wall: Instant { Instant(milliseconds: unixMicroseconds / 1_000) }

  /// The same point for a timer of an event loop.
  static func deadline(_ instant: MonotonicInstant) -> NIODeadline {
    // The loop's clock counts nanoseconds from the same origin in 64 bits.
    let farthest = Int64.max / 1_000
    return .uptimeNanoseconds(UInt64(min(max(instant.microseconds, 0), farthest)) * 1_000)
  }
}
