import Foundation
import SDPCore
import TestVectors
import Testing

/// Mutated descriptions: no trap, and time within bounds.
@Suite(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
struct MutationTests {
  static let seed: UInt64 = 0x5D9_C0DE

  static let words: [[UInt8]] =
    [
      "4294967296", "-1", "0", "65535", "65536", "127", "128", "999999999", "18446744073709551616", "\0", "\r", "\n",
      "\r\n", "=", ":", "/", " ", "  ", "a=", "m=audio 1 RTP/AVP 0\r\n", "inline:", "|2^48|1:128", "IN IP6 ::",
      "0.0.0.0",
      "a=crypto:1 ", "a=fingerprint:sha-256 ", "telephone-event/8000", "opus/48000/2", "a=group:BUNDLE 0 1 2\r\n",
      "0-255", "sendonly", "\u{FFFD}", "\u{301}",
    ].map { Array($0.utf8) } + [[0xFF], [0xC3], [0xF0, 0x9F]]

  static func mutate(_ bytes: [UInt8], among corpus: [[UInt8]], _ random: inout SeededGenerator) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let at = Int.random(in: 0...bytes.count, using: &random)
      let end = min(bytes.count, at + Int.random(in: 0...40, using: &random))
      switch Int.random(in: 0..<7, using: &random) {
      case 0: if at < bytes.count { bytes[at] = UInt8.random(in: 0...255, using: &random) }
      case 1: bytes.removeSubrange(at..<end)
      case 2: bytes.insert(contentsOf: words[Int.random(in: 0..<words.count, using: &random)], at: at)
      case 3: bytes.insert(contentsOf: bytes[at..<end], at: Int.random(in: 0...bytes.count, using: &random))
      case 4: bytes.removeSubrange(at...)
      case 5:
        let other = corpus[Int.random(in: 0..<corpus.count, using: &random)]
        let from = Int.random(in: 0...other.count, using: &random)
        bytes.insert(contentsOf: other[from..<min(other.count, from + 200)], at: at)
      default: if at < bytes.count { bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
      }
    }
    return bytes
  }

  @Test func fiftyThousandMutations() throws {
    let corpus = try TestVectors.table("sdp/facts.tsv").compactMap { row in
      try row["file"].map(SDPFixtures.bytes)
    }.filter { $0.count < 12_000 }
    var random = SeededGenerator(seed: MutationTests.seed)
    let roomy = SessionDescriptionLimits(
      bytes: 100_000, lines: 2_000, lineBytes: 20_000, mediaSections: 64, formats: 128, attributes: 1_000)
    let base = SDPFixtures.end(SDPFixtures.open)
    let offering = try {
      var end = SDPFixtures.end(.trunk([.none, .sdes]))
      _ = try end.offer(from: SDPFixtures.local)
      return end
    }()
    var read = 0
    var answered = 0
    var agreed = 0
    var slowest = Duration.zero
    var wrong: [String] = []
    for number in 0..<50_000 {
      let bytes = MutationTests.mutate(
        corpus[Int.random(in: 0..<corpus.count, using: &random)], among: corpus, &random)
      slowest = max(
        slowest,
        ContinuousClock().measure {
          guard let description = try? SessionDescription(parsing: bytes) else { return }
          read += 1
          if (try? SessionDescription(parsing: description.text, limits: roomy)) != description {
            wrong.append("mutation \(number) does not read back equal")
          }
          var end = base
          if let (answer, plan) = try? end.answer(description, from: SDPFixtures.local) {
            answered += 1
            wrong += AnswerVectorTests.faults(answer, plan, to: description).map { "mutation \(number): \($0)" }
          }
          var other = offering
          if (try? other.accept(description)) != nil { agreed += 1 }
        })
    }
    print("mutations: \(read) read, \(answered) answered, \(agreed) taken as answers, slowest \(slowest)")
    #expect(wrong.isEmpty, "seed \(MutationTests.seed): \(wrong.prefix(5))")
    #expect(read > 5_000)
    #expect(answered > 2_000)
    #expect(slowest < .seconds(2), "one description took \(slowest)")
  }
}
