extension SIPHost {
  /// An IPv4 address is the same in either form (RFC 4291 section 2.5.5.2).
  package var unmapped: SIPHost {
    guard case .ipv6(let high, let low) = self, high == 0, low >> 32 == 0xFFFF else { return self }
    return .ipv4(UInt32(truncatingIfNeeded: low))
  }

  /// What counts as one host where hosts are counted: an IPv6 subscriber has a /64 to himself.
  package var subscriber: SIPHost {
    guard case .ipv6(let high, _) = unmapped else { return unmapped }
    return .ipv6(high: high, low: 0)
  }
}
