import CallModel

/// Hides the middle of phone numbers in texts that are written to a log.
package struct LogMask {
  /// Fewest digits that are taken for a number.
  package static let minimumDigits = E164Number.minimumDigits
  /// Digits from which on the first four and the last two stay.
  private static let longNumber = 10
  /// Names of values that are numbers or addresses, whatever stands before their digits.
  static let keys: Set<String> = [
    "number", "caller", "caller_number", "callee", "destination", "target", "from", "to", "user",
  ]

  /// - Parameter isNumber: Whether every run of digits is one; otherwise only those after `+`, `%2B`, `sip:`, `sips:`
  ///   and `tel:`.
  package static func masked(_ text: String, isNumber: Bool) -> String {
    let bytes = Array(text.utf8)
    var hidden: [Int] = []
    var offset = 0
    while offset < bytes.count {
      guard let start = runStart(bytes, offset, isNumber) else {
        offset += 1
        continue
      }
      let (digits, end) = run(bytes, from: start)
      if digits.count >= minimumDigits { hidden += middle(digits, bytes) }
      offset = max(end, offset + 1)
    }
    guard !hidden.isEmpty else { return text }
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count + hidden.count * 2)
    var next = 0
    for (index, byte) in bytes.enumerated() {
      if next < hidden.count, hidden[next] == index {
        result += Array("•".utf8)
        next += 1
      } else {
        result.append(byte)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Where the digits begin, if a number may begin at this offset.
  private static func runStart(_ bytes: [UInt8], _ offset: Int, _ isNumber: Bool) -> Int? {
    switch bytes[offset] {
    case UInt8(ascii: "+"): return offset + 1
    case UInt8(ascii: "%"):
      let code = bytes[offset...].prefix(3)
      return code.elementsEqual("%2B".utf8) || code.elementsEqual("%2b".utf8) ? offset + 3 : nil
    case UInt8(ascii: ":"):
      let isScheme = ["sip", "sips", "tel"].contains { scheme in
        bytes[..<offset].suffix(scheme.utf8.count).map { $0 | 0x20 }.elementsEqual(scheme.utf8)
      }
      return isScheme ? offset + 1 : nil
    case let byte:
      guard isNumber, isDigit(byte) else { return nil }
      return offset
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  /// The digits of a number with single separators between them, and the offset after it.
  private static func run(_ bytes: [UInt8], from start: Int) -> (digits: [Int], end: Int) {
    var digits: [Int] = []
    var offset = start
    while offset < bytes.count {
      if isDigit(bytes[offset]) {
        digits.append(offset)
      } else {
        let next = offset + 1
        guard " -.()/".utf8.contains(bytes[offset]), next < bytes.count,
          isDigit(bytes[next]) || " (".utf8.contains(bytes[offset]) && "(".utf8.contains(bytes[next])
            || ")".utf8.contains(bytes[offset]) && " ".utf8.contains(bytes[next])
        else { break }
      }
      offset += 1
    }
    return (digits, offset)
  }

  /// The digits to hide: the same that ``E164Number/masked`` hides.
  private static func middle(_ digits: [Int], _ bytes: [UInt8]) -> ArraySlice<Int> {
    guard digits.count < longNumber else { return digits[4..<digits.count - 2] }
    let number = "+" + String(decoding: digits.map { bytes[$0] }, as: UTF8.self)
    let head = (try? E164Number(number)).map { String($0.countryCode).utf8.count } ?? 1
    return digits[head...]
  }
}
