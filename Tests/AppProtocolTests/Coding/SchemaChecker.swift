import AppProtocol
import CallModel

/// Checks JSON values against the part of JSON Schema that the protocol's document uses.
struct SchemaChecker {
  let document: JSONValue

  /// Keywords that say nothing about a value.
  private static let annotations: Set<String> = ["description", "title"]

  /// What `path`, such as `#/components/schemas/Time`, names.
  func resolve(_ path: String) -> JSONValue? {
    guard path.hasPrefix("#/") else { return nil }
    var value = document
    for name in path.dropFirst(2).split(separator: "/") {
      guard case .object(let object) = value, let next = object[String(name)] else { return nil }
      value = next
    }
    return value
  }

  /// What is wrong with a value; empty when it fits.
  func problems(_ value: JSONValue, _ schema: JSONValue, _ path: String = "$") throws -> [String] {
    guard case .object(let rules) = schema else { return ["\(path): the schema is no object"] }
    var problems: [String] = []
    for rule in rules.members where !Self.annotations.contains(rule.name) {
      problems += try self.problems(value, rule.name, rule.value, rules, path)
    }
    return problems
  }

  private func problems(
    _ value: JSONValue, _ keyword: String, _ rule: JSONValue, _ rules: JSONObject, _ path: String
  ) throws -> [String] {
    func unless(_ isGood: Bool, _ problem: String) -> [String] { isGood ? [] : ["\(path): \(problem)"] }
    switch (keyword, rule, value) {
    case ("$ref", .string(let target), _):
      guard let schema = resolve(target) else { return ["\(path): nothing is at \(target)"] }
      return try problems(value, schema, path)
    case ("type", .string(let type), _): return unless(isType(value, type), "is no \(type)")
    case ("const", _, _): return unless(value == rule, "is not \(rule)")
    case ("enum", .array(let values), _): return unless(values.contains(value), "is none of \(values)")
    case ("oneOf", .array(let schemas), _):
      let fitting = try schemas.filter { try problems(value, $0, path).isEmpty }.count
      return unless(fitting == 1, "fits \(fitting) of the alternatives")
    case ("properties", .object(let properties), .object(let object)):
      return try object.members.flatMap { member in
        try properties[member.name].map { try problems(member.value, $0, "\(path).\(member.name)") } ?? []
      }
    case ("required", .array(let names), .object(let object)):
      return names.flatMap { name in
        guard case .string(let name) = name else { return ["\(path): the schema requires no name"] }
        return unless(object[name] != nil, "lacks \(name)")
      }
    case ("additionalProperties", _, .object(let object)):
      let known: [String] =
        if case .object(let properties)? = rules["properties"] { properties.members.map(\.name) } else { [] }
      return try object.members.filter { !known.contains($0.name) }.flatMap { member in
        rule == .boolean(false)
          ? ["\(path): has \(member.name)"] : try problems(member.value, rule, "\(path).\(member.name)")
      }
    case ("items", _, .array(let values)):
      return try values.enumerated().flatMap { try problems($0.element, rule, "\(path)[\($0.offset)]") }
    case ("maxItems", .integer(let most), .array(let values)): return unless(values.count <= most, "is too long")
    case ("maxProperties", .integer(let most), .object(let object)):
      return unless(object.members.count <= most, "has too many members")
    case ("minimum", .integer(let least), .integer(let number)): return unless(number >= least, "is too small")
    case ("maximum", .integer(let most), .integer(let number)): return unless(number <= most, "is too large")
    case ("maxLength", .integer(let most), .string(let text)):
      return unless(text.unicodeScalars.count <= most, "is too long")
    case ("pattern", .string(let pattern), .string(let text)):
      return unless(try Regex(pattern).firstMatch(in: text) != nil, "does not match \(pattern)")
    case ("properties", _, _), ("required", _, _), ("additionalProperties", _, _), ("items", _, _),
      ("maxItems", _, _), ("maxProperties", _, _), ("minimum", _, _), ("maximum", _, _), ("maxLength", _, _),
      ("pattern", _, _):
      return []  // About values of another type, as JSON Schema has it.
    default: return ["\(path): the keyword \(keyword) is not known"]
    }
  }

  private func isType(_ value: JSONValue, _ type: String) -> Bool {
    switch (value, type) {
    case (.object, "object"), (.array, "array"), (.string, "string"), (.boolean, "boolean"), (.integer, "integer"),
      (.integer, "number"), (.number, "number"):
      true
    default: false
    }
  }
}
