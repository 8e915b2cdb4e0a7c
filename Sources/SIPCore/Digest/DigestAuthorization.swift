/// The credentials of one request, for every realm that wants some.
///
/// It goes into the request as it is, and unchanged into the ACK of a 2xx (RFC 3261 section 22.1). Give it back to
/// ``DigestClient/answer(_:to:previous:cnonce:)`` if the request is challenged: it knows what was tried.
public struct DigestAuthorization: Hashable, Sendable {
  /// The credentials for one realm.
  public struct Entry: Hashable, Sendable {
    /// Tells Authorization from Proxy-Authorization.
    public let scope: DigestScope
    public let credentials: DigestCredentials
    /// Made for a challenge to this very request, not from what an earlier one left.
    public let isAnswer: Bool
    /// Made because the nonce was stale; that happens once.
    public let followsStaleNonce: Bool
  }

  /// One for each realm that asked.
  public let entries: [Entry]
  /// Challenges of the last response that were not answered, and why.
  public let skipped: [SkippedChallenge]
  /// How many times the request was challenged.
  public let rounds: Int

  /// The header fields to add.
  public var fields: [DigestField] { entries.map { DigestField($0.scope, $0.credentials.description) } }

  func entry(_ scope: DigestScope, realm: String) -> Entry? {
    entries.first { $0.scope == scope && $0.credentials.realm.utf8.elementsEqual(realm.utf8) }
  }
}
