package import CallModel

/// Repeats our 2xx to an INVITE until its ACK comes, over every transport: the transaction is over and nobody else does
/// (RFC 3261 section 13.3.1.4).
///
///     waiting ──acknowledged──▶ done
///        │ 64 × T1
///        └──────────────────▶ done, and the session is to be ended with BYE
package struct SuccessRepeater: Hashable, Sendable {
  package enum Action: Hashable, Sendable {
    case sendAgain
    /// No ACK in 64 × T1: end the session with BYE.
    case fail
  }

  private var schedule: RetransmissionSchedule?

  /// - Parameter start: When the 2xx was sent first.
  package init(sentAt start: MonotonicInstant) {
    schedule = RetransmissionSchedule(from: start, cap: RetransmissionSchedule.longestInterval)
  }

  package var isWaiting: Bool { schedule != nil }
  package var nextDeadline: MonotonicInstant? { schedule?.deadline }

  /// - Returns: `false` for a repeated ACK.
  @discardableResult
  package mutating func acknowledged() -> Bool {
    defer { schedule = nil }
    return schedule != nil
  }

  package mutating func advance(to now: MonotonicInstant) -> Action? {
    switch schedule?.advance(to: now) {
    case nil: return nil
    case .repeatNow: return .sendAgain
    case .expire:
      schedule = nil
      return .fail
    }
  }
}
