/// Percent-encoding (RFC 3986 section 2.1).
package enum PercentText {
  /// - Returns: `nil` for an incomplete escape or bytes that are not UTF-8.
  package static func decode(_ text: some StringProtocol) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }),
        let low = rest.popFirst().flatMap({ Character(Unicode.Scalar($0)).hexDigitValue })
      else { return nil }
      bytes.append(UInt8(high << 4 | low))
    }
    return String(validating: bytes, as: UTF8.self)
  }

  /// Parameters of a query by name.
  /// - Returns: `nil` when one stands there twice or cannot be read.
  package static func query(_ text: String) -> [(name: String, value: String)]? {
    var parameters: [(name: String, value: String)] = []
    var names: Set<String> = []
    for part in text.split(separator: "&") {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      // A plus sign stands for itself: numbers begin with one.
      guard let name = decode(pair[0]), let value = decode(pair.count > 1 ? pair[1] : ""),
        names.insert(name).inserted
      else { return nil }
      parameters.append((name, value))
    }
    return parameters
  }
}
