public import CallModel

/// A challenge that a client leaves unanswered.
public struct SkippedChallenge: Hashable, Sendable {
  /// Why a challenge was left.
  public enum Reason: Hashable, Sendable {
    /// Not the scheme Digest: Basic is forbidden in SIP (RFC 3261 section 22), others are not known.
    case scheme
    /// Not readable.
    case malformed(InvalidValue)
    /// Unknown, not available here, or not allowed by the account (RFC 8760 section 2.4: skip it).
    case algorithm(String)
    /// A `qop` with no known token.
    case quality
    /// Another realm than the account's: answering would give an attacker a response to guess the password from.
    case foreignRealm
    /// Another challenge of the same realm is stronger, or stands before it.
    case weaker
    /// Past ``DigestLimits/challenges``.
    case tooMany
  }

  /// Tells WWW-Authenticate from Proxy-Authenticate.
  public let scope: DigestScope
  public let reason: Reason
}
