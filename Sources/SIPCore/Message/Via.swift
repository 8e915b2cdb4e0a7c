public import CallModel

/// One Via element (RFC 3261 section 20.42).
public struct Via: Hashable, Sendable {
  /// In upper case: `UDP`, `TCP`, `TLS`, or one that this node does not speak.
  public var transport: String
  /// Where the sender says that responses go; ``received(from:)`` adds where the packet really came from.
  public var host: SIPHost
  /// `nil` where none is written: the transport's default, 5060 or 5061 for TLS.
  public var port: UInt16?
  /// In the order written; `branch`, `received` and `rport` are among them.
  public var parameters: [SIPParameter]

  /// Expects the transport in upper case and checks nothing.
  public init(transport: String, host: SIPHost, port: UInt16?, parameters: [SIPParameter]) {
    self.transport = transport
    self.host = host
    self.port = port
    self.parameters = parameters
  }

  /// Names the transaction: begins with `z9hG4bK` where the sender follows RFC 3261; `nil` where there is none.
  public var branch: String? { parameters["branch"]?.value }
}
