import CallModel

/// A JSON text in the making (RFC 8259): members keep their order, numbers are integers, nothing is rounded.
package enum JSONValue: Sendable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case text(String)
  case array([JSONValue])
  case object([(String, JSONValue)])

  /// Compact, on one line.
  package var text: String {
    var out = ""
    write(to: &out)
    return out
  }

  private func write(to out: inout String) {
    switch self {
    case .null: out += "null"
    case .boolean(let value): out += value ? "true" : "false"
    case .integer(let value): out += String(value)
    case .text(let value): JSONValue.write(value, to: &out)
    case .array(let values):
      out += "["
      for (index, value) in values.enumerated() {
        if index > 0 { out += "," }
        value.write(to: &out)
      }
      out += "]"
    case .object(let members):
      out += "{"
      for (index, (name, value)) in members.enumerated() {
        if index > 0 { out += "," }
        JSONValue.write(name, to: &out)
        out += ":"
        value.write(to: &out)
      }
      out += "}"
    }
  }

  private static func write(_ text: String, to out: inout String) {
    out += "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": out += "\\\""
      case "\\": out += "\\\\"
      case "\n": out += "\\n"
      case "\r": out += "\\r"
      case "\t": out += "\\t"
      case _ where VisibleText.isHidden(scalar): out += VisibleText.jsonEscape(scalar)
      default: out.unicodeScalars.append(scalar)
      }
    }
    out += "\""
  }
}
