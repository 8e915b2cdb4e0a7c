/// Which addresses may be reached when others choose the target: all that are public, and those that an operator lists.
///
/// A name is no ground to go anywhere: each address that it resolves to is asked about, and the connection goes to one that
/// was.
public struct AddressGate: Hashable, Sendable {
  /// Most ranges of a list.
  public static let maximumRanges = 64

  /// Addresses whose first bits are alike.
  public struct Range: Hashable, Sendable, CustomStringConvertible {
    /// The first address of it; never a name.
    public let host: SIPHost
    /// Bits that are alike: 32 or 128 for one address.
    public let bits: Int

    /// Reads an address, or one with the number of bits that count: `127.0.0.1`, `10.0.0.0/8`, `fd00::/8`.
    /// - Throws: ``InvalidValue`` with rule `gate.range`.
    public init(_ text: String) throws(InvalidValue) {
      let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
      let host = parts.first.flatMap { try? SIPHost(unbracketed: String($0)) }
      let most: Int? =
        switch host {
        case .ipv4: 32
        case .ipv6: 128
        case .name, nil: nil
        }
      let bits = parts.count == 2 ? Int(parts[1]) : most
      guard let host, let most, let bits, (1...most).contains(bits), parts.count == 1 || String(bits) == parts[1] else {
        throw InvalidValue(
          kind: "range of addresses", rule: "gate.range", offset: nil,
          problem: "'\(CallFailure.shortened(text))' is neither a numeric address nor a range of them",
          accepted: "an address such as 192.0.2.10, or a range such as 10.0.0.0/8 or fd00::/8")
      }
      self.host = host
      self.bits = bits
    }

    /// Whether an address lies in it. An IPv4 address that is written as one of IPv6 counts as itself.
    public func contains(_ address: SIPHost) -> Bool {
      switch (host, AddressGate.plain(address)) {
      case (.ipv4(let own), .ipv4(let other)): return (own ^ other) >> UInt32(32 - bits) == 0
      case (.ipv6(let high, let low), .ipv6(let otherHigh, let otherLow)):
        let first = (high ^ otherHigh) >> UInt64(64 - min(bits, 64))
        return first == 0 && (bits <= 64 || (low ^ otherLow) >> UInt64(128 - bits) == 0)
      default: return false
      }
    }

    public var description: String {
      switch host {
      case .ipv4 where bits == 32, .ipv6 where bits == 128: host.unbracketed
      default: "\(host.unbracketed)/\(bits)"
      }
    }
  }

  /// Reached although they are not public.
  public var allowed: [Range]

  /// Without arguments public addresses alone are reached.
  public init(allowed: [Range] = []) { self.allowed = allowed }

  /// Whether a connection may go to this address. Never to a name.
  public func allows(_ address: SIPHost) -> Bool {
    if case .name = address { return false }
    return !address.isInternal || allowed.contains { $0.contains(address) }
  }

  /// The IPv4 address that ::ffff:0:0/96 stands for (RFC 4291 section 2.5.5.2).
  private static func plain(_ address: SIPHost) -> SIPHost {
    guard case .ipv6(0, let low) = address, low >> 32 == 0xFFFF else { return address }
    return .ipv4(UInt32(truncatingIfNeeded: low))
  }
}
