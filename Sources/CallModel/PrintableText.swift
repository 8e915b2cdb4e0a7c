/// The one rule that user and conference ids share: printable ASCII without the space, not empty, of bounded length.
enum PrintableText {
  /// - Throws: ``InvalidValue`` with rules `<rule>.empty`, `<rule>.character`, `<rule>.long`.
  static func check(
    _ text: some StringProtocol, kind: String, rule: String, maximumLength: Int
  ) throws(InvalidValue) {
    func refusal(_ name: String, _ offset: Int, _ problem: String) -> InvalidValue {
      InvalidValue(
        kind: kind, rule: "\(rule).\(name)", offset: offset, problem: problem,
        accepted: "1 to \(maximumLength) printable ASCII characters from '!' to '~', without spaces")
    }
    var offset = 0
    for byte in text.utf8 {
      guard byte >= UInt8(ascii: "!"), byte <= UInt8(ascii: "~") else {
        throw refusal("character", offset, "\(InvalidValue.name(of: byte)) is not allowed")
      }
      guard offset < maximumLength else { throw refusal("long", offset, "more than \(maximumLength) characters") }
      offset += 1
    }
    guard offset > 0 else { throw refusal("empty", 0, "nothing is there") }
  }
}
