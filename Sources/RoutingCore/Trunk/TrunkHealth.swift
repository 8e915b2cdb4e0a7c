public import CallModel

/// Whether a trunk is alive, from its answers to OPTIONS and from what became of calls.
///
/// ```
///            failures in a row                ping answered, or the pause is over
///      up ─────────────────────► down ──────────────────────────────► probing
///       ▲                         ▲                                      │ │
///       │                         └────────────── one failure ───────────┘ │
///       └──────────────── a call or enough pings answered ─────────────────┘
/// ```
///
/// Whoever answers is alive, whatever the status: 401, 403, 404, 405, 483 and 501 to OPTIONS say that a peer is there and
/// does not like the question. 408, 502 and 504 come from a proxy in front of a trunk that does not answer. 503 comes
/// from a trunk that is alive and wants no calls: it rests, for Retry-After where that was given.
public struct TrunkHealth: Sendable {
  /// How often a trunk is asked, and how much it takes to believe the answers.
  public struct Policy: Hashable, Sendable {
    /// Between pings of a trunk that is up and shows no other sign of life; 0 for no pings at all.
    public var intervalMilliseconds: Int64 = 30_000
    /// Between pings while something is wrong.
    public var fastIntervalMilliseconds: Int64 = 5_000
    /// Failures in a row that take a trunk down.
    public var failures = 3
    /// Pings in a row that bring it up without a call.
    public var recoveries = 2
    /// Without pings: how long a trunk is left alone before a call tries it.
    public var pauseMilliseconds: Int64 = 30_000
    /// How long a ping answered 503 without Retry-After keeps calls away.
    public var restSeconds = 10
    /// Longest rest, whatever Retry-After says.
    public var maximumRestSeconds = 600

    /// A ping every 30 s, every 5 s while something is wrong; three failures take a trunk down, two answered pings
    /// bring it back.
    public init() {}

    /// What a trunk has where nothing else is configured.
    public static let standard = Policy()
  }

  /// What became of a ping or of a call's INVITE.
  public enum Outcome: Hashable, Sendable {
    /// A response; of pings a final one, of calls any after 100.
    case answered(status: Int, retryAfterSeconds: Int?)
    /// No response at all.
    case timedOut
    /// No connection, or a broken one.
    case transportFailed
    /// Of calls: nothing was heard in the short time that a trunk has where another one can take the call. Takes it down at
    /// once: the next call must not wait for it as well.
    case unheard
    /// Ended by us before anything could be learned.
    case abandoned
  }

  /// Why a trunk was taken down.
  public enum Trouble: String, Hashable, Sendable, CaseIterable {
    case silent = "no answer"
    case transport = "no connection"
    /// 408, 502, 504 to a ping.
    case behindProxy = "its proxy gets no answer"
  }

  /// Where a trunk is between alive and dead; a rest that it asked for is not part of it.
  public enum Standing: Hashable, Sendable {
    case up
    /// Back to life; one call at a time.
    case probing(since: MonotonicInstant)
    case down(since: MonotonicInstant, Trouble)
  }

  /// Why no call may go there now.
  public enum Refusal: Error, Hashable, Sendable {
    case down(since: MonotonicInstant, Trouble)
    /// Another call is trying it.
    case trialUnderWay
    /// It asked for no calls until then.
    case resting(until: MonotonicInstant)
  }

  /// What the owner of the trunk is to do or to make known.
  public enum Action: Hashable, Sendable {
    /// Send OPTIONS and report with ``pingEnded(_:at:into:)``.
    case ping
    case changed(Standing)
  }

  /// A call on its way through the trunk.
  public struct Admission: Hashable, Sendable {
    fileprivate let number: UInt64
    /// Whether its outcome decides for the trunk.
    public let isTrial: Bool
  }

  /// Up until it is known better; a trunk that rests is still up.
  public private(set) var standing = Standing.up
  /// Failures in a row while up, good pings in a row while probing.
  private var inARow = 0
  private var restsUntil: MonotonicInstant?
  private var trial: UInt64?
  private var nextAdmission: UInt64 = 0
  private var isPinging = false
  private var nextPing: MonotonicInstant?
  private let policy: Policy

  /// A trunk counts as up until it is known better; the first ping goes out at once.
  public init(_ policy: Policy = .standard, at now: MonotonicInstant) {
    self.policy = policy
    nextPing = policy.intervalMilliseconds > 0 ? now : nil
  }

  /// When ``advance(to:into:)`` is due; `nil` while a ping is under way or nothing waits.
  public var nextDeadline: MonotonicInstant? {
    if policy.intervalMilliseconds > 0 { return isPinging ? nil : nextPing }
    return pauseEnd
  }

  /// Called when ``nextDeadline`` is reached: begins a trial after the pause, and asks for the ping that is due.
  public mutating func advance(to now: MonotonicInstant, into actions: inout [Action]) {
    if let end = pauseEnd, end <= now { become(.probing(since: now), &actions) }
    guard !isPinging, let due = nextPing, due <= now else { return }
    isPinging = true
    actions.append(.ping)
  }

