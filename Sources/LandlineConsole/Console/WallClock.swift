package import CallModel
import Foundation

/// The one place where the time of day is read.
package struct WallClock: Sendable {
  private let fixed: Instant?

  /// The system's clock, or always `fixed`.
  package init(fixed: Instant? = nil) { self.fixed = fixed }

  package func now() -> Instant {
    if let fixed { return fixed }
    return Instant(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
  }
}
