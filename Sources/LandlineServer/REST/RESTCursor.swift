/// A place in a list, opaque to clients: Base64url of the list's name and its numbers.
package enum RESTCursor {
  package static let maximumBytes = 256

  package static func write(_ list: String, _ numbers: [Int64]) -> String {
    encode(Array("\(list):\(numbers.map { String($0) }.joined(separator: ":"))".utf8))
  }

  package static func read(_ text: String, _ list: String, count: Int) -> [Int64]? {
    guard text.utf8.count <= maximumBytes, let bytes = decode(text) else { return nil }
    let parts = String(decoding: bytes, as: UTF8.self).split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == count + 1, parts[0] == list else { return nil }
    let numbers = parts.dropFirst().compactMap { Int64($0) }
    return numbers.count == count ? numbers : nil
  }

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// Lower-case hexadecimal digits.
  static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// Base64url without padding (RFC 4648 section 5).
  static func encode(_ bytes: [UInt8]) -> String {
    var out: [UInt8] = []
    var bits = 0
    var held: UInt32 = 0
    for byte in bytes {
      held = held << 8 | UInt32(byte)
      bits += 8
      while bits >= 6 {
        bits -= 6
        out.append(alphabet[Int(held >> UInt32(bits) & 63)])
      }
      held &= 63
    }
    if bits > 0 { out.append(alphabet[Int(held << UInt32(6 - bits) & 63)]) }
    return String(decoding: out, as: UTF8.self)
  }

  private static func decode(_ text: String) -> [UInt8]? {
    var out: [UInt8] = []
    var bits = 0
    var held: UInt32 = 0
    for byte in text.utf8 {
      guard let value = alphabet.firstIndex(of: byte) else { return nil }
      held = held << 6 | UInt32(value)
      bits += 6
      if bits >= 8 {
        bits -= 8
        out.append(UInt8(held >> UInt32(bits) & 0xFF))
      }
      held &= 0xFFFF
    }
    return out
  }
}
