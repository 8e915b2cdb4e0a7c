import CallModel
import Glibc
import LandlineWire
import PeerKit
import SIPCore
import Testing

extension SocketTests {
  @Suite struct StreamTests {
    @Test(arguments: [SIPHost.loopback, .loopback6])
    func usesOneConnectionBothWays(_ host: SIPHost) async throws {
      let here = try await Endpoint.start(.tcp, host)
      let there = try await Endpoint.start(.tcp, host)
      here.send(request(1), on: here.path(to: there), for: TransactionID(1))
      here.send(request(2), on: here.path(to: there), for: TransactionID(2))
      let first = try await there.message("first request")
      let second = try await there.message("second request", after: 1)
      #expect(first.bytes == request(1))
      #expect(second.bytes == request(2))
      #expect(first.path.connection != nil)
      #expect(first.path == second.path)
      there.send(response(1), on: first.path)
      let answer = try await here.message("response")
      #expect(answer.bytes == response(1))
      // A request the other way, once bound to the stream and once to the address only.
      there.send(request(3), on: first.path)
      var free = first.path
      free.connection = nil
      there.send(request(4), on: free)
      let third = try await here.message("third request", after: 1)
      let fourth = try await here.message("fourth request", after: 2)
      #expect([third.path, fourth.path] == [answer.path, answer.path])
      #expect(fourth.bytes == request(4))
      let statistics = try await (here.statistics(), there.statistics())
      #expect(statistics.0.connectionsOpened == 1)
      #expect(statistics.1.connectionsAccepted == 1)
      #expect(statistics.1.connectionsOpened == 0)
      try await here.shutdown()
      try await there.shutdown()
    }

    @Test func opensAnotherConnectionBehindAClosedOne() async throws {
      let here = try await Endpoint.start(.tcp)
      let peer = try PlainSocket.listening()
      let path = here.path(toPort: peer.port, .tcp)
      here.send(request(1), on: path, for: TransactionID(1))
      var stream: PlainSocket? = try await peer.accepted()
      #expect(try await stream?.read() == request(1))
      stream = nil
      try await here.failure(of: TransactionID(1))
      var bound = path
      bound.connection = ConnectionID(1)
      here.send(request(2), on: bound, for: TransactionID(2))
      #expect(try await peer.accepted().read() == request(2))
      try await here.failure(of: TransactionID(2))
      let failures = here.events.events.count { if case .failed = $0 { true } else { false } }
      #expect(failures == 2)
      try await here.shutdown()
    }

    @Test func readsByteByByte() async throws {
      let here = try await Endpoint.start(.tcp)
      let peer = try PlainSocket.connected(to: here.address.port)
      for byte in request(1, body: "body") { try peer.write([byte]) }
      #expect(try await here.message("request").bytes == request(1, body: "body"))
      try peer.write(request(2) + request(3) + Array(request(4).dropLast(3)))
      #expect(try await here.message("third request", after: 2).bytes == request(3))
      try peer.write(request(4).suffix(3))
      #expect(try await here.message("fourth request", after: 3).bytes == request(4))
      try await here.shutdown()
    }

    @Test(arguments: ["-1", "4294967296", "99999999999999999999", "0x10", "10, 10", "40000", ""])
    func answersAndClosesOverAContentLength(_ length: String) async throws {
      let here = try await Endpoint.start(.tcp)
      let peer = try PlainSocket.connected(to: here.address.port)
      let text = String(decoding: request(1), as: UTF8.self)
      try peer.write(
        text.replacing("Content-Length: 0", with: "Content-Length: \(length)").utf8 + request(2))
      let answer = String(decoding: try await peer.readToEnd(), as: UTF8.self)
      #expect(answer.hasPrefix("SIP/2.0 400 ") || answer.hasPrefix("SIP/2.0 513 "), "\(answer)")
      try await here.problem(.framing)
      #expect(try await here.statistics().messagesReceived == 0)
      try await here.shutdown()
    }

