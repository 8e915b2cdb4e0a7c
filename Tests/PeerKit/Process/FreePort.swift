import Glibc
import Synchronization

/// Ports on loopback that nobody uses, for UDP and TCP alike. Each is handed out once in the life of a process, from
/// below the range in which the system picks ports by itself.
public enum FreePort {
  private static let range: Range<UInt16> = 20_000..<32_000
  /// Peers take the neighbours of a port as well: TLS beside TCP, RTCP beside RTP, video beside audio.
  private static let step: UInt16 = 8
  private static let counter = Mutex<UInt16>(UInt16(UInt32(getpid()) * 97 % UInt32(range.count)))

  public static func next() throws -> UInt16 {
    for _ in 0..<range.count {
      let port = counter.withLock { offset in
        offset = (offset + step) % UInt16(range.count)
        return range.lowerBound + offset - offset % step
      }
      if isFree(port, type: Int32(SOCK_DGRAM.rawValue)), isFree(port, type: Int32(SOCK_STREAM.rawValue)) { return port }
    }
    throw PeerFailure("no free port in \(range)")
  }

  /// A socket that is bound to a free port and does nothing; the caller closes it.
  public static func bound(isDatagram: Bool) throws -> (descriptor: Int32, port: UInt16) {
    let type = Int32(isDatagram ? SOCK_DGRAM.rawValue : SOCK_STREAM.rawValue)
    // Another process may take a port between the look and the binding.
    for _ in 0..<20 {
      let port = try next()
      if let descriptor = bound(port, type: type) { return (descriptor, port) }
    }
    throw PeerFailure("every port is taken by others as soon as it is found free")
  }

  private static func isFree(_ port: UInt16, type: Int32) -> Bool {
    guard let descriptor = bound(port, type: type) else { return false }
    close(descriptor)
    return true
  }

  private static func bound(_ port: UInt16, type: Int32) -> Int32? {
    let descriptor = socket(AF_INET, type | closesAtExec, 0)
    guard descriptor >= 0 else { return nil }
    var one: Int32 = 1
    if type == Int32(SOCK_STREAM.rawValue) {
      setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    }
    guard withLoopback(port, { bind(descriptor, $0, $1) }) == 0 else {
      close(descriptor)
      return nil
    }
    return descriptor
  }
}

/// Sockets of the tests are no business of the programs that they start.
let closesAtExec = Int32(SOCK_CLOEXEC.rawValue)

/// Calls `body` with 127.0.0.1 and a port as the system writes them.
func withLoopback<Value>(_ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Value) -> Value {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  return withUnsafePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
  }
}
