extension SIPHost {
  /// Whether this is inside somebody's own network or reaches many: RFC 1918, 2544, 3927, 4193, 4291, 6598, 6890, the
  /// IPv6 spellings of such IPv4 addresses (mapped, RFC 6052, 3056, 4380), and names that only resolve there. Who lets
  /// others choose a target must not go there.
  public var isInternal: Bool {
    switch self {
    case .name(let name):
      return !name.contains(".") || [".local", ".localhost", ".internal", ".home.arpa"].contains { name.hasSuffix($0) }
    case .ipv4(let address): return SIPHost.isInternal(ipv4: address)
    case .ipv6(let high, let low):
      if high == 0, low >> 32 == 0xFFFF { return SIPHost.isInternal(ipv4: UInt32(truncatingIfNeeded: low)) }
      // The translators of RFC 6052 and 8215, and of old tunnels: nothing that speaks SIP lives there by itself.
      if high >> 32 == 0x0064_FF9B || high >> 48 == 0x2002 || high >> 32 == 0x2001_0000 { return true }
      let first = high >> 48
      return high == 0 || first & 0xFE00 == 0xFC00 || first & 0xFF80 == 0xFE80 || first & 0xFF00 == 0xFF00
    }
  }

  private static func isInternal(ipv4 address: UInt32) -> Bool {
    let ranges: [(prefix: UInt32, bits: UInt32)] = [
      (0x0000_0000, 8), (0x0A00_0000, 8), (0x7F00_0000, 8), (0x6440_0000, 10), (0xA9FE_0000, 16), (0xAC10_0000, 12),
      (0xC000_0000, 24), (0xC0A8_0000, 16), (0xC612_0000, 15), (0xE000_0000, 3),
    ]
    return ranges.contains { (address ^ $0.prefix) >> (32 - $0.bits) == 0 }
  }
}
