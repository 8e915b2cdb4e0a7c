import CallModel

/// The value of one Identity field (RFC 8224 section 4): `token;info=<https://…>;alg=ES256;ppt=shaken`.
struct IdentityField {
  /// Most parameters of one value.
  static let maximumParameters = 8

  /// As sent: three parts with full stops between.
  let token: Substring.UTF8View
  /// The parameters' values, without quotes and brackets.
  let info: String?
  let algorithm: String?
  /// In lower case; the kind of PASSporT.
  let kind: String?

  /// - Returns: `nil` for an empty value, which says nothing.
  init?(_ value: String) throws(IdentityFailure) {
    var parts = IdentityField.parts(value.utf8[...]).makeIterator()
    guard let token = parts.next(), !token.isEmpty else { return nil }
    var parameters: [String: String] = [:]
    var count = 0
    while let part = parts.next() {
      count += 1
      guard count <= IdentityField.maximumParameters else {
        throw IdentityFailure(
          .malformed, "the Identity field has more than \(IdentityField.maximumParameters) parameters")
      }
      guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { continue }
      let name = IdentityField.trimmed(part[..<equals]).map(MessageCharacter.lowercase)
      let text = IdentityField.unwrapped(IdentityField.trimmed(part[part.index(after: equals)...]))
      guard parameters.updateValue(text, forKey: String(decoding: name, as: UTF8.self)) == nil else {
        throw IdentityFailure(.malformed, "a parameter of the Identity field stands there twice")
      }
    }
    self.token = Substring(token).utf8
    info = parameters["info"]
    algorithm = parameters["alg"]
    kind = parameters["ppt"]?.lowercased()
  }

  /// The value cut at semicolons that stand in neither quotes nor angle brackets.
  private static func parts(_ value: Substring.UTF8View) -> [Substring.UTF8View] {
    var parts: [Substring.UTF8View] = []
    var start = value.startIndex
    var isQuoted = false
    var isBracketed = false
    var index = start
    while index < value.endIndex {
      switch value[index] {
      case UInt8(ascii: "\"") where !isBracketed: isQuoted.toggle()
      case UInt8(ascii: "<") where !isQuoted: isBracketed = true
      case UInt8(ascii: ">") where !isQuoted: isBracketed = false
      case MessageCharacter.semicolon where !isQuoted && !isBracketed:
        parts.append(trimmed(value[start..<index]))
        start = value.index(after: index)
      default: break
      }
      index = value.index(after: index)
    }
    parts.append(trimmed(value[start...]))
    return parts
  }

  private static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
    var text = text.drop(while: MessageCharacter.isBlank)
    while let last = text.last, MessageCharacter.isBlank(last) { text = text.dropLast() }
    return text
  }

  private static func unwrapped(_ text: Substring.UTF8View) -> String {
    for (opening, closing) in [(UInt8(ascii: "<"), UInt8(ascii: ">")), (UInt8(ascii: "\""), UInt8(ascii: "\""))]
    where text.count >= 2 && text.first == opening && text.last == closing {
      return String(Substring(text.dropFirst().dropLast()))
    }
    return String(Substring(text))
  }
}
