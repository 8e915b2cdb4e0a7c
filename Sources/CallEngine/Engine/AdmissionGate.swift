public import CallModel

/// Whether new calls may begin, by how long what comes in waits before it is looked at.
///
/// Work that is refused late costs as much as work that is done, so a gateway that takes more than it can do ends by doing
/// nothing. What tells is the delay itself: it counts whatever is scarce, a processor, a disk or a lock. A single late
/// moment is no queue; one that stands for ``standingMicroseconds`` is (the reasoning of RFC 8289). Between the two limits
/// nothing changes.
public struct AdmissionGate: Sendable {
  /// Waits longer than this close the gate, once they stand.
  public static let closingMicroseconds: Int64 = 100_000
  /// A wait below this opens it again.
  public static let openingMicroseconds: Int64 = 20_000
  /// How long every wait has to be too long before the gate closes.
  public static let standingMicroseconds: Int64 = 100_000
  /// Longest time that callers are asked to stay away.
  public static let longestRetrySeconds = 10

  public enum Change: Hashable, Sendable {
    case closed(delayMicroseconds: Int64)
    case opened(afterMicroseconds: Int64, refusals: Int)
  }

  public private(set) var isOpen = true
  /// Calls refused since the start.
  public private(set) var refusals = 0

  private var lateSince: MonotonicInstant?
  private var closedAt: MonotonicInstant?
  private var refusalsAtClosing = 0

  public init() {}

  /// Takes note of how long something waited that is looked at now.
  /// - Returns: what became of the gate, where something did.
  public mutating func observe(delayMicroseconds delay: Int64, at now: MonotonicInstant) -> Change? {
    guard isOpen else {
      guard delay < Self.openingMicroseconds, let closedAt else { return nil }
      isOpen = true
      self.closedAt = nil
      lateSince = nil
      return .opened(afterMicroseconds: now.microseconds(since: closedAt), refusals: refusals - refusalsAtClosing)
    }
    guard delay > Self.closingMicroseconds else {
      lateSince = nil
      return nil
    }
    guard let lateSince else {
      self.lateSince = now
      return nil
    }
    guard now.microseconds(since: lateSince) >= Self.standingMicroseconds else { return nil }
    isOpen = false
    closedAt = now
    refusalsAtClosing = refusals
    return .closed(delayMicroseconds: delay)
  }

  /// Counts a call that is refused.
  /// - Returns: seconds to stay away: the longer the gate has been closed, the more.
  public mutating func refuse(at now: MonotonicInstant) -> Int {
    refusals += 1
    let closed = closedAt.map { now.milliseconds(since: $0) / 1000 } ?? 0
    return min(1 + Int(clamping: max(0, closed)), Self.longestRetrySeconds)
  }
}
