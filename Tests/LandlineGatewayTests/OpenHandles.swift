import Foundation
import Glibc

/// TCP sockets on these local ports that a process holds: established, closed by the peer alone, listening
/// (proc(5), /proc/net/tcp). Handles cannot be counted, since other tests open and close theirs.
func openSockets(on ports: Set<UInt16>) -> Int {
  let table = (try? String(contentsOfFile: "/proc/net/tcp", encoding: .utf8)) ?? ""
  return table.split(separator: "\n").count { line in
    let fields = line.split(separator: " ")
    guard fields.count > 3, ["01", "08", "0A"].contains(fields[3]),
      let port = fields[1].split(separator: ":").last.flatMap({ UInt16($0, radix: 16) })
    else { return false }
    return ports.contains(port)
  }
}

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
