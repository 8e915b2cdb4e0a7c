import AppProtocol
import CallModel
import DoorKit
import LandlineHTTP
import LandlineNode
import NIOCore
import PeerKit
import Testing

/// Frames and messages (RFC 6455 sections 5 to 8).
@Suite struct WebSocketTests {
  struct Violation: Sendable, CustomTestStringConvertible {
    var name: String
    var bytes: [UInt8]
    var code: UInt16
    var testDescription: String { name }
  }

  static let violations: [Violation] = [
    Violation(name: "unmasked", bytes: RawPeer.frame(0x81, [0x61], isMasked: false), code: 1002),
    Violation(name: "reserved bit 1", bytes: RawPeer.frame(0xC1, [0x61]), code: 1002),
    Violation(name: "reserved bit 3", bytes: RawPeer.frame(0x91, [0x61]), code: 1002),
    Violation(name: "unknown kind", bytes: RawPeer.frame(0x83, [0x61]), code: 1002),
    Violation(name: "unknown control kind", bytes: RawPeer.frame(0x8B, []), code: 1002),
    Violation(name: "continuation of nothing", bytes: RawPeer.frame(0x80, [0x61]), code: 1002),
    Violation(
      name: "message inside a message", bytes: RawPeer.frame(0x01, [0x61]) + RawPeer.frame(0x81, [0x62]), code: 1002),
    Violation(name: "fragmented ping", bytes: RawPeer.frame(0x09, [0x61]), code: 1002),
    Violation(name: "long ping", bytes: RawPeer.frame(0x89, [UInt8](repeating: 0, count: 126)), code: 1002),
    Violation(name: "close of one byte", bytes: RawPeer.frame(0x88, [3]), code: 1002),
    Violation(name: "close 999", bytes: RawPeer.frame(0x88, [0x03, 0xE7]), code: 1002),
    Violation(name: "close 1005", bytes: RawPeer.frame(0x88, [0x03, 0xED]), code: 1002),
    Violation(name: "close 1006", bytes: RawPeer.frame(0x88, [0x03, 0xEE]), code: 1002),
    Violation(name: "close 5000", bytes: RawPeer.frame(0x88, [0x13, 0x88]), code: 1002),
    Violation(name: "close reason no UTF-8", bytes: RawPeer.frame(0x88, [0x03, 0xE8, 0xFF]), code: 1007),
    Violation(name: "binary", bytes: RawPeer.frame(0x82, [0x61]), code: 1003),
    Violation(name: "no UTF-8", bytes: RawPeer.frame(0x81, [0x61, 0xC0, 0x80]), code: 1007),
    Violation(
      name: "no UTF-8 over fragments", bytes: RawPeer.frame(0x01, [0xE2, 0x82]) + RawPeer.frame(0x80, [0x61]),
      code: 1007),
    Violation(name: "half a surrogate", bytes: RawPeer.frame(0x81, [0xED, 0xA0, 0x80]), code: 1007),
    Violation(
      name: "large frame", bytes: RawPeer.frame(0x81, [], length: 64 * 1024 + 1), code: 1009),
    Violation(name: "huge frame", bytes: RawPeer.frame(0x81, [], length: 1 << 40), code: 1009),
    Violation(
      name: "large message",
      bytes: RawPeer.frame(0x01, [UInt8](repeating: 0x61, count: 65_536))
        + (0..<4).flatMap { _ in RawPeer.frame(0x00, [UInt8](repeating: 0x61, count: 65_536)) }, code: 1009),
    Violation(
      name: "empty fragments without end",
      bytes: RawPeer.frame(0x01, []) + (0..<1100).flatMap { _ in RawPeer.frame(0x00, []) }, code: 1009),
    Violation(name: "refused by the acceptor", bytes: RawPeer.frame(0x81, Array("too many".utf8)), code: 1013),
  ]

