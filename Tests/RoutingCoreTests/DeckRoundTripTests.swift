import CallModel
import RoutingCore
import Testing

@Suite struct DeckRoundTripTests {
  private static func randomDeck(_ generator: inout SeededGenerator, settings: DeckSettings) throws -> RateDeck {
    var builder = DeckBuilder(settings: settings)
    for number in 0..<400 {
      let prefix = try NumberDigits(String(number * 7919 % 100_000 + number % 3))
      var terms = RateTerms(
        ratePerMinute: NanoUnits(.random(in: 0...1_000_000_000, using: &generator)),
        initial: Int64.random(in: 0...60, using: &generator), increment: Int64.random(in: 1...60, using: &generator),
        fee: generator.oneIn(2) ? 0 : NanoUnits(.random(in: 0...Tariff.maximumPrice.count / 2, using: &generator)),
        grace: Int64.random(in: 0...9, using: &generator),
        minimumCharge: NanoUnits(.random(in: 0...9, using: &generator)),
        freeSeconds: Int64.random(in: 0...9, using: &generator),
        maximumSeconds: Int64.random(in: 1...86_400, using: &generator),
        maximumCost: generator.oneIn(2) ? nil : Tariff.maximumPrice,
        flags: RateFlags(rawValue: UInt8.random(in: 0...15, using: &generator)))
      terms.effectiveFrom = generator.oneIn(2) ? .min : Int64.random(in: 0...4_000_000_000_000, using: &generator)
      terms.effectiveUntil = generator.oneIn(2) ? .max : 4_000_000_000_001
      let name =
        ["", "plain", " spaced ", "a,b", "say \"x\"", "semi;colon", "Åland", "tab"]
        .randomElement(using: &generator) ?? ""
      builder.append(RateRow(prefix: prefix, name: name, terms: terms))
      if generator.oneIn(4), !terms.flags.contains(.split) {
        var later = terms
        later.fromSecond = terms.initial + 3 * terms.increment
        builder.append(RateRow(prefix: prefix, name: name, terms: later))
      }
      if generator.oneIn(4) {
        terms.timeClass = 1
        terms.ratePerMinute += 5
        builder.append(RateRow(prefix: prefix, name: name, terms: terms))
      }
    }
    return try builder.build()
  }

  @Test func aWrittenDeckReadsBackEqualAndRowsBuildItAgain() throws {
    var generator = SeededGenerator(seed: 5)
    let zone = try CivilZone("Europe/Stockholm")
    let settings = try DeckSettings(
      name: "d", version: "1", currency: .eur, timeClasses: try TimeClasses(parsing: "peak=Mon 08:00-09:00", zone: zone)
    )
    let deck = try Self.randomDeck(&generator, settings: settings)
    let bytes = Array(DeckWriter(deck).joined())
    let back = try DeckFixture.read(bytes, settings: settings)
    #expect(back == deck)
    #expect(Array(DeckWriter(back).joined()) == bytes)
    var builder = DeckBuilder(settings: settings)
    for row in deck.rows.shuffled(using: &generator) { builder.append(row) }
    #expect(try builder.build() == deck)
    #expect(DeckDifference(from: deck, to: back).counts().isEmpty)
  }

  @Test func theCanonicalFormIsStable() throws {
    let deck = try DeckFixture.read("prefix,name,rate,fee,increment\n4670,\"a,b\",0.5,0.000000001,6\n046,,10,0,1\n")
    #expect(
      String(decoding: Array(DeckWriter(deck).joined()), as: UTF8.self) == """
        prefix,name,currency,rate,unit,fee,initial,increment,grace,min_charge,free_seconds,effective_from,effective_to,time_class,from_second,max_seconds,max_cost,flags
        046,,EUR,10,60,0,1,1,0,0,0,,,,0,86400,,
        4670,"a,b",EUR,0.5,60,0.000000001,6,6,0,0,0,,,,0,86400,,

        """)
  }

  @Test func buildersRefuseWhatReadersRefuse() throws {
    let settings = try DeckSettings(name: "d", version: "1", currency: .eur)
    let prefix = try NumberDigits("46")
    for (terms, rule) in [
      (RateTerms(ratePerMinute: -1), "tariff.rate"), (RateTerms(ratePerMinute: 1, initial: -1), "tariff.initial"),
      (RateTerms(ratePerMinute: 1, increment: 0), "tariff.increment"),
      (RateTerms(ratePerMinute: 1, fee: .min), "tariff.fee"),
      (RateTerms(ratePerMinute: 1, timeClass: 1), "deck.time-class"),
      (RateTerms(ratePerMinute: 1, fromSecond: .min), "tariff.tier"),
      (RateTerms(ratePerMinute: 1, fromSecond: 60), "deck.first-tier"),
      (RateTerms(ratePerMinute: 1, effectiveFrom: .max), "deck.window"),
      (RateTerms(ratePerMinute: 1, effectiveUntil: .max - 1), "deck.window"),
      (RateTerms(ratePerMinute: 1, flags: RateFlags(rawValue: 128)), "deck.flags"),
    ] as [(RateTerms, String)] {
      var builder = DeckBuilder(settings: settings)
      builder.append(RateRow(prefix: prefix, name: "", terms: terms))
      let refusal = #expect(throws: DeckRefusal.self) { try builder.build() }
      #expect(refusal?.errors.map(\.rule) == [rule], "\(terms)")
    }
    var builder = DeckBuilder(settings: settings)
    builder.append(
      RateRow(prefix: prefix, name: String(repeating: "x", count: 257), terms: RateTerms(ratePerMinute: 1)))
    #expect(throws: DeckRefusal.self) { try builder.build() }
    for label in ["", String(repeating: "x", count: 129), "a\nb"] {
      #expect(throws: InvalidValue.self) { try DeckSettings(name: label, version: "1") }
    }
  }

  @Test func differencesAreNamedByKind() throws {
    let old = try DeckFixture.read(
      "prefix,name,rate,increment\n46,Sweden,1,1\n4670,Mobile,2,1\n47,Norway,3,1\n49,Germany,1,1\n358,Finland,1,1\n")
    let new = try DeckFixture.read(
      "prefix,name,rate,increment\n46,Sweden,1.5,1\n4670,Mobile,1.9,6\n47,Norge,3,1\n45,Denmark,1,1\n358,Finland,1,1\n")
    let changes = Array(DeckDifference(from: old, to: new))
    #expect(
      changes.map { "\($0.prefix) \($0.kind.rawValue) \($0.columns.map(\.rawValue).joined(separator: "+"))" } == [
        "45 added ", "46 raised rate", "4670 lowered rate+initial+increment", "47 other name", "49 removed ",
      ])
    #expect(changes[1].old?.terms.ratePerMinute == 1_000_000_000)
    #expect(changes[1].new?.terms.ratePerMinute == 1_500_000_000)
    #expect(
      DeckDifference(from: old, to: new).counts() == [.added: 1, .raised: 1, .lowered: 1, .other: 1, .removed: 1])
  }
}