    @Test func answersPingsWithinLimits() async throws {
      var limits = TransportLimits.standard
      limits.pongsPerSecond = 2
      let here = try await Endpoint.start(.tcp, limits: limits)
      let peer = try PlainSocket.connected(to: here.address.port)
      try peer.write([0x0D, 0x0A, 0x0D, 0x0A])
      #expect(try await peer.read() == [0x0D, 0x0A])
      for _ in 0..<500 { try peer.write([0x0D, 0x0A, 0x0D, 0x0A]) }
      try peer.write(request(1))
      _ = try await here.message("request")
      let statistics = try await here.statistics()
      #expect(statistics.pingsReceived == 501)
      // Two at once, and two more in each second that this takes.
      #expect((1...6).contains(statistics.pongsSent))
      try await here.shutdown()
    }

    @Test func pingsAndMissesThePong() async throws {
      var limits = TransportLimits.standard
      limits.pingIntervalMilliseconds = 40
      limits.pongTimeoutMilliseconds = 200
      let here = try await Endpoint.start(.tcp, limits: limits)
      let peer = try PlainSocket.listening()
      here.send(request(1), on: here.path(toPort: peer.port, .tcp), for: TransactionID(1))
      let stream = try await peer.accepted()
      #expect(try await stream.read() == request(1))
      #expect(try await stream.read() == [0x0D, 0x0A, 0x0D, 0x0A])
      try stream.write([0x0D, 0x0A])
      #expect(try await stream.readToEnd() == [0x0D, 0x0A, 0x0D, 0x0A])
      try await here.problem(.pong)
      try await here.failure(of: TransactionID(1))
      try await here.shutdown()
    }

    @Test func saysThatNobodyListens() async throws {
      let here = try await Endpoint.start(.tcp)
      let gone = try PlainSocket.listening().port
      here.send(request(1), on: here.path(toPort: gone, .tcp), for: TransactionID(1))
      try await here.failure(of: TransactionID(1))
      try await here.problem(.connectRefused)
      #expect(try await here.statistics().connections == 0)
      try await here.shutdown()
    }

    @Test func givesUpOnConnecting() async throws {
      var limits = TransportLimits.standard
      limits.connectTimeoutMilliseconds = 150
      let here = try await Endpoint.start(.tcp, limits: limits)
      // A queue that is full leaves further attempts without an answer.
      let full = try PlainSocket.listening(backlog: 0)
      let filling = try PlainSocket.connected(to: full.port)
      here.send(request(1), on: here.path(toPort: full.port, .tcp), for: TransactionID(1))
      try await here.failure(of: TransactionID(1))
      try await here.problem(.connectTimeout)
      #expect(filling.handle >= 0)
      try await here.shutdown()
    }

    @Test func refusesTheWrongListener() async throws {
      let here = try await Endpoint.start(.tcp)
      let paths = [
        SIPPath(listener: .first, remote: TransportAddress(.udp, .loopback, port: 5060)),
        SIPPath(listener: ListenerID(9), remote: TransportAddress(.tcp, .loopback, port: 5060)),
        SIPPath(listener: .first, remote: TransportAddress(.tcp, .loopback6, port: 5060)),
      ]
      for (number, path) in paths.enumerated() {
        here.send(request(1), on: path, for: TransactionID(UInt64(number)))
        try await here.failure(of: TransactionID(UInt64(number)))
      }
      try await here.shutdown()
    }
  }

  @Suite struct StreamLimitTests {
    @Test(arguments: [TransportProblem.Kind.connections, .connectionsPerSource])
    func boundsConnections(_ kind: TransportProblem.Kind) async throws {
      var limits = TransportLimits.standard
      if kind == .connections { limits.connections = 2 } else { limits.connectionsPerSource = 2 }
      let here = try await Endpoint.start(.tcp, limits: limits)
      var peers = try (0..<2).map { _ in try PlainSocket.connected(to: here.address.port) }
      try await eventually("two are open") { try await here.statistics().connections == 2 }
      let third = try PlainSocket.connected(to: here.address.port)
      #expect(try await third.readToEnd() == [])
      try await here.problem(kind)
      peers.removeFirst()
      try await eventually("one is gone") { try await here.statistics().connections == 1 }
      let fourth = try PlainSocket.connected(to: here.address.port)
      try fourth.write(request(4))
      #expect(try await here.message("request").bytes == request(4))
      try await here.shutdown()
    }

