/// A set of event codes of RFC 4733 (0 to 255), as an `fmtp` line lists them: `0-15,66`.
public struct TelephoneEvents: Hashable, Sendable {
  /// One bit for each code up to 127, and for those above.
  private var low: UInt128 = 0
  private var high: UInt128 = 0

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
      let bounds = part.filter { $0 != 0x20 }[...].cut(at: UInt8(ascii: "-"))
      guard let first = SessionDescriptionLine.number(bounds.first, upTo: 255),
        let last = SessionDescriptionLine.number(bounds.rest ?? bounds.first, upTo: 255), first <= last
      else {
        self = .keys
        return
      }
      for code in first...last { events.insert(code) }
    }
    self = events.isEmpty ? .keys : events
  }

  /// Never so for a list that was read.
  public var isEmpty: Bool { low == 0 && high == 0 }

  /// False outside 0 to 255.
  public func contains(_ code: Int) -> Bool {
    (0...255).contains(code) && (code < 128 ? low : high) & TelephoneEvents.bit(code) != 0
  }

  /// A code outside 0 to 255 changes nothing.
  public mutating func insert(_ code: Int) {
    guard (0...255).contains(code) else { return }
    if code < 128 { low |= TelephoneEvents.bit(code) } else { high |= TelephoneEvents.bit(code) }
  }

  private static func bit(_ code: Int) -> UInt128 { 1 &<< UInt128(code % 128) }

  /// The codes that both have.
  public func intersection(_ other: TelephoneEvents) -> TelephoneEvents {
    var result = self
    result.low &= other.low
    result.high &= other.high
    return result
  }

  /// The list of an `fmtp` line: `0-15,66`.
  public var parameters: FormatParameters {
    var text = ""
    var code = 0
    while code <= 255 {
      guard contains(code) else {
        code += 1
        continue
      }
      let first = code
      while contains(code + 1) { code += 1 }
      if !text.isEmpty { text += "," }
      text += first == code ? "\(first)" : "\(first)-\(code)"
      code += 1
    }
    return FormatParameters(text)
  }
}
