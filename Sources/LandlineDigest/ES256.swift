import CLandlineCrypto

/// Signatures of ECDSA on the curve P-256 with SHA-256, as JSON Web Signatures write them (RFC 7518 section 3.4).
public enum ES256 {
  /// Bytes of a signature: R and S, 32 each.
  public static let signatureBytes = 64

  /// Whether a signature holds.
  /// - Parameters:
  ///   - signature: R and S one after the other; any other length is refused, and so the form of DER.
  ///   - key: A SubjectPublicKeyInfo; a key of another kind or curve verifies nothing.
  public static func verifies(_ signature: [UInt8], of message: [UInt8], key: [UInt8]) -> Bool {
    guard signature.count == signatureBytes, MessageDigest.isReady, let key = read(key) else { return false }
    defer {
      EVP_PKEY_free(key)
      ERR_clear_error()
    }
    guard landline_key_is_p256(key) == 1, let der = der(signature), let context = EVP_MD_CTX_new() else { return false }
    defer { EVP_MD_CTX_free(context) }
    guard EVP_DigestVerifyInit_ex(context, nil, "SHA256", nil, nil, key, nil) == 1 else { return false }
    return EVP_DigestVerify(context, der, der.count, message, message.count) == 1
  }

  private static func read(_ key: [UInt8]) -> OpaquePointer? {
    key.withUnsafeBufferPointer { buffer in
      var place = buffer.baseAddress
      guard place != nil, let read = d2i_PUBKEY(nil, &place, buffer.count) else {
        ERR_clear_error()
        return nil
      }
      return read
    }
  }

  /// The form that libcrypto reads.
  private static func der(_ signature: [UInt8]) -> [UInt8]? {
    let half = Int32(signatureBytes / 2)
    guard let pair = ECDSA_SIG_new() else { return nil }
    defer { ECDSA_SIG_free(pair) }
    let r = BN_bin2bn(Array(signature.prefix(Int(half))), half, nil)
    let s = BN_bin2bn(Array(signature.suffix(Int(half))), half, nil)
    guard ECDSA_SIG_set0(pair, r, s) == 1 else {
      BN_free(r)
      BN_free(s)
      return nil
    }
    let length = i2d_ECDSA_SIG(pair, nil)
    guard length > 0 else { return nil }
    var written = [UInt8](repeating: 0, count: Int(length))
    let count = written.withUnsafeMutableBufferPointer { buffer -> Int32 in
      var place = buffer.baseAddress
      return i2d_ECDSA_SIG(pair, &place)
    }
    return count == length ? written : nil
  }
}
