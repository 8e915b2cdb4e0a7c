import CallModel
import Glibc
import NIOCore
import SIPCore

extension SocketAddress {
  /// `nil` for a Unix socket.
  func transportAddress(_ transport: SIPTransport) -> TransportAddress? {
    switch self {
    case .v4(let address):
      return TransportAddress(
        transport, .ipv4(UInt32(bigEndian: address.address.sin_addr.s_addr)),
        port: UInt16(bigEndian: address.address.sin_port))
    case .v6(let address):
      let (high, low) = withUnsafeBytes(of: address.address.sin6_addr) {
        ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      }
      return TransportAddress(
        transport, .ipv6(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low)),
        port: UInt16(bigEndian: address.address.sin6_port))
    case .unixDomainSocket: return nil
    }
  }

  /// `nil` for a name.
  init?(_ host: SIPHost, port: UInt16) {
    switch host {
    case .name: return nil
    case .ipv4(let address): self.init(sockaddr_in(address, port: port))
    case .ipv6(let high, let low): self.init(sockaddr_in6(high: high, low: low, port: port))
    }
  }
}

extension sockaddr_in {
  init(_ address: UInt32, port: UInt16) {
    self.init()
    sin_family = sa_family_t(AF_INET)
    sin_port = port.bigEndian
    sin_addr.s_addr = address.bigEndian
  }
}

extension sockaddr_in6 {
  init(high: UInt64, low: UInt64, port: UInt16) {
    self.init()
    sin6_family = sa_family_t(AF_INET6)
    sin6_port = port.bigEndian
    withUnsafeMutableBytes(of: &sin6_addr) {
      $0.storeBytes(of: high.bigEndian, as: UInt64.self)
      $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }
  }
}

extension SIPHost {
  var isIPv6: Bool { if case .ipv6 = self { true } else { false } }
}
