/// Where a host ends, without judging more than its bytes.
enum ScannedHost {
  /// A name, an IPv4 address or an IPv6 address in brackets. Underscores are tolerated: names in the field hold them.
  static func host(_ cursor: inout ValueCursor) -> Range<Int>? {
    let start = cursor.position
    guard cursor.peek == UInt8(ascii: "[") else {
      let name = cursor.run {
        MessageCharacter.isLetter($0) || MessageCharacter.isDigit($0) || $0 == UInt8(ascii: "-")
          || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_")
      }
      return name.isEmpty ? nil : name
    }
    cursor.position += 1
    let address = cursor.run {
      MessageCharacter.isHexadecimal($0) || $0 == MessageCharacter.colon || $0 == UInt8(ascii: ".")
    }
    guard !address.isEmpty, cursor.peek == UInt8(ascii: "]") else { return nil }
    cursor.position += 1
    return start..<cursor.position
  }
}
