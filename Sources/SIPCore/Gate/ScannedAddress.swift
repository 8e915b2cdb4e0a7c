/// One address of From, To or Contact: `display <uri>;parameters` or `uri;parameters` (RFC 3261 section 20.10).
public struct ScannedAddress: Hashable, Sendable {
  /// Where the URI stands in ``ScannedMessage/bytes``, without angle brackets.
  public let uri: Range<Int>
  /// The header parameter as written; `nil` where it is absent or has no value.
  public let tag: String?

  /// Reads the address at the cursor, which then stands behind it.
  /// - Returns: `nil` when it does not follow the grammar.
  init?(_ cursor: inout ValueCursor) {
    cursor.skipBlanks()
    if cursor.peek == MessageCharacter.quote {
      guard cursor.quotedString() != nil else { return nil }
      cursor.skipBlanks()
      guard cursor.peek == MessageCharacter.open else { return nil }
    } else {
      let start = cursor.position
      // Names outside ASCII without quotes are common in the field, and no byte of theirs is a delimiter.
      _ = cursor.run { MessageCharacter.isToken($0) || MessageCharacter.isBlank($0) || $0 >= 0x80 }
      if cursor.peek != MessageCharacter.open { cursor.position = start }
    }
    if cursor.peek == MessageCharacter.open {
      cursor.position += 1
      uri = cursor.run { $0 > 0x20 && $0 != MessageCharacter.close && $0 != MessageCharacter.open }
      guard cursor.peek == MessageCharacter.close else { return nil }
      cursor.position += 1
    } else {
      // Without brackets a URI ends at the first of these (RFC 3261 section 20).
      uri = cursor.run {
        $0 > 0x20 && $0 != MessageCharacter.semicolon && $0 != MessageCharacter.comma && $0 != UInt8(ascii: "?")
          && $0 != MessageCharacter.open && $0 != MessageCharacter.quote
      }
    }
    let scheme = cursor.bytes[uri].prefix { $0 != MessageCharacter.colon }
    guard let first = scheme.first, MessageCharacter.isLetter(first), scheme.endIndex + 1 < uri.upperBound,
      scheme.allSatisfy(ScannedMessage.isSchemeByte)
    else { return nil }
    var tag: String?
    let reader = cursor
    let areWellFormed = cursor.parameters { name, value in
      if let value, reader.equals(name, "tag") { tag = String(decoding: reader.bytes[value], as: UTF8.self) }
    }
    cursor.skipBlanks()
    guard areWellFormed, cursor.peek == nil || cursor.peek == MessageCharacter.comma else { return nil }
    self.tag = tag
  }
}
