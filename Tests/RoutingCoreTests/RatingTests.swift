import CallModel
import RoutingCore
import Testing

@Suite struct RatingTests {
  private static let now = Instant(seconds: 1_795_000_000)

  private func quote(_ number: String, _ deck: String, denied: DenyRanges = .none) throws -> RateSnapshot {
    try Rating.quote(
      try NumberDigits(number), plan: try DeckFixture.plan(deck), account: .eur, denyRanges: denied, at: Self.now)
  }

  @Test("3.3 row 1: an answered second costs the initial increment and the fee, within grace nothing")
  func answerThenBye() throws {
    let paid = try quote("46701", "prefix,rate,fee,initial,increment\n46,0.6,0.1,60,6\n")
    #expect(paid.cost(milliseconds: 1, answeredAt: Self.now) == 700_000)
    #expect(paid.cost(milliseconds: 1000, answeredAt: Self.now) == 700_000)
    #expect(paid.cost(milliseconds: 0, answeredAt: Self.now) == 0)
    let graced = try quote("46701", "prefix,rate,fee,initial,increment,grace\n46,0.6,0.1,60,6,1\n")
    #expect(graced.cost(milliseconds: 1000, answeredAt: Self.now) == 0)
    #expect(graced.cost(milliseconds: 1001, answeredAt: Self.now) == 700_000)
  }

  @Test("the fee as it is shown: micro-units, rounded up")
  func shownFee() throws {
    for (nano, micro) in [(0, 0), (1, 1), (1000, 1), (1500, 2)] as [(NanoUnits, MicroUnits)] {
      let tariff = try Tariff(ratePerMinute: 60_000_000, initial: 60, increment: 1, fee: nano)
      #expect(tariff.fee.roundedUp == micro)
    }
  }

  @Test("3.3 row 17: a later price in the same deck does not touch the snapshot")
  func priceChange() throws {
    let index = try DeckFixture.index(
      "prefix,rate,effective_from,effective_to\n46,0.6,,2026-12-01\n46,6,2026-12-01,\n")
    let plan = try RatePlan(name: "p", [RatePlan.Entry(index)])
    let change = try DeckFixture.instant("2026-12-01")
    let number = try NumberDigits("46701")
    let before = try Rating.quote(number, plan: plan, account: .eur, at: change.advanced(byMilliseconds: -1))
    let after = try Rating.quote(number, plan: plan, account: .eur, at: change)
    #expect(before.cost(milliseconds: 120_000, answeredAt: change) == 1_200_000)
    #expect(after.cost(milliseconds: 120_000, answeredAt: change) == 12_000_000)
  }

