/// The calling side of reliable provisional responses in one early dialog (RFC 3262 section 4): in order, each once.
package struct ReliableProvisionalReceiver: Hashable, Sendable {
  package enum Verdict: Hashable, Sendable {
    /// Process it and send PRACK with this.
    case acknowledge(RAck)
    /// Seen before: neither processed nor acknowledged again, the PRACK is on its way.
    case duplicate
    /// One is missing before it: left alone, it comes again after that one.
    case gap
  }

  private let invite: UInt32
  /// RSeq of the last one that was acknowledged.
  private var last: UInt32?

  /// - Parameter invite: The CSeq number of our INVITE.
  package init(invite: UInt32) { self.invite = invite }

  /// A provisional response that requires `100rel`.
  package mutating func receive(_ number: RSeq) -> Verdict {
    let sequence = number.number
    if let last {
      guard sequence > last else { return .duplicate }
      guard sequence - last == 1 else { return .gap }
    }
    last = sequence
    return .acknowledge(RAck(response: sequence, cseq: CSeq(invite, .invite)))
  }
}
