import CallModel
import Foundation

/// Lines of a manual page in mdoc(7).
struct ManualText {
  private(set) var text: String
  /// Longest line of running text.
  private static let width = 78

  /// - Parameters:
  ///   - name: `landline-call`.
  ///   - section: 1 for commands, 5 for files.
  init(name: String, section: Int, abstract: String, date: String) {
    text = ".Dd \(date)\n.Dt \(name.uppercased()) \(section)\n.Os\n"
    heading("NAME")
    text += ".Nm \(name)\n.Nd \(ManualText.escaped(abstract.hasSuffix(".") ? String(abstract.dropLast()) : abstract))\n"
  }

  mutating func heading(_ title: String) { text += ".Sh \(title)\n" }

  /// A line of macros and their words, which are not escaped.
  mutating func macro(_ line: String) { text += ".\(line)\n" }

  /// Running text: each sentence begins a line, as the format wants it.
  mutating func sentences(_ running: String) {
    let words = running.split(whereSeparator: \.isWhitespace).map { ManualText.escaped(String($0)) }
    var line = ""
    for word in words {
      if !line.isEmpty, line.count + 1 + word.count > ManualText.width { flush(&line) }
      line += (line.isEmpty ? "" : " ") + word
      if word.hasSuffix(".") || word.hasSuffix("?") || word.hasSuffix("!") { flush(&line) }
    }
    flush(&line)
  }

  private mutating func flush(_ line: inout String) {
    guard !line.isEmpty else { return }
    // A line that begins so would be a macro.
    text += (line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" : "") + line + "\n"
    line = ""
  }

  /// One line to be typed.
  mutating func literal(_ line: String) { text += ".Dl \(ManualText.words(line))\n" }

  static func escaped(_ text: String) -> String { text.replacing("\\", with: "\\e") }

  /// Words on a line of macros: none of them is one, and quotes are no quoting.
  static func words(_ text: String) -> String {
    text.split(separator: " ").map { "\\&" + escaped(String($0)).replacing("\"", with: "\\(dq") }.joined(separator: " ")
  }
}

extension Console {
  /// `November 23, 2026`, as manual pages write dates.
  package func today() throws -> String {
    let names = [
      "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
      "December",
    ]
    let parts = "\(try now())".prefix(10).split(separator: "-").compactMap { Int($0) }
    guard parts.count == 3, names.indices.contains(parts[1] - 1) else { return "\(try now())" }
    return "\(names[parts[1] - 1]) \(parts[2]), \(parts[0])"
  }
}