  @Test("3.3 row 18: the stored text alone prices the call when the deck is gone")
  func deckDeleted() throws {
    let classes = try TimeClasses(parsing: "peak=Mon-Fri 08:00-20:00", zone: .utc)
    let plan = try DeckFixture.plan(
      "prefix,name,rate,time_class\n46,Sweden | all;50%,0.6,\n46,Sweden | all;50%,1.2,peak\n", timeClasses: classes)
    let snapshot = try Rating.quote(try NumberDigits("46701"), plan: plan, account: .eur, at: Self.now)
    let stored = try RateSnapshot(parsing: snapshot.text)
    #expect(stored == snapshot)
    #expect(stored.destination == "Sweden | all;50%")
    #expect(stored.deck == "deck@1")
    #expect(stored.prefix == "46")
    #expect(
      stored.cost(milliseconds: 61_000, answeredAt: Self.now)
        == snapshot.cost(milliseconds: 61_000, answeredAt: Self.now))
  }

  @Test("3.3 row 19: a call over a peak boundary is priced at its answer or split, and the hold covers the dearer")
  func peakBoundary() throws {
    let classes = try TimeClasses(parsing: "peak=Mon-Fri 08:00-20:00", zone: .utc)
    // Monday 07:59; the boundary is a minute later.
    let authorised = try DeckFixture.instant("2026-11-23", hour: 7, minute: 59)
    let boundary = authorised.advanced(byMilliseconds: 60_000)
    func quote(_ flags: String) throws -> RateSnapshot {
      let plan = try DeckFixture.plan(
        "prefix,rate,time_class,flags\n46,0.6,,\(flags)\n46,1.2,peak,\(flags)\n", timeClasses: classes)
      return try Rating.quote(try NumberDigits("46701"), plan: plan, account: .eur, at: authorised)
    }
    let whole = try quote("at-answer")
    #expect(whole.segments.map(\.timeClass) == ["standard", "peak", "standard", "peak"])
    #expect(whole.segments[1].from == boundary)
    #expect(whole.cost(milliseconds: 120_000, answeredAt: authorised) == 1_200_000)
    #expect(whole.cost(milliseconds: 120_000, answeredAt: boundary) == 2_400_000)
    #expect(whole.coveringCost(seconds: 120, answeredAt: nil) == 2_400_000)
    #expect(whole.coveringCost(seconds: 120, answeredAt: authorised) == 1_200_000)
    let split = try quote("split")
    #expect(split.boundaryPolicy == .split)
    #expect(split.cost(milliseconds: 120_000, answeredAt: authorised) == 1_800_000)
    #expect(split.cost(milliseconds: 120_000, answeredAt: authorised.advanced(byMilliseconds: 30_000)) == 2_100_000)
    #expect(split.coveringCost(seconds: 120, answeredAt: authorised) == 2_400_000)
    #expect(split.secondsBought(by: 2_400_000, answeredAt: authorised) == 120)
  }

  @Test("3.3 row 20: a repeated local hour has one class at each instant and bills what was measured")
  func repeatedHour() throws {
    let zone = try CivilZone("Europe/Stockholm")
    let classes = try TimeClasses(parsing: "night=Sun 02:00-02:30", zone: zone)
    let plan = try DeckFixture.plan("prefix,rate,time_class\n46,0.6,\n46,1.2,night\n", timeClasses: classes)
    // Clocks go back from 03:00 to 02:00 at 01:00 UTC: 02:00 to 02:30 happens twice.
    let start = try DeckFixture.instant("2026-10-24", hour: 23, minute: 30)
    let snapshot = try Rating.quote(
      try NumberDigits("46701"), plan: plan, account: .eur, at: start, horizon: 6 * 3600)
    #expect(
      snapshot.segments.dropFirst().map(\.from.description) == [
        "2026-10-25T00:00:00.000Z", "2026-10-25T00:30:00.000Z", "2026-10-25T01:00:00.000Z", "2026-10-25T01:30:00.000Z",
      ])
    let answer = try DeckFixture.instant("2026-10-25", hour: 0, minute: 59)
    #expect(snapshot.cost(milliseconds: 60_000, answeredAt: answer) == 600_000)
    #expect(
      snapshot.cost(milliseconds: 60_000, answeredAt: try DeckFixture.instant("2026-10-25", hour: 1)) == 1_200_000)
  }

  @Test("3.3 row 40: decks of two currencies make no plan, and an account of another currency gets no price")
  func currencyMismatch() throws {
    let euro = try DeckFixture.index("prefix,rate\n46,1\n")
    let dollar = RateIndex(try DeckFixture.read("prefix,rate\n46,1\n", currency: .usd), at: .distantPast)
    let error = #expect(throws: InvalidValue.self) {
      try RatePlan(name: "p", [RatePlan.Entry(euro), RatePlan.Entry(dollar)])
    }
    #expect(error?.rule == "plan.currency")
    let plan = try RatePlan(name: "p", [RatePlan.Entry(euro)])
    #expect(throws: RatingRefusal.currencyMismatch(plan: .eur, account: .usd)) {
      try Rating.quote(try NumberDigits("46701"), plan: plan, account: .usd, at: Self.now)
    }
  }

  @Test("3.3 row 41: a test number costs nothing and lasts 15 seconds without credit")
  func testNumber() throws {
    let snapshot = try Rating.free(try NumberDigits("46000000000"), as: .test, account: .eur)
    #expect(snapshot.coveringCost(seconds: 3600, answeredAt: nil) == 0)
    #expect(snapshot.cost(milliseconds: 15_000, answeredAt: Self.now) == 0)
    #expect(snapshot.secondsBought(by: 0, answeredAt: nil) == 15)
    let row = try quote("46000000000", "prefix,rate,max_seconds\n46000000000,0,15\n46,1,\n")
    #expect(row.secondsBought(by: 0, answeredAt: nil) == 15)
    #expect(throws: RatingRefusal.self) {
      try Rating.free(try NumberDigits("1"), as: .test, account: .eur, limit: 0)
    }
  }

  @Test("3.3 row 42: with a fee and no rate the fee must be covered and the cap ends the call")
  func feeOnly() throws {
    let snapshot = try quote("46701", "prefix,rate,fee,max_seconds\n46,0,0.5,7200\n")
    #expect(snapshot.secondsBought(by: 499_999, answeredAt: nil) == 0)
    #expect(snapshot.secondsBought(by: 500_000, answeredAt: nil) == 7200)
    #expect(snapshot.cost(milliseconds: 7_200_000, answeredAt: Self.now) == 500_000)
  }

  @Test("3.3 row 43: a fee above the credit buys no second")
  func feeAboveCredit() throws {
    let snapshot = try quote("46701", "prefix,rate,fee\n46,0.6,2\n")
    #expect(snapshot.secondsBought(by: 1_999_999, answeredAt: nil) == 0)
    #expect(snapshot.secondsBought(by: 2_000_000, answeredAt: nil) == 0)
    #expect(snapshot.secondsBought(by: 2_010_000, answeredAt: nil) == 1)
  }

  @Test("3.3 row 44: without a rate the answer is noRate")
  func noRate() throws {
    #expect(throws: RatingRefusal.noRate) { try quote("47701", "prefix,rate\n46,1\n") }
    #expect(throws: RatingRefusal.noRate) { try quote("46701", "prefix,rate,effective_to\n46,1,2000-01-01\n") }
    #expect(RatingRefusal.noRate.name == "noRate")
  }

  @Test("3.3 row 45: routes that cost more than the price are skipped; none left is noProfitableRoute")
  func unprofitableRoutes() throws {
    let sell = try quote("46701", "prefix,rate\n46,0.10\n")
    let routes = try ["0.12", "0.10", "0.0900", "0.0909"].map { try quote("46701", "prefix,rate\n46,\($0)\n") }
    func kept(_ margin: RouteMargin) throws -> [MicroUnits] {
      try margin.profitable(routes, sell: sell, at: Self.now) { $0 }
        .map { $0.cost(milliseconds: 60_000, answeredAt: Self.now) }
    }
    #expect(try kept(RouteMargin()) == [100_000, 90_000, 90_900])
    #expect(try kept(RouteMargin(fixed: 9_101)) == [90_000])
    #expect(try kept(RouteMargin(fixed: 9_100)) == [90_000, 90_900])
    #expect(try kept(RouteMargin(basisPoints: 1_111)) == [90_000])
    #expect(throws: RatingRefusal.noProfitableRoute) { try kept(RouteMargin(fixed: 10_001)) }
    #expect(throws: RatingRefusal.noProfitableRoute) {
      try RouteMargin().profitable([RateSnapshot](), sell: sell, at: Self.now) { $0 }
    }
    #expect(try !RouteMargin(basisPoints: 100_000).allows(buy: .max, sell: .max))
    #expect(try !RouteMargin().allows(buy: -1, sell: 1))
    #expect(throws: InvalidValue.self) { try RouteMargin(fixed: -1) }
  }

  @Test("3.3 row 46: a negative, over-precise or huge price rejects the whole deck with its place")
  func badPrices() throws {
    let refusal = try #require(
      try DeckFixture.refusal("prefix,rate,fee\n46,1,0\n47,-1,0\n48,NaN,0\n49,1,0.0000000001\n50,99999999999,0\n"))
    #expect(
      refusal.errors.map { "\($0.line):\($0.column) \($0.rule)" } == [
        "3:4 amount.negative", "4:4 amount.character", "5:17 amount.scale", "6:4 amount.range",
      ])
  }

  @Test("3.3 row 47: the dearest call and the largest multiplier end in a number or a typed error")
  func overflow() throws {
    let deck = "prefix,rate,fee,initial,increment\n46,100000,100000,86400,3600\n"
    let snapshot = try quote("46701", deck)
    #expect(snapshot.cost(milliseconds: .max, answeredAt: Self.now) == 144_100_000_000_000)
    #expect(snapshot.secondsBought(by: .max, answeredAt: nil) == 86_400)
    let plan = try RatePlan(
      name: "p", [RatePlan.Entry(try DeckFixture.index(deck), multiplier: RatePlan.maximumMultiplier)])
    let refusal = #expect(throws: RatingRefusal.self) {
      try Rating.quote(try NumberDigits("46701"), plan: plan, account: .eur, at: Self.now)
    }
    #expect(refusal?.name == "unpriceable")
  }

  @Test("3.3 row 48: a call is granted to its cap and priced normally")
  func longestCall() throws {
    let snapshot = try quote("46701", "prefix,rate,initial,increment,max_seconds\n46,0.6,60,60,90\n")
    #expect(snapshot.secondsBought(by: 100_000_000, answeredAt: nil) == 90)
    #expect(snapshot.secondsLimit == 90)
    #expect(snapshot.cost(milliseconds: 90_000, answeredAt: Self.now) == 1_200_000)
  }

  @Test(
    "3.3 row 49: milliseconds round up to seconds once the tolerance is passed",
    arguments: [
      (0, 59_990, 60), (0, 60_000, 60), (0, 60_001, 61), (0, 60_010, 61), (10, 60_010, 60), (10, 60_011, 61),
      (999, 60_999, 60), (999, 61_000, 61), (999, 1, 1), (0, 1, 1), (0, 0, 0), (0, -5, 0),
    ] as [(Int64, Int64, Int64)])
  func subSecondEnds(tolerance: Int64, milliseconds: Int64, seconds: Int64) throws {
    let tariff = try Tariff(
      tiers: [Tariff.Tier(fromSecond: 0, ratePerMinute: 60_000_000_000, increment: 1)], initial: 1, tolerance: tolerance
    )
    #expect(tariff.seconds(ofMilliseconds: milliseconds) == seconds)
    #expect(tariff.cost(milliseconds: milliseconds) == MicroUnits(seconds * 1_000_000))
  }

  @Test("3.3 row 53: a denied range is refused before any price is looked at")
  func deniedRange() throws {
    let denied = try DenyRanges([
      (prefix: try NumberDigits("46900"), ruling: .denied(.premium)),
      (prefix: try NumberDigits("870"), ruling: .denied(.satellite)),
      (prefix: try NumberDigits("4690012"), ruling: .denied(.revenueShare)),
    ])
    let plan = try DeckFixture.plan("prefix,rate,flags\n46,1,\n469,,blocked\n")
    for (number, block) in [
      ("469005", DestinationBlock.premium), ("46900", .premium), ("469001234", .revenueShare), ("87012", .satellite),
      ("469105", .deck),
    ] {
      let digits = try NumberDigits(number)
      // Even an account that could not be priced hears of the range first.
      #expect(throws: RatingRefusal.destinationBlocked(block)) {
        try Rating.quote(digits, plan: plan, account: block == .deck ? .eur : .usd, denyRanges: denied, at: Self.now)
      }
    }
    let trace = Rating.explain(
      try NumberDigits("469005"), plan: plan, account: .eur, denyRanges: denied, at: Self.now)
    #expect(trace.steps == [.denyRanges(prefix: try NumberDigits("46900"), ruling: .denied(.premium))])
    #expect(trace.blockedNumbers == "premium-rate numbers that begin +46900 are blocked")
    for (number, text) in [
      ("469001234", "revenue-share numbers that begin +4690012 are blocked"),
      ("87012", "satellite numbers that begin +870 are blocked"), ("469105", "numbers that begin +469 are blocked"),
      ("46701234567", nil), ("4712345678", nil),
    ] as [(String, String?)] {
      let trace = Rating.explain(
        try NumberDigits(number), plan: plan, account: .eur, denyRanges: denied, at: Self.now)
      #expect(trace.blockedNumbers == text, "\(number)")
    }
    _ = try Rating.quote(
      try NumberDigits("4690"), plan: try DeckFixture.plan("prefix,rate\n46,1\n"), account: .eur, denyRanges: denied,
      at: Self.now)
    let error = #expect(throws: InvalidValue.self) {
      try DenyRanges([
        (prefix: try NumberDigits("1"), ruling: .denied(.other)), (prefix: try NumberDigits("1"), ruling: .allowed),
      ])
    }
    #expect(error?.rule == "deny.duplicate")
  }

  @Test("3.3 row 54: an emergency number is free without limit, whatever decks and ranges say")
  func emergency() throws {
    let snapshot = try Rating.free(try NumberDigits("112"), as: .emergency, account: .usd)
    #expect(snapshot.secondsBought(by: 0, answeredAt: nil) == Tariff.maximumSeconds)
    #expect(snapshot.cost(milliseconds: 3_600_000, answeredAt: Self.now) == 0)
    #expect(try RateSnapshot(parsing: snapshot.text) == snapshot)
  }

  @Test("3.3 row 59: the fee is there once, however often a call is extended")
  func feeOnce() throws {
    let snapshot = try quote("46701", "prefix,rate,fee,increment\n46,0.6,0.5,1\n")
    var held = MicroUnits.zero
    for grant in stride(from: Int64(60), through: 600, by: 60) {
      let needed = snapshot.coveringCost(seconds: grant, answeredAt: Self.now)
      #expect(needed - held == (held == .zero ? 1_100_000 : 600_000))
      held = needed
    }
    #expect(held == snapshot.cost(milliseconds: 600_000, answeredAt: Self.now))
  }

  @Test("3.3 row 60: at exhaustion less than the price of an increment is left")
  func exhaustion() throws {
    let snapshot = try quote("46701", "prefix,rate,fee,initial,increment\n46,0.0145,0.1,30,6\n")
    let increment: MicroUnits = 1450
    for count in stride(from: Int64(107_250), to: 130_000, by: 7) {
      let credit = MicroUnits(count)
      let seconds = snapshot.secondsBought(by: credit, answeredAt: nil)
      let rest = credit - snapshot.cost(milliseconds: seconds * 1000, answeredAt: Self.now)
      #expect(seconds >= 30 && rest >= .zero && rest < increment)
    }
    #expect(snapshot.secondsBought(by: 107_249, answeredAt: nil) == 0)
  }
}

