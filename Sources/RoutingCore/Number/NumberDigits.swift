public import CallModel

/// One to fifteen decimal digits without `+`: a dialled E.164 number or a prefix of one (ITU-T E.164 section 6.2).
///
/// Leading zeros count: `0046` and `46` are different values. The order is the order of the digits read as text.
public struct NumberDigits: Hashable, Comparable, Sendable {
  /// Digits of the longest number.
  public static let maximumCount = 15

  /// The digits padded with zeros on the right to fifteen, times 16, plus the count: sorting by it puts every prefix
  /// directly before the prefixes that extend it.
  package let key: UInt64

  package init(key: UInt64) { self.key = key }

  /// - Parameter value: the digits as a number, below 10 to the power of `count`; `count` is 1 to 15.
  init(value: UInt64, count: Int) {
    key = value * NumberDigits.powersOfTen[NumberDigits.maximumCount - count] << 4 | UInt64(count)
  }

  /// - Throws: ``InvalidValue`` with rules `digits.count` and `digits.character`.
  public init(_ text: some StringProtocol) throws(InvalidValue) {
    var value: UInt64 = 0
    var count = 0
    for byte in text.utf8 {
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else {
        throw NumberDigits.refusal(
          "digits.character", count, "\(InvalidValue.name(of: byte)) is not a digit")
      }
      guard count < NumberDigits.maximumCount else {
        throw NumberDigits.refusal("digits.count", count, "more than \(NumberDigits.maximumCount) digits")
      }
      value = value * 10 + UInt64(byte - UInt8(ascii: "0"))
      count += 1
    }
    guard count > 0 else { throw NumberDigits.refusal("digits.count", nil, "no digit") }
    self.init(value: value, count: count)
  }

  private static func refusal(_ rule: String, _ offset: Int?, _ problem: String) -> InvalidValue {
    InvalidValue(
      kind: "number", rule: rule, offset: offset, problem: problem,
      accepted: "1 to \(maximumCount) digits without + such as 46701234567")
  }

  /// How many digits there are.
  public var count: Int { Int(key & 15) }

  /// The digits padded with zeros on the right to fifteen.
  var leftAligned: UInt64 { key >> 4 }

  /// The digits read as a number; ``count`` tells the leading zeros.
  public var value: UInt64 { leftAligned / NumberDigits.powersOfTen[NumberDigits.maximumCount - count] }

  /// Whether `other` begins with these digits.
  public func isPrefix(of other: NumberDigits) -> Bool {
    guard count <= other.count else { return false }
    let tail = NumberDigits.powersOfTen[NumberDigits.maximumCount - count]
    return leftAligned / tail == other.leftAligned / tail
  }

  /// The first `length` digits; `nil` unless there are that many and at least one.
  public func prefix(_ length: Int) -> NumberDigits? {
    guard length > 0, length <= count else { return nil }
    let tail = NumberDigits.powersOfTen[NumberDigits.maximumCount - length]
    return NumberDigits(value: leftAligned / tail, count: length)
  }

  /// As text: every prefix directly before the numbers that extend it, `46` before `467` before `47`.
  public static func < (left: NumberDigits, right: NumberDigits) -> Bool { left.key < right.key }

  /// 10 to the power of 0 to 15.
  static let powersOfTen: [UInt64] = [
    1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000,
    100_000_000_000, 1_000_000_000_000, 10_000_000_000_000, 100_000_000_000_000, 1_000_000_000_000_000,
  ]
}

extension NumberDigits: CustomStringConvertible {
  /// The digits, leading zeros included, without `+`.
  public var description: String {
    let digits = String(value)
    return String(repeating: "0", count: count - digits.utf8.count) + digits
  }
}
