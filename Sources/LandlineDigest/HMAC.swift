/// A keyed message authentication code (RFC 2104) over a ``MessageDigest``. Not shared between threads.
public struct HMAC: ~Copyable {
  private let digest: MessageDigest
  private let innerPad: [UInt8]
  private let outerPad: [UInt8]

  /// HMAC-SHA256. A key longer than a block is replaced by its digest, as RFC 2104 section 2 says.
  public static func sha256(key: [UInt8]) -> HMAC { HMAC(.sha256(), key: key) }

  /// - Returns: `nil` where libcrypto does not offer the algorithm.
  public init?(_ algorithm: MessageDigest.Algorithm, key: [UInt8]) {
    guard let digest = MessageDigest(algorithm) else { return nil }
    self.init(digest, key: key)
  }

  private init(_ digest: consuming MessageDigest, key: [UInt8]) {
    let count = digest.algorithm.blockByteCount
    var block = key.count > count ? key.withUnsafeBytes { digest.digest(of: $0) } : key
    block.append(contentsOf: repeatElement(0, count: count - block.count))
    innerPad = block.map { $0 ^ 0x36 }
    outerPad = block.map { $0 ^ 0x5C }
    self.digest = digest
  }

  /// The code of `message`, as long as the digest.
  public borrowing func code(of message: [UInt8]) -> [UInt8] {
    let inner = innerPad.withUnsafeBytes { pad in
      message.withUnsafeBytes { message in digest.digest(of: pad, message) }
    }
    return outerPad.withUnsafeBytes { pad in inner.withUnsafeBytes { inner in digest.digest(of: pad, inner) } }
  }
}
