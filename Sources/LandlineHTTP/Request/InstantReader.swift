package import CallModel

/// Instants as HTTP clients write them: RFC 3339 section 5.6, with an offset.
package enum InstantReader {
  package static func read(_ text: String) -> Instant? {
    let bytes = Array(text.utf8)
    guard (20...40).contains(bytes.count) else { return nil }
    func number(_ range: Range<Int>) -> Int64? {
      var value: Int64 = 0
      for byte in bytes[range] {
        guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
        value = value * 10 + Int64(byte - UInt8(ascii: "0"))
      }
      return value
    }
    guard bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"), bytes[10] | 0x20 == UInt8(ascii: "t"),
      bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"),
      let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
      let minute = number(14..<16), let second = number(17..<19), hour < 24, minute < 60, second < 60,
      let date = CivilDate(year: year, month: Int(month), day: Int(day))
    else { return nil }
    var index = 19
    var milliseconds: Int64 = 0
    if bytes[index] == UInt8(ascii: ".") {
      index += 1
      let start = index
      var scale: Int64 = 100
      while index < bytes.count, let digit = number(index..<index + 1) {
        milliseconds += digit * scale
        scale /= 10
        index += 1
      }
      guard index > start else { return nil }
    }
    guard index < bytes.count else { return nil }
    var offset: Int64 = 0
    switch bytes[index] {
    case UInt8(ascii: "Z"), UInt8(ascii: "z"): index += 1
    case UInt8(ascii: "+"), UInt8(ascii: "-"):
      guard bytes.count == index + 6, bytes[index + 3] == UInt8(ascii: ":"), let hours = number(index + 1..<index + 3),
        let minutes = number(index + 4..<index + 6), hours < 24, minutes < 60
      else { return nil }
      offset = (hours * 3600 + minutes * 60) * (bytes[index] == UInt8(ascii: "-") ? -1 : 1)
      index += 6
    default: return nil
    }
    guard index == bytes.count else { return nil }
    let seconds = date.dayNumber * 86_400 + hour * 3600 + minute * 60 + second - offset
    return Instant(milliseconds: seconds * 1000 + milliseconds)
  }
}
