/// The order of a request in its dialog (RFC 3261 section 20.16).
public struct CSeq: Hashable, Sendable {
  public let number: UInt32
  public let method: SIPMethod

  public init(_ number: UInt32, _ method: SIPMethod) {
    self.number = number
    self.method = method
  }
}
