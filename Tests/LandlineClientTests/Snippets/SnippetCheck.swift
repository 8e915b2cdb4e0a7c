import Foundation

/// Holds documentation to the code: every block of Swift in a Markdown file must be a marked region of a file that is
/// compiled and run.
///
/// A region stands between `// snippet: NAME` and `// end snippet`. Imports in a block are passed over, since a region
/// stands inside a function; indentation and blank lines at either end do not count.
enum SnippetCheck {
  /// The blocks that begin with ```` ```swift ````.
  static func blocks(in markdown: String) -> [String] {
    var blocks: [String] = []
    var block: [String]?
    for line in markdown.components(separatedBy: "\n") {
      if let lines = block {
        if line.hasPrefix("```") {
          blocks.append(normal(lines.filter { !$0.hasPrefix("import ") }))
          block = nil
        } else {
          block = lines + [line]
        }
      } else if line.hasPrefix("```swift") {
        block = []
      }
    }
    return blocks
  }

  /// The marked regions by their names.
  static func regions(in source: String) -> [String: String] {
    var regions: [String: String] = [:]
    var current: (name: String, lines: [String])?
    for line in source.components(separatedBy: "\n") {
      let text = line.trimmingCharacters(in: .whitespaces)
      if text.hasPrefix("// snippet: ") {
        current = (String(text.dropFirst("// snippet: ".count)), [])
      } else if text == "// end snippet" {
        if let current { regions[current.name] = normal(current.lines) }
        current = nil
      } else {
        current?.lines.append(line)
      }
    }
    return regions
  }

  /// Blocks of the Markdown file that are no region of the source file.
  static func strangers(inMarkdown markdownPath: String, source sourcePath: String) throws -> [String] {
    let regions = Set(try regions(in: String(contentsOfFile: sourcePath, encoding: .utf8)).values)
    return try blocks(in: String(contentsOfFile: markdownPath, encoding: .utf8)).filter { !regions.contains($0) }
  }

  private static func normal(_ lines: [String]) -> String {
    let lines = lines.map { line in line.allSatisfy(\.isWhitespace) ? "" : line }
    let depth = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
    return lines.map { String($0.dropFirst(depth)) }.joined(separator: "\n").trimmingCharacters(in: .newlines)
  }
}
