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
  /// What is unwise, and no reason to refuse the file.
  private(set) var warnings: [ConfigurationProblem] = []
  let overrides: ConfigurationOverrides
  /// Where the values that were asked for stand, by the paths of their keys.
  private var lines: [String: Int] = [:]

  init(_ text: String, file: String, overrides: ConfigurationOverrides = ConfigurationOverrides()) {
    self.file = file
    self.overrides = overrides
    guard text.utf8.count <= ConfigurationDocument.maximumBytes else {
      addProblem("has more than \(ConfigurationDocument.maximumBytes) bytes", at: nil)
      return
    }
    let findings = YAMLPrecheck(text, maximumDepth: ConfigurationDocument.maximumDepth).findings
    for finding in findings {
      switch finding {
      case .tooDeep(let line):
        addProblem(
          "lists and mappings stand more than \(ConfigurationDocument.maximumDepth) deep in each other",
          line: line, column: nil)
      case .anchor(let line, let column):
        addProblem(
          "anchors (&name) and aliases (*name) are not read here: write the values out, or quote a text that begins so",
          line: line, column: column, fix: "write the values out, or quote a text that begins so")
      }
    }
    guard findings.isEmpty else { return }
    do {
      root = try Yams.compose(yaml: text)
    } catch let error as YamlError {
      addProblem(error)
    } catch {
      addProblem("cannot be read: \(error)", at: nil)
    }
  }

  /// Whether no key stands in it.
  var isEmpty: Bool { root?.mapping?.isEmpty ?? true }

  /// - Parameter fix: what to write instead, where it is known.
  func addProblem(_ problem: String, at mark: Mark?, fix: String? = nil) {
    addProblem(problem, line: mark?.line, column: mark?.column, fix: fix)
  }

  private func addProblem(_ problem: String, line: Int?, column: Int?, fix: String? = nil) {
    guard problems.count < ConfigurationProblems.maximum else { return }
    problems.append(ConfigurationProblem(file: file, line: line, column: column, problem: problem, fix: fix))
  }

  /// Adds a problem of a value that stands outside the file.
  func addProblem(_ problem: String, origin: ConfigurationOrigin, fix: String? = nil) {
    guard problems.count < ConfigurationProblems.maximum else { return }
    problems.append(ConfigurationProblem(file: origin.description, line: nil, column: nil, problem: problem, fix: fix))
  }

  func warn(_ problem: String, at mark: Mark?) {
    guard warnings.count < ConfigurationProblems.maximum else { return }
    warnings.append(ConfigurationProblem(file: file, line: mark?.line, column: mark?.column, problem: problem))
  }

  func found(_ path: String, at mark: Mark?) {
    if let line = mark?.line { lines[path] = line }
  }

  /// Where the value of a key comes from.
  func origin(of path: String) -> ConfigurationOrigin {
    overrides[path]?.origin ?? lines[path].map { .file(line: $0) } ?? .standard
  }

  /// - Throws: Everything that was noted, by place.
  func finish() throws(ConfigurationProblems) {
    guard problems.isEmpty else {
      throw ConfigurationProblems(problems.sorted { ($0.line ?? 0, $0.column ?? 0) < ($1.line ?? 0, $1.column ?? 0) })
    }
  }

  private func addProblem(_ error: YamlError) {
    switch error {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      addProblem("is no YAML here: \(problem)", at: mark)
    case .duplicatedKeysInMapping(let duplicates, let context):
      addProblem(
        "'\(duplicates.joined(separator: "', '"))' stands here more than once", at: context.mark,
        fix: "leave one of them")
    case .reader(let problem, _, _, _): addProblem("is no YAML: \(problem)", at: nil)
    default: addProblem("cannot be read: \(error)", at: nil)
    }
  }
}
