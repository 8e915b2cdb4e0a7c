import CallModel

/// Walks once through the value of a header field.
struct ValueCursor {
  let bytes: [UInt8]
  var position: Int
  let end: Int

  init(_ bytes: [UInt8], _ range: Range<Int>) {
    self.bytes = bytes
    position = range.lowerBound
    end = range.upperBound
  }

  init(_ bytes: [UInt8]) { self.init(bytes, 0..<bytes.count) }

  var peek: UInt8? { position < end ? bytes[position] : nil }

  mutating func skipBlanks() {
    while position < end, MessageCharacter.isBlank(bytes[position]) { position += 1 }
  }

  /// Consumes this one byte with the white space around it.
  mutating func consume(_ byte: UInt8) -> Bool {
    skipBlanks()
    guard peek == byte else { return false }
    position += 1
    skipBlanks()
    return true
  }

  mutating func run(while accepted: (UInt8) -> Bool) -> Range<Int> {
    let start = position
    while position < end, accepted(bytes[position]) { position += 1 }
    return start..<position
  }

  /// A quoted string with its quotes; `nil` when it is not closed.
  mutating func quotedString() -> Range<Int>? {
    let start = position
    guard peek == MessageCharacter.quote else { return nil }
    position += 1
    while position < end {
      let byte = bytes[position]
      position += 1
      if byte == MessageCharacter.backslash { position = min(position + 1, end) }
      if byte == MessageCharacter.quote { return start..<position }
    }
    return nil
  }

  /// `;name=value` parameters up to a comma or the end; the cursor stays where they end.
  /// - Returns: Whether each one is well formed.
  mutating func parameters(_ visit: (_ name: Range<Int>, _ value: Range<Int>?) -> Void) -> Bool {
    while consume(MessageCharacter.semicolon) {
      let name = run(while: MessageCharacter.isToken)
      guard !name.isEmpty else { return false }
      guard consume(MessageCharacter.equals) else {
        visit(name, nil)
        continue
      }
      if peek == MessageCharacter.quote {
        guard let value = quotedString() else { return false }
        visit(name, value)
      } else {
        let value = run(while: ValueCursor.isParameterValue)
        guard !value.isEmpty else { return false }
        visit(name, value)
      }
    }
    return true
  }

  /// Token, host or the address of RFC 5118 section 4.5 without brackets; other visible bytes are tolerated.
  private static func isParameterValue(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte != 0x7F && byte != MessageCharacter.semicolon && byte != MessageCharacter.comma
      && byte != MessageCharacter.quote
  }

  func equals(_ range: Range<Int>, _ lowercase: StaticString) -> Bool {
    guard range.count == lowercase.utf8CodeUnitCount else { return false }
    return lowercase.withUTF8Buffer { expected in
      zip(range, expected).allSatisfy { MessageCharacter.lowercase(bytes[$0]) == $1 }
    }
  }

  /// The bytes of a range as text; what is no UTF-8 becomes U+FFFD.
  func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  /// What stands at the cursor, for a message.
  var nextName: String { peek.map(InvalidValue.name(of:)) ?? "the end" }

  /// The text of a quoted string without quotes and escapes, or of anything else as it is.
  func unquoted(_ range: Range<Int>) -> String {
    guard range.count >= 2, bytes[range.lowerBound] == MessageCharacter.quote else { return text(range) }
    let inner = range.lowerBound + 1..<range.upperBound - 1
    guard bytes[inner].contains(MessageCharacter.backslash) else { return text(inner) }
    var result: [UInt8] = []
    var isEscaped = false
    for byte in bytes[inner] {
      if byte == MessageCharacter.backslash, !isEscaped {
        isEscaped = true
      } else {
        result.append(byte)
        isEscaped = false
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
