import AppProtocol
import CallModel
import DoorKit
import LandlineHTTP
import NIOCore
import ServiceLifecycle
import Testing

/// What the door bears: half-open connections, slow ones, too many, and its own end.
@Suite(.serialized) struct DoorLimitTests {
  @Test func halfOpenUpgradesLoseTheirConnectionsAndNobodyElseNotices() async throws {
    let acceptor = RecordingAcceptor()
    try await RunningDoor.with(acceptor) {
      $0.limits.headMilliseconds = 500
      $0.limits.connectionsPerHost = 1000
    } _: { port, _ in
      var halves: [RawPeer] = []
      for _ in 0..<500 {
        let peer = try await RawPeer.connect(port)
        peer.post(Array("GET /v1/connect HTTP/1.1\r\nHost: a\r\nUpgrade: webso".utf8))
        halves.append(peer)
      }
      let honest = try #require(try await RawPeer.open(port))
      try await honest.write(RawPeer.text("echo here"))
      #expect(await honest.frame()?.text == "here")
      // Each ends by the door's own deadline.
      for peer in halves { #expect(await peer.rest().isEmpty) }
      try await honest.write(RawPeer.text("echo still here"))
      #expect(await honest.frame()?.text == "still here")
    }
    #expect(acceptor.counts == (1, 1))
  }

  @Test func aHeadThatDripsIsNotWaitedFor() async throws {
    try await RunningDoor.with(RecordingAcceptor()) {
      $0.limits.headMilliseconds = 300
    } _: { port, _ in
      let peer = try await RawPeer.connect(port)
      try await peer.write("GET /livez HTTP/1.1\r\nHost: ")
      let channel = peer.channel
      let drip = channel.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(20)) { _ in
        channel.writeAndFlush(ByteBuffer(string: "X"), promise: nil)
      }
      #expect(await peer.rest().isEmpty)
      drip.cancel()
    }
  }

  @Test func aBodyThatDripsIsNotWaitedFor() async throws {
    try await RunningDoor.with(RecordingAcceptor()) {
      $0.limits.bodyMilliseconds = 300
    } _: { port, _ in
      let peer = try await RawPeer.connect(port)
      try await peer.write("POST /v1/calls HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n")
      let channel = peer.channel
      let drip = channel.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(20)) { _ in
        channel.writeAndFlush(ByteBuffer(string: "X"), promise: nil)
      }
      _ = await peer.rest()
      drip.cancel()
    }
  }

  @Test func chunksWithoutEndStopAtTheLimit() async throws {
    try await RunningDoor.with(RecordingAcceptor()) {
      $0.limits.bodyMilliseconds = 2000
    } _: { port, _ in
      let peer = try await RawPeer.connect(port)
      try await peer.write("POST /v1/calls HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
      let chunk = "4000\r\n" + String(repeating: "x", count: 0x4000) + "\r\n"
      for _ in 0..<8 { peer.post(Array(chunk.utf8)) }
      let answer = try #require(await peer.response())
      #expect(answer.status == 413)
      #expect(await peer.rest().isEmpty)
    }
  }

  @Test func anAddressHasItsShareOfConnections() async throws {
    try await RunningDoor.with(RecordingAcceptor()) {
      $0.limits.connectionsPerHost = 2
    } _: { port, _ in
      let first = try #require(try await RawPeer.open(port))
      let second = try #require(try await RawPeer.open(port))
      let third = try await RawPeer.connect(port)
      #expect(await third.rest().isEmpty)
      try await first.channel.close()
      // The place is free as soon as the door has seen the end; until then it turns away, before or after the request.
      var isOpen = false
      while !isOpen { isOpen = (try? await RawPeer.open(port)).flatMap { $0 } != nil }
      try await second.write(RawPeer.text("echo second"))
      #expect(await second.frame()?.text == "second")
    }
  }

  @Test func endsGracefullyWithAGoodbyeToWhoeverTheAcceptorLeaves() async throws {
    let acceptor = RecordingAcceptor()
    try await RunningDoor.with(acceptor) {
      $0.limits.goodbyeMilliseconds = 50
    } _: { port, group in
      let webSocket = try #require(try await RawPeer.open(port))
      let idle = try await RawPeer.connect(port)
      try await idle.write("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(await idle.response()?.status == 200)
      let silent = try await RawPeer.connect(port)
      await group.triggerGracefulShutdown()
      #expect(await idle.rest().isEmpty)
      #expect(await silent.rest().isEmpty)
      let frame = try #require(await webSocket.frame())
      #expect(frame.code == 1001)
      webSocket.post(RawPeer.frame(0x88, [0x03, 0xE9]))
      #expect(await webSocket.rest().isEmpty)
    }
    #expect(acceptor.counts == (1, 1))
  }
}
