/// Text of others made fit for a terminal and a page.
enum PlainText {
  /// One line: control characters, and marks that turn the direction of writing, become `?`; line ends become spaces.
  static func line(_ text: some StringProtocol) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x09, 0x0A, 0x0D: result.append(" ")
      case 0..<0x20, 0x7F...0x9F, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x2069, 0xFEFF, 0xE0000...0xE007F:
        result.append("?")
      default: result.append(scalar)
      }
    }
    return String(result)
  }

  /// The lines of a text, each as by ``line(_:)``; ends are LF or CRLF, an end at the very end begins no line.
  static func lines(_ text: String) -> [String] {
    var parts = text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false)
    if parts.last?.isEmpty ?? false { parts.removeLast() }
    return parts.map { line(Substring($0.last == 0x0D ? $0.dropLast() : $0)) }
  }

  /// Columns that a terminal needs: two for wide characters, none for marks on others.
  static func columns(_ text: some StringProtocol) -> Int {
    var columns = 0
    for scalar in text.unicodeScalars { columns += self.columns(scalar) }
    return columns
  }

  static func columns(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.value {
    case ..<0x300: 1
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
      0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
      2
    default:
      switch scalar.properties.generalCategory {
      case .nonspacingMark, .enclosingMark: 0
      default: 1
      }
    }
  }

  /// The beginning that has at most so many columns.
  static func prefix(_ text: String, columns maximum: Int) -> String {
    var result = String.UnicodeScalarView()
    var columns = 0
    for scalar in text.unicodeScalars {
      columns += self.columns(scalar)
      guard columns <= maximum else { break }
      result.append(scalar)
    }
    return String(result)
  }

  /// The text, or its beginning and two dots.
  static func shortened(_ text: String, columns maximum: Int) -> String {
    columns(text) <= maximum ? text : prefix(text, columns: max(0, maximum - 2)) + ".."
  }

  static func padded(_ text: String, to columns: Int) -> String {
    text + String(repeating: " ", count: max(0, columns - self.columns(text)))
  }

  static func trimmedEnd(_ text: String) -> String {
    var scalars = text.unicodeScalars
    while scalars.last == " " { scalars.removeLast() }
    return String(scalars)
  }

  /// Lines of at most so many columns, broken between words; a word that is longer is cut through.
  static func wrapped(_ text: String, width: Int) -> [String] {
    let width = max(1, width)
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ", omittingEmptySubsequences: true) {
      var word = String(word)
      if !line.isEmpty, columns(line) + 1 + columns(word) <= width {
        line += " " + word
        continue
      }
      if !line.isEmpty { lines.append(line) }
      while columns(word) > width {
        let part = nonEmptyPrefix(word, columns: width)
        lines.append(part)
        word = String(word.unicodeScalars.dropFirst(part.unicodeScalars.count))
      }
      line = word
    }
    if !line.isEmpty { lines.append(line) }
    return lines
  }

  /// A line as it stands, cut where the page ends; what goes on stands two columns further in.
  static func folded(_ text: String, width: Int, indent: Int) -> [String] {
    var lines: [String] = []
    var rest = text
    repeat {
      let margin = lines.isEmpty ? indent : indent + 2
      let part = rest.isEmpty ? "" : nonEmptyPrefix(rest, columns: max(1, width - margin))
      rest = String(rest.unicodeScalars.dropFirst(part.unicodeScalars.count))
      lines.append(trimmedEnd(String(repeating: " ", count: margin) + part))
    } while !rest.isEmpty
    return lines
  }

  /// At least one character, so that cutting ends.
  private static func nonEmptyPrefix(_ text: String, columns: Int) -> String {
    let part = prefix(text, columns: columns)
    return part.isEmpty ? String(text.unicodeScalars.prefix(1)) : part
  }
}
