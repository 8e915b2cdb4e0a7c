import Foundation
import Glibc

/// Ports on 127.0.0.1.
enum FreePort {
  struct None: Error {}

  private static func address(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  /// A socket that is bound to a port of the system's choice, or to this one.
  static func bind(isDatagram: Bool, port: UInt16 = 0) throws -> (descriptor: Int32, port: UInt16) {
    let descriptor = socket(AF_INET, Int32(isDatagram ? SOCK_DGRAM.rawValue : SOCK_STREAM.rawValue), 0)
    var address = address(port)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
      }
    }
    guard isBound else {
      close(descriptor)
      throw None()
    }
    return (descriptor, UInt16(bigEndian: address.sin_port))
  }

  static func find(isDatagram: Bool) throws -> UInt16 {
    let (descriptor, port) = try bind(isDatagram: isDatagram)
    close(descriptor)
    return port
  }

  /// Looks where the kernel lists its sockets, so that the peer is not disturbed.
  static func waitUntilBound(_ port: UInt16, isDatagram: Bool) async throws {
    let wanted = ":" + String(format: "%04X", Int(port)) + " "
    let deadline = Date(timeIntervalSinceNow: 30)
    while Date() < deadline {
      let table = try String(contentsOfFile: isDatagram ? "/proc/net/udp" : "/proc/net/tcp", encoding: .utf8)
      if table.split(separator: "\n").contains(where: { $0.contains(wanted) && (isDatagram || $0.contains(" 0A ")) }) {
        return
      }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw None()
  }
}
