public import CallModel

/// Who a client is towards one peer.
public struct DigestAccount: Hashable, Sendable {
  /// As the peer knows it; without quotes and escapes.
  public var username: String
  /// The password itself, hidden from every textual form: a hash would need the realm, which may not be known yet.
  public var password: Redacted<String>
  /// The only realm that gets credentials, compared byte for byte; `nil` answers any.
  ///
  /// Whoever may challenge a request of ours can name any realm and collect the response to guess the password from:
  /// name the realm wherever it is known, and keep one client a peer.
  public var realm: String?
  /// What may be used.
  public var algorithms: Set<DigestAlgorithm>

  /// By default any realm is answered, with every algorithm that this code knows.
  public init(
    username: String, password: Redacted<String>, realm: String? = nil,
    algorithms: Set<DigestAlgorithm> = Set(DigestAlgorithm.allCases)
  ) {
    self.username = username
    self.password = password
    self.realm = realm
    self.algorithms = algorithms
  }
}
