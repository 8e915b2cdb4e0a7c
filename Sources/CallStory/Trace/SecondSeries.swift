/// The seconds of one side within a limit: where they would be too many, every second one goes, and only every second
/// one comes in from then on. The newest is always there.
struct SecondSeries: Sendable {
  private(set) var kept: [CallTrace.Second] = []
  private let limit: Int
  private var stride = 1
  /// Seconds told so far.
  private var count = 0
  /// Whether the last one stands for now only, until the next comes.
  private var isLastForNow = false

  /// - Parameter limit: an even number, so that every second one of so many leaves the newest on the beat.
  init(limit: Int) { self.limit = limit }

  mutating func add(_ second: CallTrace.Second) {
    if isLastForNow { kept.removeLast() }
    if kept.count >= limit {
      kept = kept.indices.lazy.filter { $0.isMultiple(of: 2) }.map { kept[$0] }
      stride *= 2
    }
    kept.append(second)
    isLastForNow = !count.isMultiple(of: stride)
    count += 1
  }

  /// Both sides by time, the near one first of two at the same time.
  static func merged(_ near: [CallTrace.Second], _ far: [CallTrace.Second]) -> [CallTrace.Second] {
    guard !far.isEmpty else { return near }
    var merged: [CallTrace.Second] = []
    merged.reserveCapacity(near.count + far.count)
    var next = 0
    for second in near {
      while next < far.count, far[next].at < second.at {
        merged.append(far[next])
        next += 1
      }
      merged.append(second)
    }
    merged += far[next...]
    return merged
  }
}
