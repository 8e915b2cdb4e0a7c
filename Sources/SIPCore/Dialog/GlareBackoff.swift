/// How long to wait after a 491 before a re-INVITE or UPDATE is sent again (RFC 3261 section 14.1, RFC 3311
/// section 5.1).
package struct GlareBackoff: Hashable, Sendable {
  /// Whether we made the Call-ID of the dialog: the two sides draw from ranges that do not overlap.
  private let ownsCallID: Bool
  private let limit: Int
  private var tries = 0

  /// - Parameter limit: Tries at most, see ``UserAgentLimits/glareRetries``.
  package init(ownsCallID: Bool, limit: Int) {
    self.ownsCallID = ownsCallID
    self.limit = limit
  }

  /// Milliseconds to wait, in steps of ten: 2100 to 4000 for the owner of the Call-ID, 0 to 2000 for the other side;
  /// `nil` after the last try.
  package mutating func next(_ identifiers: IdentifierSource) -> Int64? {
    guard tries < limit else { return nil }
    tries += 1
    return ownsCallID
      ? 2100 + Int64(identifiers.number() % 191) * 10 : Int64(identifiers.number() % 201) * 10
  }

  /// The request succeeded.
  package mutating func reset() { tries = 0 }
}
