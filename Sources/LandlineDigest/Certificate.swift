import CLandlineCrypto

/// A certificate of X.509 (RFC 5280), read with libcrypto. It says nothing about whether anybody trusts it: see
/// ``CertificateAnchors``.
public struct Certificate: Hashable, Sendable {
  /// Most bytes that are read as one certificate.
  public static let maximumBytes = 16_384

  /// As it was given.
  public let der: [UInt8]
  /// The key as a SubjectPublicKeyInfo, for ``ES256/verifies(_:of:key:)``.
  public let key: [UInt8]
  /// Whether the key lies on the curve P-256.
  public let isP256: Bool
  /// Whether it says that it may sign other certificates.
  public let isAuthority: Bool

  /// - Returns: `nil` for bytes that are not exactly one certificate.
  public init?(der: [UInt8]) {
    guard let certificate = Certificate.read(der) else { return nil }
    defer { X509_free(certificate) }
    guard let key = X509_get0_pubkey(certificate) else { return nil }
    let length = i2d_PUBKEY(key, nil)
    guard length > 0 else { return nil }
    var written = [UInt8](repeating: 0, count: Int(length))
    let count = written.withUnsafeMutableBufferPointer { buffer -> Int32 in
      var place = buffer.baseAddress
      return i2d_PUBKEY(key, &place)
    }
    guard count == length else { return nil }
    self.der = der
    self.key = written
    isP256 = landline_key_is_p256(key) == 1
    isAuthority = X509_check_ca(certificate) == 1
  }

  /// The value of an extension.
  /// - Parameter identifier: In dotted decimal, such as `1.3.6.1.5.5.7.1.26`.
  /// - Returns: `nil` for a certificate without it, or that has it more than once.
  public func value(ofExtension identifier: String) -> [UInt8]? {
    guard let certificate = Certificate.read(der) else { return nil }
    defer { X509_free(certificate) }
    guard let object = OBJ_txt2obj(identifier, 1) else { return nil }
    defer { ASN1_OBJECT_free(object) }
    let place = X509_get_ext_by_OBJ(certificate, object, -1)
    guard place >= 0, X509_get_ext_by_OBJ(certificate, object, place) < 0,
      let found = X509_get_ext(certificate, place), let data = X509_EXTENSION_get_data(found),
      let bytes = ASN1_STRING_get0_data(data)
    else { return nil }
    return Array(UnsafeBufferPointer(start: bytes, count: Int(max(0, ASN1_STRING_length(data)))))
  }

  /// To be freed by the caller.
  static func read(_ der: [UInt8]) -> OpaquePointer? {
    guard der.count <= maximumBytes, MessageDigest.isReady else { return nil }
    return der.withUnsafeBufferPointer { buffer in
      var place = buffer.baseAddress
      guard let start = place, let certificate = d2i_X509(nil, &place, buffer.count) else {
        ERR_clear_error()
        return nil
      }
      guard place == start + buffer.count else {
        X509_free(certificate)
        return nil
      }
      return certificate
    }
  }
}
