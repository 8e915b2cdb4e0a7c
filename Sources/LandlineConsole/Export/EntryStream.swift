import CallModel
import LedgerCore

/// All entries with the fields of their transfers, one record each, in sequence.
struct EntryStream {
  static let columns = [
    Column("seq", .number), Column("time"), Column("kind"), Column("account"), Column("chart"),
    Column("version", .number), Column("amount", .amount), Column("balance", .amount), Column("currency"),
    Column("call"), Column("reverses", .number), Column("key"), Column("actor"), Column("event_at"), Column("detail"),
    Column("hash"),
  ]

  enum Format {
    case csv, ndjson
  }

  let reading: any LedgerReading
  let period: Period
  let account: LedgerAccount?
  let format: Format

  func write(to out: (String) throws -> Void) throws {
    let listing = Listing(EntryStream.columns)
    var lookup = LedgerLookup(reading)
    func record(_ transfer: Transfer, _ entry: Entry) throws {
      let owner = try lookup.account(id: entry.account)
      let hash = transfer.hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      let row: [Cell] = [
        .integer(transfer.seq), .instant(transfer.at), .text(transfer.kind.rawValue), .text(owner.displayName),
        .text(owner.journalName), .integer(entry.version), .signed(try owner.credits(entry.amount)),
        .amount(try owner.credits(entry.balanceAfter)), .text("\(owner.currency)"),
        .text(optional: transfer.call?.text), .integer(optional: transfer.reverses), .text(transfer.key),
        .text(transfer.actor), .instant(transfer.eventAt), .text(transfer.detail), .text(hash),
      ]
      switch format {
      case .csv: try out(CSVText.row(row, of: listing))
      case .ndjson: try out(JSONValue.members(listing.members(of: row)).line + "\n")
      }
    }
    if format == .csv { try out(CSVText.header(listing)) }
    if let account {
      let pageSize = 2048
      var after: Int64 = 0
      while true {
        let page = try reading.history(
          of: account.id, HistoryRange(after: after, from: period.from, to: period.to, limit: pageSize))
        for line in page { try record(line.transfer, line.entry) }
        guard let last = page.last, page.count == pageSize else { return }
        after = last.transfer.seq
      }
    }
    try reading.forEachTransfer(from: period.from, to: period.to) { booked in
      for entry in [booked.debit, booked.credit] { if let entry { try record(booked.transfer, entry) } }
    }
  }
}
