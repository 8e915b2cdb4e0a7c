public import CallModel

/// A numeric address and a UDP port. An IPv4 address and the same one mapped into IPv6 are equal.
public struct MediaAddress: Hashable, Sendable {
  /// The IPv6 form, IPv4 mapped (RFC 4291 section 2.5.5.2).
  public let high: UInt64
  /// The lower 64 bits of the IPv6 form.
  public let low: UInt64
  /// The UDP port.
  public let port: UInt16

  /// The IPv6 form of an address, the first octet in the highest bits of `high`. Nothing is checked.
  public init(high: UInt64, low: UInt64, port: UInt16) {
    self.high = high
    self.low = low
    self.port = port
  }

  /// The first octet is in the highest bits of `ipv4`.
  public init(ipv4: UInt32, port: UInt16) {
    self.init(high: 0, low: 0xFFFF_0000_0000 | UInt64(ipv4), port: port)
  }

  /// `nil` for a name: media goes to numeric addresses only.
  public init?(_ host: SIPHost, port: Int) {
    guard let port = UInt16(exactly: port), port != 0 else { return nil }
    switch host {
    case .name: return nil
    case .ipv4(let address): self.init(ipv4: address, port: port)
    case .ipv6(let high, let low): self.init(high: high, low: low, port: port)
    }
  }

  /// The address when it is IPv4, plain or mapped.
  public var ipv4: UInt32? {
    high == 0 && low >> 32 == 0xFFFF ? UInt32(truncatingIfNeeded: low) : nil
  }

  /// Numeric; a mapped IPv4 address comes out as IPv4.
  public var host: SIPHost { ipv4.map { .ipv4($0) } ?? .ipv6(high: high, low: low) }

  /// Same host, whatever the port.
  public func hasHost(of other: MediaAddress) -> Bool { high == other.high && low == other.low }
}

extension MediaAddress: CustomStringConvertible {
  /// `192.0.2.1:5004`, IPv6 in brackets.
  public var description: String { "\(host):\(port)" }
}
