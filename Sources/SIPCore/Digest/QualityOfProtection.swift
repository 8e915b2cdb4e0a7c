/// What a digest protects: the `qop` parameter of RFC 7616 section 3.3. None at all is the form of RFC 2069.
public enum QualityOfProtection: String, Hashable, Sendable, CaseIterable {
  /// Method and URI.
  case authentication = "auth"
  /// Method, URI and body.
  case authenticationWithIntegrity = "auth-int"

  /// Reads one `qop` token without regard to case; `nil` for one this code does not know.
  public init?(token: some StringProtocol) { self.init(rawValue: token.lowercased()) }
}
