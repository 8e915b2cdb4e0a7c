/// What this node can speak, and how far an answer from DNS may make it go.
public struct LocationPolicy: Hashable, Sendable {
  /// Transports this node has, the ones to prefer first where the domain has no say.
  public var transports: [SIPTransport]
  /// Address families this node has, the one to try first in front.
  public var families: [AddressFamily]
  /// Most NAPTR records that are followed.
  public var services = 8
  /// Most records taken of one SRV answer, those of the best priorities.
  public var recordsOfService = 32
  /// Most host names whose addresses are asked for.
  public var hosts = 16
  /// Most addresses taken of one answer.
  public var addressesOfHost = 8
  /// Most targets in the result.
  public var targets = 16

  /// - Parameter families: IPv6 first unless told otherwise.
  public init(transports: [SIPTransport], families: [AddressFamily] = [.ipv6, .ipv4]) {
    self.transports = transports
    self.families = families
  }

  func has(_ transport: SIPTransport) -> Bool { transports.contains(transport) }
}
