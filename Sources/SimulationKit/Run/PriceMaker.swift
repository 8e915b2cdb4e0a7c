import CallModel

/// Random prices of every shape that a deck can hold.
enum PriceMaker {
  static func snapshot(
    _ random: inout SeededGenerator, _ currency: Currency, at: Instant
  ) throws -> RateSnapshot {
    let base = try tariff(&random)
    guard random.chance(250) else {
      return try RateSnapshot(
        deck: "retail@1", prefix: "46", destination: "Sweden", currency: currency, tariff: base)
    }
    // Time classes: up to four stretches around now.
    let splits = base.tiers.count == 1 && random.chance(500)
    var segments = [RateSnapshot.Segment(from: .distantPast, timeClass: "standard", tariff: base)]
    var from = at.advanced(byMilliseconds: random.number(-7_200_000...120_000))
    for index in 0..<random.index(3) + 1 {
      let tariff = splits ? try withRate(base, rate(&random)) : try tariff(&random)
      segments.append(RateSnapshot.Segment(from: from, timeClass: index % 2 == 0 ? "peak" : "off-peak", tariff: tariff))
      from = from.advanced(byMilliseconds: random.number(1...600_000))
    }
    return try RateSnapshot(
      deck: "retail@2", prefix: "467", destination: "Sweden mobile", currency: currency, segments: segments,
      boundaryPolicy: splits ? .split : .atAnswer)
  }

  /// Of a minute.
  private static func rate(_ random: inout SeededGenerator) -> NanoUnits {
    switch random.weighted([8, 70, 20, 2]) {
    case 0: return 0
    case 1: return random.amount(1...200_000_000)
    case 2: return random.amount(200_000_000...1_500_000_000)
    default: return random.one(Tariff.maximumPrice, 1)
    }
  }

  private static func withRate(_ tariff: Tariff, _ rate: NanoUnits) throws -> Tariff {
    try Tariff(
      tiers: [Tariff.Tier(fromSecond: 0, ratePerMinute: rate, increment: tariff.tiers[0].increment)],
      initial: tariff.initial, fee: tariff.fee, minimumCharge: tariff.minimumCharge, grace: tariff.grace,
      freeSeconds: tariff.freeSeconds, maximumCost: tariff.maximumCost,
      maximumCostStrategy: tariff.maximumCostStrategy, secondsLimit: tariff.secondsLimit, tolerance: tariff.tolerance,
      rounding: tariff.rounding)
  }

  private static func tariff(_ random: inout SeededGenerator) throws -> Tariff {
    let (initial, increment): (Int64, Int64) = random.one(
      (60, 60), (60, 1), (30, 6), (1, 1), (0, 1), (0, 60), (6, 6))
    var tiers = [Tariff.Tier(fromSecond: 0, ratePerMinute: rate(&random), increment: increment)]
    if random.chance(200) {
      var from = initial + increment * random.number(1...20)
      for _ in 0..<random.index(Tariff.maximumTiers - 1) + 1 {
        let step: Int64 = random.one(1, 6, 60)
        tiers.append(Tariff.Tier(fromSecond: from, ratePerMinute: rate(&random), increment: step))
        from += step * random.number(1...20)
      }
    }
    let fee: NanoUnits = random.chance(200) ? random.amount(0...100_000_000) : 0
    let minimum: NanoUnits = random.chance(150) ? random.amount(0...50_000_000) : 0
    return try Tariff(
      tiers: tiers, initial: initial, fee: fee, minimumCharge: minimum,
      grace: random.chance(150) ? random.number(0...10) : 0,
      freeSeconds: random.chance(150) ? random.number(0...30) : 0,
      maximumCost: random.chance(120) ? max(fee, minimum) + random.amount(0...400_000_000) : nil,
      maximumCostStrategy: random.one(.free, .disconnect),
      secondsLimit: random.chance(150) ? random.number(1...600) : Tariff.maximumSeconds,
      tolerance: random.chance(100) ? random.number(0...999) : 0, rounding: random.one(.up, .up, .halfEven))
  }
}
