package import CallModel
package import LedgerCore

/// What a command has to say, in a shape that every output format can be made from.
package struct Answer: Sendable {
  package enum Block: Sendable {
    case listing(Listing)
    case record(Listing)
    case line(String)
  }

  /// The table format, from top to bottom.
  package var blocks: [Block]
  /// Members of the one JSON object.
  package var members: [(String, JSONValue)]
  /// CSV and NDJSON: one record a line.
  var records: Listing
  /// The state of the ledger that the answer tells of.
  var asOf: LedgerHead?
  /// For standard error.
  package var notes: [String] = []
  package var status = ExitStatus.ok

  init(blocks: [Block], members: [(String, JSONValue)], records: Listing, asOf: LedgerHead? = nil) {
    self.blocks = blocks
    self.members = members
    self.records = records
    self.asOf = asOf
  }

  /// A list, under a plural name in JSON.
  package init(_ name: String, _ listing: Listing, asOf: LedgerHead? = nil) {
    self.init(blocks: [.listing(listing)], members: [(name, .array(listing.json))], records: listing, asOf: asOf)
  }

  /// One object, shown as a table of one row.
  init(row listing: Listing, asOf: LedgerHead? = nil) {
    self.init(
      blocks: [.listing(listing)], members: listing.rows.first.map(listing.members) ?? [], records: listing, asOf: asOf)
  }

  /// One object, shown as a line for each of its fields.
  package init(record listing: Listing, asOf: LedgerHead? = nil) {
    self.init(
      blocks: [.record(listing)], members: listing.rows.first.map(listing.members) ?? [], records: listing, asOf: asOf)
  }

  /// For commands that have written their answer as a stream.
  static func streamed(notes: [String]) -> Answer {
    var answer = Answer(blocks: [], members: [], records: Listing([]))
    answer.isStreamed = true
    answer.notes = notes
    return answer
  }

  private(set) var isStreamed = false
}

extension LedgerHead {
  /// `as of seq 88109  2026-11-21T05:30:04.118Z  head 9f3c11ab`
  var line: String { "as of seq \(seq)  \(at)  head \(shortHash)" }

  var json: JSONValue {
    .members([("seq", .integer(seq)), ("at", .string("\(at)")), ("head", .string(fullHash))])
  }
}
