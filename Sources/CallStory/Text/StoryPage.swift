/// Lines of text within a width.
struct StoryPage {
  /// The narrowest and the widest page.
  static let widths = 60...240

  let width: Int
  private(set) var lines: [String] = []

  init(width: Int) { self.width = min(max(width, StoryPage.widths.lowerBound), StoryPage.widths.upperBound) }

  var text: String { lines.map { $0 + "\n" }.joined() }

  mutating func heading(_ text: String) {
    if !lines.isEmpty { lines.append("") }
    lines.append(text)
  }

  mutating func line(_ text: String) { lines += PlainText.folded(text, width: width, indent: 0) }

  /// Words, folded; every line begins under the first one.
  mutating func paragraph(_ text: String, indent: Int = 2) {
    for line in PlainText.wrapped(PlainText.line(text), width: width - indent) {
      lines.append(String(repeating: " ", count: indent) + line)
    }
  }

  /// `  name      words, folded under each other`; nothing for no words.
  mutating func fact(_ name: String, _ text: String?, indent: Int = 2, nameWidth: Int = 10) {
    guard let text, !text.isEmpty else { return }
    let start = String(repeating: " ", count: indent) + PlainText.padded(name, to: nameWidth)
    let margin = indent + max(nameWidth, PlainText.columns(name) + 1)
    for (index, line) in PlainText.wrapped(PlainText.line(text), width: width - margin).enumerated() {
      lines.append((index == 0 ? PlainText.padded(start, to: margin) : String(repeating: " ", count: margin)) + line)
    }
  }

  /// A line as it stands, its rest further in on the next ones.
  mutating func literal(_ text: String, indent: Int) {
    lines += PlainText.folded(PlainText.line(text), width: width, indent: indent)
  }

  /// Cells in columns; numbers stand on the right.
  mutating func table(_ titles: [String], _ rows: [[String]], rightAligned: Set<Int>, indent: Int = 2) {
    let all = [titles] + rows
    let widths = titles.indices.map { column in all.map { PlainText.columns($0[column]) }.max() ?? 0 }
    for row in all {
      let cells = row.indices.map { column in
        let gap = String(repeating: " ", count: widths[column] - PlainText.columns(row[column]))
        return rightAligned.contains(column) ? gap + row[column] : row[column] + gap
      }
      literal(PlainText.trimmedEnd(cells.joined(separator: "  ")), indent: indent)
    }
  }
}
