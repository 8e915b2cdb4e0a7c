public import CallModel

/// How a trunk wants numbers written in the user part of a URI.
public struct DialFormat: Hashable, Sendable {
  /// Most characters of a technical prefix.
  public static let maximumPrefixLength = 16

  /// Stands before the number: digits, `*` and `#`.
  public let prefix: String
  /// `+46701234567`, or the digits alone.
  public let keepsPlus: Bool

  /// `+46701234567`.
  public static let international = DialFormat(uncheckedPrefix: "", keepsPlus: true)
  /// `46701234567`.
  public static let digits = DialFormat(uncheckedPrefix: "", keepsPlus: false)

  /// - Throws: ``InvalidValue`` with rule `dial.prefix`.
  public init(prefix: String, keepsPlus: Bool) throws(InvalidValue) {
    guard prefix.utf8.count <= DialFormat.maximumPrefixLength,
      prefix.utf8.allSatisfy({ MessageCharacter.isDigit($0) || $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "#") })
    else {
      throw InvalidValue(
        kind: "dial prefix", rule: "dial.prefix", offset: nil,
        problem: "the prefix holds something else or is too long",
        accepted: "at most \(DialFormat.maximumPrefixLength) of 0 to 9, * and #, such as 1234#")
    }
    self.init(uncheckedPrefix: prefix, keepsPlus: keepsPlus)
  }

  private init(uncheckedPrefix: String, keepsPlus: Bool) {
    prefix = uncheckedPrefix
    self.keepsPlus = keepsPlus
  }

  /// The user part, escaped: `#` may not stand in it as it is (RFC 3261 section 25.1).
  public func user(_ number: E164Number) -> String {
    var text = ""
    for character in prefix { text += character == "#" ? "%23" : String(character) }
    return text + (keepsPlus ? "+" : "") + number.digits
  }
}
