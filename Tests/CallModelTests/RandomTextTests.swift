import CallModel
import Testing

/// Random texts against every reader: none may trap, an error's offset lies inside the text, and what is accepted
/// prints and reads back as itself.
@Suite("Random texts")
struct RandomTextTests {
  static let seed: UInt64 = 0x4C41_4E44_4C49_4E45
  static let rounds = 5000

  /// Pieces that the grammars are made of, so that random texts come near to being right.
  static let pieces = [
    "+", "46", "1", "0", "70", "1234567", "999", "sip:", "sips:", "SIP:", "alice", "@", "@@", ":", "::", "5060",
    "65536", "[",
    "]", "%", "%41", "%00", "%7f", "%2F", ".", "..", "-", "example", "com", "1.2.3.4", "255", "2001:db8", "ffff", " ",
    "\n",
    "\t", "\u{0}", "\u{F6}", "\u{FF11}", "\u{1F4DE}", "x-", "X-", ";", "?", "EUR", "e", "/", "\u{85}",
  ]

  static func text(_ generator: inout SplitMix) -> String {
    (0..<generator.next(below: 9)).map { _ in pieces[generator.next(below: pieces.count)] }.joined()
  }

  @Test("no reader traps or lies about the place")
  func readers() throws {
    var generator = SplitMix(state: Self.seed)
    var accepted = 0
    for round in 0..<Self.rounds {
      let text = Self.text(&generator)
      let place: Comment = "seed \(Self.seed) round \(round): \(text.debugDescription)"
      func check(_ read: () throws(InvalidValue) -> Bool) {
        do throws(InvalidValue) {
          #expect(try read(), place)
          accepted += 1
        } catch {
          #expect((0...text.utf8.count).contains(error.offset ?? 0), place)
          #expect(error.description.utf8.count < 500, place)
        }
      }
      check { () throws(InvalidValue) in try E164Number(text).description == text }
      check { () throws(InvalidValue) in
        let address = try SIPAddress(text)
        let again = try SIPAddress(address.description)
        let fromURI = try SIPAddress(address.uri)
        return again == address && fromURI == address && again.description == address.description
      }
      check { () throws(InvalidValue) in try UserID(text).text == text }
      check { () throws(InvalidValue) in try ConferenceID(text).text == text }
      check { () throws(InvalidValue) in try EmergencyNumber(text).code == text }
      check { () throws(InvalidValue) in try Currency(text).description == text }
      check { () throws(InvalidValue) in
        let value = try DecimalText.parse(text, scale: 6)
        return try DecimalText.parse(DecimalText.format(value, scale: 6), scale: 6) == value
      }
      let other = Self.text(&generator)
      var headers = CustomHeaders()
      if (try? headers.append(name: "x-" + text, value: other)) != nil {
        #expect(headers["X-" + text] == other, place)
        #expect(!other.utf8.contains { $0 < 0x20 }, place)
      }
    }
    // The pieces are of use only if many of the texts are right.
    #expect(accepted > Self.rounds / 10)
  }
}

/// Steele, Lea and Flood's generator: the same numbers on every machine.
struct SplitMix {
  var state: UInt64

  mutating func next(below bound: Int) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return Int((mixed ^ mixed >> 31) % UInt64(max(bound, 1)))
  }
}
