/// One row of a deck: what a store keeps and a ``DeckBuilder`` takes back.
public struct RateRow: Hashable, Sendable {
  public let prefix: NumberDigits
  /// The destination's name; may be empty.
  public let name: String
  public let terms: RateTerms

  public init(prefix: NumberDigits, name: String, terms: RateTerms) {
    self.prefix = prefix
    self.name = name
    self.terms = terms
  }
}
