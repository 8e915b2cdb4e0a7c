import CallModel

/// Reads the times this protocol writes: RFC 3339 in UTC, with or without milliseconds.
enum Timestamp {
  /// `2026-11-21T05:30:04.118Z` or without the fraction; `nil` for anything else.
  static func read(_ text: String) -> Instant? {
    let bytes = Array(text.utf8)
    guard bytes.count == 20 || bytes.count == 24, bytes.last == UInt8(ascii: "Z") else { return nil }
    func number(_ range: Range<Int>) -> Int64? {
      var value: Int64 = 0
      for byte in bytes[range] {
        guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
        value = value * 10 + Int64(byte - UInt8(ascii: "0"))
      }
      return value
    }
    let separators: [(Int, Unicode.Scalar)] = [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")]
    guard separators.allSatisfy({ bytes[$0.0] == UInt8(ascii: $0.1) }),
      let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
      let date = CivilDate(year: year, month: Int(month), day: Int(day)),
      let hour = number(11..<13), hour < 24, let minute = number(14..<16), minute < 60,
      let second = number(17..<19), second < 60
    else { return nil }
    var milliseconds: Int64 = 0
    if bytes.count == 24 {
      guard bytes[19] == UInt8(ascii: "."), let fraction = number(20..<23) else { return nil }
      milliseconds = fraction
    }
    return Instant(
      milliseconds: date.dayNumber * 86_400_000 + hour * 3_600_000 + minute * 60_000 + second * 1000 + milliseconds)
  }
}
