package import CallEngine
package import CallModel
import Foundation
package import NodeCore

/// The one place of a running gateway where time is read.
package enum NodeClock {
  private static let start = ContinuousClock.now

  /// Since the process first asked, on the boot clock (CLOCK_BOOTTIME): it goes on while the machine is suspended, so a
  /// paused gateway finds its deadlines passed.
  package static func now() -> MonotonicInstant {
    let (seconds, attoseconds) = (ContinuousClock.now - start).components
    return MonotonicInstant(microseconds: seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
  }

  package static func wallClock() -> Instant {
    Instant(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
  }

  /// A delay, and the processor time of this process as it is now.
  package static func observation(delayMicroseconds: Int64) -> AdmissionGate.Observation {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return AdmissionGate.Observation(
      delayMicroseconds: delayMicroseconds,
      processorMicroseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }

  package static func time() -> NodeTime { NodeTime(now: now(), unixMicroseconds: unixMicroseconds()) }

  package static func unixMicroseconds() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000) }
}
