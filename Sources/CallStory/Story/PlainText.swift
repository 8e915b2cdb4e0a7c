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

  /// The lines of a text, each as by ``line(_:)``; ends are LF or CRLF.
  static func lines(_ text: String) -> [String] {
    text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).map { bytes in
      line(Substring(bytes.last == 0x0D ? bytes.dropLast() : bytes))
    }
  }
}
