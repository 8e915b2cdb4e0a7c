import CallModel
import RoutingCore

/// Prices of a number, and differences between decks.
enum RateReport {
  static let columns = [
    Column("deck"), Column("prefix"), Column("destination"), Column("currency"), Column("rate", .rate),
    Column("fee", .rate), Column("initial_seconds", title: "initial", .number),
    Column("increment_seconds", title: "increment", .number), Column("time_class", title: "class"), Column("state"),
  ]

  /// Every prefix of the number in the deck, longest first.
  static func rows(of index: RateIndex, _ number: NumberDigits, at instant: Instant) -> [[Cell]] {
    var rows: [[Cell]] = []
    let chosen = index.match(number, at: instant)
    for candidate in index.candidates(number, at: instant) {
      let match = candidate.match
      let state =
        !candidate.isInForce
        ? "not in force" : index.isBlocked(match) ? "blocked" : match == chosen ? "chosen" : "shorter"
      for (place, name) in index.deck.timeClasses.names.enumerated() {
        guard candidate.isInForce, index.pricedClass(match, for: place) == place else {
          if place == 0, !candidate.isInForce {
            rows.append(row(index, match, nil, timeClass: nil, state))
          }
          continue
        }
        rows.append(row(index, match, index.tariff(of: match, timeClass: place), timeClass: name, state))
      }
    }
    return rows
  }

  private static func row(
    _ index: RateIndex, _ match: RateMatch, _ tariff: Tariff?, timeClass: String?, _ state: String
  ) -> [Cell] {
    [
      .text(index.deck.label), .text("\(match.prefix)"), .text(index.name(of: match)), .text("\(index.deck.currency)"),
      .rate(optional: tariff?.tiers[0].ratePerMinute), .rate(optional: tariff?.fee),
      .integer(optional: tariff?.initial),
      .integer(optional: tariff?.tiers[0].increment), .text(optional: timeClass), .text(state),
    ]
  }

  /// Changes listed at most; the rest are counted.
  static let maximumChanges = 100_000

  static func difference(from old: RateDeck, to new: RateDeck) -> Answer {
    var listing = Listing([
      Column("change"), Column("prefix"), Column("destination"), Column("old_rate", title: "old rate", .rate),
      Column("new_rate", title: "new rate", .rate), Column("columns"),
    ])
    var counts: [RateChange.Kind: Int64] = [:]
    for change in DeckDifference(from: old, to: new) {
      counts[change.kind, default: 0] += 1
      guard listing.rows.count < maximumChanges else { continue }
      listing.rows.append([
        .text(change.kind.rawValue), .text("\(change.prefix)"), .text(change.new?.name ?? change.old?.name ?? ""),
        .rate(optional: change.old?.terms.ratePerMinute), .rate(optional: change.new?.terms.ratePerMinute),
        .list(change.columns.map(\.rawValue)),
      ])
    }
    let summary = RateChange.Kind.allCases.map { "\($0.rawValue) \(TableText.grouped(counts[$0] ?? 0))" }
    var answer = Answer("changes", listing)
    if listing.rows.isEmpty { answer.blocks = [] }
    answer.blocks.append(.line("\(old.label) → \(new.label): \(summary.joined(separator: ", "))"))
    answer.members.insert(contentsOf: [("old", .string(old.label)), ("new", .string(new.label))], at: 0)
    answer.members.append(
      ("counts", .members(RateChange.Kind.allCases.map { ($0.rawValue, .integer(counts[$0] ?? 0)) })))
    return answer
  }
}
