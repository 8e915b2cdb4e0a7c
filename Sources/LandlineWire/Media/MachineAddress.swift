public import CallModel
import Glibc

/// Addresses of this machine, as its network interfaces have them now.
public enum MachineAddress {
  /// The first address that a program on this machine may have besides loopback: of an interface that is up; IPv4
  /// before IPv6, and none that needs a zone (RFC 4007 section 11) or was given for want of another (RFC 3927).
  /// - Returns: `nil` on a machine that has loopback alone.
  public static func first() -> SIPHost? {
    var list: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&list) == 0 else { return nil }
    defer { freeifaddrs(list) }
    var found: [SIPHost] = []
    var next = list
    while let entry = next?.pointee {
      next = entry.ifa_next
      guard entry.ifa_flags & UInt32(IFF_UP) != 0, entry.ifa_flags & UInt32(IFF_LOOPBACK) == 0,
        let address = entry.ifa_addr, let host = host(address), isUsable(host)
      else { continue }
      found.append(host)
    }
    return found.first { if case .ipv4 = $0 { true } else { false } } ?? found.first
  }

  private static func host(_ address: UnsafeMutablePointer<sockaddr>) -> SIPHost? {
    switch Int32(address.pointee.sa_family) {
    case AF_INET:
      return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        .ipv4(UInt32(bigEndian: $0.pointee.sin_addr.s_addr))
      }
    case AF_INET6:
      return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { six in
        withUnsafeBytes(of: six.pointee.sin6_addr) { bytes in
          .ipv6(
            high: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
      }
    default: return nil
    }
  }

  /// - Returns: Whether it is neither loopback nor link-local.
  static func isUsable(_ host: SIPHost) -> Bool {
    switch host {
    case .ipv4(let address): address >> 24 != 127 && address >> 16 != 0xA9FE && address != 0
    case .ipv6(let high, let low): high >> 54 != 0xFE80 >> 6 && !(high == 0 && low <= 1)
    case .name: false
    }
  }
}
