/// The price of a call to one destination, as closed forms: what a duration costs, and how many seconds an amount buys.
///
/// Prices are whole nano-units (10⁻⁹) of the deck's currency; a cost is rounded once, at the end of the call, to
/// micro-units. The limits below keep every intermediate product inside `Int64`:
/// 10¹⁴ nano-units a minute × (86,400 + 3,600) s + 60 × 10¹⁴ < 2⁶³.
public struct Tariff: Hashable, Sendable {
  /// A part of the talk time with its own rate; the first tier starts at 0.
  public struct Tier: Hashable, Sendable {
    /// First second of talk time (after free seconds) that this tier prices.
    public let fromSecond: Int64
    /// Nano-units a minute.
    public let ratePerMinute: NanoUnits
    /// Billing step inside the tier, in seconds.
    public let increment: Int64

    /// Checked by the tariff that takes it, not here.
    public init(fromSecond: Int64, ratePerMinute: NanoUnits, increment: Int64) {
      self.fromSecond = fromSecond
      self.ratePerMinute = ratePerMinute
      self.increment = increment
    }
  }

  /// How a cost between two micro-units becomes one of them.
  public enum Rounding: String, Hashable, Sendable, CaseIterable {
    case up
    case halfEven = "half-even"
  }

  /// What happens to a call whose cost has reached ``maximumCost``.
  public enum MaximumCostStrategy: String, Hashable, Sendable, CaseIterable {
    /// The call goes on and costs no more.
    case free
    /// The call is not granted more seconds than the maximum pays for.
    case disconnect
  }

  /// 100,000 units, for a rate a minute, a fee, a minimum and a maximum alike.
  public static let maximumPrice: NanoUnits = 100_000_000_000_000
  /// Most tiers of one tariff.
  public static let maximumTiers = 4
  /// Longest call that can be priced, in seconds.
  public static let maximumSeconds: Int64 = 86_400
  /// Longest billing step, in seconds.
  public static let maximumIncrement: Int64 = 3600
  /// Most milliseconds of ``tolerance``: less than a whole second.
  public static let maximumTolerance: Int64 = 999

  // Plain bytes side by side, no list: copying a tariff counts no references. What prices an ordinary call comes first,
  // in as few cache lines as possible.
  let tierCount: Int
  let firstTier: Tier
  /// Seconds billed at once when the call is answered; 0 to bill by the increment from the start.
  public let initial: Int64
  /// Once a call.
  public let fee: NanoUnits
  /// The least that a billable call costs.
  public let minimumCharge: NanoUnits
  /// An answered call of at most this many seconds costs nothing.
  public let grace: Int64
  /// Seconds subtracted from the duration before the increments.
  public let freeSeconds: Int64
  /// The most that a call costs; `nil` for no limit.
  public let maximumCost: NanoUnits?
  /// Applied once, to the cost of the whole call.
  public let rounding: Rounding
  /// Matters only where there is a ``maximumCost``.
  public let maximumCostStrategy: MaximumCostStrategy
  /// Longest call under this tariff, in seconds.
  public let secondsLimit: Int64
  /// Milliseconds by which a duration may pass a whole second before the next one counts, 0 to 999.
  public let tolerance: Int64
  private let secondTier, thirdTier, fourthTier: Tier

