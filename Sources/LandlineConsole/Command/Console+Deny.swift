import CallModel
import LedgerCore
import LedgerSQLite
import RoutingCore

/// Ranges of numbers that nobody may call.
extension Console {
  package func denyAdd(_ prefix: String, reason: String, note: String, isDryRun: Bool) async throws -> Answer {
    let note = try Arguments.free(note, "--note")
    guard let block = DestinationBlock(rawValue: reason), block != .deck else {
      throw ConsoleError.usage(
        "deny.reason", "\"\(reason)\" is no reason known here", at: "--reason",
        fix: DestinationBlock.allCases.filter { $0 != .deck }.map(\.rawValue).joined(separator: ", "))
    }
    let range = StoredDenyRange(prefix: try digits(prefix, "PREFIX"), reason: block, note: note, addedAt: try now())
    let listing = denyListing([range])
    if isDryRun { return dryRun(listing) }
    try rates(writable: true) { try $0.block(range) }
    return Answer(row: listing)
  }

  package func denyList() async throws -> Answer {
    Answer("ranges", denyListing(try rates { try $0.denyRanges() }))
  }

  package func denyRemove(_ prefix: String, isDryRun: Bool) async throws -> Answer {
    let prefix = try digits(prefix, "PREFIX")
    guard let range = try rates({ try $0.denyRanges() }).first(where: { $0.prefix == prefix }) else {
      throw RateStoreRefusal.unknownDenyRange("\(prefix)")
    }
    let listing = denyListing([range])
    if isDryRun { return dryRun(listing) }
    try rates(writable: true) { try $0.unblock(prefix) }
    return Answer(row: listing)
  }

  private func denyListing(_ ranges: [StoredDenyRange]) -> Listing {
    Listing(
      [Column("prefix"), Column("reason"), Column("note"), Column("added_at", title: "added")],
      rows: ranges.map { [.text("\($0.prefix)"), .text($0.reason.rawValue), .text($0.note), .instant($0.addedAt)] })
  }

  /// Digits with or without a `+`; a whole number as people write it too.
  func digits(_ text: String, _ argument: String) throws -> NumberDigits {
    let text = Arguments.dialled(text)
    return try Arguments.value(argument) { () throws(InvalidValue) in
      try NumberDigits(text.hasPrefix("+") ? text.dropFirst() : text[...])
    }
  }
}
