import LandlineDigest
import Testing

/// Test cases 13 to 16 of "The Galois/Counter Mode of Operation (GCM)" by McGrew and Viega, appendix B: those with a key of
/// 256 bits and a nonce of 96.
@Suite("AES-256-GCM")
struct AES256GCMTests {
  struct Case: CustomTestStringConvertible {
    var number: Int
    var key: String
    var nonce: String
    var plaintext = ""
    var additional = ""
    var sealed: String
    var testDescription: String { "test case \(number)" }
  }

  private static let key = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"
  private static let plaintext =
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
    + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
  private static let ciphertext =
    "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
    + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"

  static let cases = [
    Case(
      number: 13, key: String(repeating: "00", count: 32), nonce: String(repeating: "00", count: 12),
      sealed: "530f8afbc74536b9a963b4f1c4cb738b"),
    Case(
      number: 14, key: String(repeating: "00", count: 32), nonce: String(repeating: "00", count: 12),
      plaintext: String(repeating: "00", count: 16),
      sealed: "cea7403d4d606b6e074ec5d3baf39d18" + "d0d1c8a799996bf0265b98b5d48ab919"),
    Case(
      number: 15, key: key, nonce: "cafebabefacedbaddecaf888", plaintext: plaintext + "1aafd255",
      sealed: ciphertext + "898015ad" + "b094dac5d93471bdec1a502270e3cc6c"),
    Case(
      number: 16, key: key, nonce: "cafebabefacedbaddecaf888", plaintext: plaintext,
      additional: "feedfacedeadbeeffeedfacedeadbeefabaddad2",
      sealed: ciphertext + "76fc6ece0f4e1768cddf8853bb2d551b"),
  ]

  private func bytes(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  @Test("the published cases, both ways", arguments: cases)
  func published(_ test: Case) {
    let (key, nonce) = (bytes(test.key), bytes(test.nonce))
    let (plaintext, additional, sealed) = (bytes(test.plaintext), bytes(test.additional), bytes(test.sealed))
    #expect(AES256GCM.seal(plaintext, key: key, nonce: nonce, authenticating: additional) == sealed)
    #expect(AES256GCM.open(sealed, key: key, nonce: nonce, authenticating: additional) == plaintext)
  }

  @Test("a bit that is another is refused, wherever it stands", arguments: cases)
  func flipped(_ test: Case) {
    let parts = [bytes(test.sealed), bytes(test.key), bytes(test.nonce), bytes(test.additional)]
    for part in parts.indices {
      for place in 0..<(parts[part].count * 8) {
        var changed = parts
        changed[part][place / 8] ^= 1 << UInt8(place % 8)
        #expect(
          AES256GCM.open(changed[0], key: changed[1], nonce: changed[2], authenticating: changed[3]) == nil,
          "part \(part), bit \(place)")
      }
    }
  }

  @Test("lengths that are none are refused")
  func lengths() {
    let (key, nonce) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 12))
    #expect(AES256GCM.seal([1], key: Array(key.dropLast()), nonce: nonce, authenticating: []) == nil)
    #expect(AES256GCM.seal([1], key: key, nonce: nonce + [0], authenticating: []) == nil)
    #expect(AES256GCM.open([UInt8](repeating: 0, count: 15), key: key, nonce: nonce, authenticating: []) == nil)
    #expect(AES256GCM.open([], key: key, nonce: nonce, authenticating: []) == nil)
    let sealed = AES256GCM.seal([1, 2, 3], key: key, nonce: nonce, authenticating: [9])
    #expect(sealed?.count == 3 + AES256GCM.tagBytes)
    #expect(
      sealed.map { AES256GCM.open(Array($0.dropLast()), key: key, nonce: nonce, authenticating: [9]) }
        == [UInt8]??.some(nil))
    #expect(sealed.map { AES256GCM.open($0 + [0], key: key, nonce: nonce, authenticating: [9]) } == [UInt8]??.some(nil))
  }
}
