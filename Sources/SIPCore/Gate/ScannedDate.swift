/// The date of RFC 3261 section 20.17: `Sat, 13 Nov 2010 23:29:00 GMT`, in this one form and zone.
enum ScannedDate {
  private static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"].map { Array($0.utf8) }
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    .map { Array($0.utf8) }
  private static let pattern = Array("www, dd mmm dddd dd:dd:dd GMT".utf8)

  static func isValid(_ value: ArraySlice<UInt8>) -> Bool {
    let date = Array(value)
    guard date.count == pattern.count else { return false }
    for (byte, shape) in zip(date, pattern) {
      switch shape {
      case UInt8(ascii: "w"), UInt8(ascii: "m"): if !MessageCharacter.isLetter(byte) { return false }
      case UInt8(ascii: "d"): if !MessageCharacter.isDigit(byte) { return false }
      default: if byte != shape { return false }
      }
    }
    func number(_ offset: Int) -> Int {
      Int(date[offset] &- MessageCharacter.zero) * 10 + Int(date[offset + 1] &- MessageCharacter.zero)
    }
    return weekdays.contains(Array(date[0..<3])) && months.contains(Array(date[8..<11])) && (1...31).contains(number(5))
      && number(17) < 24 && number(20) < 60 && number(23) <= 60
  }
}
