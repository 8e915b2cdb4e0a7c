import CallModel
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import LandlineHTTP
import NIOCore
import Testing

/// The served description, and whether an answer fits it.
struct APIDescription: Sendable {
  let tree: JSONValue

  init(_ application: Application<RouterResponder<RESTContext>>) async throws {
    tree = try await APIDescription.raw(application, "GET", "/openapi.json", nil, key: nil, as: nil, type: nil).tree
  }

  static func raw(
    _ application: Application<RouterResponder<RESTContext>>, _ method: String, _ uri: String, _ body: String?,
    key: String?, as who: String?, type: String?, fields: [(String, String)] = []
  ) async throws -> RESTKit.Answer {
    var headers = HTTPFields()
    if let who { headers[.authorization] = "Bearer \(who)" }
    if let type { headers[.contentType] = type }
    if let key, let name = HTTPField.Name("Idempotency-Key") { headers[name] = key }
    for (name, value) in fields {
      if let name = HTTPField.Name(name) { headers.append(HTTPField(name: name, value: value)) }
    }
    let verb = try #require(HTTPRequest.Method(method))
    let sent = headers
    return try await application.test(.router) { client in
      try await client.execute(uri: uri, method: verb, headers: sent, body: body.map { ByteBuffer(string: $0) }) {
        response in
        let bytes = Array(response.body.readableBytesView)
        var headers: [String: String] = [:]
        for field in response.headers { headers[field.name.canonicalName] = field.value }
        return RESTKit.Answer(
          status: Int(response.status.code), headers: headers, body: bytes,
          tree: (try? JSONReader.read(bytes, .own)) ?? .null)
      }
    }
  }

  /// `[method path]` of everything described.
  var operations: [(method: String, path: String)] {
    (tree["paths"]?.names ?? []).flatMap { path in
      (tree["paths"]?[path]?.names ?? []).map { ($0.uppercased(), path) }
    }
  }

  func check(_ method: String, _ uri: String, _ answer: RESTKit.Answer) -> [String] {
    let path = uri.split(separator: "?", omittingEmptySubsequences: false)[0]
    let template = (tree["paths"]?.names ?? []).first { name in
      let (pattern, parts) = (name.split(separator: "/"), path.split(separator: "/"))
      return pattern.count == parts.count && zip(pattern, parts).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
    }
    let operation = template.flatMap { tree["paths"]?[$0]?[method.lowercased()] }
    guard let operation else {
      // Only problems may come from where nothing is described, and a page for a browser that looks for one.
      let isPage = answer.headers["content-type"] == "text/html; charset=utf-8"
      if isPage, method == "GET", answer.status == 404 { return [] }
      return answer.status >= 400 ? validate(answer.tree, reference("Problem")) : ["no such operation is described"]
    }
    let response = operation["responses"]?[String(answer.status)] ?? operation["responses"]?["default"]
    guard let response else { return ["status \(answer.status) is not described"] }
    guard let content = response["content"] else { return answer.body.isEmpty ? [] : ["a body that is not described"] }
    let type = (answer.headers["content-type"] ?? "").split(separator: ";").first.map { String($0) } ?? ""
    guard let schema = content[type]?["schema"] else { return ["type \(type) is not described"] }
    return type.hasSuffix("json") ? validate(answer.tree, schema) : []
  }

  private func reference(_ name: String) -> JSONValue { .members([("$ref", .string("#/components/schemas/\(name)"))]) }

  /// The part of JSON Schema that the description uses; an unknown word is a failure.
  func validate(_ value: JSONValue, _ schema: JSONValue, at place: String = "$") -> [String] {
    if let name = schema["$ref"]?.stringValue?.split(separator: "/").last {
      guard let schema = tree["components"]?["schemas"]?[String(name)] else { return ["\(place): no schema \(name)"] }
      return validate(value, schema, at: place)
    }
    if let choices = schema["anyOf"]?.elements ?? schema["oneOf"]?.elements {
      let fitting = choices.filter { validate(value, $0, at: place).isEmpty }.count
      return fitting == 0 || (fitting > 1 && schema["oneOf"] != nil)
        ? ["\(place): \(fitting) choices fit \(value)"] : []
    }
    let known: Set<String> = [
      "type", "properties", "required", "additionalProperties", "items", "enum", "pattern", "format", "description",
      "minimum", "maximum", "minLength", "maxLength",
    ]
    var faults = schema.names.filter { !known.contains($0) }.map { "\(place): unknown word \($0)" }
    switch (schema["type"]?.stringValue, value) {
    case ("null", .null), ("boolean", .boolean), ("integer", .integer), ("number", .integer), ("number", .number): break
    case ("string", .string(let text)):
      if let choices = schema["enum"]?.elements, !choices.contains(.string(text)) { faults.append("\(place): \(text)") }
      if schema["pattern"] != nil, !text.allSatisfy({ $0.isNumber || $0 == "." || $0 == "-" }) {
        faults.append("\(place): \(text) is no decimal")
      }
      if schema["format"]?.stringValue == "date-time", text.count != 24 || !text.hasSuffix("Z") {
        faults.append("\(place): \(text) is no time")
      }
    case ("array", .array(let values)):
      for (index, value) in values.enumerated() {
        faults += validate(value, schema["items"] ?? .null, at: "\(place)[\(index)]")
      }
    case ("object", .object(let object)):
      let names = value.names
      for name in schema["required"]?.elements ?? [] where !names.contains(name.stringValue ?? "") {
        faults.append("\(place): \(name) is missing")
      }
      for member in object.members {
        if let schema = schema["properties"]?[member.name] {
          faults += validate(member.value, schema, at: "\(place).\(member.name)")
        } else if case .object? = schema["additionalProperties"] {
          faults += validate(member.value, schema["additionalProperties"] ?? .null, at: "\(place).\(member.name)")
        } else if schema["additionalProperties"] == .boolean(false) {
          faults.append("\(place).\(member.name) is not described")
        }
      }
    default: faults.append("\(place): \(value) is not of type \(schema["type"] ?? .null)")
    }
    return faults
  }
}
