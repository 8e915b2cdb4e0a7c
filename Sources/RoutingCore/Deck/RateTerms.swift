public import CallModel

/// Marks of a deck's row.
public struct RateFlags: OptionSet, Hashable, Sendable {
  /// One bit a flag; a deck refuses bits that are not named here.
  public let rawValue: UInt8
  /// Takes any bits; those that are not named here are refused by a deck.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Calls are refused before any price is looked at. Text: `blocked`.
  public static let blocked = RateFlags(rawValue: 1)
  /// A call that crosses a time class is priced second by second. Text: `split`; its opposite is `at-answer`.
  public static let split = RateFlags(rawValue: 2)
  /// At the maximum cost the call goes on for nothing instead of ending. Text: `max-cost-free`.
  public static let maximumCostFree = RateFlags(rawValue: 4)
  /// The cost is rounded half to even instead of up. Text: `half-even`.
  public static let halfEven = RateFlags(rawValue: 8)

  /// Every flag with its text, in canonical order.
  static let texts: [(flag: RateFlags, text: String)] = [
    (.blocked, "blocked"), (.split, "split"), (.maximumCostFree, "max-cost-free"), (.halfEven, "half-even"),
  ]
  static let all: RateFlags = [.blocked, .split, .maximumCostFree, .halfEven]
}

/// Everything a deck's row says beside its prefix and its name, as whole numbers. Prices are of the deck's
/// currency, times are seconds, instants are milliseconds since 1970-01-01T00:00:00Z.
public struct RateTerms: Hashable, Sendable {
  public var ratePerMinute: NanoUnits
  /// Once a call.
  public var fee: NanoUnits
  /// Seconds billed at once when the call is answered; 0 to bill by ``increment`` from the start.
  public var initial: Int64
  /// Billing step in seconds.
  public var increment: Int64
  /// An answered call of at most this many seconds costs nothing.
  public var grace: Int64
  /// The least that a billable call costs.
  public var minimumCharge: NanoUnits
  /// Seconds subtracted from the talk time before it is billed.
  public var freeSeconds: Int64
  /// In force from this instant on; `Int64.min` for ever.
  public var effectiveFrom: Int64
  /// In force until just before this instant; `Int64.max` for ever.
  public var effectiveUntil: Int64
  /// First second of talk time that the rate prices: above 0 for the later tiers of a prefix, whose ``ratePerMinute``
  /// and ``increment`` alone count.
  public var fromSecond: Int64
  /// Longest call in seconds; ``Tariff/maximumSeconds`` where the deck says nothing.
  public var maximumSeconds: Int64
  /// `nil` for no limit.
  public var maximumCost: NanoUnits?
  /// Index in ``TimeClasses/names``; 0 is the standard class, which prices every class that the prefix does not name.
  public var timeClass: UInt8
  /// What the row says with words rather than numbers: blocked, split and the like.
  public var flags: RateFlags

  /// Times in seconds, instants in milliseconds since 1970; by default billed second by second,
  /// without fee, minimum or limit, always in force. A deck checks the ranges.
  public init(
    ratePerMinute: NanoUnits, initial: Int64 = 1, increment: Int64 = 1, fee: NanoUnits = 0, grace: Int64 = 0,
    minimumCharge: NanoUnits = 0, freeSeconds: Int64 = 0, effectiveFrom: Int64 = .min, effectiveUntil: Int64 = .max,
    fromSecond: Int64 = 0, maximumSeconds: Int64 = Tariff.maximumSeconds, maximumCost: NanoUnits? = nil,
    timeClass: UInt8 = 0, flags: RateFlags = []
  ) {
    self.ratePerMinute = ratePerMinute
    self.fee = fee
    self.initial = initial
    self.increment = increment
    self.grace = grace
    self.minimumCharge = minimumCharge
    self.freeSeconds = freeSeconds
    self.effectiveFrom = effectiveFrom
    self.effectiveUntil = effectiveUntil
    self.fromSecond = fromSecond
    self.maximumSeconds = maximumSeconds
    self.maximumCost = maximumCost
    self.timeClass = timeClass
    self.flags = flags
  }

  /// Milliseconds of the years 1 to 9999: those with a text of their own.
  static let instants: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999

  /// Whether the row counts at `milliseconds`.
  func isInForce(at milliseconds: Int64) -> Bool { effectiveFrom <= milliseconds && milliseconds < effectiveUntil }

  var tier: Tariff.Tier { Tariff.Tier(fromSecond: fromSecond, ratePerMinute: ratePerMinute, increment: increment) }

  /// The tariff of a first tier and the tiers that follow it.
  /// - Throws: ``InvalidValue`` with a `tariff.…` rule.
  func tariff(followedBy later: [Tariff.Tier] = []) throws(InvalidValue) -> Tariff {
    try Tariff(
      tiers: [tier] + later, initial: initial, fee: fee, minimumCharge: minimumCharge, grace: grace,
      freeSeconds: freeSeconds, maximumCost: maximumCost,
      maximumCostStrategy: flags.contains(.maximumCostFree) ? .free : .disconnect, secondsLimit: maximumSeconds,
      rounding: flags.contains(.halfEven) ? .halfEven : .up)
  }

  /// The tariff of the row by itself, as if it were a first tier.
  /// - Throws: ``InvalidValue`` with a `deck.…` or `tariff.…` rule.
  func checked(timeClasses: TimeClasses) throws(InvalidValue) -> Tariff {
    guard effectiveFrom < effectiveUntil else {
      throw InvalidValue(
        kind: "rate", rule: "deck.window", offset: nil, problem: "the row ends before it starts",
        accepted: "effective_to after effective_from")
    }
    guard effectiveFrom == .min || RateTerms.instants.contains(effectiveFrom),
      effectiveUntil == .max || RateTerms.instants.contains(effectiveUntil)
    else {
      throw InvalidValue(
        kind: "rate", rule: "deck.window", offset: nil, problem: "an instant is outside of the years 1 to 9999",
        accepted: "an RFC 3339 instant such as 2026-11-01T00:00:00Z")
    }
    guard Int(timeClass) < timeClasses.names.count else {
      throw InvalidValue(
        kind: "rate", rule: "deck.time-class", offset: nil, problem: "the time class is not defined",
        accepted: "one of \(timeClasses.names.joined(separator: ", "))")
    }
    guard flags.isSubset(of: .all) else {
      throw InvalidValue(
        kind: "rate", rule: "deck.flags", offset: nil, problem: "a flag is not known",
        accepted: RateFlags.texts.map(\.text).joined(separator: ", "))
    }
    guard (0...Tariff.maximumSeconds).contains(fromSecond) else {
      throw InvalidValue(
        kind: "rate", rule: "tariff.tier", offset: nil, problem: "the first second of the tier is out of range",
        accepted: "0 to \(Tariff.maximumSeconds) seconds")
    }
    var alone = self
    alone.fromSecond = 0
    return try alone.tariff()
  }
}
