/// What numbers a certificate gives a right to: its TNAuthList (RFC 8226 section 9).
package struct NumberAuthority: Hashable {
  /// The extension's object identifier.
  static let identifier = "1.3.6.1.5.5.7.1.26"
  /// Most entries of a list.
  package static let maximumEntries = 1024

  package enum Entry: Hashable {
    /// A service provider, for all of its numbers: which these are is not said.
    case provider(String)
    /// So many numbers from the first one on.
    case range(first: String, count: UInt64)
    case one(String)
  }

  package let entries: [Entry]

  /// - Parameter der: `SEQUENCE OF` the entries, with explicit tags.
  /// - Returns: `nil` for anything else, and for an empty list.
  package init?(der: [UInt8]) {
    var outer = DERReader(der[...])
    guard var list = outer.value(0x30), outer.isAtEnd else { return nil }
    var entries: [Entry] = []
    while !list.isAtEnd {
      guard entries.count < NumberAuthority.maximumEntries, let entry = NumberAuthority.entry(&list) else { return nil }
      entries.append(entry)
    }
    guard !entries.isEmpty else { return nil }
    self.entries = entries
  }

  private static func entry(_ list: inout DERReader) -> Entry? {
    if var spc = list.value(0xA0) {
      guard let code = spc.text(), !code.isEmpty, spc.isAtEnd else { return nil }
      return .provider(code)
    }
    if var range = list.value(0xA1) {
      guard var fields = range.value(0x30), range.isAtEnd, let first = fields.text(), isNumber(first),
        let count = fields.integer(), count >= 2
      else { return nil }
      // What later editions add behind is passed over.
      return .range(first: first, count: count)
    }
    if var one = list.value(0xA2) {
      guard let number = one.text(), isNumber(number), one.isAtEnd else { return nil }
      return .one(number)
    }
    return nil
  }

  private static func isNumber(_ text: String) -> Bool {
    (1...15).contains(text.utf8.count)
      && text.utf8.allSatisfy { MessageCharacter.isDigit($0) || "#*".utf8.contains($0) }
  }

  /// Whether a number, as digits, is among them. A provider's code stands for whatever number it signs.
  package func covers(_ number: String) -> Bool {
    entries.contains { entry in
      switch entry {
      case .provider: return true
      case .one(let own): return own == number
      case .range(let first, let count):
        guard first.utf8.count == number.utf8.count, let start = UInt64(first), let value = UInt64(number) else {
          return false
        }
        return value >= start && value - start < count
      }
    }
  }
}

/// Reads DER (X.690 section 10) value by value: short tags, definite lengths in their shortest form.
struct DERReader {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  var isAtEnd: Bool { rest.isEmpty }

  /// The contents of the next value where it has this tag; nothing is taken otherwise.
  mutating func value(_ tag: UInt8) -> DERReader? {
    guard rest.first == tag, rest.count >= 2 else { return nil }
    var place = rest.startIndex + 1
    let first = rest[place]
    place += 1
    var length = Int(first)
    if first >= 0x80 {
      let count = Int(first & 0x7F)
      guard (1...2).contains(count), rest.endIndex - place >= count else { return nil }
      length = rest[place..<place + count].reduce(0) { $0 << 8 | Int($1) }
      guard length >= (count == 1 ? 0x80 : 0x100) else { return nil }
      place += count
    }
    guard rest.endIndex - place >= length else { return nil }
    let contents = DERReader(rest[place..<place + length])
    rest = rest[(place + length)...]
    return contents
  }

  /// An IA5String.
  mutating func text() -> String? {
    guard let contents = value(0x16), contents.rest.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
    return String(decoding: contents.rest, as: UTF8.self)
  }

  /// An INTEGER that is not negative and fits.
  mutating func integer() -> UInt64? {
    guard let contents = value(0x02), let first = contents.rest.first, first < 0x80 else { return nil }
    let digits = contents.rest.drop { $0 == 0 }
    guard digits.count <= 8, contents.rest.count - digits.count <= 1 else { return nil }
    return digits.reduce(0) { $0 << 8 | UInt64($1) }
  }
}
