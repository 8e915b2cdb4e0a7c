public import CallModel

/// Addresses that share a prefix. An IPv4 network holds the mapped form of its addresses too.
public struct MediaNetwork: Hashable, Sendable {
  /// The first address, IPv4 mapped into IPv6.
  public let high: UInt64
  /// The lower 64 bits of the first address.
  public let low: UInt64
  /// Bits that count, of the IPv6 form: 0 to 128.
  public let prefixLength: Int

  /// `nil` for a name, or for a prefix longer than the address. Bits behind the prefix are ignored.
  public init?(_ host: SIPHost, prefixLength: Int) {
    guard let first = MediaAddress(host, port: 1) else { return nil }
    let isIPv4 = first.ipv4 != nil
    guard (0...(isIPv4 ? 32 : 128)).contains(prefixLength) else { return nil }
    self.prefixLength = isIPv4 ? prefixLength + 96 : prefixLength
    high = first.high & MediaNetwork.mask(self.prefixLength)
    low = first.low & MediaNetwork.mask(self.prefixLength - 64)
  }

  /// Whether the address lies in the network; its port does not count.
  public func contains(_ address: MediaAddress) -> Bool {
    address.high & MediaNetwork.mask(prefixLength) == high && address.low & MediaNetwork.mask(prefixLength - 64) == low
  }

  /// The first `length` bits; all for more than 64, none below 1.
  private static func mask(_ length: Int) -> UInt64 {
    length <= 0 ? 0 : ~0 << UInt64(max(64 - length, 0))
  }
}

/// Whose packets a trunk leg takes, and whether media follows them (symmetric RTP, RFC 4961).
public enum SourcePolicy: Hashable, Sendable {
  /// Only the address and port that the description names. The default: nothing can be taken over.
  case strict
  /// For peers behind address translation. Packets come from the named host, at any port, or from one of these networks.
  ///
  /// Without SRTP the first such source is taken and media goes there; that happens once. Within ``learningWindow`` a
  /// source at the named host takes over from one that is merely in a network, and the named address itself ends all
  /// learning whenever it speaks. With SRTP only a packet that authenticates is believed, and media follows the peer, not
  /// more often than every ``minimumStay``.
  case learn(networks: [MediaNetwork])
  /// The check is off: without SRTP anybody who finds the port is heard. Media goes to the named address still, unless a
  /// packet that authenticates comes from elsewhere.
  case off

  /// Milliseconds from the first packet in which a plain source that was learned gives way to a better one.
  public static let learningWindow: Int64 = 500
  /// Milliseconds between two moves of a peer that authenticates: a copied packet cannot toss media to and fro.
  public static let minimumStay: Int64 = 500
}
