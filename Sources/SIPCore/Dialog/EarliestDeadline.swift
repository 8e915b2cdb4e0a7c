import CallModel

/// The earliest of several deadlines, some of which are not set.
struct EarliestDeadline {
  /// `nil` as long as none was set.
  private(set) var time: MonotonicInstant?

  mutating func add(_ deadline: MonotonicInstant?) {
    guard let deadline else { return }
    time = time.map { min($0, deadline) } ?? deadline
  }
}
