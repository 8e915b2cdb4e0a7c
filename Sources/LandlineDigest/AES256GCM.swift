import CLandlineCrypto

/// Encryption that also authenticates: AES with a key of 256 bits in Galois/Counter Mode (NIST SP 800-38D).
///
/// A nonce must never be used twice under one key: two texts under the same nonce give both away.
public enum AES256GCM {
  /// Bytes of a key.
  public static let keyBytes = 32
  /// Bytes of a nonce, the length that needs no hashing (SP 800-38D section 5.2.1.1).
  public static let nonceBytes = 12
  /// Bytes of the tag behind the ciphertext.
  public static let tagBytes = 16
  /// Longest text: the lengths of libcrypto are 32 bits, and nothing here comes near.
  public static let maximumBytes = 1 << 30

  /// Encrypts a text.
  /// - Parameter authenticating: is not encrypted, and must be the same when the text is opened.
  /// - Returns: the ciphertext, as long as the text, and the tag; `nil` for a key or a nonce of another length, a text or
  ///   additional data beyond ``maximumBytes``, and where libcrypto does not offer the algorithm.
  public static func seal(
    _ plaintext: [UInt8], key: [UInt8], nonce: [UInt8], authenticating additional: [UInt8]
  ) -> [UInt8]? {
    guard plaintext.count <= maximumBytes,
      let context = context(key: key, nonce: nonce, additional: additional, encrypts: true)
    else { return nil }
    defer { EVP_CIPHER_CTX_free(context) }
    var sealed = [UInt8](repeating: 0, count: plaintext.count + tagBytes)
    let isSealed = sealed.withUnsafeMutableBufferPointer { sealed -> Bool in
      guard let base = sealed.baseAddress else { return false }
      var count: Int32 = 0
      if !plaintext.isEmpty {
        guard EVP_EncryptUpdate(context, base, &count, plaintext, Int32(plaintext.count)) == 1,
          Int(count) == plaintext.count
        else { return false }
      }
      // This mode pads nothing: the end only makes the tag.
      let tag = base + plaintext.count
      return EVP_EncryptFinal_ex(context, tag, &count) == 1 && count == 0
        && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tagBytes), tag) == 1
    }
    return isSealed ? sealed : nil
  }

  /// Decrypts what ``seal(_:key:nonce:authenticating:)`` made.
  /// - Returns: the text; `nil` where anything is not as it was sealed, or was sealed under another key.
  public static func open(
    _ sealed: [UInt8], key: [UInt8], nonce: [UInt8], authenticating additional: [UInt8]
  ) -> [UInt8]? {
    let length = sealed.count - tagBytes
    guard length >= 0, length <= maximumBytes,
      let context = context(key: key, nonce: nonce, additional: additional, encrypts: false)
    else { return nil }
    defer { EVP_CIPHER_CTX_free(context) }
    var tag = Array(sealed.suffix(tagBytes))
    guard EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagBytes), &tag) == 1 else { return nil }
    // One block more than the text, for libcrypto may be told to write behind it.
    var plaintext = [UInt8](repeating: 0, count: length + tagBytes)
    let isOpened = plaintext.withUnsafeMutableBufferPointer { plaintext -> Bool in
      guard let base = plaintext.baseAddress else { return false }
      var count: Int32 = 0
      if length > 0 {
        guard EVP_DecryptUpdate(context, base, &count, sealed, Int32(length)) == 1, Int(count) == length else {
          return false
        }
      }
      return EVP_DecryptFinal_ex(context, base + length, &count) == 1 && count == 0
    }
    guard isOpened else {
      ERR_clear_error()
      return nil
    }
    plaintext.removeLast(tagBytes)
    return plaintext
  }

  /// A context that has seen the key, the nonce and the additional data.
  private static func context(
    key: [UInt8], nonce: [UInt8], additional: [UInt8], encrypts: Bool
  ) -> OpaquePointer? {
    guard key.count == keyBytes, nonce.count == nonceBytes, additional.count <= maximumBytes, MessageDigest.isReady,
      let cipher = EVP_CIPHER_fetch(nil, "AES-256-GCM", nil)
    else { return nil }
    defer { EVP_CIPHER_free(cipher) }
    guard let context = EVP_CIPHER_CTX_new() else { return nil }
    var count: Int32 = 0
    guard EVP_CipherInit_ex2(context, cipher, key, nonce, encrypts ? 1 : 0, nil) == 1,
      additional.isEmpty
        || EVP_CipherUpdate(context, nil, &count, additional, Int32(additional.count)) == 1
    else {
      EVP_CIPHER_CTX_free(context)
      return nil
    }
    return context
  }
}
