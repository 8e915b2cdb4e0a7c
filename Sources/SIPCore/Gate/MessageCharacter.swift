/// Byte classes of RFC 3261 section 25.1.
enum MessageCharacter {
  static let space = UInt8(ascii: " ")
  static let tab = UInt8(ascii: "\t")
  static let cr = UInt8(ascii: "\r")
  static let lf = UInt8(ascii: "\n")
  static let quote = UInt8(ascii: "\"")
  static let backslash = UInt8(ascii: "\\")
  static let semicolon = UInt8(ascii: ";")
  static let comma = UInt8(ascii: ",")
  static let colon = UInt8(ascii: ":")
  static let open = UInt8(ascii: "<")
  static let close = UInt8(ascii: ">")
  static let equals = UInt8(ascii: "=")
  static let percent = UInt8(ascii: "%")
  static let zero = UInt8(ascii: "0")

  static func isToken(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "!"), UInt8(ascii: "%"), UInt8(ascii: "*"),
      UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "`"), UInt8(ascii: "'"), UInt8(ascii: "~"):
      true
    default: isDigit(byte) || isLetter(byte)
    }
  }
  static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
  static func isLetter(_ byte: UInt8) -> Bool { byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A }
  static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }
  /// Controls other than the tab.
  static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && byte != tab || byte == 0x7F }

  static func isHexadecimal(_ byte: UInt8) -> Bool {
    isDigit(byte) || (byte | 0x20 >= 0x61 && byte | 0x20 <= 0x66)
  }

  static func lowercase(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte }
}
