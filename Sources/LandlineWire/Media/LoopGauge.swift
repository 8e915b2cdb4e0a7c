import Synchronization

/// What other threads see of a loop without asking it.
package final class LoopGauge: Sendable {
  /// Microseconds for which a loop that was full is held to be: it looks again long before, unless it has nothing to do.
  static let validity: Int64 = 1_000_000

  private let fullUntil = Atomic(Int64.min)

  package init() {}

  /// Whether the loop said so of late. `now`: microseconds of the monotonic clock.
  package func isFull(at now: Int64) -> Bool { now < fullUntil.load(ordering: .relaxed) }

  /// Of the loop's own thread: ``LoopPace/isFull``.
  package func update(isFull: Bool, at now: Int64) {
    fullUntil.store(isFull ? now + LoopGauge.validity : Int64.min, ordering: .relaxed)
  }
}
