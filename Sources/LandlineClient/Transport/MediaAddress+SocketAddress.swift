import Glibc
import NIOCore
import SecureTransport

extension MediaAddress {
  /// `nil` for a socket of the file system.
  init?(_ address: SocketAddress) {
    switch address {
    case .v4(let address):
      self.init(
        ipv4: UInt32(bigEndian: address.address.sin_addr.s_addr), port: UInt16(bigEndian: address.address.sin_port))
    case .v6(let address):
      var bytes = address.address.sin6_addr
      let (high, low) = withUnsafeBytes(of: &bytes) { raw in
        (
          UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
          UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        )
      }
      self.init(high: high, low: low, port: UInt16(bigEndian: address.address.sin6_port))
    case .unixDomainSocket: return nil
    }
  }

  /// IPv4 as such, mapped addresses included.
  var socketAddress: SocketAddress? {
    var bytes = ByteBuffer()
    if let ipv4 {
      bytes.writeInteger(ipv4)
    } else {
      bytes.writeInteger(high)
      bytes.writeInteger(low)
    }
    return try? SocketAddress(packedIPAddress: bytes, port: Int(port))
  }

  var isLoopback: Bool {
    if let ipv4 { return ipv4 >> 24 == 127 }
    return high == 0 && low == 1
  }
}
