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
    let name = name.lowercased()
    for part in text.split(separator: ";") {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard pair.count == 2, FormatParameters.trimmed(pair[0]).lowercased() == name else { continue }
      return FormatParameters.trimmed(pair[1])
    }
    return nil
  }

  /// A whole number of at most nine digits.
  public func number(_ name: String) -> Int? {
    self[name].flatMap { SessionDescriptionLine.number($0.utf8, upTo: 999_999_999) }
  }

  private static func trimmed(_ text: Substring) -> String {
    let bytes = text.utf8
    guard let first = bytes.firstIndex(where: { $0 != 0x20 && $0 != 0x09 }),
      let last = bytes.lastIndex(where: { $0 != 0x20 && $0 != 0x09 })
    else { return "" }
    return String(text[first...last])
  }
}
