import PeerKit
import SIPCore
import Testing

/// What a stream brings must not hang on where the network cuts it.
@Suite("The same stream, cut")
struct StreamCutTests {
  /// A message with or without body, folds, short names and empty lines before it, good or broken.
  static func message(_ draw: inout SeededBytes) -> [UInt8] {
    var lines = GateFixtures.lines
    let body = Bool.random(using: &draw) ? "" : String(repeating: "\r\nb", count: Int.random(in: 0...40, using: &draw))
    lines[8] =
      ["Content-Length", "l", "CONTENT-LENGTH ", "l\t"][Int.random(in: 0..<4, using: &draw)] + ": \(body.utf8.count)"
    if !body.isEmpty { lines.append("c: a/b") }
    for number in 0..<Int.random(in: 0...6, using: &draw) { lines.append("X-\(number): a\r\n \t b") }
    switch Int.random(in: 0..<12, using: &draw) {
    case 0: lines[8] = "Content-Length: 4x"
    case 1: lines.append("X: a\nY: b")
    case 2: lines.append("l: 3")
    case 3: lines[0] = "SIP/2.0 200 OK"
    case 4: lines[0] = "INVITE"
    default: break
    }
    lines.shuffleTail(&draw)
    let before = String(repeating: "\r\n", count: Int.random(in: 0...3, using: &draw))
    return Array(before.utf8) + GateFixtures.message(lines, body: body)
  }

  @Test("gives the same messages wherever it is cut")
  func everyCut() throws {
    #if DEBUG
      let count = 40
    #else
      let count = 300
    #endif
    var draw = SeededBytes(state: 4711)
    let next = GateFixtures.message(["OPTIONS sip:b SIP/2.0"] + GateFixtures.lines.dropFirst())
    var cuts = 0
    var different: [String] = []
    for number in 0..<count {
      let stream = Self.message(&draw) + next
      let whole = StreamFramerTests.run([stream])
      for place in 1..<stream.count {
        cuts += 1
        let halves = StreamFramerTests.run([Array(stream[..<place]), Array(stream[place...])])
        if halves != whole { different.append("message \(number) cut at \(place)") }
      }
      if StreamFramerTests.run(StreamFramerTests.pieces(stream, of: 1)) != whole {
        different.append("message \(number) byte by byte")
      }
    }
    #expect(different.isEmpty, "\(different.prefix(10))")
    try ScoreboardRow(
      "A7", figure: "\(different.count)", unit: "different results", target: "= 0", passed: different.isEmpty,
      detail: "TCP framer, \(count) messages, \(cuts) cuts", gate: true
    ).record()
  }
}

extension [String] {
  /// The start line stays first.
  fileprivate mutating func shuffleTail(_ draw: inout SeededBytes) { self[1...].shuffle(using: &draw) }
}
