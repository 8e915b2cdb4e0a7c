public import CallModel

/// Every step by which a number got its price or its refusal, in order: what `rate explain` prints.
public struct RatingTrace: Hashable, Sendable {
  /// One question on the way to a price, with its answer.
  public enum Step: Hashable, Sendable {
    /// The account's currency against the plan's.
    case currency(plan: Currency, account: Currency)
    /// The operator's ranges were asked; `nil` when none covers the number.
    case denyRanges(prefix: NumberDigits?, ruling: DenyRanges.Ruling?)
    /// The number plan says that the number costs more than where it lies: only a price for this range or a part of it
    /// is one for the number.
    case specialRate(SpecialRateRanges.Range)
    case deck(label: String, rows: Int)
    /// A prefix of the number in the deck at hand, longest first.
    case prefix(NumberDigits, name: String, PrefixOutcome)
    /// The class that begins at an instant, and the class whose row prices it.
    case timeClass(from: Instant, name: String, pricedAs: String)
    /// Basis points.
    case multiplier(Int64)
    case tariff(timeClass: String, Tariff)
    /// The number is free by decision of the caller.
    case free(FreeNumber)
  }

  /// What became of a prefix of the number that a deck has rows for.
  public enum PrefixOutcome: Hashable, Sendable {
    case chosen
    /// Shorter than the chosen one.
    case shorter
    /// No row in force; the window of its first row. `nil` is for ever.
    case notInForce(from: Instant?, until: Instant?)
    case blocked
    /// A price for more than the dear range in which the number lies.
    case tooShortForSpecialRate
  }

  /// In the order in which they were taken, up to the price or the refusal.
  public internal(set) var steps: [Step] = []
  /// The frozen price, or why there is none.
  public internal(set) var outcome: Result<RateSnapshot, RatingRefusal>
}
