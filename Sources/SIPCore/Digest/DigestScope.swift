/// Who asks for credentials: the user agent server or registrar (401) or a proxy (407), RFC 3261 section 22.
public enum DigestScope: Hashable, Sendable, CaseIterable {
  case userAgent
  case proxy

  /// The status code of a challenge.
  public var statusCode: Int { self == .userAgent ? 401 : 407 }
  /// The header field that carries a challenge.
  public var challengeFieldName: String { self == .userAgent ? "WWW-Authenticate" : "Proxy-Authenticate" }
  /// The header field that carries credentials.
  public var credentialsFieldName: String { self == .userAgent ? "Authorization" : "Proxy-Authorization" }
  /// The header field of a 2xx response that may name the next nonce (RFC 3261 section 20.6, RFC 7615).
  public var informationFieldName: String { self == .userAgent ? "Authentication-Info" : "Proxy-Authentication-Info" }
}
