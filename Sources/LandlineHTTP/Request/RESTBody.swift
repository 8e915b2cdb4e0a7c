package import CallModel
import LedgerCore

/// The members of a JSON body, checked against those that a route knows; every refusal names where it stood.
package struct RESTBody: Sendable {
  package struct Member: Sendable {
    package enum Kind: Sendable {
      case text
      /// A decimal text such as `12.50`.
      case amount
      case integer
      case flag
      case destination
      /// Texts by name.
      case texts
      /// A list of texts, at most so many.
      case list(Int)
      /// A list of objects of a schema, at most so many.
      case objects(schema: String, Int)
    }
    package var name: String
    package var kind: Kind
    package var isRequired = false
    package var description: String

    package init(name: String, kind: Kind, isRequired: Bool = false, description: String) {
      self.name = name
      self.kind = kind
      self.isRequired = isRequired
      self.description = description
    }
  }

  /// Most that a body may hold. Its bytes were counted when it arrived.
  package static let limits = JSONReader.Limits(bytes: .max, depth: 32)

  private let members: [String: JSONValue]
  /// Stands before names in what is wrong: `targets[1].`; empty for a whole body.
  let path: String

  /// The body of a request that has none.
  init() {
    members = [:]
    path = ""
  }

  private init(_ object: JSONObject, path: String) {
    members = Dictionary(object.members.map { ($0.name, $0.value) }) { first, _ in first }
    self.path = path
  }

  /// - Parameters:
  ///   - type: the value of Content-Type.
  ///   - known: what may stand there.
  /// - Throws: ``Problem``.
  package init(_ bytes: [UInt8], type: String?, _ known: [Member]) throws {
    members = try RESTBody.members(of: bytes, type: type, known)
    path = ""
  }

  private static func members(
    of bytes: [UInt8], type: String?, _ known: [Member]
  ) throws -> [String: JSONValue] {
    if bytes.isEmpty, !known.contains(where: { $0.isRequired }) { return [:] }
    let type = (type ?? "").prefix { $0 != ";" }.lowercased()
    guard type.trimmedSpaces == "application/json" else {
      throw Problem(.mediaType, type.isEmpty ? "the body's type is not given" : "\(type.prefix(64)) is not read here")
    }
    let tree: JSONValue
    do {
      tree = try JSONReader.read(bytes, limits)
    } catch {
      throw RESTBody.malformed(error)
    }
    guard case .object(let found) = tree else {
      throw Problem(.bodyShape, "the body is \(RESTBody.word(tree))", fix: "an object: {…}")
    }
    let names = known.map { $0.name }
    for member in found.members where !names.contains(member.name) {
      throw RESTBody.unknown(
        member.name, Spelling.nearest(to: member.name, among: names), known: names.joined(separator: ", "))
    }
    for member in known where member.isRequired && (tree[member.name] ?? .null) == .null {
      throw Problem(
        .memberMissing, "\(member.name) is missing", fix: member.description,
        members: [("member", .string(member.name))])
    }
    return Dictionary(found.members.map { ($0.name, $0.value) }) { first, _ in first }
  }

  private static func malformed(_ problem: JSONProblem) -> Problem {
    let words =
      if case .duplicate(let name) = problem.kind {
        "the member \(name) stands here a second time"
      } else {
        problem.problem
      }
    return Problem(
      .jsonMalformed, "byte \(problem.offset): \(words)", members: [("position", .integer(Int64(problem.offset)))])
  }

  /// What a person calls this kind of value.
  private static func word(_ value: JSONValue) -> String {
    switch value {
    case .boolean: "true or false"
    case .string: "a text"
    case .array: "a list"
    case .null, .integer, .number, .object: value.kind
    }
  }

  // MARK: - Values

  package func text(_ name: String) throws -> String? {
    switch members[name] {
    case nil, .null: return nil
    case .string(let text): return text
    default: throw RESTBody.invalid(path + name, "a text is wanted here", fix: "\"\(name)\": \"…\"")
    }
  }

  package func required(_ name: String) throws -> String { try text(name) ?? "" }

  package func integer(_ name: String) throws -> Int64? {
    switch members[name] {
    case nil, .null: return nil
    case .integer(let value): return value
    default: throw RESTBody.invalid(path + name, "a whole number is wanted here", fix: nil)
    }
  }

  package func flag(_ name: String) throws -> Bool? {
    switch members[name] {
    case nil, .null: return nil
    case .boolean(let value): return value
    default: throw RESTBody.invalid(path + name, "true or false is wanted here", fix: nil)
    }
  }

  package func note(_ name: String) throws -> String {
    let text = try text(name) ?? ""
    guard text.utf8.count <= LedgerOperation.maximumDetailBytes else {
      throw RESTBody.invalid(name, "more than \(LedgerOperation.maximumDetailBytes) bytes", fix: "a shorter text")
    }
    guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
      throw RESTBody.invalid(name, "a control character", fix: "one line of plain text")
    }
    return text
  }

  package func amount(_ name: String, _ currency: Currency) throws -> Credits? {
    try text(name).map { text in
      try RESTBody.value(name) { () throws(InvalidValue) in try Credits(parsing: text, currency) }
    }
  }

  /// An amount above zero.
  package func positive(_ name: String, _ currency: Currency) throws -> Credits? {
    guard let amount = try amount(name, currency) else { return nil }
    guard amount.micros > .zero else {
      throw RESTBody.invalid(name, "an amount above zero is wanted here", fix: "an amount such as 12.50")
    }
    return amount
  }

  package func name<Name: LedgerName>(_ member: String, as type: Name.Type) throws -> Name? {
    try text(member).map { text in
      try RESTBody.value(member) { () throws(InvalidValue) in try Name(validating: text) }
    }
  }

  package func destination(_ name: String) throws -> (kind: Destination.Kind, target: String) {
    guard case .object(let object)? = members[name] else {
      throw RESTBody.invalid(name, "an object with kind and target is wanted here", fix: nil)
    }
    for member in object.members where member.name != "kind" && member.name != "target" {
      throw RESTBody.unknown(
        "\(name).\(member.name)", Spelling.nearest(to: member.name, among: ["kind", "target"]).map { "\(name).\($0)" },
        known: "kind and target")
    }
    guard case .string(let kindText)? = object["kind"],
      let kind = Destination.Kind(rawValue: kindText)
    else {
      throw RESTBody.invalid(
        "\(name).kind", "not a kind of destination",
        fix: Destination.Kind.allCases.map { $0.rawValue }.joined(separator: ", "))
    }
    guard case .string(let target)? = object["target"] else {
      throw RESTBody.invalid("\(name).target", "a text is wanted here", fix: "+46701234567, sip:alice@example.com")
    }
    return (kind, target)
  }

  package func texts(_ name: String) throws -> [String: String] {
    guard let value = members[name], value != .null else { return [:] }
    guard case .object(let object) = value else {
      throw RESTBody.invalid(name, "an object of texts is wanted here", fix: nil)
    }
    var texts: [String: String] = [:]
    for member in object.members {
      guard case .string(let text) = member.value else {
        throw RESTBody.invalid("\(name).\(member.name)", "a text is wanted here", fix: nil)
      }
      texts[member.name] = text
    }
    return texts
  }

  /// A list of texts; `nil` where the member is not there.
  package func list(_ name: String, atMost maximum: Int) throws -> [String]? {
    try elements(name, atMost: maximum)?.enumerated().map { index, element in
      guard case .string(let text) = element else {
        throw RESTBody.invalid("\(path)\(name)[\(index)]", "a text is wanted here", fix: nil)
      }
      return text
    }
  }

  /// The objects of a list, each a body of its own: what is wrong in one is told with its place.
  func objects(_ name: String, atMost maximum: Int, _ known: [Member]) throws -> [RESTBody]? {
    try elements(name, atMost: maximum)?.enumerated().map { index, element in
      let place = "\(path)\(name)[\(index)]"
      guard case .object(let object) = element else {
        throw RESTBody.invalid(place, "an object is wanted here", fix: "{…}")
      }
      let names = known.map { $0.name }
      for member in object.members where !names.contains(member.name) {
        throw RESTBody.unknown(
          "\(place).\(member.name)", Spelling.nearest(to: member.name, among: names).map { "\(place).\($0)" },
          known: names.joined(separator: ", "))
      }
      return RESTBody(object, path: "\(place).")
    }
  }

  private func elements(_ name: String, atMost maximum: Int) throws -> [JSONValue]? {
    switch members[name] {
    case nil, .null: return nil
    case .array(let elements):
      guard elements.count <= maximum else {
        throw RESTBody.invalid(path + name, "more than \(maximum) entries", fix: "at most \(maximum)")
      }
      return elements
    default: throw RESTBody.invalid(path + name, "a list is wanted here", fix: "[…]")
    }
  }

  static func value<Value>(_ member: String, _ parse: () throws(InvalidValue) -> Value) throws -> Value {
    do throws(InvalidValue) {
      return try parse()
    } catch {
      var problem = invalid(member, "\(error.kind): \(error.problem)", fix: error.accepted)
      problem.members.append(("rule", .string(error.rule)))
      if let offset = error.offset { problem.members.append(("position", .integer(Int64(offset)))) }
      throw problem
    }
  }

  static func invalid(_ member: String, _ problem: String, fix: String?) -> Problem {
    Problem(.memberInvalid, "\(member): \(problem)", fix: fix, members: [("member", .string(member))])
  }

  static func unknown(_ member: String, _ nearest: String?, known: String) -> Problem {
    Problem(
      .memberUnknown, "\(member) is not known here", fix: nearest.map { "did you mean \($0)?" } ?? known,
      members: [("member", .string(member))])
  }
}

extension String {
  var trimmedSpaces: Substring {
    var text = self[...]
    while text.first == " " { text.removeFirst() }
    while text.last == " " { text.removeLast() }
    return text
  }
}
