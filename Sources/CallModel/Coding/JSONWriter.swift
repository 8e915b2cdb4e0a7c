/// Writes one JSON text; members come out in the order they are written.
package struct JSONWriter {
  package private(set) var bytes: [UInt8] = []
  /// Whether the next member or element needs a comma before it.
  private var needsComma = false

  package init() { bytes.reserveCapacity(512) }

  package mutating func object(_ body: (inout JSONWriter) -> Void) {
    separate()
    bytes.append(UInt8(ascii: "{"))
    needsComma = false
    body(&self)
    bytes.append(UInt8(ascii: "}"))
    needsComma = true
  }

  package mutating func object(_ name: String, _ body: (inout JSONWriter) -> Void) {
    self.name(name)
    object(body)
  }

  package mutating func array<Element>(
    _ name: String, _ elements: some Sequence<Element>, _ body: (inout JSONWriter, Element) -> Void
  ) {
    self.name(name)
    bytes.append(UInt8(ascii: "["))
    needsComma = false
    // A loop over elements of a type that is not known here allocates for each, but not over their storage.
    let isWritten: Void? = elements.withContiguousStorageIfAvailable { for element in $0 { body(&self, element) } }
    if isWritten == nil { for element in elements { body(&self, element) } }
    bytes.append(UInt8(ascii: "]"))
    needsComma = true
  }

  package mutating func member(_ name: String, _ value: String) {
    self.name(name)
    string(value)
  }

  package mutating func member(_ name: String, _ value: some FixedWidthInteger) {
    self.name(name)
    raw(String(value))
  }

  package mutating func member(_ name: String, _ value: Bool) {
    self.name(name)
    raw(value ? "true" : "false")
  }

  /// A value that JSON cannot write, which is an infinity or no number, becomes 0.
  package mutating func member(_ name: String, _ value: Double) {
    self.name(name)
    raw(value.isFinite ? "\(value)" : "0")
  }

  package mutating func null(_ name: String) {
    self.name(name)
    raw("null")
  }

  /// Nothing where there is no value.
  package mutating func optional(_ name: String, _ value: String?) {
    if let value { member(name, value) }
  }

  package mutating func optional(_ name: String, _ value: (some FixedWidthInteger)?) {
    if let value { member(name, value) }
  }

  /// Nothing where there is no value.
  package mutating func optional(_ name: String, _ value: Double?) {
    if let value { member(name, value) }
  }

  /// A value as an element. A number that JSON cannot write becomes null.
  package mutating func write(_ value: JSONValue) {
    switch value {
    case .null: raw("null")
    case .boolean(let value): raw(value ? "true" : "false")
    case .integer(let value): raw(String(value))
    case .number(let value): raw(value.isFinite ? String(value) : "null")
    case .string(let text): string(text)
    case .array(let values):
      separate()
      bytes.append(UInt8(ascii: "["))
      for value in values { write(value) }
      bytes.append(UInt8(ascii: "]"))
      needsComma = true
    case .object(let object):
      self.object { writer in
        for member in object.members {
          writer.name(member.name)
          writer.write(member.value)
        }
      }
    }
  }

  /// A string as an element.
  package mutating func string(_ value: String) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    var copy = value
    copy.withUTF8 { text in
      var start = 0
      // What needs no escape goes as one piece, which is nearly always the whole text.
      for (index, byte) in text.enumerated() where JSONWriter.needsEscape(byte) {
        bytes.append(contentsOf: text[start..<index])
        escape(byte)
        start = index + 1
      }
      bytes.append(contentsOf: text[start...])
    }
    bytes.append(UInt8(ascii: "\""))
    needsComma = true
  }

  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x7F
  }

  private mutating func escape(_ byte: UInt8) {
    bytes.append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
    case 0x0A: bytes.append(UInt8(ascii: "n"))
    case 0x0D: bytes.append(UInt8(ascii: "r"))
    case 0x09: bytes.append(UInt8(ascii: "t"))
    default:
      bytes.append(contentsOf: "u00".utf8)
      bytes.append(JSONWriter.hexadecimal(byte >> 4))
      bytes.append(JSONWriter.hexadecimal(byte & 15))
    }
  }

  private static func hexadecimal(_ nibble: UInt8) -> UInt8 {
    nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
  }

  private mutating func name(_ name: String) {
    string(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  private mutating func raw(_ text: String) {
    separate()
    bytes.append(contentsOf: text.utf8)
    needsComma = true
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = false
  }
}
