package import CallModel

/// Hears how a transfer goes that we asked for with REFER (RFC 3515 section 2.4, RFC 6665).
///
///     asked ──2xx──▶ active ──NOTIFY with a final status, terminated, or expiry──▶ over
///       └──failure──▶ over
///
/// A NOTIFY may come before the 2xx (RFC 6665 section 4.1.2.4).
package struct TransferSubscriber: Hashable, Sendable {
  /// Longest life taken at its word.
  package static let longestLifetimeSeconds: UInt32 = 3_600
  /// Life of a subscription of which nobody said how long it lives.
  package static let usualLifetimeSeconds: UInt32 = 300

  package enum Event: Hashable, Sendable {
    /// A status of 100 to 699; 200 and above is the last.
    case progress(status: Int)
    /// A repeated report, or one that says nothing: 200 and nothing more.
    case nothing
    /// Over already: 481 to the NOTIFY.
    case unknown
  }

  private var expiresAt: MonotonicInstant
  private var isActive = true
  private var lastStatus: Int?

  package init(askedAt now: MonotonicInstant) {
    expiresAt = now.advanced(byMilliseconds: Int64(TransferSubscriber.usualLifetimeSeconds) * 1000)
  }

  package var isOver: Bool { !isActive }
  package var nextDeadline: MonotonicInstant? { isActive ? expiresAt : nil }

  /// The final response to our REFER; a failure ends it.
  package mutating func respond(status: Int) -> Event {
    guard isActive, status >= 300 else { return .nothing }
    isActive = false
    return .progress(status: status)
  }

  /// A NOTIFY with the event `refer`.
  /// - Parameter state: `nil` where Subscription-State is missing or cannot be read: RFC 6665 says 400, but
  ///   gear that forgets it reports all the same.
  package mutating func notify(
    _ state: SubscriptionState?, body: MessageBody?, at now: MonotonicInstant
  ) -> Event {
    guard isActive else { return .unknown }
    let status = body.flatMap { StatusFragment($0) }?.status
    if let expires = state?.expires {
      let life = min(expires, TransferSubscriber.longestLifetimeSeconds)
      expiresAt = now.advanced(byMilliseconds: Int64(life) * 1000)
    }
    if let status, status >= 200 {
      isActive = false
      return .progress(status: status)
    }
    if state?.state == .terminated {
      // Ended without a verdict: whether the call came about will never be known.
      isActive = false
      return .progress(status: 408)
    }
    guard let status, status != lastStatus else { return .nothing }
    lastStatus = status
    return .progress(status: status)
  }

  /// The subscription ran out without a verdict.
  package mutating func advance(to now: MonotonicInstant) -> Event? {
    guard isActive, now >= expiresAt else { return nil }
    isActive = false
    return .progress(status: 408)
  }
}
