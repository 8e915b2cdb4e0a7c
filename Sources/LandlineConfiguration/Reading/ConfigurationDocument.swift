internal import Yams

/// A YAML file on its way to becoming a configuration: collects every problem instead of stopping at the first.
final class ConfigurationDocument {
  /// Most bytes of a configuration file.
  static let maximumBytes = 1 << 20
  /// Most lists and mappings inside each other.
  static let maximumDepth = 16

  let file: String
  private(set) var problems: [ConfigurationProblem] = []
  private(set) var root: Node?

  init(_ text: String, file: String) {
    self.file = file
    guard text.utf8.count <= ConfigurationDocument.maximumBytes else {
      note("has more than \(ConfigurationDocument.maximumBytes) bytes", at: nil)
      return
    }
    guard !ConfigurationDocument.isTooDeep(text) else {
      note("nests lists and mappings more than \(ConfigurationDocument.maximumDepth) deep", at: nil)
      return
    }
    do {
      root = try Yams.compose(yaml: text)
    } catch let error as YamlError {
      note(error)
    } catch {
      note("cannot be read: \(error)", at: nil)
    }
  }

  func note(_ problem: String, at mark: Mark?) {
    guard problems.count < ConfigurationProblems.maximum else { return }
    problems.append(ConfigurationProblem(file: file, line: mark?.line, column: mark?.column, problem: problem))
  }

  /// - Throws: Everything that was noted, by place.
  func finish() throws(ConfigurationProblems) {
    guard problems.isEmpty else {
      throw ConfigurationProblems(problems.sorted { ($0.line ?? 0, $0.column ?? 0) < ($1.line ?? 0, $1.column ?? 0) })
    }
  }

  private func note(_ error: YamlError) {
    switch error {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      note("is no YAML here: \(problem)", at: mark)
    case .duplicatedKeysInMapping(let duplicates, let context):
      note("'\(duplicates.joined(separator: "', '"))' stands here more than once", at: context.mark)
    case .reader(let problem, _, _, _): note("is no YAML: \(problem)", at: nil)
    default: note("cannot be read: \(error)", at: nil)
    }
  }

  /// The reader of YAML descends without a bound of its own. Flow style nests by brackets, block style by columns and
  /// by dashes on one line.
  private static func isTooDeep(_ text: String) -> Bool {
    var brackets = 0
    for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
      let indent = line.prefix { $0 == UInt8(ascii: " ") }.count
      var dashes = 0
      scan: for byte in line.dropFirst(indent) {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "?"): dashes += 1
        case UInt8(ascii: " "): continue
        default: break scan
        }
      }
      // A marker between documents is dashes as well.
      if indent / 2 + (indent == 0 && dashes == 3 ? 0 : dashes) > maximumDepth { return true }
      for byte in line {
        if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{") { brackets += 1 }
        if byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}") { brackets = max(0, brackets - 1) }
      }
      if brackets > maximumDepth { return true }
    }
    return false
  }
}
