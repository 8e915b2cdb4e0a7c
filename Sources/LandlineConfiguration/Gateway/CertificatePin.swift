public import CallModel

/// The SHA-256 fingerprint of a certificate, as `openssl x509 -noout -fingerprint -sha256` prints it.
public struct CertificatePin: Hashable, Sendable {
  /// 32 bytes.
  public let bytes: [UInt8]

  /// - Throws: ``InvalidValue`` with rule `tls.fingerprint`.
  public init(_ text: String) throws(InvalidValue) {
    // OpenSSL puts `sha256 Fingerprint=` in front.
    let digits = Array((text.split(separator: "=").last ?? "").utf8.filter { $0 != UInt8(ascii: ":") })
    let bytes = digits.indices.filter { $0.isMultiple(of: 2) }.compactMap { index -> UInt8? in
      let pair = digits[index...].prefix(2)
      guard pair.count == 2, pair.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }) else { return nil }
      return UInt8(String(decoding: pair, as: UTF8.self), radix: 16)
    }
    guard digits.count == 64, bytes.count == 32 else {
      throw InvalidValue(
        kind: "fingerprint", rule: "tls.fingerprint", offset: nil, problem: "it is no SHA-256 fingerprint",
        accepted: "64 hexadecimal digits, as openssl x509 -noout -fingerprint -sha256 prints them")
    }
    self.bytes = bytes
  }
}
