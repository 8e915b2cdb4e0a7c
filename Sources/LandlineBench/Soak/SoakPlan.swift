/// What the far end does with a call, as the called number says: both sides of a soak know it from the number alone.
enum SoakPlan: String, CaseIterable {
  /// Rings a while, then answers.
  case answers = "+4670"
  /// Rings until the caller gives up.
  case rings = "+4672"
  /// 486.
  case busy = "+4673"

  /// Milliseconds.
  static let longestRinging: Int64 = 3000

  /// Of a number with or without its `+`.
  init?(number: String) {
    let whole = number.hasPrefix("+") ? number : "+\(number)"
    guard let plan = SoakPlan.allCases.first(where: { whole.hasPrefix($0.rawValue) }) else { return nil }
    self = plan
  }

  /// One in twelve rings on, one in twelve is busy.
  static func draw() -> SoakPlan {
    switch Int.random(in: 0..<12) {
    case 0: .rings
    case 1: .busy
    default: .answers
    }
  }

  /// A number of the plan; they repeat after ten million calls.
  func number(_ index: Int) -> String {
    let digits = String(index % 10_000_000)
    return rawValue + String(repeating: "0", count: 7 - digits.utf8.count) + digits
  }
}
