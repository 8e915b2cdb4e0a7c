public import CallModel
public import RoutingCore

/// A deck version in the store, without its rows.
public struct StoredDeck: Hashable, Sendable {
  /// The same in every version of the deck; plans refer to it.
  public var name: String
  /// Unique among the deck's versions, such as `2026-11-01`.
  public var version: String
  /// That of every price.
  public var currency: Currency
  /// IANA zone of dates without a time and of the time classes.
  public var zone: String
  /// ``TimeClasses/text``; empty when every minute is `standard`.
  public var timeClasses: String
  /// Number of rows: later tiers, time classes and windows of a prefix count each.
  public var prices: Int
  /// When it was stored, which prices no call yet: see ``activeFrom``.
  public var importedAt: Instant
  /// From when this version prices calls; `nil` when it was never activated.
  public var activeFrom: Instant?

  /// `name@version`: what snapshots and commands say.
  public var label: String { "\(name)@\(version)" }
}

/// A plan as it was written down: decks by name, so that a new version of a deck needs no change of the plan.
public struct StoredPlan: Hashable, Sendable {
  /// A deck of the plan, in the order in which decks are asked.
  public struct Entry: Hashable, Sendable {
    /// A name without a version: whichever version is active prices the call.
    public var deck: String
    /// Basis points; 10,000 leaves prices as they are.
    public var multiplier: Int64

    /// Basis points; ``RatePlan/unchanged`` where nothing is said.
    public init(deck: String, multiplier: Int64 = RatePlan.unchanged) {
      self.deck = deck
      self.multiplier = multiplier
    }
  }

  /// Unique; accounts are assigned to it.
  public var name: String
  /// That of all its decks, and of the accounts that it prices calls for.
  public var currency: Currency
  /// Asked in this order, as ``RatePlan`` does.
  public var entries: [Entry]
  /// When the plan was first written; replacing its decks does not change it.
  public var createdAt: Instant
}

/// A range of numbers that nobody may call, or that may be called although the number plan says that it is dear.
public struct StoredDenyRange: Hashable, Sendable {
  /// Digits without `+`; the longest range that covers a number decides.
  public var prefix: NumberDigits
  /// Refused with a reason, or allowed although the number plan says that it is dear.
  public var ruling: DenyRanges.Ruling
  /// For people: why it was decided; may be empty.
  public var note: String
  /// When something was first decided for the prefix; a later decision does not change it.
  public var addedAt: Instant

  /// The prefix is checked by ``NumberDigits`` already; the note may be empty.
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

  /// What was asked for and what stands in its way, in one line for a person.
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
