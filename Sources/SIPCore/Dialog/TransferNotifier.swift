package import CallModel

/// Reports on a transfer that the peer asked of us with REFER, from our 202 on (RFC 3515 section 2.4.4, RFC 6665).
///
///     active ──report 1xx──▶ active ──report final, or expiry──▶ terminated
package struct TransferNotifier: Hashable, Sendable {
  /// Seconds that the subscription lives: longer than anything rings.
  package static let lifetimeSeconds: UInt32 = 300

  /// What one NOTIFY says; its Event is `refer`.
  package struct Report: Hashable, Sendable {
    package let state: SubscriptionState
    package let body: MessageBody
  }

  private let expiresAt: MonotonicInstant
  private var isActive = true

  package init(acceptedAt now: MonotonicInstant) {
    expiresAt = now.advanced(byMilliseconds: Int64(TransferNotifier.lifetimeSeconds) * 1000)
  }

  package var nextDeadline: MonotonicInstant? { isActive ? expiresAt : nil }

  /// The NOTIFY that follows the 202 at once.
  package func first(at now: MonotonicInstant) -> Report { report(100, "Trying", at: now) }

  /// How the new call goes on; `nil` after the last report.
  package mutating func report(status: Int, phrase: String, at now: MonotonicInstant) -> Report? {
    guard isActive, (100...699).contains(status) else { return nil }
    if status >= 200 { isActive = false }
    return report(status, phrase, at: now)
  }

  /// The subscription ran out: the last report.
  package mutating func advance(to now: MonotonicInstant) -> Report? {
    guard isActive, now >= expiresAt else { return nil }
    isActive = false
    return Report(
      state: SubscriptionState(.terminated, reason: "timeout"),
      body: StatusFragment(status: 408, phrase: "Request Timeout").body)
  }

  /// A NOTIFY got 481 or no answer: nobody listens any more (RFC 6665 section 4.2.2).
  package mutating func stop() { isActive = false }

  private func report(_ status: Int, _ phrase: String, at now: MonotonicInstant) -> Report {
    let left = UInt32(clamping: max(0, expiresAt.milliseconds(since: now) / 1000))
    return Report(
      state: isActive
        ? SubscriptionState(.active, expires: left) : SubscriptionState(.terminated, reason: "noresource"),
      body: StatusFragment(status: status, phrase: phrase).body)
  }
}
