import Glibc

/// The handle of this process that listens for streams on a port of the IPv4 loopback.
func listeningHandle(_ port: UInt16) -> CInt? {
  (0..<4096).first { handle in
    var isListening: CInt = 0
    var length = socklen_t(MemoryLayout<CInt>.size)
    guard getsockopt(handle, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length) == 0, isListening == 1 else {
      return false
    }
    var address = sockaddr_in()
    length = socklen_t(MemoryLayout<sockaddr_in>.size)
    _ = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(handle, $0, &length) }
    }
    return UInt16(bigEndian: address.sin_port) == port
  }
}
