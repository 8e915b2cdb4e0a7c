import CallModel

/// A place in one header field value, and what RFC 3261 section 25.1 lets follow there. Time is linear in the bytes.
struct FieldValueReader {
  /// What is being read, for messages: `Reason header`.
  let kind: String
  /// What the names of broken rules begin with: `reason`.
  let rule: String
  /// What would be accepted.
  let accepted: String
  private let bytes: [UInt8]
  private(set) var offset = 0

  /// - Throws: ``InvalidValue`` with rule `<rule>.long`.
  init(
    _ text: some StringProtocol, kind: String, rule: String, accepted: String, maximumBytes: Int
  ) throws(InvalidValue) {
    self.kind = kind
    self.rule = rule
    self.accepted = accepted
    bytes = Array(text.utf8.prefix(maximumBytes + 1))
    guard bytes.count <= maximumBytes else {
      throw InvalidValue(
        kind: kind, rule: "\(rule).long", offset: maximumBytes, problem: "more than \(maximumBytes) bytes",
        accepted: accepted)
    }
  }

  var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }
  var isAtEnd: Bool { offset == bytes.count }

  func invalid(_ name: String, _ problem: String, at place: Int? = nil) -> InvalidValue {
    InvalidValue(kind: kind, rule: "\(rule).\(name)", offset: place ?? offset, problem: problem, accepted: accepted)
  }

  /// What stands at the offset, for a message.
  var nextName: String { next.map(InvalidValue.name(of:)) ?? "the end" }

  /// Passes one byte; nothing at the end.
  mutating func advance() { if !isAtEnd { offset += 1 } }

  mutating func skipSpace() {
    while next == UInt8(ascii: " ") || next == UInt8(ascii: "\t") { offset += 1 }
  }

  /// Consumes one byte if it is next.
  mutating func consume(_ character: Unicode.Scalar) -> Bool {
    guard let next, UInt32(next) == character.value else { return false }
    offset += 1
    return true
  }

  /// Consumes a separator with the white space it may have on both sides.
  mutating func consumeSeparator(_ character: Unicode.Scalar) -> Bool {
    let start = offset
    skipSpace()
    guard consume(character) else {
      offset = start
      return false
    }
    skipSpace()
    return true
  }

  /// The longest run of bytes that `isAllowed` holds for, which are all ASCII.
  mutating func run(where isAllowed: (UInt8) -> Bool) -> String {
    let start = offset
    while let next, next < 0x80, isAllowed(next) { offset += 1 }
    return String(decoding: bytes[start..<offset], as: UTF8.self)
  }

  /// `token`; empty where none is.
  mutating func token() -> String { run(where: MessageCharacter.isToken) }

  /// The digits that follow, as a number; `nil` where there are none or it is above `maximum`.
  mutating func number(through maximum: Int) -> Int? {
    let digits = run(where: MessageCharacter.isDigit)
    return FieldValueReader.number(digits, through: maximum)
  }

  /// Digits alone, as a number up to `maximum`.
  static func number(_ text: String, through maximum: Int) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy(MessageCharacter.isDigit), let value = Int(text), value <= maximum else {
      return nil
    }
    return value
  }

  /// A quoted string without its quotes and escapes.
  /// - Throws: ``InvalidValue`` with rules `<rule>.quote`, `<rule>.character`.
  mutating func quotedString() throws(InvalidValue) -> String {
    let start = offset
    guard consume("\"") else { throw invalid("quote", "\(nextName) stands where a quoted text begins") }
    var text: [UInt8] = []
    while let byte = next {
      offset += 1
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"):
        guard let escaped = next else { throw invalid("quote", "the quoted text has no end", at: start) }
        guard escaped < 0x80, escaped != 0x0D, escaped != 0x0A else {
          throw invalid("character", "\(nextName) cannot be escaped")
        }
        text.append(escaped)
        offset += 1
      case 0x0A, 0x0D, 0x00:
        throw invalid("character", "\(InvalidValue.name(of: byte)) is not allowed in a quoted text", at: offset - 1)
      default: text.append(byte)
      }
    }
    throw invalid("quote", "the quoted text has no end", at: start)
  }

  /// One `;name` or `;name=value` (`generic-param`), if one is next; the value without quotes.
  /// - Throws: ``InvalidValue`` with rules `<rule>.parameter`, `<rule>.quote`, `<rule>.character`.
  mutating func parameter() throws(InvalidValue) -> (name: String, value: String?)? {
    guard consumeSeparator(";") else { return nil }
    let name = token()
    guard !name.isEmpty else { throw invalid("parameter", "\(nextName) stands where a parameter's name begins") }
    guard consumeSeparator("=") else { return (name, nil) }
    if next == UInt8(ascii: "\"") { return (name, try quotedString()) }
    let value = run { byte in
      MessageCharacter.isToken(byte) || byte == UInt8(ascii: "[") || byte == UInt8(ascii: "]")
        || byte == UInt8(ascii: ":")
    }
    guard !value.isEmpty else { throw invalid("parameter", "\(nextName) stands where a parameter's value begins") }
    return (name, value)
  }
}
