public import CallModel

/// What a deck's rows do not say themselves.
public struct DeckSettings: Hashable, Sendable {
  /// Most bytes of the name and of the version label, each.
  public static let maximumNameBytes = 128

  /// The same in every version of the deck.
  public let name: String
  /// Label of the version, such as `2026-11-01`.
  public let version: String
  /// The currency of every price; `nil` to take the one that the rows name.
  public let currency: Currency?
  /// Zone of dates without a time and of the time classes.
  public let zone: CivilZone
  /// ``TimeClasses/none(_:)`` where every minute is `standard`.
  public let timeClasses: TimeClasses

  /// - Parameter timeClasses: `nil` for none; their zone replaces `zone`.
  /// - Throws: ``InvalidValue`` with rule `deck.name` when a label is empty, too long or has control characters.
  public init(
    name: String, version: String, currency: Currency? = nil, zone: CivilZone = .utc, timeClasses: TimeClasses? = nil
  ) throws(InvalidValue) {
    for label in [name, version] {
      guard !label.isEmpty, label.utf8.count <= DeckSettings.maximumNameBytes,
        label.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
      else {
        throw InvalidValue(
          kind: "rate deck", rule: "deck.name", offset: nil, problem: "the name or the version label cannot be used",
          accepted: "1 to \(DeckSettings.maximumNameBytes) bytes without control characters such as retail-eu")
      }
    }
    self.name = name
    self.version = version
    self.currency = currency
    self.timeClasses = timeClasses ?? .none(zone)
    self.zone = self.timeClasses.zone
  }
}

/// An immutable, validated list of rates by prefix. Comes from a ``DeckReader`` or a ``DeckBuilder`` only.
public struct RateDeck: Sendable {
  /// Most rows of one deck; further ones are a fault.
  public static let maximumRows = 4_000_000

  /// Sixteen bytes a row; names and terms are shared.
  struct Entry: Sendable {
    let key: UInt64
    let name: UInt32
    let terms: UInt32
  }

  /// The same in every version of the deck.
  public let name: String
  /// Label of the version, such as `2026-11-01`.
  public let version: String
  /// That of every price in the deck.
  public let currency: Currency
  /// The windows of the local week that rows may name.
  public let timeClasses: TimeClasses
  /// Ascending by prefix, time class, start of the window, first second of the tier.
  let entries: [Entry]
  let names: NameTable
  let terms: [RateTerms]
  /// The tariff of each terms as a first tier.
  let tariffs: [Tariff]

  init(
    name: String, version: String, currency: Currency, timeClasses: TimeClasses, entries: [Entry], names: NameTable,
    terms: [RateTerms], tariffs: [Tariff]
  ) {
    self.name = name
    self.version = version
    self.currency = currency
    self.timeClasses = timeClasses
    self.entries = entries
    self.names = names
    self.terms = terms
    self.tariffs = tariffs
  }

  /// `name@version`: what snapshots carry.
  public var label: String { "\(name)@\(version)" }
  /// Of dates without a time and of the time classes.
  public var zone: CivilZone { timeClasses.zone }
  /// The rows in canonical order: by prefix, time class, window, tier.
  public var rows: Rows { Rows(deck: self) }

  /// Bytes of the rows, the names, the terms and their tariffs.
  public var byteCount: Int { entries.count * MemoryLayout<Entry>.stride + sharedByteCount }

  /// Bytes that do not grow with the rows: names, terms and tariffs.
  var sharedByteCount: Int {
    names.byteCount + terms.count * (MemoryLayout<RateTerms>.stride + MemoryLayout<Tariff>.stride)
  }

  /// Each different name and each different terms once, for a store that keeps rows by their numbers.
  package var distinctNames: [String] { (0..<UInt32(names.count)).map { names.text($0) } }
  package var distinctTerms: [RateTerms] { terms }

  /// A row by the numbers of its name and its terms.
  package func numbers(ofRow position: Int) -> (prefix: NumberDigits, name: Int, terms: Int) {
    let entry = entries[position]
    return (NumberDigits(key: entry.key), Int(entry.name), Int(entry.terms))
  }

  /// A deck's rows, made one by one from the compact storage.
  public struct Rows: RandomAccessCollection, Sendable {
    let deck: RateDeck
    /// Always 0.
    public var startIndex: Int { 0 }
    /// The number of rows.
    public var endIndex: Int { deck.entries.count }
    /// The row is made anew at each access; names and terms are shared in the deck.
    public subscript(position: Int) -> RateRow {
      let entry = deck.entries[position]
      return RateRow(
        prefix: NumberDigits(key: entry.key), name: deck.names.text(entry.name), terms: deck.terms[Int(entry.terms)])
    }
  }
}

extension RateDeck: Equatable {
  /// Same labels, currency, time classes and rows.
  public static func == (left: RateDeck, right: RateDeck) -> Bool {
    left.name == right.name && left.version == right.version && left.currency == right.currency
      && left.timeClasses == right.timeClasses && left.entries.count == right.entries.count
      && zip(left.rows, right.rows).allSatisfy { $0 == $1 }
  }
}
