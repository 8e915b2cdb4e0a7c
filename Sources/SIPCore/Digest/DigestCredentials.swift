public import CallModel

/// Credentials of the scheme Digest: the value of an Authorization or Proxy-Authorization field
/// (RFC 3261 sections 20.7 and 20.28, RFC 7616 section 3.4).
public struct DigestCredentials: Hashable, Sendable {
  /// Which user claims to know the password.
  public var username: String
  /// That of the challenge, byte for byte.
  public var realm: String
  /// That of the challenge, given back as it was.
  public var nonce: String
  /// The Request-URI that was signed.
  public var uri: String
  /// Hexadecimal digits.
  public var response: String
  /// The algorithm as written; `nil` where none was, which means MD5.
  public var algorithmToken: String?
  /// Random, by the client; needed with a quality and with a `-sess` algorithm.
  public var cnonce: String?
  /// That of the challenge, given back; `nil` where it had none.
  public var opaque: String?
  /// `nil` for the form of RFC 2069.
  public var quality: QualityOfProtection?
  /// How many requests used the nonce, this one included; stands together with a quality.
  public var nonceCount: UInt32?
  /// Unknown parameters, in the order written.
  public var others: [DigestParameter]

  /// Most digits of a response.
  static let maximumResponseLength = 128

  init(
    username: String, realm: String, nonce: String, uri: String, response: String, algorithmToken: String?,
    cnonce: String?, opaque: String?, quality: QualityOfProtection?, nonceCount: UInt32?
  ) {
    self.username = username
    self.realm = realm
    self.nonce = nonce
    self.uri = uri
    self.response = response
    self.algorithmToken = algorithmToken
    self.cnonce = cnonce
    self.opaque = opaque
    self.quality = quality
    self.nonceCount = nonceCount
    self.others = []
  }

  /// Reads a field value, unfolded or not.
  /// - Throws: ``InvalidValue`` with the rules of ``DigestChallenge/init(parsing:limits:)`` and `digest.response`,
  ///   `digest.nc`; a quality without `nc` or `cnonce` is `digest.missing`.
  public init(parsing text: some StringProtocol, limits: DigestLimits = .standard) throws(InvalidValue) {
    try self.init(parsing: Array(text.utf8), limits: limits)
  }

  /// Reads a field value from its bytes.
  public init(parsing bytes: [UInt8], limits: DigestLimits = .standard) throws(InvalidValue) {
    var parameters = try DigestParameters(
      parsing: bytes, kind: "digest credentials", scheme: "Digest", limits: limits)
    username = try parameters.require("username")
    realm = try parameters.require("realm")
    nonce = try parameters.require("nonce")
    uri = try parameters.require("uri")
    response = try parameters.require("response")
    guard (1...DigestCredentials.maximumResponseLength).contains(response.utf8.count),
      response.utf8.allSatisfy({ Hexadecimal.digit($0) != nil })
    else { throw parameters.refusal("response", "the response is not hexadecimal digits") }
    algorithmToken = try parameters.extractToken("algorithm")
    cnonce = parameters.extract("cnonce")
    opaque = parameters.extract("opaque")
    nonceCount = try parameters.extractNonceCount()
    if let token = parameters.extract("qop"), !token.isEmpty {
      guard let known = QualityOfProtection(token: token) else {
        throw parameters.refusal("qop", "qop is neither auth nor auth-int")
      }
      guard cnonce != nil else { throw parameters.refusal("missing", "qop stands without cnonce") }
      guard nonceCount != nil else { throw parameters.refusal("missing", "qop stands without nc") }
      quality = known
    } else {
      quality = nil
    }
    others = parameters.others
  }

  /// `nil` where the algorithm is one this code does not know.
  public var algorithm: DigestAlgorithm? {
    guard let algorithmToken else { return .md5 }
    return DigestAlgorithm(token: algorithmToken)
  }
}

extension DigestCredentials: CustomStringConvertible {
  /// The field value. Holds no secret, but what is needed to guess at one: not for open logs.
  public var description: String {
    var parameters = [
      DigestParameter(name: "username", value: username, isQuoted: true),
      DigestParameter(name: "realm", value: realm, isQuoted: true),
      DigestParameter(name: "nonce", value: nonce, isQuoted: true),
      DigestParameter(name: "uri", value: uri, isQuoted: true),
      DigestParameter(name: "response", value: response, isQuoted: true),
    ]
    if let algorithmToken {
      parameters.append(DigestParameter(name: "algorithm", value: algorithmToken, isQuoted: false))
    }
    if let cnonce { parameters.append(DigestParameter(name: "cnonce", value: cnonce, isQuoted: true)) }
    if let opaque { parameters.append(DigestParameter(name: "opaque", value: opaque, isQuoted: true)) }
    if let quality { parameters.append(DigestParameter(name: "qop", value: quality.rawValue, isQuoted: false)) }
    if let nonceCount {
      parameters.append(DigestParameter(name: "nc", value: Hexadecimal.text(nonceCount), isQuoted: false))
    }
    return DigestParameters.print("Digest", parameters + others)
  }
}