@Suite struct RatePlanTests {
  private static let now = Instant(seconds: 1_795_000_000)

  @Test func theFirstDeckWithAMatchWinsBeforeALongerPrefixOfALaterOne() throws {
    let account = try DeckFixture.index("prefix,name,rate\n46,account,1\n", name: "account")
    let retail = try DeckFixture.index("prefix,name,rate\n4670,retail,2\n47,retail,3\n", name: "retail")
    let plan = try RatePlan(
      name: "p", [RatePlan.Entry(account), RatePlan.Entry(retail, multiplier: 12_345)])
    let first = try Rating.quote(try NumberDigits("46701"), plan: plan, account: .eur, at: Self.now)
    #expect(first.deck == "account@1")
    let second = try Rating.quote(try NumberDigits("4712"), plan: plan, account: .eur, at: Self.now)
    #expect(second.deck == "retail@1")
    #expect(second.segments[0].tariff.tiers[0].ratePerMinute == 3_703_500_000)
    #expect(throws: InvalidValue.self) { try RatePlan(name: "p", []) }
    #expect(throws: InvalidValue.self) { try RatePlan(name: "p", [RatePlan.Entry(account, multiplier: -1)]) }
  }

  @Test func theTraceListsEveryStep() throws {
    let account = try DeckFixture.index("prefix,rate\n47,1\n", name: "account")
    let retail = try DeckFixture.index(
      "prefix,name,rate,effective_from\n4,Europe,1,\n46,Sweden,2,\n4670,Mobile,3,2090-01-01\n", name: "retail")
    let plan = try RatePlan(name: "p", [RatePlan.Entry(account), RatePlan.Entry(retail, multiplier: 20_000)])
    let trace = Rating.explain(try NumberDigits("46701"), plan: plan, account: .eur, at: Self.now)
    let tariff = try Tariff(ratePerMinute: 4_000_000_000, initial: 1, increment: 1)
    #expect(
      trace.steps == [
        .denyRanges(prefix: nil, ruling: nil), .currency(plan: .eur, account: .eur), .deck(label: "account@1", rows: 1),
        .deck(label: "retail@1", rows: 3),
        .prefix(
          try NumberDigits("4670"), name: "Mobile",
          .notInForce(from: try DeckFixture.instant("2090-01-01"), until: nil)),
        .prefix(try NumberDigits("46"), name: "Sweden", .chosen),
        .prefix(try NumberDigits("4"), name: "Europe", .shorter), .multiplier(20_000),
        .timeClass(from: Self.now, name: "standard", pricedAs: "standard"), .tariff(timeClass: "standard", tariff),
      ])
    #expect(try trace.outcome.get().destination == "Sweden")
    #expect(try trace.outcome.get() == Rating.quote(try NumberDigits("46701"), plan: plan, account: .eur, at: Self.now))
  }

  @Test func aPriceForEveryClassIsOneSegmentReadOrNot() throws {
    let classes = try TimeClasses(parsing: "peak=Mon-Fri 08:00-20:00", zone: try CivilZone("Europe/Stockholm"))
    let plan = try DeckFixture.plan("prefix,rate,time_class\n46,2,\n47,2,\n47,3,peak\n", timeClasses: classes)
    let noon = try DeckFixture.instant("2026-11-23", hour: 12)
    for (number, segments) in [("46701", 1), ("47701", 3)] {
      let digits = try NumberDigits(number)
      let snapshot = try Rating.quote(digits, plan: plan, account: .eur, at: noon)
      #expect(snapshot.segments.count == segments)
      #expect(try Rating.explain(digits, plan: plan, account: .eur, at: noon).outcome.get() == snapshot)
    }
  }

  @Test func namedClassesPriceAWeekWithoutAStandardRow() throws {
    let classes = try TimeClasses(parsing: "day=Mon-Sun 08:00-20:00; night=Mon-Sun 20:00-08:00", zone: .utc)
    let plan = try DeckFixture.plan("prefix,rate,time_class\n46,2,day\n46,1,night\n", timeClasses: classes)
    let noon = try DeckFixture.instant("2026-11-23", hour: 12)
    let snapshot = try Rating.quote(try NumberDigits("46701"), plan: plan, account: .eur, at: noon)
    #expect(snapshot.segments.map(\.timeClass) == ["day", "night", "day"])
    let short = try Rating.quote(try NumberDigits("46701"), plan: plan, account: .eur, at: noon, horizon: 0)
    #expect(short.segments.map(\.timeClass) == ["day"])
    #expect(
      try DeckFixture.refusal("prefix,rate,time_class\n46,2,day\n", timeClasses: classes)?.errors.first?.rule
        == "deck.class-gap")
  }
}
