/// One `name=value` of a challenge or of credentials.
public struct DigestParameter: Hashable, Sendable {
  /// In lower case: names are compared without regard to case.
  public let name: String
  /// Without quotes and escapes.
  public let value: String
  /// Whether the value was written in quotes, and is so printed.
  public let isQuoted: Bool

  init(name: String, value: String, isQuoted: Bool) {
    self.name = name
    self.value = value
    self.isQuoted = isQuoted
  }

  /// As it stands in a field; only `"` and `\` are escaped.
  var text: String {
    guard isQuoted else { return "\(name)=\(value)" }
    var quoted: [UInt8] = Array("\(name)=\"".utf8)
    for byte in value.utf8 {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { quoted.append(UInt8(ascii: "\\")) }
      quoted.append(byte)
    }
    quoted.append(UInt8(ascii: "\""))
    return String(decoding: quoted, as: UTF8.self)
  }
}
