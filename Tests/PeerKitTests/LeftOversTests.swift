import Glibc
import PeerKit
import Testing

@Suite("What tests leave behind")
struct LeftOversTests {
  /// A socket that listens on a port of loopback, or one of UDP that is bound there.
  private final class BoundSocket {
    struct Failure: Error {}
    let handle: Int32
    let port: UInt16

    init(datagrams: Bool) throws {
      let type = Int32(datagrams ? SOCK_DGRAM.rawValue : SOCK_STREAM.rawValue)
      handle = socket(AF_INET, type | Int32(SOCK_CLOEXEC.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let handle = handle
      let isBound = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(handle, $0, length) == 0 && getsockname(handle, $0, &length) == 0
        }
      }
      port = UInt16(bigEndian: address.sin_port)
      guard isBound, datagrams || listen(handle, 1) == 0 else { throw Failure() }
    }

    deinit { close(handle) }
  }

  /// The kernel's tables have pages, and a machine has sockets for many of them.
  @Test("every socket is found among hundreds", arguments: [true, false])
  func sockets(_ datagrams: Bool) throws {
    let sockets = try (0..<300).map { _ in try BoundSocket(datagrams: datagrams) }
    let ports = Set(sockets.map(\.port))
    let kind = datagrams ? "udp" : "tcp"
    #expect(Set(LeftOvers.sockets(on: ports)).isSuperset(of: ports.map { "\(kind) \($0)" }))
    #expect(LeftOvers.boundPorts(kind).isSuperset(of: ports))
    withExtendedLifetime(sockets) {}
  }

  @Test("the pair that Foundation keeps is passed over, a second one is not")
  func foundationsPair() {
    typealias Socket = LeftOvers.Socket
    let single = [
      Socket(protocolName: "udp", port: 5060), Socket(protocolName: "udp", port: 40_001, peer: 5060),
      Socket(protocolName: "tcp", port: 40_002, peer: 40_003), Socket(protocolName: "tcp", port: 40_003, peer: 40_002),
    ]
    #expect(LeftOvers.withoutFoundationsPair(single) == single)
    let pair = [
      Socket(protocolName: "udp", port: 40_004, peer: 40_005), Socket(protocolName: "udp", port: 40_005, peer: 40_004),
    ]
    #expect(LeftOvers.withoutFoundationsPair(single + pair) == single)
    let other = [
      Socket(protocolName: "udp", port: 40_006, peer: 40_007), Socket(protocolName: "udp", port: 40_007, peer: 40_006),
    ]
    #expect(LeftOvers.withoutFoundationsPair(pair + single + other) == single + other)
  }
}
