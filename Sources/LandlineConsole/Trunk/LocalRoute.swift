import CallModel
import Foundation
import Glibc
import SIPCore

/// What the system's routing says about a destination. A UDP socket that is connected to it sends nothing, and knows.
enum LocalRoute {
  /// The address of this machine that packets to a destination carry.
  static func address(to remote: TransportAddress) -> Result<SIPHost, RouteProblem> {
    switch connected(to: remote) {
    case .failure(let problem): return .failure(problem)
    case .success(let socket):
      defer { close(socket) }
      return localAddress(of: socket, isIPv6: remote.host.family == .ipv6)
    }
  }

  /// Why there is no way.
  struct RouteProblem: Error {
    let code: CInt
    var text: String { String(cString: strerror(code)) }
  }

  /// Sends an empty line, which SIP ignores, and watches for word that nobody listens there.
  /// - Parameter found: Called on a thread of its own, and only where the port is closed.
  static func watchForRefusal(
    _ remote: TransportAddress, milliseconds: Int64, found: @escaping @Sendable () -> Void
  ) {
    guard case .success(let socket) = connected(to: remote) else { return }
    // Not on a queue's thread: those are as few as the cores, and other targets and timers wait for them.
    Thread.detachNewThread {
      defer { close(socket) }
      guard send(socket, "\r\n\r\n", 4, CInt(MSG_NOSIGNAL)) == 4 else {
        if errno == ECONNREFUSED { found() }
        return
      }
      var poller = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
      guard poll(&poller, 1, CInt(clamping: milliseconds)) > 0 else { return }
      var byte: UInt8 = 0
      if recv(socket, &byte, 1, CInt(MSG_DONTWAIT)) < 0, errno == ECONNREFUSED { found() }
    }
  }

  private static func connected(to remote: TransportAddress) -> Result<CInt, RouteProblem> {
    let isIPv6 = remote.host.family == .ipv6
    let descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return .failure(RouteProblem(code: errno)) }
    let result: CInt
    switch remote.host {
    case .name: result = -1
    case .ipv4(let bits):
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = remote.port.bigEndian
      address.sin_addr.s_addr = bits.bigEndian
      result = with(&address) { connect(descriptor, $0, $1) }
    case .ipv6(let high, let low):
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_port = remote.port.bigEndian
      withUnsafeMutableBytes(of: &address.sin6_addr) {
        $0.storeBytes(of: high.bigEndian, as: UInt64.self)
        $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
      }
      result = with(&address) { connect(descriptor, $0, $1) }
    }
    guard result == 0 else {
      let code = errno
      close(descriptor)
      return .failure(RouteProblem(code: code))
    }
    return .success(descriptor)
  }

  private static func localAddress(of socket: CInt, isIPv6: Bool) -> Result<SIPHost, RouteProblem> {
    if isIPv6 {
      var address = sockaddr_in6()
      guard with(&address, { getsockname(socket, $0, $1) }) == 0 else { return .failure(RouteProblem(code: errno)) }
      let (high, low) = withUnsafeBytes(of: address.sin6_addr) {
        ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      }
      return .success(.ipv6(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low)))
    }
    var address = sockaddr_in()
    guard with(&address, { getsockname(socket, $0, $1) }) == 0 else { return .failure(RouteProblem(code: errno)) }
    return .success(.ipv4(UInt32(bigEndian: address.sin_addr.s_addr)))
  }

  private static func with<Address>(
    _ address: inout Address, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> CInt
  ) -> CInt {
    let length = socklen_t(MemoryLayout<Address>.size)
    return withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
    }
  }

  private static func with<Address>(
    _ address: inout Address, _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt
  ) -> CInt {
    var length = socklen_t(MemoryLayout<Address>.size)
    return withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, &length) }
    }
  }
}
