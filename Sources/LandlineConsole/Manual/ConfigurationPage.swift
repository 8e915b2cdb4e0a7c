import CallModel
import Foundation

/// The manual page of the configuration (section 5), out of a file whose comments say what each key means.
struct ConfigurationPage {
  let text: String
  /// Of the file.
  private static let maximumBytes = 1024 * 1024

  /// - Throws: ``ConsoleError`` where the file cannot be read or explains nothing.
  init(path: String, date: String) throws {
    guard let data = FileManager.default.contents(atPath: path), data.count <= ConfigurationPage.maximumBytes else {
      throw ConsoleError(.notFound, code: "manual.configuration", "the file cannot be read", at: path)
    }
    let lines = String(decoding: data, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    let head = lines.prefix { $0.hasPrefix("#") }.map { String($0.dropFirst().drop { $0 == " " }) }
    let entries = ConfigurationPage.entries(lines.dropFirst(head.count).map(String.init))
    guard !head.isEmpty, !entries.isEmpty else {
      throw ConsoleError(
        .configurationBroken, code: "manual.configuration", "the file explains no key", at: path,
        fix: "the file Config/landline.yaml of the source")
    }
    var page = ManualText(
      name: "landline.yaml", section: 5, abstract: "configuration of a Landline gateway", date: date)
    page.heading("DESCRIPTION")
    for (index, paragraph) in head.split(whereSeparator: \.isEmpty).enumerated() {
      if index > 0 { page.macro("Pp") }
      let commands = paragraph.filter { $0.hasPrefix("landline ") }
      if commands.isEmpty {
        page.sentences(paragraph.joined(separator: " "))
      } else {
        for command in commands { page.literal(command) }
      }
    }
    page.macro("Pp")
    page.sentences("The keys are these, each with the value that the file of the source shows:")
    page.macro("Bl -tag -width Ds")
    for entry in entries {
      page.macro(
        "It Li \(ManualText.words(entry.path))" + (entry.value.isEmpty ? "" : " No \(ManualText.words(entry.value))"))
      page.sentences(entry.meaning.isEmpty ? "As the keys around it." : entry.meaning)
    }
    page.macro("El")
    page.heading("FILES")
    page.macro("Bl -tag -width Ds")
    for file in ["~/.config/landline/landline.yaml", "/etc/landline/landline.yaml"] {
      page.macro("It Pa \(file)")
      page.sentences("Read where neither --config nor LANDLINE_CONFIG names another.")
    }
    page.macro("El")
    page.heading("EXAMPLES")
    page.literal("landline serve --check --config /etc/landline/landline.yaml")
    page.heading("SEE ALSO")
    page.macro("Xr landline 1 ,")
    page.macro("Xr landline-serve 1")
    text = page.text
  }

  private struct Entry {
    var path: String
    var value: String
    var meaning: String
  }

  /// Keys in their order, those that are commented out included.
  private static func entries(_ lines: [String]) -> [Entry] {
    var entries: [Entry] = []
    var parents: [(indent: Int, name: String)] = []
    var comment: [String] = []
    for line in lines {
      let indent = line.prefix { $0 == " " }.count
      var rest = line.dropFirst(indent)
      if rest.isEmpty {
        comment = []
        continue
      }
      let isComment = rest.hasPrefix("# ")
      var place = indent
      // What stands under a key that is commented out is indented behind the mark, and has comments of its own.
      while rest.hasPrefix("# ") {
        let blanks = rest.dropFirst(2).prefix { $0 == " " }.count
        rest = rest.dropFirst(2 + blanks)
        place += blanks
      }
      while rest.hasPrefix("- ") {
        rest = rest.dropFirst(2)
        place += 2
      }
      guard let match = rest.prefixMatch(of: /([a-z][a-z0-9-]*):(?: (.*))?$/) else {
        if isComment { comment.append(String(rest)) }
        continue
      }
      parents.removeAll { $0.indent >= place }
      let name = String(match.1)
      entries.append(
        Entry(
          path: (parents.map(\.name) + [name]).joined(separator: "."), value: String(match.2 ?? ""),
          meaning: comment.joined(separator: " ")))
      parents.append((place, name))
      comment = []
    }
    return entries
  }
}
