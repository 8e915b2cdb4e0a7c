/// One row of a deck: what a store keeps and a ``DeckBuilder`` takes back.
public struct RateRow: Hashable, Sendable {
  /// With the country code, without `+`.
  public let prefix: NumberDigits
  /// The destination's name; may be empty.
  public let name: String
  /// Price, billing steps, window and flags: all but the prefix and the name.
  public let terms: RateTerms

  /// Nothing is checked here; a ``DeckBuilder`` checks the name and the terms.
  public init(prefix: NumberDigits, name: String, terms: RateTerms) {
    self.prefix = prefix
    self.name = name
    self.terms = terms
  }
}
