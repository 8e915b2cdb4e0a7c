public import CallModel

/// How a listener names itself in Via and Contact: the address that peers reach it by, which may differ from the one it
/// is bound to.
public struct AdvertisedAddress: Hashable, Sendable {
  public let listener: ListenerID
  public let transport: SIPTransport
  public let host: SIPHost
  public let port: UInt16

  public init(listener: ListenerID, transport: SIPTransport, host: SIPHost, port: UInt16) {
    self.listener = listener
    self.transport = transport
    self.host = host
    self.port = port
  }
}
