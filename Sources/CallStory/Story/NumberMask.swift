import CallModel

/// Hides telephone numbers in any text: the country code and the last two digits stay, each digit between becomes a
/// star, so that lengths stay what they were.
struct NumberMask {
  /// A number as it may be written without its plus: by its last digits.
  private static let comparedDigits = 7
  /// Digits of a number that stands for itself, as in `sip:070123456@host`.
  private static let minimumDigits = 7
  private static let maximumDigits = 18

  /// The numbers of the call by their last digits, with the length of their country codes and of them all.
  private var known: [[UInt8]: (country: Int, digits: Int)] = [:]

  /// - Parameter numbers: texts of which those that are E.164 numbers are known also without their plus.
  init(_ numbers: [String]) {
    for text in numbers {
      guard let number = try? E164Number(text) else { continue }
      let digits = Array(number.digits.utf8)
      known[digits.suffix(NumberMask.comparedDigits)] = (String(number.countryCode).utf8.count, digits.count)
    }
  }

  func masked(_ text: String) -> String {
    var bytes = Array(text.utf8)
    var position = 0
    var isChanged = false
    while position < bytes.count {
      if bytes[position] == UInt8(ascii: "+"), position + 1 < bytes.count, NumberMask.isDigit(bytes[position + 1]) {
        let places = NumberMask.written(bytes, from: position + 1)
        if places.count >= E164Number.minimumDigits {
          hide(places, in: &bytes, keeping: NumberMask.countryDigits(places.map { bytes[$0] }))
          isChanged = true
        }
        position = (places.last ?? position) + 1
      } else if NumberMask.isDigit(bytes[position]) {
        let end = bytes[position...].firstIndex { !NumberMask.isDigit($0) } ?? bytes.count
        if let kept = kept(position..<end, in: bytes) {
          hide(Array(position..<end), in: &bytes, keeping: kept)
          isChanged = true
        }
        position = end
      } else {
        position += 1
      }
    }
    return isChanged ? String(decoding: bytes, as: UTF8.self) : text
  }

  /// Digits at the front that a run of them keeps; `nil` where it is no number.
  private func kept(_ run: Range<Int>, in bytes: [UInt8]) -> Int? {
    guard run.count >= NumberMask.minimumDigits else { return nil }
    if let number = known[Array(bytes[run].suffix(NumberMask.comparedDigits))], run.count <= NumberMask.maximumDigits {
      // `0046…` and `46…` show the country, `070…` does not.
      let before = run.count - number.digits
      return before >= 0 ? before + number.country : 0
    }
    let before = bytes[..<run.lowerBound]
    let isUser = ["sip:", "sips:", "tel:"].contains { before.suffix($0.utf8.count).elementsEqual($0.utf8) }
    let after = run.upperBound < bytes.count ? bytes[run.upperBound] : 0
    let isQuoted = before.last == UInt8(ascii: "\"") && after == UInt8(ascii: "\"")
    let isHost = after == UInt8(ascii: ".") || after == UInt8(ascii: ":")
    return (isUser && !isHost) || isQuoted ? 0 : nil
  }

  /// The places of the digits of a number that is written from a place on, perhaps in groups.
  private static func written(_ bytes: [UInt8], from start: Int) -> [Int] {
    var places: [Int] = []
    var position = start
    let gaps: Set<UInt8> = Set(" -.()".utf8)
    while position < bytes.count, places.count < E164Number.maximumDigits {
      if isDigit(bytes[position]) {
        places.append(position)
      } else if !gaps.contains(bytes[position]) || position + 1 >= bytes.count
        || !(isDigit(bytes[position + 1]) || gaps.contains(bytes[position + 1]))
        || gaps.contains(bytes[position - 1]) && gaps.contains(bytes[position + 1])
      {
        break
      }
      position += 1
    }
    return places
  }

  private static func countryDigits(_ digits: [UInt8]) -> Int {
    let number = try? E164Number("+" + String(decoding: digits, as: UTF8.self))
    return number.map { String($0.countryCode).utf8.count } ?? 0
  }

  private func hide(_ places: [Int], in bytes: inout [UInt8], keeping count: Int) {
    for place in places.dropFirst(count).dropLast(2) { bytes[place] = UInt8(ascii: "*") }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