    @Test func closesOnSlowReaders() async throws {
      var limits = TransportLimits.standard
      limits.pendingBytes = 100_000
      let here = try await Endpoint.start(.tcp, limits: limits)
      let peer = try PlainSocket.connected(to: here.address.port)
      try peer.write(request(1))
      let path = try await here.message("request").path
      // More than the kernel takes for both ends.
      for number in 0..<2000 {
        here.send([UInt8](repeating: 0x41, count: 20_000), on: path, for: TransactionID(UInt64(number)))
        if try await here.statistics().slowReaders > 0 { break }
      }
      try await here.problem(.slowReader)
      try await here.failure(of: TransactionID(0))
      try await eventually("it is closed") { try await here.statistics().connections == 0 }
      try await here.shutdown()
    }

    @Test func closesOnSlowWriters() async throws {
      var limits = TransportLimits.standard
      limits.messageTimeoutMilliseconds = 150
      let here = try await Endpoint.start(.tcp, limits: limits)
      let peer = try PlainSocket.connected(to: here.address.port)
      try peer.write(request(1) + Array("INVITE sip:a@b SIP/2.0\r\nVia: ".utf8))
      #expect(try await peer.readToEnd() == [])
      try await here.problem(.partialMessage)
      #expect(try await here.statistics().messageTimeouts == 1)
      try await here.shutdown()
    }

    @Test func closesWhatIsIdle() async throws {
      var limits = TransportLimits.standard
      limits.idleTimeoutMilliseconds = 150
      let here = try await Endpoint.start(.tcp, limits: limits)
      let peer = try PlainSocket.connected(to: here.address.port)
      #expect(try await peer.readToEnd() == [])
      #expect(try await here.statistics().idleTimeouts == 1)
      try await here.shutdown()
    }

    /// Keep-alives are no message: who sends nothing else does not stay.
    @Test func closesWhatNeverSaysAnything() async throws {
      var limits = TransportLimits.standard
      limits.firstMessageTimeoutMilliseconds = 150
      let here = try await Endpoint.start(.tcp, limits: limits)
      let mute = try PlainSocket.connected(to: here.address.port)
      try mute.write(Array("\r\n\r\n".utf8))
      #expect(try await mute.readToEnd() == Array("\r\n".utf8))
      #expect(try await here.statistics().idleTimeouts == 1)
      try await here.shutdown()
    }

    @Test func opensABrokenListenerAgain() async throws {
      var limits = TransportLimits.standard
      limits.reopenMilliseconds = 20
      let here = try await Endpoint.start(.tcp, limits: limits)
      let port = here.address.port
      // Behind the back of the loop, as when the interface goes away.
      let handle = try #require(listeningHandle(port))
      shutdown(handle, CInt(SHUT_RDWR))
      try await here.problem(.listenerClosed)
      try await eventually("it listens again") { (try? PlainSocket.connected(to: port)) != nil }
      let peer = try PlainSocket.connected(to: port)
      try peer.write(request(1))
      #expect(try await here.message("request").bytes == request(1))
      try await here.shutdown()
    }

    @Test func leaksNoSockets() async throws {
      var ports: Set<UInt16> = []
      for _ in 0..<5 {
        let here = try await Endpoint.start(.tcp)
        let there = try await Endpoint.start(.tcp)
        ports.formUnion([here.address.port, there.address.port])
        here.send(request(1), on: here.path(to: there))
        _ = try await there.message("request")
        let peers = try (0..<20).map { _ in try PlainSocket.connected(to: here.address.port) }
        for peer in peers { try peer.write(request(1)) }
        _ = try await here.message("last", after: 19)
        #expect(!LeftOvers.sockets(on: [here.address.port]).isEmpty)
        try await here.shutdown()
        try await there.shutdown()
      }
      try await LeftOvers(ports: ports, protocols: ["tcp"]).areNone()
    }
  }
}
