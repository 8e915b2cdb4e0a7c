/// A JSON value (RFC 8259). Whole numbers that fit are kept exact, and members keep their order.
package enum JSONValue: Hashable, Sendable {
  case null
  case boolean(Bool)
  /// A number without fraction and exponent that fits.
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)

  package static func members(_ members: [(String, JSONValue)]) -> JSONValue {
    .object(JSONObject(members.map { JSONObject.Member($0.0, $0.1) }))
  }

  package static func string(optional value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
  package static func integer(optional value: Int64?) -> JSONValue { value.map { .integer($0) } ?? .null }

  /// A member of an object; `nil` of anything else.
  package subscript(name: String) -> JSONValue? { if case .object(let object) = self { object[name] } else { nil } }

  package var stringValue: String? { if case .string(let text) = self { text } else { nil } }
  package var integerValue: Int64? { if case .integer(let value) = self { value } else { nil } }
  package var objectValue: JSONObject? { if case .object(let object) = self { object } else { nil } }
  /// Values of an array; none of anything else.
  package var elements: [JSONValue] { if case .array(let values) = self { values } else { [] } }
  /// Names of an object's members; none of anything else.
  package var names: [String] { if case .object(let object) = self { object.members.map(\.name) } else { [] } }

  /// With its article, for messages.
  package var kind: String {
    switch self {
    case .null: "null"
    case .boolean: "a boolean"
    case .integer, .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }

  /// Compact, UTF-8.
  package var bytes: [UInt8] {
    var writer = JSONWriter()
    writer.write(self)
    return writer.bytes
  }
}

/// The members of a JSON object in their order; no name stands twice.
package struct JSONObject: Hashable, Sendable {
  package struct Member: Hashable, Sendable {
    package let name: String
    package let value: JSONValue

    package init(_ name: String, _ value: JSONValue) {
      self.name = name
      self.value = value
    }
  }

  package private(set) var members: [Member]

  /// - Parameter members: Of different names.
  package init(_ members: [Member] = []) { self.members = members }

  package subscript(name: String) -> JSONValue? { members.first { $0.name == name }?.value }

  /// Adds a member whose name is not taken.
  package mutating func append(_ name: String, _ value: JSONValue) { members.append(Member(name, value)) }
}

/// Why a text is no JSON that is taken here.
package struct JSONProblem: Error, Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case tooLong, notUTF8, syntax, tooDeep, tooMany
    /// The member's name.
    case duplicate(String)
  }
  package let kind: Kind
  /// Byte from the start, 0 for the first.
  package let offset: Int
  package let problem: String
}
