/// When reports are sent (RFC 3550 section 6.3.1).
///
/// A leg has two members, so the share of the bandwidth never asks for more than the minimum: that alone is counted with.
struct ReportInterval: Sendable {
  /// Microseconds between two reports before chance is added (Tmin).
  static let minimum: Int64 = 5_000_000
  /// The same where feedback was agreed on (RFC 4585 section 3.4 has none): what bounds it then is a twentieth of a thin
  /// call's bandwidth.
  static let feedbackMinimum: Int64 = 1_000_000
  /// What timer reconsideration shortens is made up for by this divisor (e - 3/2).
  static let compensation = 1.21828
  /// The part of the interval that chance decides, so that peers do not report in step.
  static let chance = 0.5..<1.5

  private var state: UInt64
  private let minimum: Int64

  /// The same seed gives the same intervals.
  init(seed: UInt64, hasFeedback: Bool) {
    state = seed
    minimum = hasFeedback ? ReportInterval.feedbackMinimum : ReportInterval.minimum
  }

  mutating func next(isFirst: Bool) -> Int64 {
    // Before the first report it is half.
    let minimum = Double(isFirst ? minimum / 2 : minimum)
    let width = ReportInterval.chance.upperBound - ReportInterval.chance.lowerBound
    let factor = ReportInterval.chance.lowerBound + width * Double(number() >> 11) / Double(1 << 53 as UInt64)
    return Int64(minimum * factor / ReportInterval.compensation)
  }

  /// SplitMix64.
  private mutating func number() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return value ^ value >> 31
  }
}
