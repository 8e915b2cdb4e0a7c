/// Why a challenged request is not sent again: the 401 or 407 is then the final answer.
public struct DigestRefusal: Error, Hashable, Sendable {
  /// Why sending again would be wrong or in vain.
  public enum Reason: Hashable, Sendable {
    /// The response holds no challenge at all.
    case noChallenge
    /// None of the challenges can be answered; see ``DigestRefusal/skipped``.
    case nothingToAnswer
    /// All that could be answered name another realm than the account's.
    case foreignRealm
    /// The realm refused what was sent to it: user or password are wrong.
    case wrongCredentials(realm: String)
    /// The realm called a nonce stale that it had just given.
    case staleAgain(realm: String)
    /// More than ``DigestLimits/rounds`` challenges to one request.
    case tooManyRounds
    /// An ACK or a CANCEL was challenged (RFC 3261 section 22.1).
    case methodCannotBeRepeated
  }

  public let reason: Reason
  /// The challenges of the response that were passed over; empty where none was looked at.
  public let skipped: [SkippedChallenge]
}

extension DigestRefusal: CustomStringConvertible {
  /// One line in words; the realm may stand in it, a password never.
  public var description: String {
    switch reason {
    case .noChallenge: "the response asks for credentials but holds no challenge"
    case .nothingToAnswer: "none of the challenges can be answered: only Digest with a known algorithm and qop can"
    case .foreignRealm: "the challenge names another realm than the one configured"
    case .wrongCredentials(let realm): "the realm '\(realm)' refused the user name or the password"
    case .staleAgain(let realm): "the realm '\(realm)' calls each nonce stale that it gives"
    case .tooManyRounds: "the request was challenged too many times"
    case .methodCannotBeRepeated: "an ACK or CANCEL was challenged, which cannot be sent again"
    }
  }
}
