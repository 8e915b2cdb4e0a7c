/// Byte classes of URIs (RFC 3261 section 25.1, RFC 3966 section 3).
enum URICharacter {
  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "!"), UInt8(ascii: "~"),
      UInt8(ascii: "*"), UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"):
      true
    default: MessageCharacter.isDigit(byte) || MessageCharacter.isLetter(byte)
    }
  }

  /// What stands in a user part without an escape.
  static func isUser(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "&"), UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "$"), UInt8(ascii: ","),
      UInt8(ascii: ";"), UInt8(ascii: "?"), UInt8(ascii: "/"):
      true
    default: isUnreserved(byte)
    }
  }

  /// What stands in the name or value of a parameter without an escape.
  static func isParameter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: "&"),
      UInt8(ascii: "+"), UInt8(ascii: "$"):
      true
    default: isUnreserved(byte)
    }
  }

  /// What stands in the name or value of a header field of a URI without an escape.
  static func isHeader(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: ":"),
      UInt8(ascii: "+"), UInt8(ascii: "$"):
      true
    default: isUnreserved(byte)
    }
  }

  static func isParameterOrEscape(_ byte: UInt8) -> Bool { isParameter(byte) || byte == MessageCharacter.percent }
  static func isHeaderOrEscape(_ byte: UInt8) -> Bool { isHeader(byte) || byte == MessageCharacter.percent }

  static func isVisualSeparator(_ byte: UInt8) -> Bool { "-.()".utf8.contains(byte) }
  /// What follows the + of a number.
  static func isGlobalNumber(_ byte: UInt8) -> Bool { MessageCharacter.isDigit(byte) || isVisualSeparator(byte) }
  static func isLocalNumber(_ byte: UInt8) -> Bool {
    isGlobalNumber(byte) || MessageCharacter.isHexadecimal(byte) || byte == UInt8(ascii: "*")
      || byte == UInt8(ascii: "#")
  }
}
