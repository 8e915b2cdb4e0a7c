import CallModel
import PeerKit
import SIPCore
import Testing

@Suite("Finding a transaction", .serialized)
struct TransactionLookupTests {
  /// A host for each thousand: one alone may not begin so many.
  static func path(_ number: Int) -> SIPPath {
    SIPPath(
      listener: ListenerID(1),
      remote: TransportAddress(.udp, .ipv4(0xC000_0201 + UInt32(number / 1000)), port: 5099))
  }

  static func request(_ number: Int) throws -> ScannedMessage {
    try SIPGate.admit(
      GateFixtures.message([
        "OPTIONS sip:b@198.51.100.1 SIP/2.0", "Via: SIP/2.0/UDP 192.0.2.1:5099;branch=z9hG4bK-\(number)",
        "Max-Forwards: 70", "From: <sip:a@192.0.2.1>;tag=a\(number)", "To: <sip:b@198.51.100.1>",
        "Call-ID: c\(number)@192.0.2.1", "CSeq: 1 OPTIONS", "Content-Length: 0",
      ]), transport: .udp
    ).get()
  }

  /// Microseconds for a copy of a request whose transaction lives: found, and answered with what it got before.
  static func microseconds(live count: Int) throws -> Double {
    let draws = Draws(SeededBytes(state: 7))
    let layer = TransactionLayer(identifiers: IdentifierSource { draws.next() }, maximumTransactions: count + 10)
    var effects: [TransactionEffect] = []
    for number in 0..<count {
      layer.receive(try request(number), from: path(number), at: .zero, into: &effects)
      effects.removeAll(keepingCapacity: true)
    }
    #expect(layer.count == count)
    var draw = SeededBytes(state: 3)
    let samples = try (0..<2000).map { _ in
      let number = Int.random(in: 0..<count, using: &draw)
      return (request: try request(number), path: path(number))
    }
    var best = Double.infinity
    for _ in 0..<5 {
      let start = ContinuousClock.now
      for sample in samples {
        layer.receive(sample.request, from: sample.path, at: .zero, into: &effects)
        effects.removeAll(keepingCapacity: true)
      }
      best = min(best, (ContinuousClock.now - start) / .microseconds(samples.count))
    }
    #expect(layer.count == count)
    return best
  }

  @Test("costs the same among 40,000 as among a hundred")
  func lookup() throws {
    let few = try Self.microseconds(live: 100)
    let many = try Self.microseconds(live: 40_000)
    // Linear search would be 400 times slower; caches alone may make it some times.
    #expect(many < few * 40, "\(few) µs among 100, \(many) µs among 40,000")
    #if !DEBUG
      #expect(many <= 20)
      try ScoreboardRow(
        "C9", figure: "\((many * 10).rounded() / 10_000)", unit: "ms", target: "<= 0.02", passed: many <= 20,
        detail: "a repeated request among 40,000; \((few * 10).rounded() / 10) µs among 100"
      ).record()
    #endif
  }
}