  /// The answer to ``Action/ping``, which also sets the time of the next one; ignored when none is under way.
  public mutating func pingEnded(_ outcome: Outcome, at now: MonotonicInstant, into actions: inout [Action]) {
    guard isPinging else { return }
    isPinging = false
    switch outcome {
    case .answered(503, let seconds):
      rest(seconds ?? policy.restSeconds, at: now)
      succeeded(isCall: false, at: now, &actions)
    case .answered(let status, _) where [408, 502, 504].contains(status): failed(.behindProxy, at: now, &actions)
    case .answered: succeeded(isCall: false, at: now, &actions)
    case .timedOut, .unheard: failed(.silent, at: now, &actions)
    case .transportFailed: failed(.transport, at: now, &actions)
    case .abandoned: break
    }
    schedulePing(at: now)
  }

  // MARK: Calls

  /// Why a call would be refused now; changes nothing.
  public func refusal(at now: MonotonicInstant) -> Refusal? {
    if case .down(let since, let trouble) = standing { return .down(since: since, trouble) }
    if let restsUntil, now < restsUntil { return .resting(until: restsUntil) }
    if case .probing = standing, trial != nil { return .trialUnderWay }
    return nil
  }

  /// Lets a call through. Each admission ends with ``callEnded(_:_:at:into:)``.
  public mutating func admit(at now: MonotonicInstant) -> Result<Admission, Refusal> {
    if let refusal = refusal(at: now) { return .failure(refusal) }
    let number = nextAdmission
    nextAdmission += 1
    guard case .probing = standing else { return .success(Admission(number: number, isTrial: false)) }
    trial = number
    return .success(Admission(number: number, isTrial: true))
  }

  /// What became of an INVITE. Of calls, every status shows life; 503 with Retry-After asks for rest. May be told twice:
  /// at the first response after 100, so that a trial need not ring to its end, and at the final one.
  public mutating func callEnded(
    _ admission: Admission, _ outcome: Outcome, at now: MonotonicInstant, into actions: inout [Action]
  ) {
    let isTrial = trial == admission.number
    if isTrial { trial = nil }
    switch outcome {
    case .answered(let status, let seconds):
      if status == 503, let seconds { rest(seconds, at: now) }
      // A call that left before the trunk went down says nothing of the trunk since.
      if case .down = standing { return }
      succeeded(isCall: isTrial, at: now, &actions)
      if !isPinging { schedulePing(at: now) }
    case .timedOut, .transportFailed, .unheard:
      let wasUp = standing == .up
      guard isTrial || wasUp else { return }
      if outcome == .unheard { inARow = max(inARow, policy.failures - 1) }
      failed(outcome == .transportFailed ? .transport : .silent, at: now, &actions)
      // Sooner, not later: failing calls must not put off the ping that tells.
      hurryPing(at: now)
    case .abandoned: break
    }
  }

  // MARK: States

  private mutating func succeeded(isCall: Bool, at now: MonotonicInstant, _ actions: inout [Action]) {
    switch standing {
    case .up: inARow = 0
    case .down:
      become(.probing(since: now), &actions)
      inARow = 1
      if inARow >= policy.recoveries { become(.up, &actions) }
    case .probing:
      inARow += 1
      if isCall || inARow >= policy.recoveries { become(.up, &actions) }
    }
  }

  private mutating func failed(_ trouble: Trouble, at now: MonotonicInstant, _ actions: inout [Action]) {
    switch standing {
    case .up:
      inARow += 1
      if inARow >= policy.failures { become(.down(since: now, trouble), &actions) }
    case .probing: become(.down(since: now, trouble), &actions)
    case .down: break
    }
  }

  private mutating func become(_ standing: Standing, _ actions: inout [Action]) {
    self.standing = standing
    inARow = 0
    trial = nil
    actions.append(.changed(standing))
  }

  private mutating func rest(_ seconds: Int, at now: MonotonicInstant) {
    let milliseconds = Int64(min(max(0, seconds), max(0, policy.maximumRestSeconds))) * 1000
    let until = now.advanced(byMilliseconds: milliseconds)
    restsUntil = max(restsUntil ?? until, until)
  }

  // MARK: Times

  /// Without pings, a trunk that is down is tried again by a call after a pause.
  private var pauseEnd: MonotonicInstant? {
    guard policy.intervalMilliseconds <= 0, case .down(let since, _) = standing else { return nil }
    return since.advanced(byMilliseconds: max(0, policy.pauseMilliseconds))
  }

  private var isTroubled: Bool { standing != .up || inARow > 0 }

  private mutating func schedulePing(at now: MonotonicInstant) {
    guard policy.intervalMilliseconds > 0 else { return }
    let fast = max(1, min(policy.fastIntervalMilliseconds, policy.intervalMilliseconds))
    nextPing = now.advanced(byMilliseconds: isTroubled ? fast : policy.intervalMilliseconds)
  }

  private mutating func hurryPing(at now: MonotonicInstant) {
    let planned = nextPing
    schedulePing(at: now)
    if let planned, let next = nextPing { nextPing = min(planned, next) }
  }
}

extension TrunkHealth.Refusal {
  /// `down for 12 s: no answer`
  public func explanation(at now: MonotonicInstant) -> String {
    switch self {
    case .down(let since, let trouble): "down for \(now.milliseconds(since: since) / 1000) s: \(trouble.rawValue)"
    case .trialUnderWay: "back from an outage, one call at a time"
    case .resting(let until): "asked for no calls for another \((until.milliseconds(since: now) + 999) / 1000) s"
    }
  }
}