  @Test(arguments: violations, [true, false]) func closesWithTheCode(_ violation: Violation, _ closes: Bool)
    async throws
  {
    let acceptor = RecordingAcceptor(closesViolators: closes)
    try await RunningDoor.with(acceptor) {
      $0.limits.violationMilliseconds = 1
    } _: { port, _ in
      let peer = try #require(try await RawPeer.open(port))
      peer.post(violation.bytes)
      let frame = try #require(await peer.frame())
      #expect(frame.opcode == 8)
      #expect(frame.code == violation.code)
      peer.post(RawPeer.frame(0x88, Array(frame.data.prefix(2))))
      #expect(await peer.rest().isEmpty)
    }
    #expect(acceptor.counts == (1, 1))
  }

  @Test func messagesOfTheLargestSizePassInFragmentsWithPingsBetween() async throws {
    let acceptor = RecordingAcceptor()
    try await RunningDoor.with(acceptor) { port, _ in
      let peer = try #require(try await RawPeer.open(port))
      let part = [UInt8](repeating: 0x61, count: 65_536)
      var first = part
      first.replaceSubrange(0..<5, with: Array("echo ".utf8))
      peer.post(RawPeer.frame(0x01, first))
      for _ in 0..<2 {
        peer.post(RawPeer.frame(0x89, [7]))
        peer.post(RawPeer.frame(0x00, part))
      }
      peer.post(RawPeer.frame(0x80, part))
      #expect(await peer.frame() == RawPeer.Frame(isFinal: true, opcode: 10, data: [7]))
      #expect(await peer.frame() == RawPeer.Frame(isFinal: true, opcode: 10, data: [7]))
      #expect(await peer.frame()?.data.count == 256 * 1024 - 5)
    }
  }

  @Test func framesThatComeByteByByteAreWhole() async throws {
    try await RunningDoor.with(RecordingAcceptor()) { port, _ in
      let peer = try #require(try await RawPeer.open(port))
      for byte in RawPeer.frame(0x01, Array("echo ".utf8)) + RawPeer.frame(0x80, Array("\u{20AC}".utf8)) {
        try await peer.write([byte])
      }
      #expect(await peer.frame()?.text == "\u{20AC}")
    }
  }

  /// Messages in one frame and in two with a ping between, cut at every place: each comes back as it was sent.
  @Test func messagesCutAnywhereAreTheSame() async throws {
    let acceptor = RecordingAcceptor()
    try await RunningDoor.with(acceptor) { port, _ in
      let peer = try #require(try await RawPeer.open(port, seconds: 300))
      var cuts = 0
      var different: [String] = []
      for number in 0..<30 {
        let text = "message \(number) " + String(repeating: "ü", count: number)
        let bytes = Array("echo \(text)".utf8)
        let middle = 5 + number % 4
        let stream =
          number.isMultiple(of: 2)
          ? RawPeer.frame(0x81, bytes)
          : RawPeer.frame(0x01, Array(bytes[..<middle])) + RawPeer.frame(0x89, [1])
            + RawPeer.frame(0x80, Array(bytes[middle...]))
        for place in 1..<stream.count {
          cuts += 1
          try await peer.write(Array(stream[..<place]))
          try await peer.write(Array(stream[place...]))
          var frame = await peer.frame()
          // The pong of the ping between comes first.
          if frame?.opcode == 10 { frame = await peer.frame() }
          if frame?.text != text { different.append("message \(number) cut at \(place): \(frame?.text ?? "nothing")") }
        }
      }
      #expect(different.isEmpty, "\(different.prefix(10))")
      try ScoreboardRow(
        "A7", figure: "\(different.count)", unit: "different results", target: "= 0", passed: different.isEmpty,
        detail: "WebSocket, 30 messages, \(cuts) cuts", gate: true
      ).record()
    }
  }

