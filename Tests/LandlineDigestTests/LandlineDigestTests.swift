import LandlineDigest
import Testing

@Suite("Digests, codes and comparison")
struct LandlineDigestTests {
  private func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// FIPS 180-4 and RFC 1321 examples for `abc`.
  @Test(
    "the published digests of abc",
    arguments: [
      (MessageDigest.Algorithm.md5, "900150983cd24fb0d6963f7d28e17f72"),
      (.sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
      (.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (.sha512t256, "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
    ])
  func digests(_ algorithm: MessageDigest.Algorithm, _ expected: String) throws {
    // A context is used again: the second result must not know of the first.
    guard let digest = MessageDigest(algorithm) else {
      Issue.record("libcrypto does not offer \(algorithm)")
      return
    }
    for _ in 1...2 {
      let whole = Array("abc".utf8).withUnsafeBytes { digest.digest(of: $0) }
      #expect(hexadecimal(whole) == expected)
      let parts = Array("a".utf8).withUnsafeBytes { a in
        Array("bc".utf8).withUnsafeBytes { bc in digest.digest(of: a, bc) }
      }
      #expect(parts == whole)
    }
  }

  /// RFC 4231 sections 4.2, 4.3 and 4.7: a short key, a text key, a key longer than a block.
  @Test(
    "the published codes of HMAC-SHA-256",
    arguments: [
      (
        [UInt8](repeating: 0x0B, count: 20), "Hi There",
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
      ),
      (
        Array("Jefe".utf8), "what do ya want for nothing?",
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
      ),
      (
        [UInt8](repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
      ),
    ])
  func codes(_ key: [UInt8], _ text: String, _ expected: String) {
    let code = HMAC.sha256(key: key).code(of: Array(text.utf8))
    #expect(hexadecimal(code) == expected)
  }

  @Test(
    "bytes are equal when all are",
    arguments: [([], [], true), ([1], [1], true), ([1], [2], false), ([1, 2], [1], false), ([0], [], false)]
      as [([UInt8], [UInt8], Bool)])
  func comparison(_ left: [UInt8], _ right: [UInt8], _ expected: Bool) {
    #expect(ConstantTime.equal(left, right) == expected)
  }
}
