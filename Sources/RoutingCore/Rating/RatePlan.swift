public import CallModel

/// Decks in the order in which they are asked. The first one with a row in force for the number prices the call, by its
/// longest prefix: a short prefix of an earlier deck goes before a long one of a later deck.
public struct RatePlan: Sendable {
  /// Most decks of one plan; a plan without any is refused as well.
  public static let maximumDecks = 16
  /// Ten times the price.
  public static let maximumMultiplier: Int64 = 100_000
  /// Basis points of a price that is left as it is.
  public static let unchanged: Int64 = 10_000

  /// One deck of the plan, with what its prices are multiplied by.
  public struct Entry: Sendable {
    /// The deck, made ready for lookups at an instant.
    public let index: RateIndex
    /// Basis points: 12,000 is 20 % dearer. Applied to every price of the deck, rounded up to a nano-unit.
    public let multiplier: Int64

    /// Basis points; ``RatePlan`` refuses what is outside of 0 to ``RatePlan/maximumMultiplier``.
    public init(_ index: RateIndex, multiplier: Int64 = RatePlan.unchanged) {
      self.index = index
      self.multiplier = multiplier
    }
  }

  /// What accounts are assigned to.
  public let name: String
  /// In the order in which they are asked; 1 to ``maximumDecks``.
  public let entries: [Entry]
  /// That of every deck; an account in another one gets no price.
  public let currency: Currency

  /// - Throws: ``InvalidValue`` with rules `plan.decks`, `plan.currency` (decks of two currencies) and `plan.multiplier`.
  public init(name: String, _ entries: [Entry]) throws(InvalidValue) {
    func refuse(_ rule: String, _ problem: String, _ accepted: String) -> InvalidValue {
      InvalidValue(kind: "rate plan", rule: "plan.\(rule)", offset: nil, problem: problem, accepted: accepted)
    }
    guard let first = entries.first, entries.count <= RatePlan.maximumDecks else {
      throw refuse("decks", "\(entries.count) decks", "1 to \(RatePlan.maximumDecks) decks")
    }
    for entry in entries {
      guard entry.index.deck.currency == first.index.deck.currency else {
        throw refuse(
          "currency", "\(entry.index.deck.label) is in \(entry.index.deck.currency), not \(first.index.deck.currency)",
          "decks of one currency")
      }
      guard (0...RatePlan.maximumMultiplier).contains(entry.multiplier) else {
        throw refuse(
          "multiplier", "the multiplier \(entry.multiplier) is out of range",
          "0 to \(RatePlan.maximumMultiplier) basis points; \(RatePlan.unchanged) changes nothing")
      }
    }
    self.name = name
    self.entries = entries
    currency = first.index.deck.currency
  }
}
