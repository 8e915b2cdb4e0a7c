import CallModel
import Glibc
import SDPCore

/// A UDP port that an offer may name: held so that nobody else gets it, and where sound is listened for.
final class MediaPort: Sendable {
  let number: UInt16
  let descriptor: CInt

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

  func send(_ packet: [UInt8], to remote: MediaPlan.Remote) {
    guard (1...65_535).contains(remote.port) else { return }
    let port = UInt16(remote.port)
    switch remote.host {
    case .name, nil: return
    case .ipv4(let bits):
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = bits.bigEndian
      send(packet, &address)
    case .ipv6(let high, let low):
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_port = port.bigEndian
      withUnsafeMutableBytes(of: &address.sin6_addr) {
        $0.storeBytes(of: high.bigEndian, as: UInt64.self)
        $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
      }
      send(packet, &address)
    }
  }

  private func send<Address>(_ packet: [UInt8], _ address: inout Address) {
    withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        _ = sendto(
          descriptor, packet, packet.count, CInt(MSG_DONTWAIT | MSG_NOSIGNAL), pointer,
          socklen_t(MemoryLayout<Address>.size))
      }
    }
  }

  /// The next datagram and where it came from; a negative count where there is none.
  func receive(_ buffer: inout [UInt8]) -> (count: Int, source: String) {
    var address = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let room = buffer.count
    let count = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        recvfrom(descriptor, &buffer, room, CInt(MSG_DONTWAIT), $0, &length)
      }
    }
    var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    var service = [CChar](repeating: 0, count: Int(NI_MAXSERV))
    let isNamed = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        getnameinfo(
          $0, length, &host, socklen_t(host.count), &service, socklen_t(service.count),
          NI_NUMERICHOST | NI_NUMERICSERV) == 0
      }
    }
    func text(_ characters: [CChar]) -> String {
      String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    return (count, isNamed ? "\(text(host)):\(text(service))" : "?")
  }

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
