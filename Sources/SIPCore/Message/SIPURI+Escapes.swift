extension SIPURI {
  /// A part of a URI without its escapes (RFC 3261 section 19.1.2): `%2B46` is `+46`.
  /// - Returns: `nil` where an escape is broken, or what they stand for is a control byte or no UTF-8.
  public static func unescaped(_ text: String) -> String? {
    guard text.utf8.contains(MessageCharacter.percent) else { return text }
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == MessageCharacter.percent else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(Hexadecimal.digit), let low = rest.popFirst().flatMap(Hexadecimal.digit)
      else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes.contains(where: MessageCharacter.isControl) ? nil : String(validating: bytes, as: UTF8.self)
  }
}
