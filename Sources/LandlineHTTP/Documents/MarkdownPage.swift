/// HTML of the Markdown that the documentation is written in: headings, paragraphs, lists, tables, fenced code, quotations;
/// in a line code, strong and emphasised words, and links. Anything else stays the text that it is.
///
/// It reads the repository's own documents alone, which are part of the executable.
package struct MarkdownPage: Sendable {
  /// A heading of the second or third level, for a table of contents.
  package struct Heading: Hashable, Sendable {
    package let level: Int
    /// Of the element, unique in the page.
    package let id: String
    /// As HTML.
    package let text: String
  }

  package private(set) var html = ""
  package private(set) var headings: [Heading] = []
  /// Where a link leads; `nil` leaves its words without one.
  private let target: @Sendable (String) -> String?

  package init(_ text: String, target: @escaping @Sendable (String) -> String?) {
    self.target = target
    html = blocks(text.split(separator: "\n", omittingEmptySubsequences: false)[...])
  }

  // MARK: - Blocks

  private mutating func blocks(_ lines: ArraySlice<Substring>) -> String {
    var rest = lines
    var out = ""
    while let line = rest.first {
      let text = line.drop { $0 == " " }
      if text.isEmpty {
        rest = rest.dropFirst()
      } else if text.hasPrefix("```") {
        out += code(&rest)
      } else if let level = MarkdownPage.headingLevel(text) {
        out += heading(level, text.drop { $0 == "#" }.drop { $0 == " " })
        rest = rest.dropFirst()
      } else if MarkdownPage.isTable(rest) {
        out += table(&rest)
      } else if MarkdownPage.marker(line) != nil {
        out += list(&rest)
      } else if text.hasPrefix(">") {
        let quoted = rest.prefix { $0.drop { $0 == " " }.hasPrefix(">") }
        rest = rest.dropFirst(quoted.count)
        let inner = quoted.map { $0.drop { $0 == " " }.dropFirst().drop { $0 == " " } }
        out += "<blockquote>\n\(blocks(inner[...]))</blockquote>\n"
      } else {
        out += "<p>\(inline(paragraph(&rest)))</p>\n"
      }
    }
    return out
  }

  private func paragraph(_ rest: inout ArraySlice<Substring>) -> String {
    var lines: [Substring] = []
    while let line = rest.first, lines.isEmpty || !MarkdownPage.beginsBlock(rest) {
      lines.append(line.drop { $0 == " " })
      rest = rest.dropFirst()
    }
    return lines.joined(separator: "\n")
  }

  /// Whether a paragraph ends before the first of these lines.
  private static func beginsBlock(_ lines: ArraySlice<Substring>) -> Bool {
    guard let line = lines.first else { return true }
    let text = line.drop { $0 == " " }
    return text.isEmpty || text.hasPrefix("```") || text.hasPrefix(">") || headingLevel(text) != nil
      || isTable(lines) || marker(line) != nil
  }

  private static func headingLevel(_ text: Substring) -> Int? {
    let level = text.prefix { $0 == "#" }.count
    return (1...6).contains(level) && text.dropFirst(level).first == " " ? level : nil
  }

  private mutating func heading(_ level: Int, _ text: Substring) -> String {
    let words = inline(String(text))
    let plain = text.lowercased().unicodeScalars.map { scalar -> Character in
      ("a"..."z").contains(scalar) || ("0"..."9").contains(scalar) ? Character(scalar) : "-"
    }
    let name = String(plain).split(separator: "-").joined(separator: "-")
    var id = name
    var number = 2
    while headings.contains(where: { $0.id == id }) {
      id = "\(name)-\(number)"
      number += 1
    }
    if (2...3).contains(level) { headings.append(Heading(level: level, id: id, text: words)) }
    return "<h\(level) id=\"\(id)\">\(words)</h\(level)>\n"
  }

  private func code(_ rest: inout ArraySlice<Substring>) -> String {
    let indent = rest.first?.prefix { $0 == " " }.count ?? 0
    rest = rest.dropFirst()
    let lines = rest.prefix { !$0.drop { $0 == " " }.hasPrefix("```") }
    rest = rest.dropFirst(lines.count + 1)
    let text = lines.map { line in line.dropFirst(min(indent, line.prefix { $0 == " " }.count)) }
    // A scrolled text must be reached by keys as well.
    return "<pre class=\"code\" tabindex=\"0\">\(PlainPage.escaped(text.joined(separator: "\n")))</pre>\n"
  }

  // MARK: - Lists

  /// `- `, `* ` or `1. ` in front of an item: how wide it is, with the spaces before and after it.
  private static func marker(_ line: Substring) -> (width: Int, isOrdered: Bool)? {
    let indent = line.prefix { $0 == " " }.count
    let text = line.dropFirst(indent)
    let digits = text.prefix { $0.isASCII && $0.isNumber }.count
    let mark = text.dropFirst(digits).first
    let isOrdered = (1...3).contains(digits) && mark == "."
    guard isOrdered || (digits == 0 && (mark == "-" || mark == "*")) else { return nil }
    let after = text.dropFirst(digits + 1)
    guard after.first == " " else { return nil }
    return (indent + digits + 1 + after.prefix { $0 == " " }.count, isOrdered)
  }

  private mutating func list(_ rest: inout ArraySlice<Substring>) -> String {
    guard let first = rest.first, let (_, isOrdered) = MarkdownPage.marker(first) else { return "" }
    let indent = first.prefix { $0 == " " }.count
    var items = ""
    while let line = rest.first, let (width, isNumbered) = MarkdownPage.marker(line), isNumbered == isOrdered,
      line.prefix(while: { $0 == " " }).count == indent
    {
      var inner = [line.dropFirst(width)]
      rest = rest.dropFirst()
      while let next = rest.first {
        let depth = next.prefix { $0 == " " }.count
        let isBlank = next.allSatisfy { $0 == " " }
        // An empty line belongs to the item where the next one does.
        if isBlank {
          guard let following = rest.dropFirst().first(where: { !$0.allSatisfy { $0 == " " } }),
            following.prefix(while: { $0 == " " }).count >= width
          else { break }
        } else if depth < width, MarkdownPage.beginsBlock(rest) || depth <= indent && inner.last?.isEmpty == true {
          break
        }
        inner.append(next.dropFirst(min(width, depth)))
        rest = rest.dropFirst()
      }
      var text = blocks(inner[...])
      // A single paragraph needs no room around it.
      if text.hasPrefix("<p>"), text.firstRange(of: "<p>", after: 3) == nil, let end = text.firstRange(of: "</p>\n") {
        text = String(text[..<end.lowerBound].dropFirst(3)) + String(text[end.upperBound...])
      }
      items += "<li>\(text)</li>\n"
      // Items may stand apart.
      let blanks = rest.prefix { $0.allSatisfy { $0 == " " } }.count
      if let next = rest.dropFirst(blanks).first, let (_, isSame) = MarkdownPage.marker(next), isSame == isOrdered,
        next.prefix(while: { $0 == " " }).count == indent
      {
        rest = rest.dropFirst(blanks)
      }
    }
    let tag = isOrdered ? "ol" : "ul"
    return "<\(tag)>\n\(items)</\(tag)>\n"
  }

  // MARK: - Tables

  private static func isTable(_ lines: ArraySlice<Substring>) -> Bool {
    guard let first = lines.first, first.hasPrefix("|"), let second = lines.dropFirst().first else { return false }
    return second.hasPrefix("|") && second.contains("-") && second.allSatisfy { "|-: ".contains($0) }
  }

  private static func cells(_ line: Substring) -> [String] {
    var cells = [""]
    var isEscaped = false
    for character in line.dropFirst() {
      if isEscaped {
        // What stands behind a backslash is a letter like others, a bar too.
        cells[cells.count - 1] += character == "|" ? "|" : "\\\(character)"
        isEscaped = false
      } else if character == "\\" {
        isEscaped = true
      } else if character == "|" {
        cells.append("")
      } else {
        cells[cells.count - 1].append(character)
      }
    }
    return cells.dropLast().map { String($0.trimmedSpaces) }
  }

  private func table(_ rest: inout ArraySlice<Substring>) -> String {
    let rows = rest.prefix { $0.hasPrefix("|") }
    rest = rest.dropFirst(rows.count)
    let head = rows.first.map(MarkdownPage.cells) ?? []
    var out = "<div class=\"table\" tabindex=\"0\"><table>\n"
    if head.contains(where: { !$0.isEmpty }) {
      let titles = head.map { $0.isEmpty ? "<td></td>" : "<th scope=\"col\">\(inline($0))</th>" }
      out += "<thead><tr>\(titles.joined())</tr></thead>\n"
    }
    out += "<tbody>\n"
    for row in rows.dropFirst(2) {
      out += "<tr>\(MarkdownPage.cells(row).map { "<td>\(inline($0))</td>" }.joined())</tr>\n"
    }
    return out + "</tbody></table></div>\n"
  }

  // MARK: - Within a line

  private func inline(_ text: String) -> String {
    var out = ""
    var rest = text[...]
    while let character = rest.first {
      if let (html, after) = span(character, rest) {
        out += html
        rest = after
      } else {
        out += PlainPage.escaped(rest.prefix(1))
        rest = rest.dropFirst()
      }
    }
    return out
  }

  /// What begins here and is more than a letter, and what stands behind it.
  private func span(_ first: Character, _ rest: Substring) -> (html: String, rest: Substring)? {
    switch first {
    case "`":
      let ticks = rest.prefix { $0 == "`" }
      let inner = rest.dropFirst(ticks.count)
      guard let end = inner.firstRange(of: ticks) else { return nil }
      let words = String(inner[..<end.lowerBound]).trimmedSpaces
      return ("<code>\(PlainPage.escaped(words))</code>", inner[end.upperBound...])
    case "\\":
      guard let next = rest.dropFirst().first, "\\`*[]<>|#-_".contains(next) else { return nil }
      return (PlainPage.escaped(String(next)), rest.dropFirst(2))
    case "*":
      let (mark, tag) = rest.hasPrefix("**") ? ("**", "strong") : ("*", "em")
      let inner = rest.dropFirst(mark.count)
      guard let next = inner.first, next != " ", next != "*", let end = inner.firstRange(of: mark) else { return nil }
      return ("<\(tag)>\(inline(String(inner[..<end.lowerBound])))</\(tag)>", inner[end.upperBound...])
    case "[":
      guard let middle = rest.firstRange(of: "]("), let end = rest[middle.upperBound...].firstIndex(of: ")") else {
        return nil
      }
      let words = inline(String(rest[..<middle.lowerBound].dropFirst()))
      return (link(String(rest[middle.upperBound..<end]), words), rest[end...].dropFirst())
    case "<":
      let inner = rest.dropFirst()
      guard inner.hasPrefix("http") || inner.hasPrefix("doc:"), let end = inner.firstIndex(of: ">") else { return nil }
      let address = String(inner[..<end])
      let words = address.hasPrefix("doc:") ? String(address.dropFirst(4)) : address
      return (link(address, PlainPage.escaped(words)), inner[end...].dropFirst())
    default: return nil
    }
  }

  private func link(_ address: String, _ words: String) -> String {
    guard let target = target(address) else { return words }
    return "<a href=\"\(PlainPage.escaped(target))\">\(words)</a>"
  }
}

extension String {
  /// The first place of a text that begins so many characters after the start.
  fileprivate func firstRange(of text: String, after count: Int) -> Range<Index>? {
    self[(index(startIndex, offsetBy: count, limitedBy: endIndex) ?? endIndex)...].firstRange(of: text)
  }
}
