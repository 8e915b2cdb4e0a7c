import SIPCore
import TestVectors
import Testing

struct StreamFramerTests {
  /// What came out, and how much the framer still holds.
  static func run(_ pieces: [[UInt8]], role: StreamFramer.Role = .accepted) -> [String] {
    var framer = StreamFramer(role: role)
    var events: [StreamFramer.Event] = []
    for piece in pieces { framer.receive(piece, into: &events) }
    return events.map(name) + ["\(framer.bufferedBytes) held"]
  }

  static func name(_ event: StreamFramer.Event) -> String {
    switch event {
    case .message(let bytes): "message " + String(decoding: bytes, as: UTF8.self)
    case .ping: "ping"
    case .pong: "pong"
    case .refusal(let refusal): "refusal \(refusal)"
    }
  }

  static func pieces(_ bytes: [UInt8], of size: Int) -> [[UInt8]] {
    stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
  }

  static let withBody = GateFixtures.message(
    GateFixtures.lines.dropLast() + ["Content-Type : a/b", "l\t:\r\n 6"], body: "\r\n\r\nab")

  @Test(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
  func everySplitGivesTheSame() throws {
    var splits = 0
    for bytes in try GateVectorTests.allMessages() + [StreamFramerTests.withBody] where bytes.count < 2000 {
      let stream = bytes + [13, 10, 13, 10]
      let whole = StreamFramerTests.run([stream])
      for place in 1..<stream.count {
        splits += 1
        let halves = StreamFramerTests.run([Array(stream[..<place]), Array(stream[place...])])
        if halves != whole { Issue.record("split at \(place): \(halves) instead of \(whole)") }
      }
      #expect(StreamFramerTests.run(StreamFramerTests.pieces(stream, of: 1)) == whole)
    }
    print("framer: \(splits) splits")
    #expect(splits > 1000)
  }

  @Test func pipelinedMessages() {
    let plain = GateFixtures.message(GateFixtures.lines)
    let stream = (0..<20).flatMap { $0 % 2 == 0 ? plain : StreamFramerTests.withBody }
    for size in [1, 7, 100, stream.count] {
      let events = StreamFramerTests.run(StreamFramerTests.pieces(stream, of: size))
      #expect(events.count == 21 && events.last == "0 held")
      #expect(events.dropLast().allSatisfy { $0.hasPrefix("message INVITE") })
    }
  }

  @Test func keepAlives() {
    let plain = GateFixtures.message(GateFixtures.lines)
    #expect(StreamFramerTests.run([[13, 10, 13, 10]]) == ["ping", "0 held"])
    #expect(StreamFramerTests.run([[13], [10], [13], [10], [13, 10]]) == ["ping", "0 held"])
    #expect(StreamFramerTests.run([[13, 10]], role: .opened) == ["pong", "0 held"])
    #expect(
      StreamFramerTests.run([[13, 10] + plain + [13, 10, 13, 10]]).map { $0.prefix(4) } == ["mess", "ping", "0 he"])
    #expect(StreamFramerTests.run([[13, 65]]).first == "refusal dropped: gate.bareCarriageReturn at byte 0")
  }

  @Test(arguments: [
    ("Content-Length: 4294967295", "400", "bodyBytes"), ("l: 18446744073709551616", "400", "bodyBytes"),
    ("Content-Length: -1", "400", "contentLength"), ("Content-Length: +4", "400", "contentLength"),
    ("Content-Length: 4abc", "400", "contentLength"), ("Content-Length: 0\r\nl: 5", "400", "contentLengthRepeated"),
    ("X: none", "400", "contentLengthMissing"), ("Content-Length: 32769", "400", "bodyBytes"),
    ("Content-Length x: 5", "400", "headerName"), ("Content-Length: 0\nX: y", "400", "bareLineFeed"),
    ("Content-Length: 0\rX: y", "400", "bareCarriageReturn"),
  ])
  func hostileLengthsClose(line: String, status: String, rule: String) {
    let plain = GateFixtures.message(GateFixtures.lines)
    let hostile = GateFixtures.replacing("Content-Length", with: line)
    let events = StreamFramerTests.run([plain + hostile + plain])
    #expect(events.count == 3 && events[0].hasPrefix("message") && events[2] == "0 held")
    #expect(events[1].contains("gate.\(rule) ") || events[1].hasSuffix("gate.\(rule)"), "\(events[1])")
    let wanted = rule == "bodyBytes" ? "513" : status
    #expect(events[1].hasPrefix("refusal \(wanted)") || events[1].hasPrefix("refusal dropped"), "\(events[1])")
  }

  /// A fault that leaves the length readable costs one message, not the connection.
  @Test func otherFaultsLeaveTheConnection() {
    let odd = GateFixtures.adding("X: a\u{1}b")
    #expect(StreamFramerTests.run([odd + odd]).map { $0.prefix(7) } == ["message", "message", "0 held"])
  }

  @Test func nothingGrowsWithoutEnd() {
    for piece in ["X", "X: a\r\n", "INVITE sip:a@b SIP/2.0\r\n "] {
      var framer = StreamFramer(role: .accepted)
      var events: [StreamFramer.Event] = []
      var most = 0
      for _ in 0..<70_000 {
        framer.receive(Array(piece.utf8), into: &events)
        most = max(most, framer.bufferedBytes)
      }
      #expect(framer.isClosed && events.count == 1 && most <= GateLimits.standard.streamBytes)
    }
  }
}
