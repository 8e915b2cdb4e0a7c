/// One line while it is read: a type letter, `=`, and the bytes of the value.
struct SessionDescriptionLine {
  /// Counted from 1.
  let number: Int
  let type: UInt8
  /// A slice of the whole line, so that an index tells the column.
  let value: ArraySlice<UInt8>
  let start: Int

  var text: String { String(decoding: value, as: UTF8.self) }

  /// The parts between spaces, one after the other. RFC 8866 wants one space each; phones that write more, or a tab, are
  /// understood.
  struct Fields: IteratorProtocol {
    /// What was not taken yet.
    private(set) var rest: ArraySlice<UInt8>

    mutating func next() -> ArraySlice<UInt8>? { rest.nextWord { $0 == 0x20 || $0 == 0x09 } }

    /// As ``next()``, for a field that is taken as it is.
    mutating func nextText() -> String? { next().map { String(decoding: $0, as: UTF8.self) } }
  }

  var fields: Fields { Fields(rest: value) }

  func refusal(
    _ rule: String, at index: Int? = nil, _ problem: String, accepted: String
  ) -> InvalidSessionDescription {
    InvalidSessionDescription(
      line: number, column: (index ?? value.startIndex) - start + 1, rule: "sdp." + rule, problem: problem,
      accepted: accepted)
  }

  /// A text such as `96 opus/48000/2`, parted after its first word; `nil` where nothing follows that.
  static func firstWord(_ text: String) -> (first: Substring, rest: Substring)? {
    let (first, rest) = text.utf8.drop { $0 == 0x20 }.cut(at: 0x20)
    guard let rest, !rest.isEmpty else { return nil }
    return (Substring(first), Substring(rest))
  }

  /// Decimal digits only, at most `limit` of them: no sign, no space.
  static func isDecimal(_ bytes: some Collection<UInt8>, digits limit: Int) -> Bool {
    !bytes.isEmpty && bytes.count <= limit && bytes.allSatisfy { (0x30...0x39).contains($0) }
  }

  /// A decimal number of at most nine digits, or `limit`, up to `maximum`.
  static func number(_ bytes: some Collection<UInt8>, upTo maximum: Int, digits limit: Int = 9) -> Int? {
    var value = 0
    var digits = 0
    for byte in bytes {
      guard (0x30...0x39).contains(byte), digits < limit else { return nil }
      value = value * 10 + Int(byte - 0x30)
      digits += 1
    }
    return digits > 0 && value <= maximum ? value : nil
  }

  /// A typed time of RFC 8866 section 5.10: an optional sign, digits, an optional unit.
  static func isTypedTime(_ bytes: ArraySlice<UInt8>) -> Bool {
    var digits = bytes
    if digits.first == UInt8(ascii: "-") { digits = digits.dropFirst() }
    if let last = digits.last, "dhms".utf8.contains(last) { digits = digits.dropLast() }
    return isDecimal(digits, digits: 20)
  }
}
