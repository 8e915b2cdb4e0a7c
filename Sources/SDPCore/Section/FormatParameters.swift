/// The value of an `fmtp` line: `minptime=10;useinbandfec=1`, or free text such as `0-15`.
public struct FormatParameters: Hashable, Sendable, CustomStringConvertible {
  /// As written.
  public let text: String

  /// Empty for no parameters.
  public init(_ text: String = "") { self.text = text }

  /// The text as written.
  public var description: String { text }

  /// The value of a `name=value` pair; names compare without case, the first of two wins.
  public subscript(name: String) -> String? {
    var pairs: Substring.UTF8View? = text.utf8[...]
    while let (pair, others) = pairs?.cut(at: UInt8(ascii: ";")) {
      let (key, value) = pair.cut(at: UInt8(ascii: "="))
      if let value, FormatParameters.isSame(FormatParameters.trimmed(key), name.utf8) {
        return String(Substring(FormatParameters.trimmed(value)))
      }
      pairs = others
    }
    return nil
  }

  /// A whole number of at most nine digits.
  public func number(_ name: String) -> Int? {
    self[name].flatMap { SessionDescriptionLine.number($0.utf8, upTo: 999_999_999) }
  }

  /// As ``number(_:)``; `nil` outside the range too.
  func number(_ name: String, in range: ClosedRange<Int>) -> Int? {
    number(name).flatMap { range.contains($0) ? $0 : nil }
  }

  /// Whether two names are the same but for the case of their letters (RFC 4855 section 3).
  private static func isSame(_ one: Substring.UTF8View, _ other: String.UTF8View) -> Bool {
    one.elementsEqual(other) { lowercased($0) == lowercased($1) }
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }

  private static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
    guard let first = text.firstIndex(where: { $0 != 0x20 && $0 != 0x09 }),
      let last = text.lastIndex(where: { $0 != 0x20 && $0 != 0x09 })
    else { return text[text.endIndex...] }
    return text[first...last]
  }
}
