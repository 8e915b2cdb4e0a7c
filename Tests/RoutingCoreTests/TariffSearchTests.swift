import CallModel
import PeerKit
import Testing

/// The closed forms against a price list built second by second.
@Suite struct TariffSearchTests {
  #if DEBUG
    static let cases = 3000
    static let longCases = 10
  #else
    static let cases = 200_000
    static let longCases = 1500
  #endif

  /// Cost of 0, 1, 2 … `longest` seconds in micro-units, and the longest call that the maximum cost allows.
  private static func priceList(_ tariff: Tariff, longest: Int) -> (costs: [Int128], longestAllowed: Int) {
    var costs: [Int128] = [0]
    var billed: Int64 = 0
    var sixtieths: Int128 = 0
    var longestAllowed = longest
    for second in 1...longest {
      let talk = Int64(second) - tariff.freeSeconds
      // Buy blocks until the talk time is covered.
      while talk > billed || (billed == 0 && talk > 0 && tariff.initial > 0) {
        let tier = tariff.tiers.last { $0.fromSecond <= billed } ?? tariff.tiers[0]
        let block = billed == 0 && tariff.initial > 0 ? tariff.initial : tier.increment
        billed += block
        sixtieths += Int128(tier.ratePerMinute.count) * Int128(block)
      }
      if Int64(second) <= tariff.grace {
        costs.append(0)
        continue
      }
      var total = Int128(tariff.fee.count) * 60 + sixtieths
      total = max(total, Int128(tariff.minimumCharge.count) * 60)
      if let maximum = tariff.maximumCost?.count, total > Int128(maximum) * 60 {
        if tariff.maximumCostStrategy == .disconnect { longestAllowed = min(longestAllowed, second - 1) }
        total = Int128(maximum) * 60
      }
      let whole = total / 60_000
      let rest = total % 60_000
      let goesUp = tariff.rounding == .up ? rest > 0 : rest * 2 > 60_000 || (rest * 2 == 60_000 && whole % 2 != 0)
      costs.append(goesUp ? whole + 1 : whole)
    }
    return (costs, longestAllowed)
  }

  private static func price(_ generator: inout SeededGenerator, largest: NanoUnits) -> NanoUnits {
    let largest = largest.count
    let count: Int64 =
      switch Int.random(in: 0..<4, using: &generator) {
      case 0: 0
      case 1: .random(in: 0...largest / 1_000_000, using: &generator) * 1_000_000
      case 2: .random(in: 0...largest, using: &generator)
      default: .random(in: 0...min(largest, 100_000), using: &generator)
      }
    return NanoUnits(count)
  }

  private static func tariff(
    _ generator: inout SeededGenerator, longest: Int64, largest: NanoUnits
  ) throws -> Tariff {
    let initial = generator.oneIn(4) ? 0 : Int64.random(in: 1...90, using: &generator)
    var tiers: [Tariff.Tier] = []
    var start: Int64 = 0
    for index in 0..<(generator.oneIn(3) ? Int.random(in: 2...4, using: &generator) : 1) {
      let increment =
        [1, 6, 10, 30, 60, Int64.random(in: 1...100, using: &generator)]
        .randomElement(using: &generator) ?? 1
      if index > 0, let last = tiers.last {
        let base = index == 1 ? initial : start
        let steps = Int64.random(in: (base > start ? 0 : 1)...10, using: &generator)
        start = base + steps * last.increment
      }
      tiers.append(
        Tariff.Tier(fromSecond: start, ratePerMinute: price(&generator, largest: largest), increment: increment))
    }
    let fee = generator.oneIn(2) ? price(&generator, largest: largest) : .zero
    let minimum = generator.oneIn(3) ? price(&generator, largest: largest) : .zero
    var maximum: NanoUnits?
    if generator.oneIn(4) {
      maximum = min(Tariff.maximumPrice, max(fee, minimum) + price(&generator, largest: largest))
    }
    return try Tariff(
      tiers: tiers, initial: initial, fee: fee, minimumCharge: minimum,
      grace: generator.oneIn(3) ? Int64.random(in: 0...20, using: &generator) : 0,
      freeSeconds: generator.oneIn(4) ? Int64.random(in: 0...40, using: &generator) : 0, maximumCost: maximum,
      maximumCostStrategy: generator.oneIn(2) ? .free : .disconnect,
      secondsLimit: generator.oneIn(3) ? Int64.random(in: 1...longest, using: &generator) : longest,
      tolerance: Int64.random(in: 0...999, using: &generator), rounding: generator.oneIn(3) ? .halfEven : .up)
  }

  /// The first disagreement; an expectation for each of some millions of comparisons would take the most time.
  private static func disagreement(
    _ tariff: Tariff, longest: Int, generator: inout SeededGenerator
  ) -> String? {
    let list = priceList(tariff, longest: longest)
    for _ in 0..<4 {
      let second = Int.random(in: 0...longest, using: &generator)
      let cost = tariff.cost(seconds: Int64(second))
      if Int128(cost.count) != list.costs[second] { return "\(second) s cost \(cost), not \(list.costs[second])" }
      let late = Int64(second) * 1000 + tariff.tolerance
      if tariff.cost(milliseconds: max(late, 1)) != tariff.cost(seconds: max(Int64(second), 1)) {
        return "\(late) ms are not priced as \(second) s"
      }
      if second < longest, tariff.cost(milliseconds: late + 1) != tariff.cost(seconds: Int64(second) + 1) {
        return "\(late + 1) ms are not priced as \(second + 1) s"
      }
    }
    for offset in [Int64(-1), 0, 1, Int64.random(in: -1_000_000...1_000_000, using: &generator)] {
      let target = list.costs[Int.random(in: 0...longest, using: &generator)]
      let credit = Int64(clamping: target + Int128(offset))
      let cap = Int.random(in: 1...longest, using: &generator)
      // The costs never fall, so the last one that fits is the longest call.
      var low = credit < 0 ? -1 : 0
      var high = credit < 0 ? 0 : list.longestAllowed + 1
      while high - low > 1 {
        let middle = (low + high) / 2
        if list.costs[middle] <= Int128(credit) { low = middle } else { high = middle }
      }
      let expected = Int64(low) > tariff.grace ? min(Int64(low), Int64(cap), tariff.secondsLimit) : 0
      let bought = tariff.secondsBought(by: MicroUnits(credit), limit: Int64(cap))
      if bought != expected { return "\(credit) buy \(bought) s of at most \(cap), not \(expected)" }
    }
    return nil
  }

