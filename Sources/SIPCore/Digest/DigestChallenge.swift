public import CallModel

/// A challenge of the scheme Digest: the value of a WWW-Authenticate or Proxy-Authenticate field
/// (RFC 3261 sections 20.27 and 20.44, RFC 7616 section 3.3).
public struct DigestChallenge: Hashable, Sendable {
  /// What user and password are for; compared byte for byte.
  public var realm: String
  /// Goes back in the credentials as it is; means nothing to the client.
  public var nonce: String
  /// Echoed as it is, also when empty.
  public var opaque: String?
  /// The URIs of the protection space as written.
  public var domain: String?
  /// The request was refused for its old nonce only.
  public var isStale: Bool
  /// The algorithm as written; `nil` where none was, which means MD5.
  public var algorithmToken: String?
  /// The `qop` tokens as written, known or not; empty where there was none or an empty one.
  public var qualityTokens: [String]
  /// Unknown parameters, in the order written.
  public var others: [DigestParameter]

  /// Writes no algorithm for `nil`, which means MD5; empty `qualities` are the form of RFC 2069.
  public init(
    realm: String, nonce: String, algorithm: DigestAlgorithm?, qualities: [QualityOfProtection], isStale: Bool = false,
    opaque: String? = nil
  ) {
    self.realm = realm
    self.nonce = nonce
    self.opaque = opaque
    self.domain = nil
    self.isStale = isStale
    self.algorithmToken = algorithm?.rawValue
    self.qualityTokens = qualities.map(\.rawValue)
    self.others = []
  }

  /// Reads a field value, unfolded or not.
  /// - Throws: ``InvalidValue`` with rules `digest.scheme`, `digest.long`, `digest.utf8`, `digest.parameters`,
  ///   `digest.parameterLong`, `digest.duplicate`, `digest.separator`, `digest.name`, `digest.equals`, `digest.value`,
  ///   `digest.escape`, `digest.control`, `digest.quote`, `digest.missing`, `digest.algorithm`, `digest.qop`.
  public init(parsing text: some StringProtocol, limits: DigestLimits = .standard) throws(InvalidValue) {
    try self.init(parsing: Array(text.utf8), limits: limits)
  }

  /// Reads a field value from its bytes.
  public init(parsing bytes: [UInt8], limits: DigestLimits = .standard) throws(InvalidValue) {
    var parameters = try DigestParameters(
      parsing: bytes, kind: "digest challenge", scheme: "Digest", limits: limits)
    realm = try parameters.require("realm")
    nonce = try parameters.require("nonce")
    opaque = parameters.extract("opaque")
    domain = parameters.extract("domain")
    isStale = parameters.extract("stale")?.lowercased() == "true"
    algorithmToken = try parameters.extractToken("algorithm")
    qualityTokens = (parameters.extract("qop") ?? "").utf8
      .split { $0 == UInt8(ascii: ",") || $0 == 0x20 || $0 == 0x09 }
      .map { String(decoding: $0, as: UTF8.self) }
    others = parameters.others
  }

  /// `nil` where the algorithm is one this code does not know.
  public var algorithm: DigestAlgorithm? {
    guard let algorithmToken else { return .md5 }
    return DigestAlgorithm(token: algorithmToken)
  }

  /// The known qualities in the order offered.
  public var qualities: [QualityOfProtection] { qualityTokens.compactMap { QualityOfProtection(token: $0) } }
}

extension DigestChallenge: CustomStringConvertible {
  /// The field value: `Digest realm="…", nonce="…", algorithm=SHA-256, qop="auth"`.
  public var description: String {
    var parameters = [DigestParameter(name: "realm", value: realm, isQuoted: true)]
    if let domain { parameters.append(DigestParameter(name: "domain", value: domain, isQuoted: true)) }
    parameters.append(DigestParameter(name: "nonce", value: nonce, isQuoted: true))
    if let opaque { parameters.append(DigestParameter(name: "opaque", value: opaque, isQuoted: true)) }
    if isStale { parameters.append(DigestParameter(name: "stale", value: "true", isQuoted: false)) }
    if let algorithmToken {
      parameters.append(DigestParameter(name: "algorithm", value: algorithmToken, isQuoted: false))
    }
    if !qualityTokens.isEmpty {
      parameters.append(
        DigestParameter(name: "qop", value: qualityTokens.joined(separator: ","), isQuoted: true))
    }
    return DigestParameters.print("Digest", parameters + others)
  }
}
