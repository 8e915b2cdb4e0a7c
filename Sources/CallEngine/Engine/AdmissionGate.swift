public import CallModel

/// How many calls may be prepared at a time, by how late the node comes to what is due.
///
/// Work that is refused late costs as much as work that is done, so a gateway that takes more than it can do ends by doing
/// nothing. What tells is the delay itself: it counts whatever is scarce, a processor, a disk or a lock. But the delay comes
/// late: a call that was let in costs most after its request was read. So once something was late, calls are let in as
/// others leave their preparation, and how many at a time is found as TCP finds its window (RFC 5681): halved by each delay
/// that is too long, and widened step by step while there is none. Preparation ends with the first word of the trunk: callees
/// who let it ring for long take nothing from others.
///
///     open ──late──▶ window of half of what is being prepared ──calm──▶ open
///                       late: half of it      in time: one more
public struct AdmissionGate: Sendable {
  /// A longer delay is too long. A busy neighbour or a slow disk for a moment is no overload.
  public static let lateMicroseconds: Int64 = 100_000
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

  /// How many may be prepared at a time; `nil`: any number.
  public private(set) var window: Int?
  /// Calls refused since the start.
  public private(set) var refusals = 0

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
  public mutating func observe(
    delayMicroseconds delay: Int64, preparing: Int, at now: MonotonicInstant
  ) -> Change? {
    move(delay, preparing, now)
    let count = refusals - refusalsAtClosing
    guard count > 0, isTold == isOpen else { return nil }
    isTold.toggle()
    return window.map { .began(window: $0) }
      ?? .ended(afterMicroseconds: now.microseconds(since: closedAt), refusals: count)
  }

  private mutating func move(_ delay: Int64, _ preparing: Int, _ now: MonotonicInstant) {
    guard let window else {
      guard delay > Self.lateMicroseconds else { return }
      self.window = max(preparing / 2, Self.narrowestWindow)
      closedAt = now
      halvedAt = now
      widenedAt = now
      troubleAt = now
      refusalsAtClosing = refusals
      return
    }
    if delay > Self.lateMicroseconds {
      troubleAt = now
      guard now.microseconds(since: halvedAt) >= Self.halvingMicroseconds else { return }
      self.window = max(window / 2, Self.narrowestWindow)
      halvedAt = now
      widenedAt = now
    } else if now.microseconds(since: troubleAt) >= Self.calmMicroseconds {
      self.window = nil
    } else if preparing >= window, now.microseconds(since: widenedAt) >= Self.wideningMicroseconds {
      // Only one that is used up tells that more could be done.
      self.window = window + 1
      widenedAt = now
    }
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
