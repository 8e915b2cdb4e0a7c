import CallModel
import LedgerCore
import LedgerSQLite
import RoutingCore

/// Ranges of numbers that nobody may call, those of the number plans and the operator's own.
extension Console {
  /// Why a range may be blocked.
  package static let denyReasons = DestinationBlock.allCases.filter { $0 != .deck }.map(\.rawValue)

  package func denyAdd(_ prefix: String, reason: String, note: String, isDryRun: Bool) async throws -> Answer {
    let note = try Arguments.free(note, "--note")
    guard let block = DestinationBlock(rawValue: reason), block != .deck else {
      throw ConsoleError.usage(
        "deny.reason", "\"\(reason)\" is no reason known here", at: "--reason",
        fix: Console.denyReasons.joined(separator: ", "))
    }
    return try decide(prefix, .denied(block), note: note, isDryRun: isDryRun)
  }

  /// Makes a range ordinary that the number plan says is dear: from then on it costs what its longest prefix in a deck does.
  package func denyAllow(_ prefix: String, note: String, isDryRun: Bool) async throws -> Answer {
    try decide(prefix, .allowed, note: try Arguments.free(note, "--note"), isDryRun: isDryRun)
  }

  private func decide(
    _ prefix: String, _ ruling: DenyRanges.Ruling, note: String, isDryRun: Bool
  ) throws -> Answer {
    let range = StoredDenyRange(prefix: try digits(prefix, "PREFIX"), ruling: ruling, note: note, addedAt: try now())
    let listing = denyListing([range])
    if isDryRun { return dryRun(listing) }
    try rates(writable: true) { try $0.decide(range) }
    return Answer(row: listing)
  }

  package func denyList() async throws -> Answer {
    Answer("ranges", denyListing(try rates { try $0.denyRanges() }))
  }

  /// The dear ranges of the number plans, which nobody may call at the price of a shorter prefix.
  package func denyPlanList() async throws -> Answer {
    Answer(
      "ranges",
      Listing(
        [Column("prefix"), Column("reason"), Column("ordinary_digits", title: "but not of digits")],
        rows: SpecialRateRanges.shipped.ranges.map { range in
          [
            .text("\(range.prefix)"), .text(range.reason.rawValue),
            .text(range.ordinaryDigits.map(String.init).joined(separator: " ")),
          ]
        }))
  }

  package func denyRemove(_ prefix: String, isDryRun: Bool) async throws -> Answer {
    let prefix = try digits(prefix, "PREFIX")
    guard let range = try rates({ try $0.denyRanges() }).first(where: { $0.prefix == prefix }) else {
      throw RateStoreRefusal.unknownDenyRange("\(prefix)")
    }
    let listing = denyListing([range])
    if isDryRun { return dryRun(listing) }
    try rates(writable: true) { try $0.removeDecision(prefix) }
    return Answer(row: listing)
  }

  private func denyListing(_ ranges: [StoredDenyRange]) -> Listing {
    Listing(
      [Column("prefix"), Column("reason"), Column("note"), Column("added_at", title: "added")],
      rows: ranges.map { [.text("\($0.prefix)"), .text($0.ruling.name), .text($0.note), .instant($0.addedAt)] })
  }

  /// Digits with or without a `+`; a whole number as people write it too.
  func digits(_ text: String, _ argument: String) throws -> NumberDigits {
    let text = Arguments.dialled(text)
    return try Arguments.value(argument) { () throws(InvalidValue) in
      try NumberDigits(text.hasPrefix("+") ? text.dropFirst() : text[...])
    }
  }
}
