import CLandlineCrypto

/// A reusable SHA-256 computation (FIPS 180-4) on the system's libcrypto.
///
/// One value keeps one context, so hashing a row costs no allocation. Not shared between threads.
public struct SHA256Digest: ~Copyable {
  /// Bytes of a result.
  public static let byteCount = 32

  private let context: OpaquePointer
  private let algorithm: OpaquePointer

  public init() {
    // A failure here is memory exhaustion or a libcrypto without SHA-256: nothing above could go on either way.
    guard let context = EVP_MD_CTX_new(), let algorithm = EVP_MD_fetch(nil, "SHA256", nil) else {
      fatalError("libcrypto offers no SHA-256")
    }
    self.context = context
    self.algorithm = algorithm
  }

  deinit {
    EVP_MD_CTX_free(context)
    EVP_MD_free(algorithm)
  }

  /// The digest of the concatenated `parts`.
  public borrowing func digest(of parts: UnsafeRawBufferPointer...) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: SHA256Digest.byteCount)
    EVP_DigestInit_ex(context, algorithm, nil)
    for part in parts { EVP_DigestUpdate(context, part.baseAddress, part.count) }
    EVP_DigestFinal_ex(context, &result, nil)
    return result
  }
}
