/// Base64 of RFC 4648, strict: unless a caller asks for less, one text for each value, so nothing passes under two
/// spellings.
package enum Base64 {
  package enum Alphabet: Sendable {
    /// Section 4, written with padding.
    case standard
    /// Section 5, written without.
    case url
  }

  package enum Padding: Sendable {
    case required
    /// All of it or none.
    case optional
    case refused
  }

  private static let standard = letters("+/")
  private static let url = letters("-_")
  private static let standardValues = values(of: standard)
  private static let urlValues = values(of: url)

  private static func letters(_ last: String) -> [UInt8] {
    Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8) + Array(last.utf8)
  }

  private static func values(of letters: [UInt8]) -> [UInt8] {
    var values = [UInt8](repeating: 0xFF, count: 256)
    for (value, letter) in letters.enumerated() { values[Int(letter)] = UInt8(value) }
    return values
  }

  /// `nil` for letters of another alphabet, padding that is missing or too much, a length that no bytes encode to, and
  /// bits behind the last byte that are not zero.
  /// - Parameters:
  ///   - padding: what the alphabet is written with where nothing is said.
  ///   - ignoresRest: bits behind the last byte do not count, for texts of others that may be careless with them.
  package static func decode(
    _ text: some Collection<UInt8>, _ alphabet: Alphabet = .standard, padding: Padding? = nil, ignoresRest: Bool = false
  ) -> [UInt8]? {
    let letters = text.prefix { $0 != UInt8(ascii: "=") }
    let count = letters.count
    let signs = text.dropFirst(count)
    let rest = count % 4
    guard rest != 1, signs.allSatisfy({ $0 == UInt8(ascii: "=") }) else { return nil }
    let full = rest == 0 ? 0 : 4 - rest
    switch padding ?? (alphabet == .url ? .refused : .required) {
    case .required: guard signs.count == full else { return nil }
    case .optional: guard signs.isEmpty || signs.count == full else { return nil }
    case .refused: guard signs.isEmpty else { return nil }
    }
    let values = alphabet == .url ? urlValues : standardValues
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count / 4 * 3 + 2)
    var buffer: UInt32 = 0
    var bits: UInt32 = 0
    for letter in letters {
      let value = values[Int(letter)]
      guard value < 64 else { return nil }
      buffer = buffer << 6 | UInt32(value)
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: buffer >> bits))
        buffer &= (1 << bits) - 1
      }
    }
    return buffer == 0 || ignoresRest ? bytes : nil
  }

  package static func encode(_ bytes: [UInt8], _ alphabet: Alphabet = .standard) -> String {
    let letters = alphabet == .url ? url : standard
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count / 3 * 4 + 4)
    var index = 0
    while index < bytes.count {
      let count = min(bytes.count - index, 3)
      var group: UInt32 = 0
      for offset in 0..<3 { group = group << 8 | (offset < count ? UInt32(bytes[index + offset]) : 0) }
      for position in 0..<4 where position <= count || alphabet == .standard {
        text.append(position <= count ? letters[Int(group >> UInt32(18 - position * 6) & 63)] : UInt8(ascii: "="))
      }
      index += 3
    }
    return String(decoding: text, as: UTF8.self)
  }
}
