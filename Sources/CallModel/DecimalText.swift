/// Exact decimal numbers as text: read into an integer of a fixed scale and printed back, never through floating point.
public enum DecimalText {
  /// Digits accepted before the decimal point. Eighteen fill an `Int64` of scale 0.
  public static let maximumIntegerDigits = 18

  /// Reads `[+-]digits[.digits]` into an integer of `scale` decimal places.
  ///
  /// Refused by name: an empty text, anything but digits and one point, exponents, thousands separators, `NaN`,
  /// more decimals than the scale holds (trailing zeros included, so that nobody guesses), and overflow.
  /// - Throws: ``InvalidValue`` with rules `amount.empty`, `amount.character`, `amount.digits`, `amount.scale`, `amount.range`.
  public static func parse<Text: StringProtocol>(_ text: Text, scale: Int, kind: String = "amount") throws(InvalidValue)
    -> Int64
  {
    var copy = String(text)
    let parsed: Result<Int64, InvalidValue> = copy.withUTF8 { bytes in
      Result { () throws(InvalidValue) in try parse(utf8: bytes, scale: scale, kind: kind) }
    }
    return try parsed.get()
  }

  /// The same over raw bytes: the door for streamed files.
  package static func parse(utf8 bytes: UnsafeBufferPointer<UInt8>, scale: Int, kind: String) throws(InvalidValue)
    -> Int64
  {
    func refuse(_ rule: String, _ offset: Int?, _ problem: String) -> InvalidValue {
      let example = scale == 0 ? "12" : "12.50"
      return InvalidValue(
        kind: kind, rule: "amount.\(rule)", offset: offset, problem: problem,
        accepted: scale == 0
          ? "a whole number such as \(example)" : "a decimal number with at most \(scale) decimals such as \(example)")
    }
    var index = 0
    var negative = false
    guard !bytes.isEmpty else { throw refuse("empty", nil, "nothing is there") }
    if bytes[0] == UInt8(ascii: "-") || bytes[0] == UInt8(ascii: "+") {
      negative = bytes[0] == UInt8(ascii: "-")
      index = 1
    }
    var value: Int64 = 0
    var integerDigits = 0
    var decimals = -1
    while index < bytes.count {
      let byte = bytes[index]
      if byte == UInt8(ascii: "."), decimals < 0, integerDigits > 0, scale > 0 {
        decimals = 0
        index += 1
        continue
      }
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else {
        throw refuse("character", index, "\(InvalidValue.name(of: byte)) is not part of a number")
      }
      if decimals >= 0 {
        decimals += 1
        guard decimals <= scale else { throw refuse("scale", index, "more than \(scale) decimals") }
      } else {
        integerDigits += 1
      }
      let (times, overflowed) = value.multipliedReportingOverflow(by: 10)
      let (sum, carried) = times.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
      guard !overflowed, !carried, integerDigits <= maximumIntegerDigits else {
        throw refuse("range", index, "the number is too large")
      }
      value = sum
      index += 1
    }
    guard integerDigits > 0, decimals != 0 else {
      throw refuse("digits", bytes.count, "a digit is missing")
    }
    for _ in max(decimals, 0)..<max(scale, 0) {
      let (times, overflowed) = value.multipliedReportingOverflow(by: 10)
      guard !overflowed else { throw refuse("range", nil, "the number is too large") }
      value = times
    }
    return negative ? -value : value
  }

  /// The same for people: at least two decimals, and no zeros behind them: `0.0145`, `12.50`.
  public static func brief(_ value: Int64, scale: Int) -> String {
    let text = format(value, scale: scale)
    let digits = text.utf8
    guard let point = digits.firstIndex(of: UInt8(ascii: ".")),
      let twoDecimals = digits.index(point, offsetBy: 3, limitedBy: digits.endIndex)
    else { return text }
    let zeros = digits[twoDecimals...].reversed().prefix { $0 == UInt8(ascii: "0") }.count
    return String(text.dropLast(zeros))
  }

  /// Prints an integer of `scale` decimal places at full scale: `(1_500_000, scale: 6)` is `1.500000`.
  public static func format(_ value: Int64, scale: Int) -> String {
    var digits = String(value.magnitude)
    if scale > 0 {
      if digits.utf8.count <= scale {
        digits = String(repeating: "0", count: scale + 1 - digits.utf8.count) + digits
      }
      digits.insert(".", at: digits.utf8.index(digits.startIndex, offsetBy: digits.utf8.count - scale))
    }
    return value < 0 ? "-" + digits : digits
  }
}
