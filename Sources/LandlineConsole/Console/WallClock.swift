package import CallModel
import Foundation

/// The one place where the time of day is read.
package struct WallClock: Sendable {
  private let fixed: Instant?

  /// The system's clock, or always `fixed`.
  package init(fixed: Instant? = nil) { self.fixed = fixed }

  package func now() -> Instant {
    if let fixed { return fixed }
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Instant(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }
}
