/// Text of others made fit for a terminal: what would move the cursor, end a line or turn the direction of writing is
/// written out as an escape and does nothing.
package enum VisibleText {
  /// Whether a scalar shows nothing, or changes how its neighbours are shown: controls, line and paragraph separators, the
  /// directional formatting characters of Unicode Standard Annex #9, and other invisible format characters.
  package static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x20...0x7E: false
    case 0..<0x20, 0x7F...0x9F, 0x061C, 0x180E, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF,
      0xFFF9...0xFFFB, 0xE0000...0xE007F:
      true
    default: false
    }
  }

  /// One line: each hidden character as `\u{202E}`.
  package static func line(_ text: some StringProtocol) -> String { escaped(text) { _ in false } }

  /// The same, in which tabs and line feeds stand as they are.
  package static func lines(_ text: some StringProtocol) -> String {
    escaped(text) { $0 == "\n" || $0 == "\t" }
  }

  /// Only what is hidden beyond ASCII: for text whose ASCII controls are this program's own, such as colours.
  package static func marks(_ text: some StringProtocol) -> String { escaped(text) { $0.isASCII } }

  /// A JSON text (RFC 8259) of the same value: what is hidden beyond ASCII can only stand inside strings, where `\u202e`
  /// means the same.
  package static func json(_ text: some StringProtocol) -> String {
    guard text.unicodeScalars.contains(where: { !$0.isASCII && isHidden($0) }) else { return String(text) }
    var result = ""
    for scalar in text.unicodeScalars {
      if !scalar.isASCII, isHidden(scalar) {
        result += jsonEscape(scalar)
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// `\u202e`; beyond the basic plane, two of them (RFC 8259 section 7).
  package static func jsonEscape(_ scalar: Unicode.Scalar) -> String {
    scalar.utf16.map { unit in
      let digits = String(unit, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
    }.joined()
  }

  private static func escaped(_ text: some StringProtocol, keeps: (Unicode.Scalar) -> Bool) -> String {
    // Most text needs nothing.
    if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return String(text) }
    var result = ""
    for scalar in text.unicodeScalars {
      if isHidden(scalar), !keeps(scalar) {
        result += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
