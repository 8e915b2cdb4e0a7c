/// A set of event codes of RFC 4733 (0 to 255), as an `fmtp` line lists them: `0-15,66`.
public struct TelephoneEvents: Hashable, Sendable {
  private var words: [UInt64] = [0, 0, 0, 0]

  /// The sixteen keys: 0 to 9, *, #, A to D. Meant when no list is given (RFC 4733 section 2.4.1).
  public static let keys = TelephoneEvents(0...15)

  /// Codes outside 0 to 255 are passed over.
  public init(_ codes: some Sequence<Int>) {
    for code in codes where (0...255).contains(code) { insert(code) }
  }

  /// Reads the list of an `fmtp` line. An empty list, or one that cannot be read, means ``keys``.
  public init(_ parameters: FormatParameters) {
    var events = TelephoneEvents([])
    for part in parameters.text.utf8.split(separator: UInt8(ascii: ","), maxSplits: 64) {
      let bounds = part.filter { $0 != 0x20 }.split(
        separator: UInt8(ascii: "-"), maxSplits: 1, omittingEmptySubsequences: false)
      guard let first = bounds.first.flatMap({ SessionDescriptionLine.number($0, upTo: 255) }),
        let last = bounds.last.flatMap({ SessionDescriptionLine.number($0, upTo: 255) }), first <= last
      else {
        self = .keys
        return
      }
      for code in first...last { events.insert(code) }
    }
    self = events.isEmpty ? .keys : events
  }

  /// Never so for a list that was read.
  public var isEmpty: Bool { words.allSatisfy { $0 == 0 } }

  /// False outside 0 to 255.
  public func contains(_ code: Int) -> Bool {
    (0...255).contains(code) && words[code >> 6] >> UInt64(code & 63) & 1 == 1
  }

  /// A code outside 0 to 255 changes nothing.
  public mutating func insert(_ code: Int) {
    guard (0...255).contains(code) else { return }
    words[code >> 6] |= 1 << UInt64(code & 63)
  }

  /// The codes that both have.
  public func intersection(_ other: TelephoneEvents) -> TelephoneEvents {
    var result = self
    for index in words.indices { result.words[index] &= other.words[index] }
    return result
  }

  /// The list of an `fmtp` line: `0-15,66`.
  public var parameters: FormatParameters {
    var parts: [String] = []
    var code = 0
    while code <= 255 {
      guard contains(code) else {
        code += 1
        continue
      }
      let first = code
      while contains(code + 1) { code += 1 }
      parts.append(first == code ? "\(first)" : "\(first)-\(code)")
      code += 1
    }
    return FormatParameters(parts.joined(separator: ","))
  }
}
