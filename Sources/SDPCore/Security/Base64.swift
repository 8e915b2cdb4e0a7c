/// Base64 of RFC 4648 section 4, with or without padding.
enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let values: [UInt8?] = {
    var values = [UInt8?](repeating: nil, count: 256)
    for (value, letter) in alphabet.enumerated() { values[Int(letter)] = UInt8(value) }
    return values
  }()

  /// `nil` for a letter outside the alphabet, padding of the wrong length, or a length no bytes encode to.
  static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
    let letters = text.prefix { $0 != UInt8(ascii: "=") }
    let padding = text.dropFirst(letters.count)
    guard letters.count % 4 != 1, padding.allSatisfy({ $0 == UInt8(ascii: "=") }),
      padding.isEmpty || letters.count % 4 + padding.count == 4
    else { return nil }
    var bytes: [UInt8] = []
    var buffer: UInt32 = 0
    var bits = 0
    for letter in letters {
      guard let value = values[Int(letter)] else { return nil }
      buffer = buffer << 6 | UInt32(value)
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
        buffer &= (1 << UInt32(bits)) - 1
      }
    }
    return bytes
  }

  /// With padding.
  static func encode(_ bytes: [UInt8]) -> String {
    var letters: [UInt8] = []
    var index = 0
    while index < bytes.count {
      let group = bytes[index..<min(index + 3, bytes.count)]
      let value = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32((3 - group.count) * 8)
      for position in 0..<4 {
        letters.append(
          position <= group.count ? alphabet[Int(value >> UInt32(18 - position * 6) & 63)] : UInt8(ascii: "="))
      }
      index += 3
    }
    return String(decoding: letters, as: UTF8.self)
  }
}
