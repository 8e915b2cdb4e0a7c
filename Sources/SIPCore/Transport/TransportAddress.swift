public import CallModel

/// A numeric address and how to speak to it.
public struct TransportAddress: Hashable, Sendable {
  public let transport: SIPTransport
  /// Never a name.
  public let host: SIPHost
  public let port: UInt16

  /// Expects a numeric host and does not check it.
  public init(_ transport: SIPTransport, _ host: SIPHost, port: UInt16) {
    self.transport = transport
    self.host = host
    self.port = port
  }
}