  /// - Throws: ``InvalidValue`` with a `tariff.…` rule that names the field outside its limits.
  public init(
    tiers: [Tier], initial: Int64, fee: NanoUnits = 0, minimumCharge: NanoUnits = 0, grace: Int64 = 0,
    freeSeconds: Int64 = 0, maximumCost: NanoUnits? = nil, maximumCostStrategy: MaximumCostStrategy = .disconnect,
    secondsLimit: Int64 = Tariff.maximumSeconds, tolerance: Int64 = 0, rounding: Rounding = .up
  ) throws(InvalidValue) {
    func require(_ condition: Bool, _ rule: String, _ problem: String, _ accepted: String) throws(InvalidValue) {
      guard condition else {
        throw InvalidValue(kind: "tariff", rule: "tariff.\(rule)", offset: nil, problem: problem, accepted: accepted)
      }
    }
    let prices = "0 to \(Tariff.maximumPrice.decimal)"
    let times = "0 to \(Tariff.maximumSeconds) seconds"
    try require(
      !tiers.isEmpty && tiers.count <= Tariff.maximumTiers && tiers[0].fromSecond == 0, "tiers",
      "a tariff has one to \(Tariff.maximumTiers) tiers and the first starts at second 0", "tiers in ascending order")
    try require(
      (0...Tariff.maximumSeconds).contains(initial), "initial", "the initial increment is out of range", times)
    var step = initial
    var start: Int64 = 0
    for (index, tier) in tiers.enumerated() {
      try require(
        (0...Tariff.maximumPrice).contains(tier.ratePerMinute), "rate", "the rate is out of range", prices)
      try require(
        (1...Tariff.maximumIncrement).contains(tier.increment), "increment", "the increment is out of range",
        "1 to \(Tariff.maximumIncrement) seconds")
      if index > 0 {
        // The range comes first: a difference of two values outside of it could overflow.
        let isInRange = tier.fromSecond > start && tier.fromSecond <= Tariff.maximumSeconds
        let length = isInRange ? tier.fromSecond - start - step : -1
        try require(
          length >= 0 && length % tiers[index - 1].increment == 0, "tier",
          "a tier must start where an increment of the one before ends",
          "a multiple of the increment before it")
        start = tier.fromSecond
        step = 0
      }
    }
    try require((0...Tariff.maximumPrice).contains(fee), "fee", "the connection fee is out of range", prices)
    try require(
      (0...Tariff.maximumPrice).contains(minimumCharge), "minimum", "the minimum charge is out of range", prices)
    try require((0...Tariff.maximumSeconds).contains(grace), "grace", "the grace time is out of range", times)
    try require((0...Tariff.maximumSeconds).contains(freeSeconds), "free", "the free seconds are out of range", times)
    if let maximumCost {
      try require(
        (max(fee, minimumCharge)...Tariff.maximumPrice).contains(maximumCost), "maximum",
        "the maximum cost is out of range or below the fee or the minimum charge", prices)
    }
    try require(
      (1...Tariff.maximumSeconds).contains(secondsLimit), "limit", "the longest call is out of range",
      "1 to \(Tariff.maximumSeconds) seconds")
    try require(
      (0...Tariff.maximumTolerance).contains(tolerance), "tolerance", "the tolerance is out of range", "0 to 999 ms")
    func tier(_ index: Int) -> Tier {
      index < tiers.count ? tiers[index] : Tier(fromSecond: 0, ratePerMinute: 0, increment: 1)
    }
    firstTier = tier(0)
    secondTier = tier(1)
    thirdTier = tier(2)
    fourthTier = tier(3)
    tierCount = tiers.count
    self.initial = initial
    self.fee = fee
    self.minimumCharge = minimumCharge
    self.grace = grace
    self.freeSeconds = freeSeconds
    self.maximumCost = maximumCost
    self.maximumCostStrategy = maximumCostStrategy
    self.secondsLimit = secondsLimit
    self.tolerance = tolerance
    self.rounding = rounding
  }

  /// The tiers in ascending order.
  public var tiers: [Tier] { (0..<tierCount).map(tier) }

  /// The rate of the dearest tier.
  public var highestRatePerMinute: NanoUnits {
    var highest = firstTier.ratePerMinute
    for index in 0..<tierCount { highest = max(highest, tier(index).ratePerMinute) }
    return highest
  }

  private func tier(_ index: Int) -> Tier {
    switch index {
    case 0: firstTier
    case 1: secondTier
    case 2: thirdTier
    default: fourthTier
    }
  }

  /// A tariff of one tier.
  public init(
    ratePerMinute: NanoUnits, initial: Int64, increment: Int64, fee: NanoUnits = 0, minimumCharge: NanoUnits = 0,
    grace: Int64 = 0, freeSeconds: Int64 = 0
  ) throws(InvalidValue) {
    try self.init(
      tiers: [Tier(fromSecond: 0, ratePerMinute: ratePerMinute, increment: increment)], initial: initial, fee: fee,
      minimumCharge: minimumCharge, grace: grace, freeSeconds: freeSeconds)
  }
}

// MARK: - What a duration costs

extension Tariff {
  /// Whole seconds that a measured duration counts as: rounded up once the tolerance is passed; at least 1 once answered.
  public func seconds(ofMilliseconds milliseconds: Int64) -> Int64 {
    guard milliseconds > 0 else { return 0 }
    let counted = min(milliseconds, Tariff.maximumSeconds * 1000) - tolerance
    return max(1, (counted + 999) / 1000)
  }

  /// Seconds billed for a call of `seconds`: the initial increment, then whole increments, tier by tier.
  public func billedSeconds(_ seconds: Int64) -> Int64 {
    let talk = min(max(seconds, 0), Tariff.maximumSeconds) - freeSeconds
    guard seconds > grace, talk > 0 else { return 0 }
    var index = 0
    while index + 1 < tierCount, talk > tier(index + 1).fromSecond { index += 1 }
    let increment = tier(index).increment
    let start = index == 0 ? initial : tier(index).fromSecond
    guard talk > start else { return start }
    return start + (talk - start + increment - 1) / increment * increment
  }

  /// The exact cost of a call of `seconds` before rounding.
  public func exactCost(seconds: Int64) -> NanoSixtieths {
    guard seconds > grace else { return 0 }
    let billed = billedSeconds(seconds)
    var cost = fee.sixtieths
    var index = 0
    while index < tierCount, billed > tier(index).fromSecond {
      let end = index + 1 < tierCount ? min(billed, tier(index + 1).fromSecond) : billed
      cost += tier(index).ratePerMinute.cost(ofSeconds: end - tier(index).fromSecond)
      index += 1
    }
    return clamped(cost)
  }

  /// Applies the minimum charge and the maximum cost.
  func clamped(_ cost: NanoSixtieths) -> NanoSixtieths {
    let charged = max(minimumCharge.sixtieths, cost)
    return maximumCost.map { min(charged, $0.sixtieths) } ?? charged
  }

