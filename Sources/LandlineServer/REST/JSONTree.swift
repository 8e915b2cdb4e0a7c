/// A JSON value (RFC 8259): members keep their order, numbers stay as written, nothing is rounded.
package enum JSONTree: Hashable, Sendable {
  case null
  case boolean(Bool)
  case integer(Int64)
  /// A number that is no 64-bit integer.
  case number(Double)
  case text(String)
  case array([JSONTree])
  case object([Member])

  package struct Member: Hashable, Sendable {
    package var name: String
    package var value: JSONTree

    package init(_ name: String, _ value: JSONTree) {
      self.name = name
      self.value = value
    }
  }

  package static func members(_ members: [(String, JSONTree)]) -> JSONTree {
    .object(members.map { Member($0.0, $0.1) })
  }

  package static func text(optional value: String?) -> JSONTree { value.map { .text($0) } ?? .null }
  package static func integer(optional value: Int64?) -> JSONTree { value.map { .integer($0) } ?? .null }

  package subscript(name: String) -> JSONTree? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  package var textValue: String? { if case .text(let text) = self { text } else { nil } }
  package var integerValue: Int64? { if case .integer(let value) = self { value } else { nil } }
  /// Values of an array; none of anything else.
  package var list: [JSONTree] { if case .array(let values) = self { values } else { [] } }
  /// Names of an object's members; none of anything else.
  package var names: [String] { if case .object(let members) = self { members.map(\.name) } else { [] } }

  /// What a person calls this kind of value.
  var kind: String {
    switch self {
    case .null: "null"
    case .boolean: "true or false"
    case .integer, .number: "a number"
    case .text: "a text"
    case .array: "a list"
    case .object: "an object"
    }
  }

  /// Compact, UTF-8.
  package var bytes: [UInt8] {
    var out: [UInt8] = []
    write(to: &out)
    return out
  }

  private func write(to out: inout [UInt8]) {
    switch self {
    case .null: out += "null".utf8
    case .boolean(let value): out += (value ? "true" : "false").utf8
    case .integer(let value): out += String(value).utf8
    case .number(let value): out += (value.isFinite ? String(value) : "null").utf8
    case .text(let value): JSONTree.write(value, to: &out)
    case .array(let values):
      out.append(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        if index > 0 { out.append(UInt8(ascii: ",")) }
        value.write(to: &out)
      }
      out.append(UInt8(ascii: "]"))
    case .object(let members):
      out.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { out.append(UInt8(ascii: ",")) }
        JSONTree.write(member.name, to: &out)
        out.append(UInt8(ascii: ":"))
        member.value.write(to: &out)
      }
      out.append(UInt8(ascii: "}"))
    }
  }

  private static func write(_ text: String, to out: inout [UInt8]) {
    out.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""): out += [UInt8(ascii: "\\"), UInt8(ascii: "\"")]
      case UInt8(ascii: "\\"): out += [UInt8(ascii: "\\"), UInt8(ascii: "\\")]
      case 0x0A: out += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
      case 0x0D: out += [UInt8(ascii: "\\"), UInt8(ascii: "r")]
      case 0x09: out += [UInt8(ascii: "\\"), UInt8(ascii: "t")]
      case 0..<0x20, 0x7F:
        let digits = String(byte, radix: 16)
        out += ("\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits).utf8
      default: out.append(byte)
      }
    }
    out.append(UInt8(ascii: "\""))
  }
}
