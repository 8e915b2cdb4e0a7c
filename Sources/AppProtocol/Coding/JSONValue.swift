/// A JSON value (RFC 8259) as read; integers are kept exact.
package indirect enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  /// A number without fraction and exponent that fits.
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)

  /// With its article, for messages.
  package var kind: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .integer, .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

/// The members of a JSON object in their order; no name stands twice.
package struct JSONObject: Hashable, Sendable {
  package struct Member: Hashable, Sendable {
    package let name: String
    package let value: JSONValue
  }

  package private(set) var members: [Member] = []

  package init() {}

  package subscript(name: String) -> JSONValue? { members.first { $0.name == name }?.value }

  /// Adds a member whose name is not taken.
  mutating func append(_ name: String, _ value: JSONValue) { members.append(Member(name: name, value: value)) }
}

/// Why a text is no JSON that is taken here.
package struct JSONProblem: Error, Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case tooLong, notUTF8, syntax, tooDeep, duplicate, tooMany
  }
  package let kind: Kind
  /// Byte offset.
  package let offset: Int
  package let problem: String
}
