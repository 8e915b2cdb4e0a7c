public import CallModel

/// The value of an Authentication-Info field (RFC 3261 section 20.6, RFC 7616 section 3.5).
public struct DigestInformation: Hashable, Sendable {
  /// The nonce of the next request.
  public var nextNonce: String?
  /// The server's proof that it knows the password, hexadecimal digits.
  public var responseAuthentication: String?
  /// `nil` where none is named, or one that this code does not know.
  public var quality: QualityOfProtection?
  /// The client's own, given back.
  public var cnonce: String?
  /// The client's own, given back; `nil` where none is named.
  public var nonceCount: UInt32?

  /// Reads a field value; unknown parameters are passed over.
  /// - Throws: ``InvalidValue`` with the rules of ``DigestChallenge/init(parsing:limits:)`` but no scheme, and
  ///   `digest.nc`, `digest.nextnonce`.
  public init(parsing text: some StringProtocol, limits: DigestLimits = .standard) throws(InvalidValue) {
    var parameters = try DigestParameters(
      parsing: Array(text.utf8), kind: "authentication information", scheme: nil, limits: limits)
    nextNonce = parameters.extract("nextnonce")
    guard nextNonce != "" else { throw parameters.refusal("nextnonce", "the next nonce is empty") }
    responseAuthentication = parameters.extract("rspauth")
    quality = parameters.extract("qop").flatMap { QualityOfProtection(token: $0) }
    cnonce = parameters.extract("cnonce")
    nonceCount = try parameters.extractNonceCount()
  }
}
