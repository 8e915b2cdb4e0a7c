import CLandlineCrypto

/// A reusable message digest on the system's libcrypto.
///
/// One value keeps one context, so hashing a row costs no allocation besides the result. Not shared between threads.
public struct MessageDigest: ~Copyable {
  /// What can be computed.
  public enum Algorithm: Hashable, Sendable, CaseIterable {
    /// RFC 1321: broken, for protocols that know nothing else.
    case md5
    /// FIPS 180-4: broken for signatures, for protocols that know nothing else.
    case sha1
    /// FIPS 180-4.
    case sha256
    /// SHA-512/256 of FIPS 180-4 section 5.3.6.2: initial values of its own, not a shortened SHA-512.
    case sha512t256

    /// Bytes of a result.
    public var byteCount: Int {
      switch self {
      case .md5: 16
      case .sha1: 20
      case .sha256, .sha512t256: 32
      }
    }

    /// Bytes of a block, the unit of HMAC (RFC 2104).
    var blockByteCount: Int { self == .sha512t256 ? 128 : 64 }

    /// libcrypto's name.
    fileprivate var name: String {
      switch self {
      case .md5: "MD5"
      case .sha1: "SHA1"
      case .sha256: "SHA256"
      case .sha512t256: "SHA512-256"
      }
    }
  }

  /// Once in a process, before libcrypto is used for anything.
  static let isReady = landline_crypto_init() == 1

  public let algorithm: Algorithm
  private let context: OpaquePointer
  private let implementation: OpaquePointer

  /// - Returns: `nil` where the libcrypto of this machine does not offer the algorithm: a FIPS provider has no MD5.
  public init?(_ algorithm: Algorithm) {
    guard MessageDigest.isReady, let implementation = EVP_MD_fetch(nil, algorithm.name, nil) else { return nil }
    guard let context = EVP_MD_CTX_new() else {
      EVP_MD_free(implementation)
      return nil
    }
    self.algorithm = algorithm
    self.context = context
    self.implementation = implementation
  }

  /// SHA-256, which every libcrypto has.
  public static func sha256() -> MessageDigest {
    // A failure here is memory exhaustion or a libcrypto without SHA-256: nothing above could go on either way.
    guard let digest = MessageDigest(.sha256) else { fatalError("libcrypto offers no SHA-256") }
    return digest
  }

  deinit {
    EVP_MD_CTX_free(context)
    EVP_MD_free(implementation)
  }

  /// The digest of the concatenated `parts`.
  public borrowing func digest(of parts: UnsafeRawBufferPointer...) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: algorithm.byteCount)
    EVP_DigestInit_ex(context, implementation, nil)
    for part in parts { EVP_DigestUpdate(context, part.baseAddress, part.count) }
    EVP_DigestFinal_ex(context, &result, nil)
    return result
  }
}
