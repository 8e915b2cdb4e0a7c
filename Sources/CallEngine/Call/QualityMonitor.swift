import AppProtocol

/// Which limits of quality a call keeps, second by second.
struct QualityMonitor {
  /// Milliseconds.
  static let highestRoundTrip: Double = 400
  /// Milliseconds.
  static let highestJitter: Double = 30
  /// Seconds that are looked back on for jitter and score, and how many of them must be bad: a value that comes and goes at
  /// its limit would raise and withdraw the warning every second.
  static let recentSeconds = 5
  static let badSeconds = 3
  /// Share of the packets of the last 7 seconds.
  static let highestLoss = 0.03
  static let lossSeconds = 7
  static let lowestScore = 3.5

  private var jitters: [Double] = []
  private var scores: [Double] = []
  private var losses: [Double] = []
  /// What the app says that it lost of what it was sent.
  private var sentLosses: [Double] = []
  private(set) var raised: Set<QualityWarning> = []
  private var near = Mean()
  private var far = Mean()

  struct Mean {
    private var sum: Double = 0
    private var count: Double = 0
    mutating func add(_ value: Double) {
      sum += value
      count += 1
    }
    var value: Double? { count > 0 ? sum / count : nil }
  }

  var meanScoreNear: Double? { near.value }
  var meanScoreFar: Double? { far.value }

  /// Evaluates the measures of one second. `sentLoss`: of the app's newest report; `nil` before its first.
  /// - Returns: Warnings that are raised or withdrawn by them.
  mutating func evaluate(_ quality: CallQuality, sentLoss: Double?) -> [(warning: QualityWarning, isRaised: Bool)] {
    // A second without packets has no score.
    if let score = quality.sent.meanOpinionScore { near.add(score) }
    if let score = quality.received.meanOpinionScore { far.add(score) }
    let directions = [quality.sent, quality.received]
    keep(directions.compactMap(\.jitter).max() ?? 0, &jitters, QualityMonitor.recentSeconds)
    keep(directions.compactMap(\.meanOpinionScore).min() ?? .infinity, &scores, QualityMonitor.recentSeconds)
    keep(directions.compactMap(\.loss).max() ?? 0, &losses, QualityMonitor.lossSeconds)
    var changes: [(QualityWarning, Bool)] = []
    func judge(_ warning: QualityWarning, _ isBroken: Bool) {
      if let change = set(warning, isBroken) { changes.append((warning, change)) }
    }
    judge(.highRoundTrip, (quality.roundTrip ?? 0) > QualityMonitor.highestRoundTrip)
    judge(
      .highJitter,
      jitters.count { $0 > QualityMonitor.highestJitter } >= QualityMonitor.badSeconds)
    judge(.highLoss, QualityMonitor.isTooMuch(losses))
    if let sentLoss {
      keep(sentLoss, &sentLosses, QualityMonitor.lossSeconds)
      judge(.highSentLoss, QualityMonitor.isTooMuch(sentLosses))
    }
    judge(.lowScore, scores.count { $0 < QualityMonitor.lowestScore } >= QualityMonitor.badSeconds)
    return changes
  }

  /// Over so many seconds that a single bad one decides nothing.
  private static func isTooMuch(_ losses: [Double]) -> Bool {
    losses.count == lossSeconds && losses.reduce(0, +) / Double(lossSeconds) > highestLoss
  }

  /// - Returns: `nil` when nothing changes.
  mutating func set(_ warning: QualityWarning, _ isBroken: Bool) -> Bool? {
    guard raised.contains(warning) != isBroken else { return nil }
    if isBroken { raised.insert(warning) } else { raised.remove(warning) }
    return isBroken
  }

  private func keep(_ value: Double, _ values: inout [Double], _ limit: Int) {
    values.append(value)
    if values.count > limit { values.removeFirst() }
  }
}
