import CallModel

/// A place in a list, opaque to clients: Base64url of the list's name and its numbers, or the name of the row before it.
package enum RESTCursor {
  package static let maximumBytes = 256

  package static func write(_ list: String, _ numbers: [Int64]) -> String {
    write(list, after: numbers.map { String($0) }.joined(separator: ":"))
  }

  package static func read(_ text: String, _ list: String, count: Int) -> [Int64]? {
    guard let parts = readName(text, list)?.split(separator: ":", omittingEmptySubsequences: false),
      parts.count == count
    else { return nil }
    let numbers = parts.compactMap { Int64($0) }
    return numbers.count == count ? numbers : nil
  }

  static func write(_ list: String, after name: String) -> String {
    Base64.encode(Array("\(list):\(name)".utf8), .url)
  }

  static func readName(_ text: String, _ list: String) -> String? {
    guard text.utf8.count <= maximumBytes, let bytes = Base64.decode(text.utf8, .url) else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    return text.hasPrefix("\(list):") ? String(text.dropFirst(list.count + 1)) : nil
  }

  /// Lower-case hexadecimal digits.
  static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
