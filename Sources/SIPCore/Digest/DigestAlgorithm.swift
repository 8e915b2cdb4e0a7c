import LandlineDigest

/// The algorithms of digest authentication in SIP (RFC 3261 section 22.4, RFC 7616 section 6.1, RFC 8760 section 2.1).
public enum DigestAlgorithm: String, Hashable, Sendable, CaseIterable {
  case md5 = "MD5"
  case md5Session = "MD5-sess"
  case sha256 = "SHA-256"
  case sha256Session = "SHA-256-sess"
  case sha512t256 = "SHA-512-256"
  case sha512t256Session = "SHA-512-256-sess"

  /// Reads the `algorithm` parameter without regard to case.
  /// - Returns: `nil` for an algorithm this code does not know.
  public init?(token: some StringProtocol) {
    let lower = token.lowercased()
    guard let known = DigestAlgorithm.allCases.first(where: { $0.rawValue.lowercased() == lower }) else { return nil }
    self = known
  }

  /// A `-sess` variant, where the first nonces of a session enter the key.
  public var isSession: Bool {
    switch self {
    case .md5Session, .sha256Session, .sha512t256Session: true
    case .md5, .sha256, .sha512t256: false
    }
  }

  /// The same hash without a session.
  public var plain: DigestAlgorithm {
    switch self {
    case .md5, .md5Session: .md5
    case .sha256, .sha256Session: .sha256
    case .sha512t256, .sha512t256Session: .sha512t256
    }
  }

  /// Larger is stronger: MD5, SHA-256, SHA-512-256. A `-sess` variant is as strong as the plain one.
  public var strength: Int {
    switch self {
    case .md5, .md5Session: 1
    case .sha256, .sha256Session: 2
    case .sha512t256, .sha512t256Session: 3
    }
  }

  /// Hexadecimal digits of a response.
  public var responseLength: Int { messageDigest.byteCount * 2 }

  /// Whether this machine's libcrypto can compute it; a FIPS provider has no MD5.
  public var isAvailable: Bool { DigestAlgorithm.available.contains(self) }

  private static let available = Set(allCases.filter { $0.hash([]) != nil })

  private var messageDigest: MessageDigest.Algorithm {
    switch self {
    case .md5, .md5Session: .md5
    case .sha256, .sha256Session: .sha256
    case .sha512t256, .sha512t256Session: .sha512t256
    }
  }

  /// H() of RFC 7616 section 3.1 as lower-case hexadecimal; `nil` where the algorithm is not available.
  package func hash(_ bytes: [UInt8]) -> String? {
    guard let digest = MessageDigest(messageDigest) else { return nil }
    return Hexadecimal.text(bytes.withUnsafeBytes { digest.digest(of: $0) })
  }

  /// H() of texts joined by colons.
  func hash(joining parts: String...) -> String? { hash(Array(parts.joined(separator: ":").utf8)) }
}
