import Foundation
import Testing

/// A session at the command line, compared with the one on record to the last byte.
/// `LANDLINE_RECORD=1` writes what happened in place of comparing.
struct GoldenTranscript: Sendable, CustomTestStringConvertible {
  let name: String
  var hasLedger = true
  var environment: [String: String] = [:]
  /// Files that lie beside the ledger.
  var files: [String: String] = [:]
  /// Command lines without the leading `landline`; single quotes group words.
  let commands: [String]

  var testDescription: String { name }

  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Golden")

  func play() async throws -> String {
    let process = try await LandlineProcess(hasLedger: hasLedger)
    defer { process.remove() }
    for (name, content) in files {
      try Data(content.utf8).write(to: process.folder.appendingPathComponent(name))
    }
    var text = ""
    for command in commands {
      let result = try await process.run(Self.words(command), environment: environment)
      text += "$ landline \(command)\n"
      text += Self.visible(result.output)
      if !result.diagnostics.isEmpty { text += "--- stderr\n" + Self.visible(result.diagnostics) }
      text += "--- exit \(result.status)\n\n"
    }
    return text
  }

  func check() async throws {
    let played = try await play()
    let file = Self.folder.appendingPathComponent("\(name).txt")
    if ProcessInfo.processInfo.environment["LANDLINE_RECORD"] == "1" {
      try Data(played.utf8).write(to: file)
      return
    }
    let recorded = String(decoding: try Data(contentsOf: file), as: UTF8.self)
    guard played != recorded else { return }
    let pairs = zip(
      played.split(separator: "\n", omittingEmptySubsequences: false),
      recorded.split(separator: "\n", omittingEmptySubsequences: false))
    let difference = pairs.enumerated().first { $0.element.0 != $0.element.1 }
    Issue.record(
      """
      \(name).txt line \((difference?.offset ?? 0) + 1)
      expected: \(difference?.element.1 ?? "another length")
      played:   \(difference?.element.0 ?? "another length")
      """)
  }

  static func words(_ command: String) -> [String] {
    var words: [String] = []
    var word = ""
    var isQuoted = false
    var hasWord = false
    for character in command {
      switch character {
      case "'":
        isQuoted.toggle()
        hasWord = true
      case " " where !isQuoted:
        if hasWord { words.append(word) }
        word = ""
        hasWord = false
      default:
        word.append(character)
        hasWord = true
      }
    }
    if hasWord { words.append(word) }
    return words
  }

  /// Carriage returns and escapes made visible, generated keys made equal, an unfinished line marked.
  private static func visible(_ text: String) -> String {
    var shown = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\r": shown += "␍"
      case "\u{1B}": shown += "␛"
      default: shown.unicodeScalars.append(scalar)
      }
    }
    shown = shown.replacing(/cli-[a-z2-7]{16}/, with: "cli-GENERATED")
    return shown.isEmpty || shown.hasSuffix("\n") ? shown : shown + "␄\n"
  }
}
