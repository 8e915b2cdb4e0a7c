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

    static let longestByteCount = 64

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
    let fields = text.utf8.split(separator: 0x20, maxSplits: 2)
    guard fields.count == 2, let hash = Hash(rawValue: Substring(fields[0]).lowercased()) else { return nil }
    // Pairs of digits with colons between them; one byte more than the longest hash is enough to see that it is too long.
    let digits = Array(fields[1].prefix((Hash.longestByteCount + 1) * 3))
    guard digits.count % 3 == 2 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(hash.byteCount)
    for place in stride(from: 0, to: digits.count, by: 3) {
      guard let high = Self.digit(digits[place]), let low = Self.digit(digits[place + 1]),
        place + 2 == digits.count || digits[place + 2] == UInt8(ascii: ":")
      else { return nil }
      bytes.append(high << 4 | low)
    }
    self.hash = hash
    self.bytes = bytes
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}

extension CertificateFingerprint: CustomStringConvertible {
  /// The value of the attribute, hex in upper case as RFC 8122 wants it.
  public var description: String {
    func digit(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10 }
    var text: [UInt8] = []
    text.reserveCapacity(hash.rawValue.utf8.count + 1 + 3 * bytes.count)
    text += hash.rawValue.utf8
    text.append(UInt8(ascii: " "))
    for (place, byte) in bytes.enumerated() {
      if place > 0 { text.append(UInt8(ascii: ":")) }
      text.append(digit(byte >> 4))
      text.append(digit(byte & 15))
    }
    return String(decoding: text, as: UTF8.self)
  }
}

/// The `setup` attribute (RFC 4145 section 4): who opens the DTLS association.
public enum DTLSSetup: String, Hashable, Sendable {
  case active, passive, actpass, holdconn
}
