import CallModel

/// Text of others made fit for a terminal and a page.
enum PlainText {
  /// One line: control characters, and marks that turn the direction of writing, become escapes; line ends become spaces.
  static func line(_ text: some StringProtocol) -> String {
    var spaced = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x09, 0x0A, 0x0D: spaced.append(" ")
      default: spaced.append(scalar)
      }
    }
    return VisibleText.line(String(spaced))
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
    let scalars = text.unicodeScalars[...]
    return String(scalars[..<end(of: scalars, columns: maximum)])
  }

  /// Where so many columns end.
  private static func end(of scalars: Substring.UnicodeScalarView, columns maximum: Int) -> String.Index {
    var columns = 0
    var place = scalars.startIndex
    while place < scalars.endIndex {
      columns += self.columns(scalars[place])
      guard columns <= maximum else { break }
      scalars.formIndex(after: &place)
    }
    return place
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
    var used = 0
    for word in text.split(separator: " ", omittingEmptySubsequences: true) {
      var pieces = pieces(word.unicodeScalars, first: width, next: width)
      let columns = self.columns(pieces[0])
      if pieces.count == 1, used > 0, used + 1 + columns <= width {
        line += " " + pieces[0]
        used += 1 + columns
        continue
      }
      if used > 0 { lines.append(line) }
      line = pieces.removeLast()
      used = self.columns(line)
      lines += pieces
    }
    if used > 0 { lines.append(line) }
    return lines
  }

  /// A line as it stands, cut where the page ends; what goes on stands two columns further in.
  static func folded(_ text: String, width: Int, indent: Int) -> [String] {
    let pieces = pieces(text.unicodeScalars[...], first: width - indent, next: width - indent - 2)
    return pieces.enumerated().map { index, piece in
      trimmedEnd(String(repeating: " ", count: index == 0 ? indent : indent + 2) + piece)
    }
  }

  /// Text in pieces of so many columns, one at least; each has a character at least, so that cutting ends.
  private static func pieces(_ scalars: Substring.UnicodeScalarView, first: Int, next: Int) -> [String] {
    var pieces: [String] = []
    var rest = scalars
    repeat {
      var end = end(of: rest, columns: max(1, pieces.isEmpty ? first : next))
      if end == rest.startIndex, !rest.isEmpty { rest.formIndex(after: &end) }
      pieces.append(String(rest[..<end]))
      rest = rest[end...]
    } while !rest.isEmpty
    return pieces
  }
}
