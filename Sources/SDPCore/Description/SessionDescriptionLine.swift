/// One line while it is read: a type letter, `=`, and the bytes of the value.
struct SessionDescriptionLine {
  /// Counted from 1.
  let number: Int
  let type: UInt8
  /// A slice of the whole line, so that an index tells the column.
  let value: ArraySlice<UInt8>
  let start: Int

  var text: String { String(decoding: value, as: UTF8.self) }

  /// The parts between spaces. RFC 8866 wants one space each; phones that write more, or a tab, are understood.
  func fields(atMost limit: Int) -> [ArraySlice<UInt8>] {
    let end = value.lastIndex { $0 != 0x20 && $0 != 0x09 }.map { $0 + 1 } ?? value.startIndex
    return value[..<end].split(maxSplits: limit, omittingEmptySubsequences: true) { $0 == 0x20 || $0 == 0x09 }
  }

  func refusal(
    _ rule: String, at index: Int? = nil, _ problem: String, accepted: String
  ) -> InvalidSessionDescription {
    InvalidSessionDescription(
      line: number, column: (index ?? value.startIndex) - start + 1, rule: "sdp." + rule, problem: problem,
      accepted: accepted)
  }

  /// A text such as `96 opus/48000/2`, parted after its first word; `nil` where nothing follows that.
  static func firstWord(_ text: String) -> (first: Substring, rest: Substring)? {
    let bytes = text.utf8
    guard let start = bytes.firstIndex(where: { $0 != 0x20 }), let end = bytes[start...].firstIndex(of: 0x20) else {
      return nil
    }
    let rest = bytes.index(after: end)
    return rest < bytes.endIndex ? (text[start..<end], text[rest...]) : nil
  }

  /// Decimal digits only, at most `limit` of them: no sign, no space.
  static func isDecimal(_ bytes: some Collection<UInt8>, digits limit: Int) -> Bool {
    !bytes.isEmpty && bytes.count <= limit && bytes.allSatisfy { (0x30...0x39).contains($0) }
  }

  /// A decimal number of at most nine digits up to `maximum`.
  static func number(_ bytes: some Collection<UInt8>, upTo maximum: Int) -> Int? {
    guard isDecimal(bytes, digits: 9) else { return nil }
    let value = bytes.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    return value <= maximum ? value : nil
  }

  /// A typed time of RFC 8866 section 5.10: an optional sign, digits, an optional unit.
  static func isTypedTime(_ bytes: ArraySlice<UInt8>) -> Bool {
    var digits = bytes
    if digits.first == UInt8(ascii: "-") { digits = digits.dropFirst() }
    if let last = digits.last, "dhms".utf8.contains(last) { digits = digits.dropLast() }
    return isDecimal(digits, digits: 20)
  }
}
