package import CallModel

/// Keeps one session refreshed, or notices that it is not (RFC 4028), in both roles.
///
///     off ◀──────────── 2xx that turns it off
///      │ 2xx of either side
///      ▼
///     running ──half the interval, we refresh──▶ .refresh ──2xx──▶ running anew
///      └──interval − min(32 s, a third)──▶ .expire (BYE), off
///
/// Every 2xx to an INVITE or UPDATE of either side is given to it, not only those of refreshes: each one is a refresh.
package struct SessionTimer: Hashable, Sendable {
  /// RFC 4028 section 4: nobody may ask for less.
  package static let leastInterval: UInt32 = 90
  /// Longest interval that is agreed to; a longer one would never notice anything.
  package static let longestInterval: UInt32 = 86_400
  /// Longest time before the end of an interval at which a session that nobody refreshed is given up (section 10).
  package static let longestMargin: Int64 = 32_000

  package enum Action: Hashable, Sendable {
    /// Send UPDATE or re-INVITE with ``request()``.
    case refresh
    /// Send BYE: the session was not refreshed.
    case expire
  }

  /// What a request of the peer's gets.
  package enum Verdict: Hashable, Sendable {
    /// 2xx with these fields; give them to ``answered(_:at:)`` when it goes out.
    case accept(SessionTimerHeaders)
    /// 422 with this Min-SE.
    case intervalTooSmall(minimum: UInt32)
  }

  /// What a refresh that failed means.
  package enum RefreshFailure: Hashable, Sendable {
    /// 408, 481 or nothing at all: the session is gone, send BYE (section 10, RFC 3261 section 12.2.1.2).
    case sessionEnded
    /// The session goes on; tried again by itself before it expires.
    case triedAgain
  }

  private struct Running: Hashable, Sendable {
    let interval: UInt32
    let refreshesHere: Bool
    /// `nil` while the peer refreshes, and while a refresh is under way.
    var refreshAt: MonotonicInstant?
    let expiresAt: MonotonicInstant
  }

  private let asked: UInt32?
  /// The largest Min-SE of ours or seen in the session (section 7.4).
  private var minimum: UInt32
  private var running: Running?

  package init(_ policy: SessionTimerPolicy) {
    asked = policy.interval.map { min(max($0, policy.minimum), SessionTimer.longestInterval) }
    minimum = min(max(policy.minimum, SessionTimer.leastInterval), SessionTimer.longestInterval)
  }

  /// Seconds agreed on; `nil` while no timer runs.
  package var interval: UInt32? { running?.interval }
  package var refreshesHere: Bool { running?.refreshesHere ?? false }

  package var nextDeadline: MonotonicInstant? {
    running.map { running in running.refreshAt.map { min($0, running.expiresAt) } ?? running.expiresAt }
  }

  /// What our INVITE or UPDATE says: first without a refresher, so that the peer chooses; inside a session the one that
  /// refreshes now (section 7.4).
  package func request() -> SessionTimerHeaders {
    guard let interval = running?.interval ?? asked else { return SessionTimerHeaders(supportsTimer: true) }
    return SessionTimerHeaders(
      interval: max(interval, minimum), refresher: running.map { $0.refreshesHere ? .uac : .uas },
      minimum: minimum > SessionTimer.leastInterval ? minimum : nil, supportsTimer: true)
  }

  /// A 2xx to an INVITE or UPDATE of ours.
  ///
  /// Without Session-Expires the peer has no timer: we refresh alone where we wanted one (section 7.2).
  package mutating func accepted(_ response: SessionTimerHeaders, at now: MonotonicInstant) {
    if let interval = response.interval {
      // Who does not say who refreshes does not refresh.
      run(interval, refreshesHere: response.refresher != .uas, from: now)
    } else if let asked {
      run(max(asked, minimum), refreshesHere: true, from: now)
    } else {
      running = nil
    }
  }

  /// A 422 to a request of ours: what the next try asks for.
  /// - Returns: `false` where Min-SE is missing, no larger than what was asked, or beyond reason: do not try again.
  package mutating func refused(minimum wanted: UInt32?) -> Bool {
    guard let wanted, wanted <= SessionTimer.longestInterval, let tried = request().interval, wanted > tried else {
      return false
    }
    minimum = max(minimum, wanted)
    return true
  }

  /// A refresh of ours failed for good. A 491 is waited out first and a 422 asked again, both by whoever sends; so is a
  /// refusal of what else was in the request.
  /// - Parameter status: `nil` when nothing answered.
  package mutating func refreshFailed(status: Int?, at now: MonotonicInstant) -> RefreshFailure {
    guard let status, status != 408, status != 481 else {
      running = nil
      return .sessionEnded
    }
    if let current = running, current.refreshesHere {
      running?.refreshAt = now.advanced(byMilliseconds: Int64(current.interval) * 100)
    }
    return .triedAgain
  }

  /// An INVITE or UPDATE of the peer's (section 9).
  package mutating func judge(_ request: SessionTimerHeaders) -> Verdict {
    let lower = min(max(minimum, request.minimum ?? 0), SessionTimer.longestInterval)
    // An explicit uac can only come from a client that knows timers.
    let knowsTimer = request.supportsTimer || request.refresher == .uac
    guard let wanted = request.interval else {
      minimum = lower
      guard let asked else { return .accept(SessionTimerHeaders()) }
      return .accept(SessionTimerHeaders(interval: max(asked, lower), refresher: .uas, requiresTimer: knowsTimer))
    }
    if wanted < lower, knowsTimer { return .intervalTooSmall(minimum: lower) }
    minimum = lower
    let interval = max(lower, min(wanted, asked ?? SessionTimer.longestInterval))
    // Left to us, we refresh: a peer that forgets to would lose its call.
    let refresher = request.refresher == .uac ? SessionTimerHeaders.Refresher.uac : .uas
    // Also where we refresh: a client that knows timers then ends the call when no refresh comes.
    return .accept(SessionTimerHeaders(interval: interval, refresher: refresher, requiresTimer: knowsTimer))
  }

  /// Our 2xx went out with these fields, as ``judge(_:)`` gave them.
  package mutating func answered(_ response: SessionTimerHeaders, at now: MonotonicInstant) {
    guard let interval = response.interval else {
      running = nil
      return
    }
    run(interval, refreshesHere: response.refresher != .uac, from: now)
  }

  /// What is due; a refresh is asked for once until it succeeds or fails.
  package mutating func advance(to now: MonotonicInstant) -> Action? {
    guard let current = running else { return nil }
    if now >= current.expiresAt {
      running = nil
      return .expire
    }
    guard let refreshAt = current.refreshAt, now >= refreshAt else { return nil }
    running?.refreshAt = nil
    return .refresh
  }

  /// The session is over.
  package mutating func stop() { running = nil }

  private mutating func run(_ seconds: UInt32, refreshesHere: Bool, from now: MonotonicInstant) {
    // Less would let the peer make us send refreshes as fast as it likes.
    let interval = min(max(seconds, SessionTimer.leastInterval), SessionTimer.longestInterval)
    let milliseconds = Int64(interval) * 1000
    running = Running(
      interval: interval, refreshesHere: refreshesHere,
      refreshAt: refreshesHere ? now.advanced(byMilliseconds: milliseconds / 2) : nil,
      expiresAt: now.advanced(byMilliseconds: milliseconds - min(SessionTimer.longestMargin, milliseconds / 3)))
  }
}
