import CallModel
import Glibc

/// A UDP port that an offer may name: held so that nobody else gets it, never read.
final class MediaPort {
  let number: UInt16
  private let descriptor: CInt

  /// `nil` where the system has none to give.
  init?(on host: SIPHost) {
    var found: (descriptor: CInt, number: UInt16)?
    switch host {
    case .name: break
    case .ipv4(let bits):
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = bits.bigEndian
      found = MediaPort.open(AF_INET, &address) { UInt16(bigEndian: $0.sin_port) }
    case .ipv6(let high, let low):
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      withUnsafeMutableBytes(of: &address.sin6_addr) {
        $0.storeBytes(of: high.bigEndian, as: UInt64.self)
        $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
      }
      found = MediaPort.open(AF_INET6, &address) { UInt16(bigEndian: $0.sin6_port) }
    }
    guard let found else { return nil }
    (descriptor, number) = found
  }

  deinit { close(descriptor) }

  private static func open<Address>(
    _ family: CInt, _ address: inout Address, _ port: (Address) -> UInt16
  ) -> (CInt, UInt16)? {
    let descriptor = socket(family, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    var length = socklen_t(MemoryLayout<Address>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
      }
    }
    guard isBound else {
      close(descriptor)
      return nil
    }
    return (descriptor, port(address))
  }
}
