public import CallModel

/// Which Internet Protocol an address belongs to.
public enum AddressFamily: String, Hashable, Sendable, CaseIterable {
  case ipv4, ipv6
}

extension SIPHost {
  /// `nil` for a name.
  public var family: AddressFamily? {
    switch self {
    case .name: nil
    case .ipv4: .ipv4
    case .ipv6: .ipv6
    }
  }
}
