import CallModel
import Foundation
import LandlineWire
import PeerKit
import SIPCore
import Testing

extension SocketTests {
  @Suite struct HostileInputTests {
    /// Small and repeatable: SplitMix64.
    private struct Generator: RandomNumberGenerator {
      var state: UInt64
      mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
      }
    }

    /// Junk on every kind of listener, half of it a broken request; a node still answers afterwards.
    @Test(arguments: [UInt64(1), 2, 3])
    func survivesJunk(_ seed: UInt64) async throws {
      let authority = try await CertificateAuthority()
      let identity = try await authority.identity("server", names: "IP:127.0.0.1")
      let listeners = [
        SIPListener(id: ListenerID(1), transport: .udp, host: .loopback, port: 0),
        SIPListener(id: ListenerID(2), transport: .tcp, host: .loopback, port: 0),
        SIPListener(
          id: ListenerID(3), transport: .tls, host: .loopback, port: 0, tls: TLSServerSettings(identity: identity)),
      ]
      var generator = Generator(state: seed)
      let test = TestNode()
      let node = try await test.start(SIPNode.Configuration(listeners: listeners))
      for round in 0..<60 {
        for listener in listeners {
          let port = try #require(node.addresses[listener.id]?.port)
          var bytes = round.isMultiple(of: 2) ? request(round, body: "body") : []
          let count = Int.random(in: 1...300, using: &generator)
          if bytes.isEmpty { bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) } }
          for _ in 0..<Int.random(in: 1...4, using: &generator) {
            bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
          }
          let peer = try PlainSocket.connected(to: port, datagrams: listener.transport == .udp)
          try peer.write(bytes)
        }
      }
      let peer = try PlainSocket.connected(
        to: try #require(node.addresses[ListenerID(1)]?.port), datagrams: true)
      let alive = String(decoding: request(1000), as: UTF8.self).replacing(
        "/TCP 127.0.0.1", with: "/UDP 127.0.0.1:\(peer.port);rport")
      try peer.write(alive.utf8)
      var answer = ""
      while !answer.contains("Call-ID: 1000") { answer = String(decoding: try await peer.read(), as: UTF8.self) }
      #expect(answer.hasPrefix("SIP/2.0 200 "), "seed \(seed): \(answer)")
      try await eventually("seed \(seed): nobody is connected") { try await node.statistics().connections == 0 }
      try await node.shutdown()
    }
  }
}