  /// What a call of `seconds` costs, rounded.
  public func cost(seconds: Int64) -> MicroUnits { rounded(exactCost(seconds: seconds)) }

  /// What a call measured as `milliseconds` costs, rounded.
  public func cost(milliseconds: Int64) -> MicroUnits { cost(seconds: seconds(ofMilliseconds: milliseconds)) }

  /// Sixtieths of a nano-unit in one micro-unit.
  static let sixtiethsPerMicro: Int64 = 60_000

  func rounded(_ cost: NanoSixtieths) -> MicroUnits {
    let (quotient, remainder) = cost.count.quotientAndRemainder(dividingBy: Tariff.sixtiethsPerMicro)
    let isRoundedUp: Bool
    switch rounding {
    case .up: isRoundedUp = remainder > 0
    case .halfEven:
      let half = Tariff.sixtiethsPerMicro / 2
      isRoundedUp = remainder > half || (remainder == half && quotient % 2 == 1)
    }
    return MicroUnits(isRoundedUp ? quotient + 1 : quotient)
  }
}

// MARK: - What an amount buys

extension Tariff {
  /// The longest call, in whole seconds, that costs at most `amount`; 0 when nothing beyond the grace time is paid for,
  /// although a call within it would cost nothing.
  ///
  /// The answer s satisfies cost(s) ≤ amount < cost(s + 1), within `limit` and ``secondsLimit``.
  public func secondsBought(by amount: MicroUnits, limit: Int64 = Tariff.maximumSeconds) -> Int64 {
    let cap = min(limit, secondsLimit)
    guard amount >= .zero, cap > 0 else { return 0 }
    // More than the dearest possible call is the same as infinitely much; the bound keeps the product in range.
    let spendable = min(amount.count, Int64.max / Tariff.sixtiethsPerMicro - 1)
    var budget = spendable * Tariff.sixtiethsPerMicro
    if rounding == .halfEven { budget += Tariff.sixtiethsPerMicro / 2 - spendable % 2 }
    if let maximumCost, rounded(maximumCost.sixtieths).count <= spendable {
      switch maximumCostStrategy {
      case .free: return cap
      case .disconnect: budget = maximumCost.sixtieths.count
      }
    }
    let fixed = fee.sixtieths.count
    guard minimumCharge.sixtieths.count <= budget, fixed <= budget else { return 0 }
    // The grace time is compared before the cap: a short grant to a rich payer may lie inside it.
    let seconds = billedSecondsBought(by: budget - fixed) + freeSeconds
    return seconds > grace ? min(seconds, cap) : 0
  }

  /// Largest number of billed seconds whose time charge is at most `budget` sixtieths of a nano-unit.
  private func billedSecondsBought(by budget: Int64) -> Int64 {
    var left = budget
    var billed: Int64 = 0
    for index in 0..<tierCount {
      let current = tier(index)
      let end = index + 1 < tierCount ? tier(index + 1).fromSecond : Tariff.maximumSeconds + Tariff.maximumIncrement
      if index == 0 {
        guard current.ratePerMinute.count * initial <= left else { return 0 }
        left -= current.ratePerMinute.count * initial
        billed = initial
      }
      guard end > billed else { continue }
      let steps = (end - billed) / current.increment
      let stepPrice = current.ratePerMinute.count * current.increment
      let bought = stepPrice == 0 ? steps : min(steps, left / stepPrice)
      left -= bought * stepPrice
      billed += bought * current.increment
      if bought < steps { return billed }
    }
    return billed
  }
}

extension Tariff {
  /// The tariff with every price scaled by `basisPoints` / 10,000, rounded up to the next nano-unit.
  /// - Throws: ``InvalidValue`` when a price leaves its range.
  public func scaled(byBasisPoints basisPoints: Int64) throws(InvalidValue) -> Tariff {
    if basisPoints == 10_000 { return self }
    func scale(_ price: NanoUnits) throws(InvalidValue) -> NanoUnits {
      let (product, overflow) = price.count.multipliedReportingOverflow(by: basisPoints)
      guard !overflow, basisPoints >= 0, product <= Tariff.maximumPrice.count * 10_000 else {
        throw InvalidValue(
          kind: "tariff", rule: "tariff.multiplier", offset: nil, problem: "the multiplied price is out of range",
          accepted: "a smaller multiplier")
      }
      // At most 10¹⁸ + 9,999.
      return NanoUnits((product + 9999) / 10_000)
    }
    var scaledTiers: [Tier] = []
    for tier in tiers {
      scaledTiers.append(
        Tier(fromSecond: tier.fromSecond, ratePerMinute: try scale(tier.ratePerMinute), increment: tier.increment))
    }
    var scaledMaximum: NanoUnits?
    if let maximumCost { scaledMaximum = try scale(maximumCost) }
    return try Tariff(
      tiers: scaledTiers, initial: initial, fee: try scale(fee), minimumCharge: try scale(minimumCharge), grace: grace,
      freeSeconds: freeSeconds, maximumCost: scaledMaximum, maximumCostStrategy: maximumCostStrategy,
      secondsLimit: secondsLimit, tolerance: tolerance, rounding: rounding)
  }
}
