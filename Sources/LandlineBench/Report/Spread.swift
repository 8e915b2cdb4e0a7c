/// Several measurements of one thing: the middle one, and how far they lie apart.
public struct Spread: Hashable, Sendable, Encodable {
  /// The mean of the middle two where their number is even.
  public let median: Double
  /// The smallest sample.
  public let lowest: Double
  /// The largest sample.
  public let highest: Double

  /// - Parameter samples: measurements in any order; none at all give zeros.
  public init(_ samples: [Double]) {
    let sorted = samples.sorted()
    lowest = sorted.first ?? 0
    highest = sorted.last ?? 0
    let middle = sorted.count / 2
    median =
      sorted.isEmpty ? 0 : sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }

  /// `median [lowest-highest]`, each with the given number of decimals.
  func text(decimals: Int) -> String {
    func text(_ value: Double) -> String { BenchTable.number(value, decimals: decimals) }
    return "\(text(median)) [\(text(lowest))-\(text(highest))]"
  }
}

extension [Double] {
  /// The smallest sample that at least `fraction` of all samples do not exceed. `self` must be sorted.
  func percentile(_ fraction: Double) -> Double {
    guard !isEmpty else { return 0 }
    let rank = Int((fraction * Double(count)).rounded(.up))
    return self[Swift.min(Swift.max(rank - 1, 0), count - 1)]
  }
}
