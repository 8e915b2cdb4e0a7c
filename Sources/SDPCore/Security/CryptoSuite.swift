/// A protection profile of SRTP that keys from a description can be used with (RFC 4568, RFC 6188, RFC 7714).
///
/// F8 and the NULL cipher are left out: neither may ever be chosen.
public enum CryptoSuite: String, Hashable, Sendable, CaseIterable {
  case aesCM128HMAC80 = "AES_CM_128_HMAC_SHA1_80"
  case aesCM128HMAC32 = "AES_CM_128_HMAC_SHA1_32"
  case aesCM192HMAC80 = "AES_192_CM_HMAC_SHA1_80"
  case aesCM192HMAC32 = "AES_192_CM_HMAC_SHA1_32"
  case aesCM256HMAC80 = "AES_256_CM_HMAC_SHA1_80"
  case aesCM256HMAC32 = "AES_256_CM_HMAC_SHA1_32"
  case aesGCM128 = "AEAD_AES_128_GCM"
  case aesGCM256 = "AEAD_AES_256_GCM"

  /// Reads a name in either spelling in use: `AES_256_CM_…` of RFC 6188 and `AES_CM_256_…` of several stacks.
  public init?(name: String) {
    switch name.uppercased() {
    case "AES_CM_192_HMAC_SHA1_80": self = .aesCM192HMAC80
    case "AES_CM_192_HMAC_SHA1_32": self = .aesCM192HMAC32
    case "AES_CM_256_HMAC_SHA1_80": self = .aesCM256HMAC80
    case "AES_CM_256_HMAC_SHA1_32": self = .aesCM256HMAC32
    case "AES_128_CM_HMAC_SHA1_80": self = .aesCM128HMAC80
    case "AES_128_CM_HMAC_SHA1_32": self = .aesCM128HMAC32
    case let name:
      guard let suite = CryptoSuite(rawValue: name) else { return nil }
      self = suite
    }
  }

  /// Bytes of the master key.
  public var keyLength: Int {
    switch self {
    case .aesCM128HMAC80, .aesCM128HMAC32, .aesGCM128: 16
    case .aesCM192HMAC80, .aesCM192HMAC32: 24
    case .aesCM256HMAC80, .aesCM256HMAC32, .aesGCM256: 32
    }
  }

  /// Bytes of the master salt.
  public var saltLength: Int { self == .aesGCM128 || self == .aesGCM256 ? 12 : 14 }
}
