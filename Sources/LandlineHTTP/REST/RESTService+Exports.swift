import CallModel
import LedgerCore
import Logging
import NodeCore

extension RESTService {
  static let defaultSpendDays = 30
  static let maximumSpendDays = 366
  /// Most entries that are looked at to count the calls of each day.
  static let maximumSpendEntries = 200_000

  private enum ExportFormat: String, CaseIterable {
    case csv, json, hledger

    var mediaType: String {
      switch self {
      case .csv: "text/csv; charset=utf-8"
      case .json: "application/json"
      case .hledger: "text/plain; charset=utf-8"
      }
    }
    var ending: String { self == .hledger ? "journal" : rawValue }
  }

  var exportRoutes: [RESTRoute] {
    [
      RESTRoute(
        method: "GET", path: "/v1/accounts/{name}/export", id: "exportHistory",
        summary: "The history of an account as a file, oldest first",
        query: [
          .init(
            name: "format", description: "csv, json, or hledger for a journal of double entries.",
            schema: .members([
              ("type", .string("string")), ("enum", .array(ExportFormat.allCases.map { .string($0.rawValue) })),
            ]))
        ] + RESTService.periodParameters, success: .text(200, "text/csv"),
        otherTypes: ["application/json", "text/plain"], problems: [.accountUnknown, .exportRunning],
        handle: exportHistory),
      RESTRoute(
        method: "GET", path: "/v1/accounts/{name}/spend", id: "getSpend",
        summary: "What the calls of each day cost, by the account's own calendar, today last",
        query: [
          .init(
            name: "days", description: "How many, today included; \(RESTService.defaultSpendDays) by default.",
            schema: .members([
              ("type", .string("integer")), ("minimum", .integer(1)),
              ("maximum", .integer(Int64(RESTService.maximumSpendDays))),
            ]))
        ], success: .json(200, "Spend"), problems: [.accountUnknown], handle: showSpend),
    ]
  }

  // MARK: - Export

  private var exportHistory: RESTRoute.Handler {
    { call in
      let (_, stores) = try call.environment()
      let name = try call.account()
      guard let format = ExportFormat(rawValue: call.query["format"] ?? ExportFormat.csv.rawValue) else {
        throw RESTCall.invalidParameter("format", "not a format", fix: "csv, json or hledger")
      }
      let (from, to) = (try call.instant("from"), try call.instant("to"))
      let (now, showsOthers) = (call.now, call.ownAccount == nil)
      let file: ExportFile
      do {
        guard let begun = try exports.begin() else {
          throw Problem(.exportRunning, "\(AccountExports.maximumFiles) are under way", headers: [("Retry-After", "5")])
        }
        file = begun
        let isKnown = try await stores.ledger.read { reading -> Bool in
          guard let account = try reading.customer(named: name.text) else { return false }
          switch format {
          case .csv: try RESTService.writeCSV(account, reading, from, to, showsOthers, file)
          case .json: try RESTService.writeJSON(account, reading, from, to, showsOthers, file)
          case .hledger:
            let zone = (try? CivilZone(account.zone)) ?? .utc
            var journal = try HledgerJournal(reading, zone: zone)
            try journal.write(
              HledgerJournal.Part(from: from, to: to, account: account, isFollowed: false), now: now
            ) { try file.write($0) }
          }
          return true
        }
        guard isKnown else { throw Problem(.unknownAccount) }
        try file.finish()
      } catch let failure as AccountExports.Failure {
        logger.error("a history could not be written", metadata: ["problem": "\(failure.reason)"])
        throw Problem(.internalFault, "the history cannot be written")
      }
      var answer = RESTAnswer(
        status: 200,
        headers: [("Content-Disposition", "attachment; filename=\"\(name.text).\(format.ending)\"")],
        mediaType: format.mediaType, body: [])
      answer.lines = file.pieces
      return answer
    }
  }

  /// Visits the entries of an account, oldest first, as the history shows them.
  private static func forEachEntry(
    _ account: LedgerAccount, _ reading: any LedgerReading, _ from: Instant?, _ to: Instant?, _ showsOthers: Bool,
    _ body: (JSONValue) throws -> Void
  ) throws {
    let pageSize = 1024
    var after: Int64 = 0
    while true {
      let page = try reading.history(
        of: account.id, HistoryRange(after: after, from: from, to: to, limit: pageSize))
      // Of each page alone: an account may have met everybody.
      var others: [Int64: LedgerAccount] = [:]
      for entry in page { try body(try line(entry, account, reading, &others, showsOthers: showsOthers)) }
      guard let last = page.last, page.count == pageSize else { return }
      after = last.transfer.seq
    }
  }

