/// What one prefix, time class and tier has in one deck and not in another.
public struct RateChange: Hashable, Sendable {
  /// What a change does to the price: the rate a minute decides.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    case added
    case removed
    /// The rate a minute is higher.
    case raised
    /// The rate a minute is lower.
    case lowered
    /// The rate is the same; something else is not.
    case other
  }

  /// Judged by the rate a minute alone; see ``columns`` for everything that differs.
  public let kind: Kind
  /// That of both rows, where there are two.
  public let prefix: NumberDigits
  /// `nil` for an added row.
  public let old: RateRow?
  /// `nil` for a removed row.
  public let new: RateRow?
  /// Canonical names of the columns that differ; empty for an added or removed row.
  public let columns: [DeckColumn]
}

/// The changes from one deck to another, found while both are walked once: nothing is collected.
///
/// Rows pair up by prefix, time class and tier; where a prefix has several windows, by their order in time.
/// Time classes pair by name.
public struct DeckDifference: Sequence, IteratorProtocol, Sendable {
  private let old: RateDeck
  private let new: RateDeck
  private var oldPosition = 0
  private var newPosition = 0
  /// Changes of the prefix at hand, last first.
  private var waiting: [RateChange] = []

  /// Changes lead from `old` to `new`: a row that only `new` has is added.
  public init(from old: RateDeck, to new: RateDeck) {
    self.old = old
    self.new = new
  }

  /// The next change; prefixes ascend.
  public mutating func next() -> RateChange? {
    while waiting.isEmpty {
      let oldKey = oldPosition < old.entries.count ? old.entries[oldPosition].key : .max
      let newKey = newPosition < new.entries.count ? new.entries[newPosition].key : .max
      let key = Swift.min(oldKey, newKey)
      guard key != .max else { return nil }
      let oldRows = oldKey == key ? DeckDifference.nextGroup(old, &oldPosition) : oldPosition..<oldPosition
      let newRows = newKey == key ? DeckDifference.nextGroup(new, &newPosition) : newPosition..<newPosition
      compare(oldRows, newRows)
    }
    return waiting.popLast()
  }

  private static func nextGroup(_ deck: RateDeck, _ position: inout Int) -> Range<Int> {
    let start = position
    let key = deck.entries[start].key
    while position < deck.entries.count, deck.entries[position].key == key { position += 1 }
    return start..<position
  }

  private func pairing(_ deck: RateDeck, _ position: Int) -> (timeClass: String, fromSecond: Int64) {
    let terms = deck.terms[Int(deck.entries[position].terms)]
    return (deck.timeClasses.names[Int(terms.timeClass)], terms.fromSecond)
  }

  private mutating func compare(_ oldRows: Range<Int>, _ newRows: Range<Int>) {
    var changes: [RateChange] = []
    var unpaired = Array(newRows)
    for position in oldRows {
      let row = old.rows[position]
      let wanted = pairing(old, position)
      if let place = unpaired.firstIndex(where: { pairing(new, $0) == wanted }) {
        let other = new.rows[unpaired.remove(at: place)]
        if let change = DeckDifference.change(from: row, to: other) { changes.append(change) }
      } else {
        changes.append(RateChange(kind: .removed, prefix: row.prefix, old: row, new: nil, columns: []))
      }
    }
    for position in unpaired {
      let row = new.rows[position]
      changes.append(RateChange(kind: .added, prefix: row.prefix, old: nil, new: row, columns: []))
    }
    waiting = changes.reversed()
  }

  private static func change(from old: RateRow, to new: RateRow) -> RateChange? {
    let left = old.terms
    let right = new.terms
    var columns: [DeckColumn] = []
    func note(_ differs: Bool, _ column: DeckColumn) { if differs { columns.append(column) } }
    note(old.name != new.name, .name)
    note(left.ratePerMinute != right.ratePerMinute, .rate)
    note(left.fee != right.fee, .fee)
    note(left.initial != right.initial, .initial)
    note(left.increment != right.increment, .increment)
    note(left.grace != right.grace, .grace)
    note(left.minimumCharge != right.minimumCharge, .minimumCharge)
    note(left.freeSeconds != right.freeSeconds, .freeSeconds)
    note(left.effectiveFrom != right.effectiveFrom, .effectiveFrom)
    note(left.effectiveUntil != right.effectiveUntil, .effectiveTo)
    note(left.maximumSeconds != right.maximumSeconds, .maximumSeconds)
    note(left.maximumCost != right.maximumCost, .maximumCost)
    note(left.flags != right.flags, .flags)
    guard !columns.isEmpty else { return nil }
    let kind: RateChange.Kind =
      if left.ratePerMinute < right.ratePerMinute { .raised } else if left.ratePerMinute > right.ratePerMinute {
        .lowered
      } else { .other }
    return RateChange(kind: kind, prefix: old.prefix, old: old, new: new, columns: columns)
  }

  /// How many changes of each kind there are from here on.
  public consuming func counts() -> [RateChange.Kind: Int] {
    var counts: [RateChange.Kind: Int] = [:]
    while let change = next() { counts[change.kind, default: 0] += 1 }
    return counts
  }
}
