/// The `fingerprint` attribute (RFC 8122 section 5): the hash of the certificate the peer will show.
public struct CertificateFingerprint: Hashable, Sendable {
  /// Hash functions that are understood; only those with ``isStrong`` may name a peer.
  public enum Hash: String, Hashable, Sendable, CaseIterable {
    case md5
    case sha1 = "sha-1"
    case sha224 = "sha-224"
    case sha256 = "sha-256"
    case sha384 = "sha-384"
    case sha512 = "sha-512"

    /// Of the digest.
    public var byteCount: Int {
      switch self {
      case .md5: 16
      case .sha1: 20
      case .sha224: 28
      case .sha256: 32
      case .sha384: 48
      case .sha512: 64
      }
    }

    /// SHA-256 or better.
    public var isStrong: Bool { self == .sha256 || self == .sha384 || self == .sha512 }
  }

  /// Weak ones are kept too: ``isAcceptable`` tells them apart.
  public let hash: Hash
  /// One that was read may have another length than the hash: then it matches no certificate.
  public let bytes: [UInt8]

  /// Good enough to name a peer by: whole, and SHA-256 or better.
  public var isAcceptable: Bool { hash.isStrong && bytes.count == hash.byteCount }

  /// `nil` when the number of bytes is not the hash's.
  public init?(hash: Hash, bytes: [UInt8]) {
    guard bytes.count == hash.byteCount else { return nil }
    self.hash = hash
    self.bytes = bytes
  }

  /// Reads `sha-256 4A:AD:…`; `nil` for an unknown hash or anything that is not such hex.
  init?(_ text: String) {
    let fields = text.split(separator: " ", maxSplits: 2)
    guard fields.count == 2, let hash = Hash(rawValue: fields[0].lowercased()) else { return nil }
    let pairs = fields[1].utf8.split(separator: UInt8(ascii: ":"), maxSplits: 64, omittingEmptySubsequences: false)
    var bytes: [UInt8] = []
    for pair in pairs {
      guard pair.count == 2, let byte = UInt8(String(decoding: pair, as: UTF8.self), radix: 16),
        pair.first != UInt8(ascii: "+")
      else { return nil }
      bytes.append(byte)
    }
    self.hash = hash
    self.bytes = bytes
  }
}

extension CertificateFingerprint: CustomStringConvertible {
  /// The value of the attribute, hex in upper case as RFC 8122 wants it.
  public var description: String {
    let digits = Array("0123456789ABCDEF")
    let pairs = bytes.map { String([digits[Int($0 >> 4)], digits[Int($0 & 15)]]) }
    return "\(hash.rawValue) \(pairs.joined(separator: ":"))"
  }
}

/// The `setup` attribute (RFC 4145 section 4): who opens the DTLS association.
public enum DTLSSetup: String, Hashable, Sendable {
  case active, passive, actpass, holdconn
}
