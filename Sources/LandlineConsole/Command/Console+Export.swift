import CallModel
import LedgerCore

/// The books for other programs.
extension Console {
  /// A journal on standard output, or one file a month in a directory.
  package func exportHledger(month: String?, account: String?, directory: String?) async throws -> Answer {
    let now = try now()
    let zone = try zone()
    guard month == nil || directory == nil else {
      throw ConsoleError.usage(
        "export.options", "a directory gets every month", at: "--month", fix: "--month, or --output-dir")
    }
    let period = try month.map { try Period(month: $0, zone: zone) } ?? Period(from: nil, to: nil)
    return try reading { reading in
      let account = try account.map { try LedgerLookup(reading).customer($0, "--account") }
      var journal = try HledgerJournal(reading, zone: zone)
      let head = try reading.head()
      if let directory {
        let names = try JournalDirectory(directory).write(
          journal, account: account, zone: zone, head: head, now: now)
        let listing = Listing([Column("file")], rows: names.map { [.text("\(directory)/\($0)")] })
        return Answer("files", listing, asOf: head)
      }
      try BufferedText.write(to: .standardOutput) { out in
        try journal.write(
          HledgerJournal.Part(from: period.from, to: period.to, account: account, isFollowed: false), now: now, to: out)
      }
      return .streamed(notes: [head.line])
    }
  }

  package func exportEntries(isCSV: Bool, account: String?, period: PeriodOptions) async throws -> Answer {
    let period = try period.period(now: now(), zone: zone())
    return try reading { reading in
      let account = try account.map { try LedgerLookup(reading).customer($0, "--account") }
      try BufferedText.write(to: .standardOutput) { out in
        try EntryStream(reading: reading, period: period, account: account, format: isCSV ? .csv : .ndjson)
          .write(to: out)
      }
      return .streamed(notes: [try reading.head().line])
    }
  }
}
