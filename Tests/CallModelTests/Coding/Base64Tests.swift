import CallModel
import Testing

@Suite("Base64") struct Base64Tests {
  /// RFC 4648 section 10.
  static let vectors = [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
    ("foobar", "Zm9vYmFy"),
  ]

  private func bytes(_ text: String, _ alphabet: Base64.Alphabet = .standard) -> [UInt8]? {
    Base64.decode(text.utf8, alphabet)
  }

  @Test("the vectors of the RFC, in both alphabets", arguments: vectors) func vector(_ plain: String, _ text: String) {
    let bare = String(text.prefix { $0 != "=" })
    #expect(Base64.encode(Array(plain.utf8)) == text)
    #expect(Base64.encode(Array(plain.utf8), .url) == bare)
    #expect(bytes(text) == Array(plain.utf8))
    #expect(bytes(bare, .url) == Array(plain.utf8))
    #expect(Base64.decode(bare.utf8, padding: .optional) == Array(plain.utf8))
    #expect(Base64.decode(text.utf8, padding: .optional) == Array(plain.utf8))
    #expect(Base64.decode(text.utf8, .url, padding: .required) == Array(plain.utf8))
    if bare != text {
      #expect(bytes(bare) == nil)
      #expect(bytes(text, .url) == nil)
      #expect(Base64.decode(text.utf8, padding: .refused) == nil)
    }
  }

  @Test("the last two letters tell the alphabets apart") func alphabets() {
    let all = (0..<64).map { UInt8($0) }
    // 48 bytes whose groups are the values 0 to 63.
    var packed: [UInt8] = []
    for group in stride(from: 0, to: 64, by: 4) {
      let value = all[group..<group + 4].reduce(UInt32(0)) { $0 << 6 | UInt32($1) }
      packed += [UInt8(value >> 16), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)]
    }
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    #expect(Base64.encode(packed) == letters + "+/")
    #expect(Base64.encode(packed, .url) == letters + "-_")
    #expect(bytes(letters + "+/") == packed)
    #expect(bytes(letters + "-_", .url) == packed)
    #expect(bytes(letters + "-_") == nil)
    #expect(bytes(letters + "+/", .url) == nil)
  }

  @Test(
    "what no bytes are written as is refused, however much is forgiven",
    arguments: [
      "A", "AAAAA", "A===", "Zg=", "Zg===", "Zm8==", "Zm9v=", "=", "====", "Zg==Zg==", "Z=g=", "Zg= ", "Zg\n==",
    ])
  func refused(_ text: String) {
    for alphabet in [Base64.Alphabet.standard, .url] {
      for padding in [Base64.Padding.required, .optional, .refused] {
        #expect(
          Base64.decode(text.utf8, alphabet, padding: padding, ignoresRest: true) == nil, "\(alphabet) \(padding)")
      }
    }
  }

  @Test("bits behind the last byte are zero, unless they do not count", arguments: [("Zh==", "f"), ("Zm9=", "fo")])
  func rest(_ text: String, _ plain: String) {
    #expect(bytes(text) == nil)
    #expect(Base64.decode(text.utf8, ignoresRest: true) == Array(plain.utf8))
  }

  @Test("everything comes back") func roundTrips() {
    var generator = SplitMix(state: 4648)
    for count in 0..<200 {
      let value = (0..<count).map { _ in UInt8(generator.next(below: 256)) }
      for alphabet in [Base64.Alphabet.standard, .url] {
        #expect(bytes(Base64.encode(value, alphabet), alphabet) == value)
      }
    }
  }
}
