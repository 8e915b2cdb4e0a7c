public import CallModel

/// How many calls may be prepared at a time, by how late the node comes to what is due.
///
/// Work that is refused late costs as much as work that is done, so a gateway that takes more than it can do ends by doing
/// nothing. What tells is the delay itself, if it stands: a node that was late once, because a neighbour had the processor or
/// the disk was slow, has a hiccup and no queue (as CoDel tells one from the other, RFC 8289 section 3). So a first delay
/// that is too long only bounds what may pile up meanwhile. When every look for a while found one, and the process itself
/// was busy in that time, there is more to do than can be done. From then on calls are let in as others leave their
/// preparation, and how many at a time is found as TCP finds its window (RFC 5681): halved by each delay that is too long,
/// and widened step by step while there is none. A process that others keep from running is not helped by refusing more.
/// Preparation ends with the first word of the trunk: callees who let it ring for long take nothing from others.
///
///     open ──late──▶ watchful ──late all the time, and busy──▶ narrowed: half of what is being prepared
///       ▲               │ calm                                   late: half of it      in time: one more
///       └───────────────┴─────────────────────calm───────────────┘
public struct AdmissionGate: Sendable {
  /// A longer delay is too long. A busy neighbour or a slow disk for a moment is no overload.
  public static let lateMicroseconds: Int64 = 100_000
  /// A delay that is too long for all of this time stands: RFC 8289 calls it the interval.
  public static let standingMicroseconds: Int64 = 300_000
  /// A process that ran for less than one part in so many of the time of one processor is late because of others.
  public static let leastBusyShare: Int64 = 5
  /// So many are let in, if not more are being prepared already, before it is known whether a delay stands.
  public static let watchfulWindow = 48
  /// So many are always let in: a node that others keep from working goes on, slowly. With fewer at a time a commit of the
  /// ledger serves fewer calls, and each costs more.
  public static let narrowestWindow = 24
  /// What was let in before has to be done before a delay counts again.
  public static let halvingMicroseconds: Int64 = 200_000
  /// Between two steps that widen the window.
  public static let wideningMicroseconds: Int64 = 20_000
  /// The window is gone when for so long nothing was late and nobody refused.
  public static let calmMicroseconds: Int64 = 1_000_000
  /// Longest time that callers are asked to stay away.
  public static let longestRetrySeconds = 10

  /// What is told of an overload in which somebody was refused.
  public enum Change: Hashable, Sendable {
    case began(window: Int)
    case ended(afterMicroseconds: Int64, refusals: Int)
  }

  /// How late something was, and what the process had done until then.
  public struct Observation: Hashable, Sendable {
    /// How long what is looked at now had waited.
    public var delayMicroseconds: Int64
    /// Processor time of the whole process, all of its threads together, since its start.
    public var processorMicroseconds: Int64

    public init(delayMicroseconds: Int64, processorMicroseconds: Int64) {
      self.delayMicroseconds = delayMicroseconds
      self.processorMicroseconds = processorMicroseconds
    }

    var isLate: Bool { delayMicroseconds > AdmissionGate.lateMicroseconds }
  }

  private enum State: Sendable {
    case open
    /// - `late`: when the first of the late observations was made that nothing in time followed.
    case watchful(window: Int, late: (since: MonotonicInstant, processor: Int64)?)
    case narrowed(window: Int)
  }

  /// How many may be prepared at a time; `nil`: any number.
  public var window: Int? {
    switch state {
    case .open: nil
    case .watchful(let window, _), .narrowed(let window): window
    }
  }
  /// Calls refused since the start.
  public private(set) var refusals = 0

  private var state = State.open
  private var closedAt = MonotonicInstant.zero
  private var refusalsAtClosing = 0
  private var isTold = false
  private var halvedAt = MonotonicInstant.zero
  private var widenedAt = MonotonicInstant.zero
  /// When something was late, or somebody refused, for the last time.
  private var troubleAt = MonotonicInstant.zero

  /// Begins open: any number of calls may be prepared.
  public init() {}

  /// Nothing was late for a while: no limit is in force.
  public var isOpen: Bool { window == nil }

  /// Takes note of how long something waited that is looked at now.
  /// - Parameter preparing: Calls under preparation.
  /// - Returns: what is to be told.
  public mutating func observe(_ observation: Observation, preparing: Int, at now: MonotonicInstant) -> Change? {
    move(observation, preparing, now)
    let count = refusals - refusalsAtClosing
    guard count > 0, isTold == isOpen else { return nil }
    isTold.toggle()
    return window.map { .began(window: $0) }
      ?? .ended(afterMicroseconds: now.microseconds(since: closedAt), refusals: count)
  }

  private mutating func move(_ observation: Observation, _ preparing: Int, _ now: MonotonicInstant) {
    if observation.isLate {
      troubleAt = now
    } else if now.microseconds(since: troubleAt) >= Self.calmMicroseconds {
      state = .open
      return
    }
    switch state {
    case .open:
      guard observation.isLate else { return }
      state = .watchful(
        window: max(preparing, Self.watchfulWindow), late: (now, observation.processorMicroseconds))
      closedAt = now
      refusalsAtClosing = refusals
    case .watchful(let window, let late):
      guard observation.isLate else {
        state = .watchful(window: window, late: nil)
        return
      }
      let processor = observation.processorMicroseconds
      guard let late else {
        state = .watchful(window: window, late: (now, processor))
        return
      }
      let stood = now.microseconds(since: late.since)
      guard stood >= Self.standingMicroseconds else { return }
      if (processor - late.processor) * Self.leastBusyShare >= stood {
        narrow(to: min(preparing, window) / 2, now)
      } else {
        state = .watchful(window: window, late: (now, processor))
      }
    case .narrowed(let window):
      if observation.isLate {
        guard now.microseconds(since: halvedAt) >= Self.halvingMicroseconds else { return }
        narrow(to: window / 2, now)
      } else if preparing >= window, now.microseconds(since: widenedAt) >= Self.wideningMicroseconds {
        // Only one that is used up tells that more could be done.
        state = .narrowed(window: window + 1)
        widenedAt = now
      }
    }
  }

  private mutating func narrow(to window: Int, _ now: MonotonicInstant) {
    state = .narrowed(window: max(window, Self.narrowestWindow))
    halvedAt = now
    widenedAt = now
  }

  /// Whether one more may be prepared.
  public func admits(preparing: Int) -> Bool { window.map { preparing < $0 } ?? true }

  /// Counts a call that is refused.
  /// - Returns: seconds to stay away, more the longer the overload lasts.
  public mutating func refuse(at now: MonotonicInstant) -> Int {
    refusals += 1
    troubleAt = now
    let closed = max(0, now.milliseconds(since: closedAt) / 1000)
    return min(1 + Int(clamping: closed), Self.longestRetrySeconds)
  }
}
