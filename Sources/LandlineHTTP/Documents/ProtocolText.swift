import CallModel

/// The description of the apps' protocol as Markdown for people: each message with its members and an example.
enum ProtocolText {
  static func text(_ document: [UInt8]) -> String {
    guard let tree = try? JSONReader.read(document, .own) else { return "# Messages of landline.v1\n" }
    let (messages, schemas) = (tree["components"]?["messages"], tree["components"]?["schemas"])
    var out = """
      # Messages of landline.v1

      \(tree["info"]?["description"]?.stringValue ?? "")

      The same for programs: [/asyncapi.json](/asyncapi.json), AsyncAPI 3.0.

      """
    for (prefix, title) in [("app.", "What an app sends"), ("gateway.", "What the gateway sends")] {
      out += "\n## \(title)\n"
      for name in messages?.names ?? [] where name.hasPrefix(prefix) {
        guard let message = messages?[name] else { continue }
        out += "\n### `\(message["name"]?.stringValue ?? name)`\n\n\(message["summary"]?.stringValue ?? "")\n"
        if let payload = message["payload"] { out += members(payload) }
        if case .array(let examples)? = message["examples"] {
          for example in examples { out += self.example(example) }
        }
      }
    }
    out += "\n## Values that messages share\n"
    for name in schemas?.names ?? [] {
      guard let schema = schemas?[name] else { continue }
      out += "\n### \(name) (value)\n\n\(schema["description"]?.stringValue ?? "")\n"
      if case .array(let choices)? = schema["oneOf"] {
        for choice in choices { out += members(choice) }
      } else if schema["properties"] != nil {
        out += members(schema)
      } else {
        out += "\n\(type(schema).capitalizedFirst).\n"
      }
    }
    return out
  }

  private static func example(_ example: JSONValue) -> String {
    guard let payload = example["payload"] else { return "" }
    return "\n```json\n\(String(decoding: payload.bytes, as: UTF8.self))\n```\n"
  }

  private static func members(_ schema: JSONValue) -> String {
    guard let properties = schema["properties"], !properties.names.isEmpty else { return "" }
    var required: [JSONValue] = []
    if case .array(let names)? = schema["required"] { required = names }
    var out = "\n| Member | Value | |\n|---|---|---|\n"
    for name in properties.names {
      guard let property = properties[name] else { continue }
      let isRequired = required.contains(.string(name))
      let words = [isRequired ? nil : "optional", property["description"]?.stringValue].compactMap { $0 }
      out += "| `\(name)` | \(cell(type(property))) | \(cell(words.joined(separator: "; "))) |\n"
    }
    return out
  }

  /// A bar would end the cell.
  private static func cell(_ text: String) -> String { text.replacing("|", with: "\\|") }

  private static func type(_ schema: JSONValue) -> String {
    if let name = schema["$ref"]?.stringValue?.split(separator: "/").last {
      return "[\(name)](#\(name.lowercased())-value)"
    }
    if let value = schema["const"] { return "`\(String(decoding: value.bytes, as: UTF8.self))`" }
    if case .array(let values)? = schema["enum"] {
      return values.compactMap { $0.stringValue.map { "`\($0)`" } }.joined(separator: ", ")
    }
    if case .array(let choices)? = schema["oneOf"] { return choices.map(type).joined(separator: " or ") }
    switch schema["type"]?.stringValue {
    case "array": return "list of \(schema["items"].map(type) ?? "values")" + limit(schema, "maxItems", "at most", "")
    case "object":
      let values = schema["additionalProperties"].flatMap { $0["type"] == nil ? nil : type($0) }
      return values.map { "names with \($0)" } ?? "object"
    case "string": return "text" + limit(schema, "maxLength", "at most", " characters")
    case "boolean": return "`true` or `false`"
    case let name?: return name
    case nil: return "any value"
    }
  }

  private static func limit(_ schema: JSONValue, _ name: String, _ words: String, _ unit: String) -> String {
    guard case .integer(let most)? = schema[name] else { return "" }
    return ", \(words) \(most)\(unit)"
  }
}

extension String {
  fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
