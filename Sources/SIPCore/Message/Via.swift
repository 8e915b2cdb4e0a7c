public import CallModel

/// One Via element (RFC 3261 section 20.42).
public struct Via: Hashable, Sendable {
  /// In upper case: `UDP`, `TCP`, `TLS`, or one that this node does not speak.
  public var transport: String
  public var host: SIPHost
  public var port: UInt16?
  public var parameters: [SIPParameter]

  public init(transport: String, host: SIPHost, port: UInt16?, parameters: [SIPParameter]) {
    self.transport = transport
    self.host = host
    self.port = port
    self.parameters = parameters
  }

  public var branch: String? { parameters["branch"]?.value }
}
