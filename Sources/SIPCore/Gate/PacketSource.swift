public import CallModel

/// Where a packet came from, as the socket says: never a name.
public struct PacketSource: Hashable, Sendable {
  public let host: SIPHost
  public let port: UInt16

  public init(host: SIPHost, port: UInt16) {
    self.host = host
    self.port = port
  }
}
