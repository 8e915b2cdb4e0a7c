import CallModel
import LandlineWire
import PeerKit
import SIPCore
import Testing

extension SocketTests {
  @Suite struct DatagramTests {
    @Test(arguments: [SIPHost.loopback, .loopback6])
    func goesThereAndBack(_ host: SIPHost) async throws {
      let here = try await Endpoint.start(.udp, host)
      let there = try await Endpoint.start(.udp, host)
      here.send(request(1), on: here.path(to: there))
      let arrived = try await there.message("request")
      #expect(arrived.bytes == request(1))
      #expect(arrived.path.remote == here.address)
      there.send(response(1), on: arrived.path)
      #expect(try await here.message("response").bytes == response(1))
      try await here.shutdown()
      try await there.shutdown()
    }

    @Test func keepsOutWhatIsNoSIP() async throws {
      let here = try await Endpoint.start(.udp)
      let peer = try PlainSocket.connected(to: here.address.port, datagrams: true)
      let useless: [[UInt8]] = [
        [0x0D, 0x0A, 0x0D, 0x0A], [0x0D, 0x0A], [0, 1, 0, 0, 0x21, 0x12, 0xA4, 0x42], [0x80, 0x60], [0xFF],
      ]
      for bytes in useless { try peer.write(bytes) }
      try peer.write(request(7))
      #expect(try await here.message("request").bytes == request(7))
      let statistics = try await here.statistics()
      #expect(statistics.keepAlives == 2)
      #expect(statistics.junkDatagrams == 3)
      #expect(statistics.messagesReceived == 1)
      try await here.shutdown()
    }

    /// One destination that the kernel refuses must not take the socket from all the others.
    @Test(arguments: [
      (SIPHost.ipv4(0xC000_0201), UInt16(5060), 100), (.loopback, 0, 100), (.loopback, 5060, 70_000),
      (.loopback6, 5060, 100), (.ipv4(0xFFFF_FFFF), 5060, 100),
    ])
    func survivesWhatCannotBeSent(_ host: SIPHost, _ port: UInt16, _ size: Int) async throws {
      let here = try await Endpoint.start(.udp)
      let path = SIPPath(listener: .first, remote: TransportAddress(.udp, host, port: port))
      here.send([UInt8](repeating: 0x41, count: size), on: path, for: TransactionID(5))
      try await here.failure(of: TransactionID(5))
      if size > 65_507 { try await here.problem(.messageTooLarge) }
      let peer = try PlainSocket.connected(to: here.address.port, datagrams: true)
      try peer.write(request(1))
      let arrived = try await here.message("request after the failure")
      here.send(response(1), on: arrived.path)
      #expect(try await peer.read() == response(1))
      try await here.shutdown()
    }

    /// A peer that is gone answers with ICMP; the next ones still get through.
    @Test func survivesPortsThatAreClosed() async throws {
      let here = try await Endpoint.start(.udp)
      let gone = try PlainSocket.connected(to: here.address.port, datagrams: true).port
      for number in 0..<5 { here.send(request(number), on: here.path(toPort: gone, .udp)) }
      let peer = try PlainSocket.connected(to: here.address.port, datagrams: true)
      try peer.write(request(9))
      #expect(try await here.message("request").bytes == request(9))
      try await here.shutdown()
    }

    /// A request that goes out again is told at once where the host says that the port is closed.
    @Test(arguments: [SIPHost.loopback, .loopback6])
    func toldOfPortsThatAreClosed(_ host: SIPHost) async throws {
      let here = try await Endpoint.start(.udp, host)
      let there = try await Endpoint.start(.udp, host)
      // The port of "discard", which no test takes: one that was free a moment ago may be another's by now.
      let gone = SIPPath(listener: .first, remote: TransportAddress(.udp, host, port: 9))
      for transaction in [TransactionID(1), TransactionID(2)] {
        here.send(request(1), on: gone, for: transaction)
        here.send(request(1), on: gone, for: transaction)
        try await here.failure(of: transaction)
      }
      #expect(try await here.problem(.connectRefused).remote == gone.remote)
      #expect(try await here.statistics().datagramsRefused == 2)
      // A port that is open and silent, and a response that goes out again, fail nothing.
      for _ in 0..<2 {
        here.send(request(3), on: here.path(to: there), for: TransactionID(3))
        here.send(response(4), on: gone, for: TransactionID(4))
      }
      here.send(request(5), on: gone, for: TransactionID(5))
      here.send(request(5), on: gone, for: TransactionID(5))
      try await here.failure(of: TransactionID(5))
      #expect(
        !here.events.events.contains {
          switch $0 {
          case .failed(TransactionID(3)), .failed(TransactionID(4)): true
          default: false
          }
        })
      #expect(try await there.statistics().datagramsReceived >= 2)
      try await here.shutdown()
      try await there.shutdown()
    }

    @Test func takesBursts() async throws {
      let here = try await Endpoint.start(.udp)
      let peer = try PlainSocket.connected(to: here.address.port, datagrams: true)
      let size = 100
      for burst in 0..<20 {
        for number in 0..<size { try peer.write(request(burst * size + number)) }
        try await here.events.wait(for: "burst \(burst)", count: (burst + 1) * size) {
          if case .received = $0 { true } else { false }
        }
      }
      let numbers = here.events.events.compactMap { event -> [UInt8]? in
        if case .received(let bytes, _) = event { bytes } else { nil }
      }
      #expect(numbers == (0..<20 * size).map { request($0) })
      try await here.shutdown()
    }

    @Test("a listener that cannot be opened says why, and leaves no socket")
    func cannotBeOpened() async throws {
      let here = try await Endpoint.start(.udp)
      let again = SIPListener(id: .first, transport: .udp, host: .loopback, port: here.address.port)
      // Other tests make sockets too: so many tries that their own are more than all that those have for a moment.
      let tries = 300
      let before = LeftOvers.unusedSockets()
      for _ in 0..<tries {
        let error = await #expect(throws: InvalidValue.self) { try await Endpoint.start([again]) }
        #expect(error?.rule == "listener.bind")
        #expect(error?.problem.contains("in use") == true)
      }
      #expect(LeftOvers.unusedSockets().subtracting(before).count < tries / 2)
      try await here.shutdown()
    }
  }
}