  @Test func closedFormsAgreeWithAListOfPrices() throws {
    let seed: UInt64 = 20_261_101
    var generator = SeededGenerator(seed: seed)
    for number in 0..<Self.cases {
      let largest: NanoUnits = generator.oneIn(10) ? Tariff.maximumPrice : 5_000_000_000
      let tariff = try Self.tariff(&generator, longest: 300, largest: largest)
      if let found = Self.disagreement(tariff, longest: 300, generator: &generator) {
        Issue.record("seed \(seed), case \(number): \(found); \(tariff)")
        try Self.record(wrong: 1)
        return
      }
    }
    try Self.record(wrong: 0)
  }

  /// A case is one price: a tariff at one length of call.
  private static func record(wrong: Int) throws {
    try ScoreboardRow(
      "M13", figure: "\(wrong)", unit: "cases off by a unit", target: "= 0", passed: wrong == 0,
      detail: "\(cases) tariffs, \(cases * 300) prices against lists built second by second"
    ).record()
  }

  @Test func closedFormsAgreeOverADay() throws {
    let seed: UInt64 = 7
    var generator = SeededGenerator(seed: seed)
    for number in 0..<Self.longCases {
      let tariff = try Self.tariff(&generator, longest: Tariff.maximumSeconds, largest: Tariff.maximumPrice)
      if let found = Self.disagreement(tariff, longest: 86_400, generator: &generator) {
        Issue.record("seed \(seed), case \(number): \(found); \(tariff)")
        return
      }
    }
  }

  @Test func pricesThatLeaveTheRangeAreRefusedNotTrapped() throws {
    #expect(throws: InvalidValue.self) {
      try Tariff(
        tiers: [
          Tariff.Tier(fromSecond: 0, ratePerMinute: 1, increment: 1),
          Tariff.Tier(fromSecond: .min, ratePerMinute: 1, increment: 1),
        ], initial: 60)
    }
    #expect(throws: InvalidValue.self) {
      try Tariff(
        tiers: [
          Tariff.Tier(fromSecond: 0, ratePerMinute: 1, increment: 1),
          Tariff.Tier(fromSecond: .max, ratePerMinute: 1, increment: 1),
        ], initial: 0)
    }
    // 92,737 divides the largest Int64: the product is just inside, its rounding would not be.
    let tariff = try Tariff(ratePerMinute: NanoUnits(.max / 92_737), initial: 1, increment: 1)
    #expect(throws: InvalidValue.self) { try tariff.scaled(byBasisPoints: 92_737) }
    #expect(throws: InvalidValue.self) { try tariff.scaled(byBasisPoints: -1) }
    #expect(throws: InvalidValue.self) { try tariff.scaled(byBasisPoints: .max) }
    #expect(try tariff.scaled(byBasisPoints: 0).tiers[0].ratePerMinute == 0)
    let odd = try Tariff(ratePerMinute: 1, initial: 1, increment: 1)
    #expect(try odd.scaled(byBasisPoints: 10_001).tiers[0].ratePerMinute == 2)
    let hostile = "d|1||EUR|at-answer|-;standard;0;0;0;0;0;-;free;60;0;up;0:1:1,-9223372036854775808:1:1"
    #expect(throws: InvalidValue.self) { try RateSnapshot(parsing: hostile) }
  }

  @Test func aGrantInsideTheGraceTimeIsGivenToARichPayer() throws {
    let tariff = try Tariff(ratePerMinute: 1_000_000_000, initial: 60, increment: 60, grace: 90)
    #expect(tariff.secondsBought(by: 100_000_000, limit: 60) == 60)
    #expect(tariff.secondsBought(by: 0, limit: 60) == 0)
  }

  @Test func splitSecondsStartAfterTheFreeOnes() throws {
    func tariff(_ rate: NanoUnits) throws -> Tariff {
      try Tariff(ratePerMinute: rate, initial: 1, increment: 1, freeSeconds: 30)
    }
    let answer = Instant(seconds: 1000)
    let snapshot = try RateSnapshot(
      deck: "d", prefix: "1", destination: "", currency: .eur,
      segments: [
        RateSnapshot.Segment(from: .distantPast, timeClass: "a", tariff: try tariff(60_000_000_000)),
        RateSnapshot.Segment(
          from: answer.advanced(byMilliseconds: 99_001), timeClass: "b", tariff: try tariff(120_000_000_000)),
      ], boundaryPolicy: .split)
    // 120 s, 30 of them free: seconds 30 to 99 start in the first class, 100 to 119 in the second.
    #expect(snapshot.cost(milliseconds: 120_000, answeredAt: answer) == 110_000_000)
    // The other class may not begin before the free seconds end.
    #expect(snapshot.cost(milliseconds: 120_000, answeredAt: Instant(seconds: 1090)) == 180_000_000)
  }
}
