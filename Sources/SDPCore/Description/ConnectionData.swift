public import CallModel

/// The `c=` line (RFC 8866 section 5.7): where media is to be sent.
public struct ConnectionData: Hashable, Sendable {
  /// `IN` for the Internet; anything else can be kept but not used.
  public var networkType: String
  /// `IP4` or `IP6`; a name may stand behind either.
  public var addressType: String
  /// With the multicast suffixes, as written: `224.2.1.1/127/3`.
  public var address: String

  /// Nothing is checked; ``unicastHost`` tells whether media can be sent there.
  public init(networkType: String = "IN", addressType: String, address: String) {
    self.networkType = networkType
    self.addressType = addressType
    self.address = address
  }

  /// `IP6` for an IPv6 address, `IP4` for any other and for a name.
  public init(_ host: SIPHost) {
    if case .ipv6 = host {
      self.init(addressType: "IP6", address: host.unbracketed)
    } else {
      self.init(addressType: "IP4", address: host.unbracketed)
    }
  }

  /// The address or name media can be sent to. `nil` for another network, a multicast address, the unspecified
  /// address, or text that is no host. The spelling of the address decides its family, not `addressType`.
  public var unicastHost: SIPHost? {
    guard let host, !ConnectionData.isUnspecified(host), !ConnectionData.isMulticast(host) else { return nil }
    return host
  }

  /// `0.0.0.0` or `::`: nowhere. From a peer without ICE it means hold (RFC 3264 section 8.4).
  public var isUnspecified: Bool { host.map(ConnectionData.isUnspecified) ?? false }

  private var host: SIPHost? {
    guard networkType.uppercased() == "IN" else { return nil }
    return try? SIPHost(unbracketed: String(Substring(address.utf8.prefix { $0 != UInt8(ascii: "/") })))
  }

  package static func isUnspecified(_ host: SIPHost) -> Bool {
    switch host {
    case .name: false
    case .ipv4(let address): address == 0
    case .ipv6(let high, let low): high == 0 && low == 0
    }
  }

  package static func isMulticast(_ host: SIPHost) -> Bool {
    switch host {
    case .name: false
    case .ipv4(let address): address >> 28 == 0xE
    case .ipv6(let high, _): high >> 56 == 0xFF
    }
  }
}

extension ConnectionData: CustomStringConvertible {
  /// The value of the line.
  public var description: String { words.joined(separator: " ") }

  var words: [String] { [networkType, addressType, address] }
}
