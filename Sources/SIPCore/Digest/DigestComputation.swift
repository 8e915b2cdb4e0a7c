public import CallModel

/// The arithmetic of RFC 7616 section 3.4, equal to RFC 2617 section 3.2.2 for the forms that both have.
///
/// Texts enter as their UTF-8 bytes, unquoted and unescaped. Nothing is normalised: a password typed in another
/// normal form is another password.
public enum DigestComputation {
  /// H(A1): of user, realm and password, and with a `-sess` algorithm of both nonces too.
  /// - Parameter cnonce: Enters only with a `-sess` algorithm.
  /// - Returns: Lower-case hexadecimal; `nil` where libcrypto does not offer the algorithm.
  public static func keyHash(
    _ algorithm: DigestAlgorithm, username: String, realm: String, password: Redacted<String>, nonce: String,
    cnonce: String
  ) -> Redacted<String>? {
    guard let base = algorithm.hash(joining: username, realm, password.exposed) else { return nil }
    return keyHash(algorithm, base: Redacted(base), nonce: nonce, cnonce: cnonce)
  }

  /// H(A1) from what is kept of a password in its place.
  /// - Parameter base: H(user:realm:password) in the plain algorithm, lower-case hexadecimal.
  static func keyHash(
    _ algorithm: DigestAlgorithm, base: Redacted<String>, nonce: String, cnonce: String
  ) -> Redacted<String>? {
    guard algorithm.isSession else { return base }
    return algorithm.hash(joining: base.exposed, nonce, cnonce).map { Redacted($0) }
  }

  /// The `response` of a request: KD(H(A1), … H(A2)).
  ///
  /// An empty method gives the `rspauth` of Authentication-Info (RFC 7616 section 3.5), with the body of the response.
  /// - Parameters:
  ///   - quality: `nil` for the form of RFC 2069, which counts nothing.
  ///   - nonceCount: Enters, like `cnonce`, only with a quality.
  /// - Returns: Lower-case hexadecimal; `nil` where libcrypto does not offer the algorithm.
  public static func response(
    _ algorithm: DigestAlgorithm, keyHash: Redacted<String>, request: DigestRequest, nonce: String,
    quality: QualityOfProtection?, nonceCount: UInt32, cnonce: String
  ) -> String? {
    let requestHash: String?
    if quality == .authenticationWithIntegrity {
      guard let bodyHash = algorithm.hash(request.body) else { return nil }
      requestHash = algorithm.hash(joining: request.method, request.uri, bodyHash)
    } else {
      requestHash = algorithm.hash(joining: request.method, request.uri)
    }
    guard let requestHash else { return nil }
    guard let quality else { return algorithm.hash(joining: keyHash.exposed, nonce, requestHash) }
    return algorithm.hash(
      joining: keyHash.exposed, nonce, Hexadecimal.text(nonceCount), cnonce, quality.rawValue, requestHash)
  }
}