  private static let csvColumns = [
    "seq", "time", "kind", "amount", "balance", "currency", "counterpart", "call", "destination", "duration_ms",
    "billed_seconds", "rate", "reason", "reverses", "key", "actor", "detail",
  ]

  private static func writeCSV(
    _ account: LedgerAccount, _ reading: any LedgerReading, _ from: Instant?, _ to: Instant?, _ showsOthers: Bool,
    _ file: ExportFile
  ) throws {
    try file.write(csvColumns.joined(separator: ",") + "\r\n")
    try forEachEntry(account, reading, from, to, showsOthers) { entry in
      let cells = csvColumns.map { column -> String in
        switch entry[column] {
        case .string(let text): csvCell(text)
        case .integer(let value): String(value)
        default: ""
        }
      }
      try file.write(cells.joined(separator: ",") + "\r\n")
    }
  }

  /// RFC 4180 section 2.
  private static func csvCell(_ text: String) -> String {
    let needsQuotes = text.utf8.contains {
      $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r")
    }
    guard needsQuotes else { return text }
    return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
  }

  private static func writeJSON(
    _ account: LedgerAccount, _ reading: any LedgerReading, _ from: Instant?, _ to: Instant?, _ showsOthers: Bool,
    _ file: ExportFile
  ) throws {
    func text(_ tree: JSONValue) -> String { String(decoding: tree.bytes, as: UTF8.self) }
    try file.write(
      "{\"account\":\(text(.string(account.name))),\"currency\":\(text(.string("\(account.currency)"))),\"entries\":[")
    var isFirst = true
    try forEachEntry(account, reading, from, to, showsOthers) { entry in
      try file.write((isFirst ? "\n" : ",\n") + text(entry))
      isFirst = false
    }
    try file.write("\n]}\n")
  }

  // MARK: - Spend

  private var showSpend: RESTRoute.Handler {
    { call in
      let (_, stores) = try call.environment()
      let name = try call.account()
      var days = RESTService.defaultSpendDays
      if let text = call.query["days"] {
        guard let number = Int(text), (1...RESTService.maximumSpendDays).contains(number) else {
          throw RESTCall.invalidParameter(
            "days", "not a number of days", fix: "1 to \(RESTService.maximumSpendDays)")
        }
        days = number
      }
      let (count, now) = (Int64(days), call.now)
      let found = try await stores.ledger.read { reading -> (LedgerAccount, [JSONValue])? in
        guard let account = try reading.customer(named: name.text) else { return nil }
        let zone = (try? CivilZone(account.zone)) ?? .utc
        let today = zone.date(at: now)
        let first = CivilDate(dayNumber: today.dayNumber - count + 1)
        var spent: [Int64: MicroUnits] = [:]
        for counter in try reading.counters(of: account.id) { spent[counter.day] = counter.spent }
        let calls = try RESTService.callsByDay(account, reading, zone, from: zone.startOfDay(first))
        let rows = (first.dayNumber...today.dayNumber).map { day -> JSONValue in
          .members(
            [("date", .string("\(CivilDate(dayNumber: day))"))] + RESTTrees.money("spent", spent[day] ?? 0) + [
              ("calls", .integer(optional: calls.map { $0[day] ?? 0 }))
            ])
        }
        return (account, rows)
      }
      guard let (account, rows) = found else { throw Problem(.unknownAccount) }
      return .json(
        200,
        .members([
          ("account", .string(account.name)), ("currency", .string("\(account.currency)")), ("days", .array(rows)),
        ]))
    }
  }

  /// - Returns: `nil` where there are too many entries to count.
  private static func callsByDay(
    _ account: LedgerAccount, _ reading: any LedgerReading, _ zone: CivilZone, from: Instant
  ) throws -> [Int64: Int64]? {
    var calls: [Int64: Int64] = [:]
    var after: Int64 = 0
    var seen = 0
    while seen < maximumSpendEntries {
      let limit = 2048
      let page = try reading.history(of: account.id, HistoryRange(after: after, from: from, limit: limit))
      for line in page where line.transfer.kind == .call {
        calls[zone.date(at: line.transfer.at).dayNumber, default: 0] += 1
      }
      guard let last = page.last, page.count == limit else { return calls }
      seen += page.count
      after = last.transfer.seq
    }
    return nil
  }
}
