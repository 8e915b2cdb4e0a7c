import CallModel
import Glibc
import SIPCore

/// Asks whether a UDP port of a peer is closed: sends it two empty lines, which nobody answers (RFC 5626 section 4.4.1),
/// and hears of the ICMP message that comes back from a port where nothing listens.
///
/// The socket is connected, so that it hears of this peer alone, and has a port of its own, which nobody who forges ICMP
/// knows. On the socket of a listener an error would be told to whoever sends next, and end it for all.
final class ClosedPortProbe {
  private let socket: CInt

  /// - Parameter local: Where the requests leave from; `nil` where the system chooses.
  /// - Returns: `nil` where the probe could not be sent.
  init?(_ remote: TransportAddress, from local: SIPHost?) {
    let family = remote.host.isIPv6 ? AF_INET6 : AF_INET
    let type = CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    let socket = Glibc.socket(family, type, 0)
    guard socket >= 0 else { return nil }
    self.socket = socket
    // Else a host that cannot be reached would not be told of.
    var one: CInt = 1
    let (level, option) =
      remote.host.isIPv6 ? (CInt(IPPROTO_IPV6), CInt(IPV6_RECVERR)) : (CInt(IPPROTO_IP), CInt(IP_RECVERR))
    _ = setsockopt(socket, level, option, &one, socklen_t(MemoryLayout<CInt>.size))
    if let local, !ClosedPortProbe.apply(bind, socket, local, port: 0) { return nil }
    guard ClosedPortProbe.apply(connect, socket, remote.host, port: remote.port) else { return nil }
    let lines: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]
    guard send(socket, lines, lines.count, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL)) == lines.count else { return nil }
  }

  deinit { close(socket) }

  /// What came back: ECONNREFUSED, EHOSTUNREACH or ENETUNREACH; `nil` while nothing did.
  var refusal: CInt? {
    var code: CInt = 0
    var length = socklen_t(MemoryLayout<CInt>.size)
    guard getsockopt(socket, SOL_SOCKET, SO_ERROR, &code, &length) == 0 else { return nil }
    return [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH].contains(code) ? code : nil
  }

  private static func apply(
    _ call: (CInt, UnsafePointer<sockaddr>?, socklen_t) -> CInt, _ socket: CInt, _ host: SIPHost, port: UInt16
  ) -> Bool {
    func apply<Address>(_ address: Address) -> Bool {
      withUnsafePointer(to: address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          call(socket, $0, socklen_t(MemoryLayout<Address>.size)) == 0
        }
      }
    }
    return switch host {
    case .name: false
    case .ipv4(let address): apply(sockaddr_in(address, port: port))
    case .ipv6(let high, let low): apply(sockaddr_in6(high: high, low: low, port: port))
    }
  }
}
