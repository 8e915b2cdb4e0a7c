import Glibc
import PeerKit
import SIPCore
import Testing

/// Messages shaped so that a parser takes time with the square of something, as large as the gate lets them be and larger.
@Suite("The slowest message", .serialized)
struct WorstMessageTests {
  /// Milliseconds of processor time that this thread spends.
  private static func milliseconds(_ work: () -> Void) -> Double {
    func now() -> Double {
      var time = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1_000_000
    }
    let start = now()
    work()
    return now() - start
  }

  private static func read(_ bytes: [UInt8]) {
    guard case .success(let scanned) = SIPGate.admit(bytes, transport: .tcp) else { return }
    _ = MessageParser.values(of: scanned)
  }

  /// Text that repeats a piece until it has so many bytes.
  private static func run(_ piece: String, _ bytes: Int, _ start: String = "") -> String {
    start + String(repeating: piece, count: max(0, (bytes - start.utf8.count) / max(1, piece.utf8.count)))
  }

  private static let pieces = [
    ";p", ";p=\"\\\"\"", ",A", ",<sip:a@b>", "%41", "\\\"", " ", "\t", "\r\n ", "(", "()", ";", ",", "<", ">", "\"",
    "a", "=", "@", ":", "[",
    ";lr;a=b", ",\"x\" <sip:a@b;c>;q=0", "\u{E9}", "&a=b", ";tag=1",
  ]
  private static let names = [
    "Contact", "m", "Via", "v", "Route", "Record-Route", "From", "f", "To", "Allow", "Accept", "Supported", "k",
    "X-Any", "Subject",
    "Authorization", "Content-Type", "Call-Info", "Require", "Date", "Reason", "P-Asserted-Identity", "History-Info",
    "Diversion",
  ]

  /// Up to 64 KiB: few long fields, many short ones, or a long start line.
  static func message(_ draw: inout SeededBytes) -> [UInt8] {
    var lines = GateFixtures.lines
    let piece = pieces[Int.random(in: 0..<pieces.count, using: &draw)]
    let other = pieces[Int.random(in: 0..<pieces.count, using: &draw)]
    let name = names[Int.random(in: 0..<names.count, using: &draw)]
    let long = Bool.random(using: &draw) ? 4000 : Int.random(in: 1...60_000, using: &draw)
    // Within the counts that the gate allows, a value may still repeat each piece so often.
    let allowed = 32
    switch Int.random(in: 0..<7, using: &draw) {
    case 0: lines[0] = "INVITE sip:a@b\(run(piece, long)) SIP/2.0"
    case 1: lines.append("\(name): \(run(piece, long, "<sip:a@b>"))")
    case 2:
      lines += (0..<Int.random(in: 1...140, using: &draw)).map { _ in "\(name): \(run(other, long / 100, "<sip:a@b>"))"
      }
    case 3: lines += (0..<120).map { "X-\($0): " + String(repeating: "y", count: min(480, long / 100)) }
    case 4:
      let values = (0..<allowed).map { "<sip:a\($0)@b\(String(repeating: ";p", count: allowed / 2))>" }
      lines.append("\(name): \(values.joined(separator: ","))")
    case 5:
      lines[3] = "From: \"\(run(other, min(long, 3900)))\" <sip:a@127.0.0.1>;tag=a1"
      lines[7] = "Contact: <sip:a@127.0.0.1\(String(repeating: piece, count: allowed))>"
    default:
      lines += (0..<20).map { "Via: SIP/2.0/UDP h\($0).example.com;branch=z9hG4bK\(run(other, 150))" }
      lines += (0..<20).map { "Route: <sip:r\($0).example.com;lr>\(String(repeating: piece, count: 8))" }
      lines += (0..<30).map { "Contact: <sip:c\($0)@example.com>\(String(repeating: piece, count: 8))" }
    }
    let body = Bool.random(using: &draw) ? "" : String(repeating: "b", count: Int.random(in: 0...32_768, using: &draw))
    lines[lines.firstIndex { $0.hasPrefix("Content-Length") } ?? 8] = "Content-Length: \(body.utf8.count)"
    if !body.isEmpty { lines.append("Content-Type: a/b") }
    return Array(GateFixtures.message(lines, body: body).prefix(65_536))
  }

  @Test("costs at most a millisecond")
  func slowest() throws {
    #if DEBUG
      // Not optimised: the figure is no measurement, and the limit only tells squares from lines.
      let limit = 60.0
      let count = 500
    #else
      let limit = 1.0
      let count = ScoreboardRow.isFull ? 100_000 : 6000
    #endif
    var worst = (milliseconds: 0.0, seed: UInt64(0), bytes: 0)
    for seed in 0..<UInt64(count) {
      var draw = SeededBytes(state: seed)
      let bytes = Self.message(&draw)
      var cost = Self.milliseconds { Self.read(bytes) }
      // A page fault or a cold cache is not the message's doing: what is slow is slow again.
      for _ in 0..<4 where cost > worst.milliseconds { cost = min(cost, Self.milliseconds { Self.read(bytes) }) }
      if cost > worst.milliseconds { worst = (cost, seed, bytes.count) }
    }
    // A neighbour that empties the caches may do so five times in a row; a square is slow every time.
    var draw = SeededBytes(state: worst.seed)
    let slowest = Self.message(&draw)
    for _ in 0..<50 where worst.milliseconds > limit {
      worst.milliseconds = min(worst.milliseconds, Self.milliseconds { Self.read(slowest) })
    }
    #expect(worst.milliseconds <= limit, "seed \(worst.seed) of \(worst.bytes) bytes takes \(worst.milliseconds) ms")
    #if !DEBUG
      try ScoreboardRow(
        "A6", figure: "\((worst.milliseconds * 1000).rounded() / 1000)", unit: "ms", target: "<= 1",
        passed: worst.milliseconds <= limit,
        detail: "slowest of \(count) shapes, \(worst.bytes) bytes, seed \(worst.seed)"
      ).record()
    #endif
  }
}
