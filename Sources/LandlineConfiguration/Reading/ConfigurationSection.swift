import CallModel
internal import Yams

/// One mapping of a configuration file, read key by key; what was not asked for by ``finish()`` is a problem.
final class ConfigurationSection {
  /// `trunks.carrier-a`, empty for the whole file.
  let path: String
  let document: ConfigurationDocument
  private let mark: Mark?
  private var entries: [(key: String, mark: Mark?, node: Node)] = []
  private var known: Set<String> = []
  private var retired: Set<String> = []

  /// An empty file is an empty mapping.
  init(_ document: ConfigurationDocument) {
    self.document = document
    path = ""
    mark = document.root?.mark
    if let root = document.root, !ConfigurationSection.isEmpty(root) { readEntries(of: root) }
  }

  /// A mapping that is not in the file; values from outside may still fill it.
  private init(missing path: String, of document: ConfigurationDocument) {
    self.document = document
    self.path = path
    mark = nil
  }

  private init(_ node: Node, path: String, of document: ConfigurationDocument) {
    self.document = document
    self.path = path
    mark = node.mark
    if !ConfigurationSection.isEmpty(node) { readEntries(of: node) }
  }

  private static func isEmpty(_ node: Node) -> Bool {
    if case .scalar(let scalar) = node, scalar.string.isEmpty || scalar.string == "~" { return true }
    return false
  }

  private func readEntries(of node: Node) {
    guard case .mapping(let mapping) = node else {
      addProblem("must hold keys, as in 'name: value'", at: node.mark, fix: "keys with values, as in 'name: value'")
      return
    }
    for (key, value) in mapping {
      guard case .scalar(let scalar) = key else {
        addProblem("has a key that is no text", at: key.mark)
        continue
      }
      entries.append((scalar.string, scalar.mark, value))
    }
  }

  /// - Parameter fix: what to write instead, where it is known.
  func addProblem(_ problem: String, at mark: Mark?, fix: String? = nil) {
    document.addProblem(path.isEmpty ? problem : "\(path): \(problem)", at: mark ?? self.mark, fix: fix)
  }

  /// Adds a problem with the value of a key.
  /// - Parameter fix: what the value could be, where it is known.
  func addProblem(_ key: String, _ problem: String, fix: String? = nil) {
    let fix = fix.map { "\(name(key)): \($0)" }
    if let origin = document.overrides[name(key)]?.origin {
      return document.addProblem(problem, origin: origin, fix: fix)
    }
    let entry = entries.first { $0.key == key }
    document.addProblem("\(name(key)): \(problem)", at: entry?.node.mark ?? entry?.mark ?? mark, fix: fix)
  }

  /// Adds a warning of what is unwise about a key, or about the whole section.
  func warn(_ key: String?, _ problem: String) {
    guard let key else { return document.warn(path.isEmpty ? problem : "\(path): \(problem)", at: mark) }
    let entry = entries.first { $0.key == key }
    document.warn("\(name(key)): \(problem)", at: entry?.node.mark ?? entry?.mark ?? mark)
  }

  func name(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

  /// Adds a problem for a key of former versions, with what takes its place.
  func retired(_ key: String, _ problem: String) {
    retired.insert(key)
    if entries.contains(where: { $0.key == key }) { addProblem(key, problem) }
  }

  /// Reports every key that nobody asked for. Call it once all were.
  func finish() {
    for entry in entries where !known.contains(entry.key) && !retired.contains(entry.key) {
      let nearest = Spelling.nearest(to: entry.key, among: known.sorted())
      let hint = nearest.map { " (did you mean '\($0)'?)" } ?? "; known here: \(known.sorted().joined(separator: ", "))"
      addProblem(
        "unknown key '\(CallFailure.shortened(entry.key))'\(hint)", at: entry.mark,
        fix: nearest.map { "write '\($0)'" } ?? "leave '\(CallFailure.shortened(entry.key))' out")
    }
  }

  // MARK: Values

  private func node(_ key: String) -> Node? {
    known.insert(key)
    guard let node = entries.first(where: { $0.key == key })?.node else { return nil }
    guard !ConfigurationSection.isEmpty(node) || isQuoted(node) else { return nil }
    document.found(name(key), at: node.mark)
    return node
  }

  private func isQuoted(_ node: Node) -> Bool {
    if case .scalar(let scalar) = node { return scalar.style == .singleQuoted || scalar.style == .doubleQuoted }
    return false
  }

  /// Whether the key stands there with a value, good or not.
  func has(_ key: String) -> Bool { node(key) != nil }

  func text(_ key: String) -> String? {
    let text: String
    if let override = document.overrides[name(key)] {
      known.insert(key)
      text = override.text
    } else {
      guard let node = node(key) else { return nil }
      guard case .scalar(let scalar) = node else {
        addProblem(key, "must be a text")
        return nil
      }
      text = scalar.string
    }
    guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
      addProblem(key, "holds a control character")
      return nil
    }
    return text
  }

  func requiredText(_ key: String) -> String? {
    let had = node(key) != nil
    let text = text(key)
    if !had { addProblem("'\(key)' is missing", at: mark, fix: "add '\(key): …' under \(path)") }
    return text
  }

  func flag(_ key: String) -> Bool? {
    guard let text = text(key) else { return nil }
    switch text {
    case "true", "yes", "on": return true
    case "false", "no", "off": return false
    default:
      addProblem(key, "'\(CallFailure.shortened(text))' is neither true nor false", fix: "true or false")
      return nil
    }
  }

  func number(_ key: String, in range: ClosedRange<Int>) -> Int? {
    guard let text = text(key) else { return nil }
    guard let number = Int(text), range.contains(number) else {
      let accepted = "a whole number from \(range.lowerBound) to \(range.upperBound)"
      addProblem(key, "'\(CallFailure.shortened(text))' is no\(accepted.dropFirst())", fix: accepted)
      return nil
    }
    return number
  }

