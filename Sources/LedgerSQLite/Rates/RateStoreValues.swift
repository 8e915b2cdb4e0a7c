public import CallModel
public import RoutingCore

/// A deck version in the store, without its rows.
public struct StoredDeck: Hashable, Sendable {
  public var name: String
  public var version: String
  public var currency: Currency
  public var zone: String
  public var timeClasses: String
  public var prices: Int
  public var importedAt: Instant
  /// From when this version prices calls; `nil` when it was never activated.
  public var activeFrom: Instant?

  /// `name@version`: what snapshots and commands say.
  public var label: String { "\(name)@\(version)" }
}

/// A plan as it was written down: decks by name, so that a new version of a deck needs no change of the plan.
public struct StoredPlan: Hashable, Sendable {
  public struct Entry: Hashable, Sendable {
    public var deck: String
    /// Basis points; 10,000 leaves prices as they are.
    public var multiplier: Int64

    public init(deck: String, multiplier: Int64 = RatePlan.unchanged) {
      self.deck = deck
      self.multiplier = multiplier
    }
  }

  public var name: String
  public var currency: Currency
  public var entries: [Entry]
  public var createdAt: Instant
}

/// A range of numbers that nobody may call, or that may be called although the number plan says that it is dear.
public struct StoredDenyRange: Hashable, Sendable {
  public var prefix: NumberDigits
  public var ruling: DenyRanges.Ruling
  public var note: String
  public var addedAt: Instant

  public init(prefix: NumberDigits, ruling: DenyRanges.Ruling, note: String, addedAt: Instant) {
    self.prefix = prefix
    self.ruling = ruling
    self.note = note
    self.addedAt = addedAt
  }
}

/// Why the rate store said no.
public enum RateStoreRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  case unknownDeck(String)
  /// The label is taken; a version never changes once it is stored.
  case deckExists(String)
  /// No version of the deck is active at the instant asked for.
  case noActiveVersion(deck: String)
  /// No row of the deck begins the number asked for.
  case noMatchingRow
  case unknownPlan(String)
  case planExists(String)
  /// Accounts are assigned to the plan.
  case planInUse(String, accounts: Int)
  case currencyMismatch(String, Currency, String, Currency)
  case unknownDenyRange(String)
  case invalid(InvalidValue)

  public var description: String {
    switch self {
    case .unknownDeck(let label): "there is no deck \(label)"
    case .deckExists(let label):
      "the deck \(label) is stored already, and a version never changes: choose another label"
    case .noActiveVersion(let deck): "no version of deck \(deck) is active"
    case .noMatchingRow: "no row of the deck begins that number"
    case .unknownPlan(let name): "there is no plan \(name)"
    case .planExists(let name): "there is a plan \(name) already"
    case .planInUse(let name, let accounts): "plan \(name) is assigned to \(accounts) account(s)"
    case .currencyMismatch(let left, let leftCurrency, let right, let rightCurrency):
      "\(left) is in \(leftCurrency), \(right) in \(rightCurrency), and nothing is ever converted implicitly"
    case .unknownDenyRange(let prefix): "the range \(prefix) is not blocked"
    case .invalid(let value): value.description
    }
  }
}
