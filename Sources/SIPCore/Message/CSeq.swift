/// The order of a request in its dialog (RFC 3261 section 20.16).
public struct CSeq: Hashable, Sendable {
  /// Below 2³¹ in what is sent; an ACK and a CANCEL repeat that of their INVITE.
  public let number: UInt32
  /// In a response, the method of the request that it answers.
  public let method: SIPMethod

  /// Checks nothing; a request with a number of 2³¹ or more cannot be built.
  public init(_ number: UInt32, _ method: SIPMethod) {
    self.number = number
    self.method = method
  }
}