  /// Milliseconds of a duration: `500ms`, `30s`, `5m`, `1h`, `90d`.
  func milliseconds(_ key: String, in range: ClosedRange<Int64>) -> Int64? {
    text(key).flatMap { milliseconds(key, $0, in: range) }
  }

  /// Seconds of a duration that is a whole number of them.
  func seconds(_ key: String, in range: ClosedRange<Int64>) -> Int64? {
    guard let time = milliseconds(key, in: range.lowerBound * 1000...range.upperBound * 1000) else { return nil }
    guard time % 1000 == 0 else {
      addProblem(key, "\(time)ms is no whole number of seconds", fix: "\(time / 1000)s")
      return nil
    }
    return time / 1000
  }

  func milliseconds(_ key: String, _ text: String, in range: ClosedRange<Int64>) -> Int64? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let unit: Int64? =
      switch text.dropFirst(digits.count) {
      case "ms": 1
      case "s": 1000
      case "m": 60_000
      case "h": 3_600_000
      case "d": 86_400_000
      default: nil
      }
    let bounds =
      "\(ConfigurationSection.duration(range.lowerBound)) to \(ConfigurationSection.duration(range.upperBound))"
    guard let number = Int64(digits), let unit else {
      addProblem(key, "'\(CallFailure.shortened(text))' is no duration, such as 500ms, 30s, 5m, 1h or 90d", fix: bounds)
      return nil
    }
    let (product, overflow) = number.multipliedReportingOverflow(by: unit)
    guard !overflow, range.contains(product) else {
      addProblem(key, "\(text) is out of range: \(bounds)", fix: bounds)
      return nil
    }
    return product
  }

  private static func duration(_ milliseconds: Int64) -> String {
    milliseconds % 1000 == 0 ? "\(milliseconds / 1000)s" : "\(milliseconds)ms"
  }

  /// One of a few words.
  func choice<Choice: CaseIterable & RawRepresentable<String>>(_ key: String, _ type: Choice.Type) -> Choice? {
    guard let text = text(key) else { return nil }
    if let choice = Choice(rawValue: text) { return choice }
    let words = Choice.allCases.map(\.rawValue)
    let nearest = Spelling.nearest(to: text, among: words)
    let hint = nearest.map { " (did you mean '\($0)'?)" } ?? ""
    addProblem(
      key, "'\(CallFailure.shortened(text))' is none of \(words.joined(separator: ", "))\(hint)",
      fix: nearest ?? "one of \(words.joined(separator: ", "))")
    return nil
  }

  /// A value of the model.
  func value<Value>(_ key: String, _ make: (String) throws -> Value) -> Value? {
    guard let text = text(key) else { return nil }
    do {
      return try make(text)
    } catch let error as InvalidValue {
      addProblem(key, "\(error.problem); accepted: \(error.accepted)", fix: error.accepted)
    } catch {
      addProblem(key, "\(error)")
    }
    return nil
  }

  /// A value of the model, from one entry of a list.
  func entry<Value>(
    _ key: String, _ entry: (text: String, index: Int), _ make: (String) throws(InvalidValue) -> Value
  ) -> Value? {
    do throws(InvalidValue) {
      return try make(entry.text)
    } catch {
      addProblem(
        key, "entry \(entry.index + 1): \(error.problem); accepted: \(error.accepted)", fix: error.accepted)
      return nil
    }
  }

  /// A list of texts; a single text is a list of one.
  func texts(_ key: String, atMost maximum: Int) -> [(text: String, index: Int)]? {
    guard let node = node(key) else { return nil }
    let nodes: [Node]
    switch node {
    case .sequence(let sequence): nodes = Array(sequence)
    case .scalar: nodes = [node]
    default:
      addProblem(key, "must be a list of texts")
      return nil
    }
    guard nodes.count <= maximum else {
      addProblem(key, "has more than \(maximum) entries")
      return nil
    }
    var texts: [(String, Int)] = []
    for (index, node) in nodes.enumerated() {
      guard case .scalar(let scalar) = node else {
        addProblem(key, "entry \(index + 1) is no text")
        continue
      }
      texts.append((scalar.string, index))
    }
    return texts
  }

  // MARK: Sections

  /// A mapping inside this one.
  func section(_ key: String) -> ConfigurationSection? {
    node(key).map { ConfigurationSection($0, path: name(key), of: document) }
  }

  /// A mapping inside this one, empty where the file has none.
  func sectionOrEmpty(_ key: String) -> ConfigurationSection {
    section(key) ?? ConfigurationSection(missing: name(key), of: document)
  }

  /// A list of mappings.
  func sections(_ key: String, atMost maximum: Int) -> [ConfigurationSection] {
    guard let node = node(key) else { return [] }
    guard case .sequence(let sequence) = node else {
      addProblem(key, "must be a list: each entry starts with '- '", fix: "a list, whose entries start with '- '")
      return []
    }
    guard sequence.count <= maximum else {
      addProblem(key, "has more than \(maximum) entries")
      return []
    }
    return sequence.enumerated().map {
      ConfigurationSection($0.element, path: "\(name(key))[\($0.offset + 1)]", of: document)
    }
  }

  /// A mapping from names to mappings, in the order of the file.
  func named(_ key: String, atMost maximum: Int) -> [(name: String, section: ConfigurationSection)] {
    guard let section = section(key) else { return [] }
    guard section.entries.count <= maximum else {
      addProblem(key, "has more than \(maximum) entries")
      return []
    }
    return section.entries.map {
      ($0.key, ConfigurationSection($0.node, path: "\(section.path).\($0.key)", of: document))
    }
  }
}