  @Test(arguments: [[], [0x03, 0xE8], [0x0F, 0xA0, 0x62, 0x79, 0x65]] as [[UInt8]])
  func answersAClose(_ data: [UInt8]) async throws {
    let acceptor = RecordingAcceptor()
    try await RunningDoor.with(acceptor) { port, _ in
      let peer = try #require(try await RawPeer.open(port))
      peer.post(RawPeer.frame(0x88, data))
      #expect(await peer.frame() == RawPeer.Frame(isFinal: true, opcode: 8, data: Array(data.prefix(2))))
      #expect(await peer.rest().isEmpty)
    }
    #expect(acceptor.counts == (1, 1))
  }

  @Test func closesPingsAndPongsForTheAcceptor() async throws {
    let acceptor = RecordingAcceptor()
    try await RunningDoor.with(acceptor) { port, _ in
      var events = acceptor.events.makeAsyncIterator()
      let peer = try #require(try await RawPeer.open(port))
      _ = await events.next()
      let connection = try #require(acceptor.connection(ConnectionID(1)))
      connection.ping()
      #expect(await peer.frame()?.opcode == 9)
      peer.post(RawPeer.frame(0x8A, []))
      #expect(await events.next() == .ponged(ConnectionID(1)))
      connection.send([Array("last words".utf8)])
      connection.close(code: 4001, reason: String(repeating: "\u{E9}", count: 100))
      connection.send([Array("never".utf8)])
      #expect(await peer.frame()?.text == "last words")
      let frame = try #require(await peer.frame())
      #expect(frame.code == 4001)
      #expect(frame.data.count == 2 + 122)
      peer.post(RawPeer.frame(0x88, [0x0F, 0xA1]))
      #expect(await peer.rest().isEmpty)
    }
  }

  @Test func aPeerThatDoesNotAnswerACloseLosesTheConnection() async throws {
    let acceptor = RecordingAcceptor()
    try await RunningDoor.with(acceptor) {
      $0.limits.closeMilliseconds = 20
    } _: { port, _ in
      var events = acceptor.events.makeAsyncIterator()
      let peer = try #require(try await RawPeer.open(port))
      _ = await events.next()
      acceptor.connection(ConnectionID(1))?.close(code: 1000, reason: "")
      #expect(await peer.frame()?.code == 1000)
      #expect(await peer.rest().isEmpty)
      #expect(await events.next() == .closed(ConnectionID(1)))
    }
  }

  @Test func aReaderThatDoesNotReadIsCloggedOnceAndEnds() async throws {
    let acceptor = RecordingAcceptor()
    try await RunningDoor.with(acceptor) {
      $0.limits.outgoingBytes = 256 * 1024
      $0.limits.closeMilliseconds = 20
    } _: { port, _ in
      var events = acceptor.events.makeAsyncIterator()
      let peer = try #require(try await RawPeer.open(port, reads: false))
      _ = await events.next()
      let connection = try #require(acceptor.connection(ConnectionID(1)))
      let text = [UInt8](repeating: 0x61, count: 64 * 1024)
      // Far more than the kernel's buffers hold.
      for _ in 0..<1000 { connection.send([text]) }
      #expect(await events.next() == .clogged(ConnectionID(1)))
      #expect(await events.next() == .closed(ConnectionID(1)))
      _ = peer
    }
  }

  @Test func aFloodOfPingsFromAPeerThatDoesNotReadIsClogged() async throws {
    let acceptor = RecordingAcceptor()
    try await RunningDoor.with(acceptor) {
      $0.limits.outgoingBytes = 64 * 1024
      $0.limits.closeMilliseconds = 20
    } _: { port, _ in
      var events = acceptor.events.makeAsyncIterator()
      let peer = try #require(try await RawPeer.open(port, reads: false))
      _ = await events.next()
      let pings = (0..<500).flatMap { _ in RawPeer.frame(0x89, [UInt8](repeating: 1, count: 125)) }
      for _ in 0..<200 { peer.post(pings) }
      #expect(await events.next() == .clogged(ConnectionID(1)))
      #expect(await events.next() == .closed(ConnectionID(1)))
    }
  }
}
