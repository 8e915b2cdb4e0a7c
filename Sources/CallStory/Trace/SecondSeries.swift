import CallModel

/// The seconds of one leg within a limit: where they would be too many, every second one goes, and only every second
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

  /// All legs by time; of two at the same time the one that joined first.
  static func merged(_ series: [LegID: SecondSeries]) -> [CallTrace.Second] {
    let legs = series.sorted { $0.key < $1.key }
    guard let first = legs.first?.value.kept else { return [] }
    return legs.dropFirst().reduce(first) { merged($0, $1.value.kept) }
  }

  private static func merged(_ first: [CallTrace.Second], _ second: [CallTrace.Second]) -> [CallTrace.Second] {
    var merged: [CallTrace.Second] = []
    merged.reserveCapacity(first.count + second.count)
    var next = 0
    for one in first {
      while next < second.count, second[next].at < one.at {
        merged.append(second[next])
        next += 1
      }
      merged.append(one)
    }
    merged += second[next...]
    return merged
  }
}
