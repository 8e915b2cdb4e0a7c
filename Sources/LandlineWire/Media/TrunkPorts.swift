import CallModel
public import SecureTransport

/// A pair of ports towards a trunk, held for one call until they are released or its bridge is closed.
public struct TrunkPorts: Hashable, Sendable {
  /// For RTP; also for RTCP where there is no ``control``.
  public let port: MediaPort
  /// For RTCP.
  public let control: MediaPort?
  /// What a session description names: the advertised address and the RTP port.
  public let address: MediaAddress
  /// The address and port of RTP as the socket has them: where this very host reaches it, behind whatever translates
  /// ``address``.
  public let bound: MediaAddress
  /// The same for RTCP: the port after that of RTP.
  public var controlAddress: MediaAddress? {
    control == nil ? nil : MediaAddress(high: address.high, low: address.low, port: address.port + 1)
  }

  let pair: PortPool.Pair
  let interface: Int

  init(
    port: MediaPort, control: MediaPort?, pair: PortPool.Pair, interface: Int, host: MediaAddress, bound: MediaAddress
  ) {
    self.port = port
    self.control = control
    self.pair = pair
    self.interface = interface
    address = MediaAddress(high: host.high, low: host.low, port: pair.port)
    self.bound = MediaAddress(high: bound.high, low: bound.low, port: pair.port)
  }
}
