public import CallModel

/// How a listener names itself in Via and Contact: the address that peers reach it by, which may differ from the one it
/// is bound to.
public struct AdvertisedAddress: Hashable, Sendable {
  /// The listener that goes by this address.
  public let listener: ListenerID
  public let transport: SIPTransport
  /// A numeric address or a name.
  public let host: SIPHost
  /// As peers reach it, so behind a translation another than the bound one.
  public let port: UInt16

  public init(listener: ListenerID, transport: SIPTransport, host: SIPHost, port: UInt16) {
    self.listener = listener
    self.transport = transport
    self.host = host
    self.port = port
  }
}
