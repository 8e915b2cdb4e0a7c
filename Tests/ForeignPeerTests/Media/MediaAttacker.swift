import Glibc
import PeerKit
import Synchronization

/// Somebody on the same host who knows every port of a call and no secret of it: sends what would take it over, inject
/// sound, end it or make it answer, and listens for any reply.
final class MediaAttacker: Sendable {
  /// Packets of one round, over all targets.
  private static let roundsAtATime = 4

  private let sockets: [CInt]
  private let isStopped = Mutex(false)
  private let sent = Mutex(0)

  init() throws {
    sockets = try (0..<4).map { _ in try FreePort.bound(isDatagram: true).descriptor }
    for socket in sockets { _ = fcntl(socket, F_SETFL, O_NONBLOCK) }
  }

  deinit { for socket in sockets { close(socket) } }

  var packets: Int { sent.withLock { $0 } }

  /// Sends until it is stopped: about five thousand packets a second. `trunk` gives the ports that there are by now.
  func spray(app: UInt16, trunk: @Sendable () -> [UInt16]) async throws {
    var generator = SystemRandomNumberGenerator()
    while !isStopped.withLock({ $0 }) {
      for _ in 0..<MediaAttacker.roundsAtATime {
        for bytes in MediaAttacker.forApp(using: &generator) { send(bytes, to: app, using: &generator) }
        for port in trunk() {
          for bytes in MediaAttacker.forTrunk(using: &generator) { send(bytes, to: port, using: &generator) }
        }
      }
      // The pace; nothing is waited for.
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  func stop() { isStopped.withLock { $0 = true } }

  /// Datagrams that came back to it.
  func replies() -> Int {
    var buffer = [UInt8](repeating: 0, count: 2_048)
    return sockets.reduce(0) { sum, socket in
      var count = 0
      while recv(socket, &buffer, buffer.count, CInt(MSG_DONTWAIT)) >= 0 { count += 1 }
      return sum + count
    }
  }

  private func send(_ bytes: [UInt8], to port: UInt16, using generator: inout SystemRandomNumberGenerator) {
    guard let socket = sockets.randomElement(using: &generator) else { return }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let count = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(socket, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    if count > 0 { sent.withLock { $0 += 1 } }
  }

  private static func random(_ count: Int, using generator: inout SystemRandomNumberGenerator) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }

  private static func rtp(_ type: UInt8, _ payload: [UInt8], using generator: inout SystemRandomNumberGenerator)
    -> [UInt8]
  {
    [0x80, type] + random(10, using: &generator) + payload
  }

  private static func forApp(using generator: inout SystemRandomNumberGenerator) -> [[UInt8]] {
    // A check without integrity; SRTP with a tag that is chance; RTCP; a ClientHello that offers the null cipher, as
    // in CVE-2023-49786; an alert.
    let check: [UInt8] = [0, 1, 0, 0, 0x21, 0x12, 0xA4, 0x42] + random(12, using: &generator)
    let hello: [UInt8] =
      [0x16, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x36, 1, 0, 0, 0x2A, 0, 0, 0, 0, 0, 0, 0, 0x2A, 0xFE, 0xFD]
      + random(32, using: &generator) + [0, 0, 0, 2, 0, 0, 1, 0, 0, 0]
    return [
      check, rtp(111, random(90, using: &generator), using: &generator),
      [0x80, 203, 0, 1] + random(30, using: &generator), hello,
      [0x15, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 2, 2, 40],
    ]
  }

  private static func forTrunk(using generator: inout SystemRandomNumberGenerator) -> [[UInt8]] {
    // Loud sound in each law, a key, and the end of the session.
    [
      rtp(0, [UInt8](repeating: 0x80, count: 160), using: &generator),
      rtp(8, [UInt8](repeating: 0x2A, count: 160), using: &generator),
      rtp(101, [9, 0x8A, 3, 0x20], using: &generator),
      [0x81, 203, 0, 1] + random(4, using: &generator),
    ]
  }
}
