import CallModel
import RoutingCore
import Testing

@Suite struct RateIndexTests {
  #if DEBUG
    static let lookups = 4000
  #else
    static let lookups = 60_000
  #endif

  /// Random prefixes that share their beginnings, with a window or none.
  private static func rows(_ count: Int, windows: Bool, longest: Int, _ generator: inout SeededGenerator) throws
    -> [RateRow]
  {
    var seen: Set<NumberDigits> = []
    var rows: [RateRow] = []
    var texts: [String] = []
    while rows.count < count {
      var text = generator.oneIn(3) ? "" : texts.randomElement(using: &generator) ?? ""
      text = String(text.prefix(longest - 1))
      for _ in 0..<Int.random(in: 1...max(1, min(5, longest - text.count)), using: &generator) {
        text += String(Int.random(in: 0...9, using: &generator))
      }
      let prefix = try NumberDigits(text)
      guard seen.insert(prefix).inserted else {
        if seen.count >= 9, longest < 2 { break }
        continue
      }
      texts.append(text)
      var terms = RateTerms(ratePerMinute: NanoUnits(Int64(rows.count) % 5000))
      if windows, generator.oneIn(2) {
        terms.effectiveFrom = Int64.random(in: 0...500, using: &generator)
        terms.effectiveUntil = Int64.random(in: 501...1000, using: &generator)
      }
      rows.append(RateRow(prefix: prefix, name: "n\(rows.count % 100)", terms: terms))
    }
    return rows
  }

  @Test(arguments: [
    (1, 15, false), (7, 1, false), (300, 15, true), (900, 6, false), (5000, 11, true), (30_000, 15, false),
    (30_000, 10, true),
  ])
  func agreesWithASearchOfEveryLength(count: Int, longest: Int, windows: Bool) throws {
    let seed = UInt64(count * 31 + longest)
    var generator = SeededGenerator(seed: seed)
    let rows = try Self.rows(count, windows: windows, longest: longest, &generator)
    var builder = DeckBuilder(settings: try DeckSettings(name: "d", version: "1", currency: .eur))
    for row in rows { builder.append(row) }
    let deck = try builder.build()
    let compiledAt = Instant(milliseconds: 100)
    let index = RateIndex(deck, at: compiledAt)
    let byPrefix = Dictionary(uniqueKeysWithValues: rows.map { ($0.prefix, $0) })
    for lookup in 0..<Self.lookups {
      var text = generator.oneIn(5) ? "" : rows[Int.random(in: 0..<rows.count, using: &generator)].prefix.description
      if generator.oneIn(6) { text = String(text.dropLast(Int.random(in: 0...2, using: &generator))) }
      while text.count < 15, text.isEmpty || !generator.oneIn(8) {
        text += String(Int.random(in: 0...9, using: &generator))
      }
      let number = try NumberDigits(text)
      let instant = Instant(milliseconds: Int64.random(in: 100...1100, using: &generator))
      var wanted: RateRow?
      for length in stride(from: number.count, through: 1, by: -1) where wanted == nil {
        if let prefix = number.prefix(length), let row = byPrefix[prefix],
          row.terms.effectiveFrom <= instant.milliseconds, instant.milliseconds < row.terms.effectiveUntil
        {
          wanted = row
        }
      }
      let match = index.match(number, at: instant)
      #expect(match?.prefix == wanted?.prefix, "seed \(seed), lookup \(lookup), \(text) at \(instant.milliseconds)")
      if let match, let wanted {
        #expect(index.name(of: match) == wanted.name)
        #expect(index.tariff(of: match)?.tiers[0].ratePerMinute == wanted.terms.ratePerMinute)
      }
    }
  }

  @Test func aNumberShorterThanAPrefixDoesNotMatchIt() throws {
    let index = try DeckFixture.index("prefix,rate\n46,1\n4670000,2\n")
    #expect(index.match(try NumberDigits("467"), at: .distantPast)?.prefix.description == "46")
    #expect(index.match(try NumberDigits("4670000"), at: .distantPast)?.prefix.description == "4670000")
    #expect(index.match(try NumberDigits("4"), at: .distantPast) == nil)
    #expect(index.match(try NumberDigits("0046"), at: .distantPast) == nil)
    #expect(index.match(try NumberDigits("999999999999999"), at: .distantPast) == nil)
  }

  @Test func rowsThatHaveEndedAreLeftOut() throws {
    let deck = try DeckFixture.read("prefix,rate,effective_to\n46,1,\n4670,2,2026-01-01\n")
    let index = RateIndex(deck, at: try DeckFixture.instant("2026-01-01"))
    #expect(index.prefixCount == 1)
    #expect(
      index.match(try NumberDigits("46701"), at: try DeckFixture.instant("2026-02-01"))?.prefix.description == "46")
  }

  @Test func digitsKeepLeadingZerosAndOrder() throws {
    let texts = ["0", "00", "001", "01", "1", "10", "100", "101", "9", "999999999999999"]
    let digits = try texts.map { try NumberDigits($0) }
    #expect(digits.map(\.description) == texts)
    #expect(digits.sorted() == digits)
    #expect(try NumberDigits("46").isPrefix(of: NumberDigits("467")))
    #expect(try !NumberDigits("467").isPrefix(of: NumberDigits("46")))
    for (text, rule, offset) in [
      ("", "digits.count", nil), ("+46", "digits.character", 0), ("4 6", "digits.character", 1),
      ("1234567890123456", "digits.count", 15), ("٣", "digits.character", 0),
    ] as [(String, String, Int?)] {
      let error = #expect(throws: InvalidValue.self) { try NumberDigits(text) }
      #expect(error?.rule == rule)
      #expect(error?.offset == offset)
    }
  }
}
