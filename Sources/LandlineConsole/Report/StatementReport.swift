import CallModel
import LedgerCore

/// One month of one account: opening balance, totals by kind, calls by destination, closing balance.
struct StatementReport {
  struct Total: Hashable {
    var count: Int64 = 0
    var amount = MicroUnits.zero
  }

  struct Destination: Hashable {
    var name: String
    var prefix: String
  }

  struct Calls: Hashable {
    var count: Int64 = 0
    var billedSeconds: Int64 = 0
    var amount = MicroUnits.zero
  }

  var head: LedgerHead
  var account: LedgerAccount
  var month: String
  var zone: CivilZone
  var period: Period
  var opening: MicroUnits
  var closing: MicroUnits
  /// In the order of ``TransferKind``.
  var totals: [(kind: TransferKind, total: Total)]
  /// Dearest first.
  var destinations: [(destination: Destination, calls: Calls)]

  init(_ reading: any LedgerReading, account: LedgerAccount, month: String, zone: CivilZone) throws {
    self.account = account
    self.month = month
    self.zone = zone
    head = try reading.head()
    period = try Period(month: month, zone: zone)
    opening = try reading.lastEntry(of: account.id, before: period.from)?.balanceAfter ?? .zero
    closing = try reading.lastEntry(of: account.id, before: period.to)?.balanceAfter ?? .zero
    var totals: [TransferKind: Total] = [:]
    var calls: [Destination: Calls] = [:]
    let pageSize = 2048
    var after: Int64 = 0
    while true {
      let page = try reading.history(
        of: account.id, HistoryRange(after: after, from: period.from, to: period.to, limit: pageSize))
      for line in page {
        totals[line.transfer.kind, default: Total()].count += 1
        totals[line.transfer.kind, default: Total()].amount += line.entry.amount
        // The payer of a call is on its debit side.
        guard line.transfer.kind == .call, let call = line.transfer.call,
          let hold = try reading.hold(account: line.transfer.debit, call: call)
        else { continue }
        let destination = Destination(name: hold.snapshot.destination, prefix: hold.snapshot.prefix)
        calls[destination, default: Calls()].count += 1
        calls[destination, default: Calls()].billedSeconds +=
          hold.settlement(milliseconds: hold.duration ?? 0).billedSeconds
        calls[destination, default: Calls()].amount += line.entry.amount
      }
      guard let last = page.last, page.count == pageSize else { break }
      after = last.transfer.seq
    }
    self.totals = TransferKind.allCases.compactMap { kind in totals[kind].map { (kind, $0) } }
    destinations = calls.map { ($0.key, $0.value) }.sorted { left, right in
      (left.1.amount, left.0.name, left.0.prefix) < (right.1.amount, right.0.name, right.0.prefix)
    }
  }

  /// Billed minutes in hundredths, to the nearest.
  static func minutes(_ seconds: Int64) -> String { DecimalText.format((seconds * 100 + 30) / 60, scale: 2) }

  func answer() throws -> Answer {
    let currency = account.currency
    var table = Listing([
      Column("line", title: ""), Column("count", .number), Column("amount", title: "amount (\(currency))", .number),
    ])
    var records = Listing([
      Column("section"), Column("name"), Column("prefix"), Column("count", .number), Column("billed_seconds", .number),
      Column("amount", .amount), Column("currency"),
    ])
    func record(
      _ section: String, _ name: String, prefix: String? = nil, _ count: Int64?, seconds: Int64? = nil,
      _ amount: MicroUnits
    ) throws {
      records.rows.append([
        .text(section), .text(name), .text(optional: prefix), .integer(optional: count), .integer(optional: seconds),
        .signed(try account.credits(amount)), .text("\(currency)"),
      ])
    }
    table.rows.append([.text("opening balance"), .absent, .amount(try account.credits(opening))])
    try record("balance", "opening", nil, opening)
    for (kind, total) in totals {
      table.rows.append([.text(kind.rawValue), .integer(total.count), .signed(try account.credits(total.amount))])
      try record("kind", kind.rawValue, total.count, total.amount)
    }
    table.rows.append([.text("closing balance"), .absent, .amount(try account.credits(closing))])
    var calls = Listing([
      Column("destination"), Column("prefix"), Column("calls", .number), Column("minutes", .number),
      Column("amount", title: "amount (\(currency))", .number),
    ])
    for (destination, total) in destinations {
      calls.rows.append([
        .text(destination.name), .text(destination.prefix), .integer(total.count),
        .text(StatementReport.minutes(total.billedSeconds)), .signed(try account.credits(total.amount)),
      ])
      try record(
        "destination", destination.name, prefix: destination.prefix, total.count, seconds: total.billedSeconds,
        total.amount)
    }
    try record("balance", "closing", nil, closing)
    var answer = Answer(
      blocks: [.line("statement of \(account.displayName), \(month) (\(zone))"), .line(""), .listing(table)],
      members: [], records: records, asOf: head)
    if !destinations.isEmpty { answer.blocks += [.line(""), .listing(calls)] }
    func money(_ name: String, _ amount: MicroUnits) throws -> [(String, JSONValue)] {
      [(name, .string(try account.credits(amount).decimal)), (name + "_micro", .integer(amount.count))]
    }
    answer.members = [
      ("account", .string(account.displayName)), ("currency", .string("\(currency)")), ("month", .string(month)),
      ("zone", .string(zone.identifier)), ("from", .string("\(period.from ?? .distantPast)")),
      ("to", .string("\(period.to ?? .distantFuture)")),
    ]
    answer.members += try money("opening", opening)
    let kinds = try totals.map { kind, total in
      JSONValue.members(
        [("kind", .string(kind.rawValue)), ("count", .integer(total.count))] + (try money("amount", total.amount)))
    }
    answer.members.append(("kinds", .array(kinds)))
    answer.members.append(
      (
        "destinations",
        .array(
          try destinations.map { destination, total in
            .members(
              [
                ("destination", .string(destination.name)), ("prefix", .string(destination.prefix)),
                ("calls", .integer(total.count)), ("billed_seconds", .integer(total.billedSeconds)),
              ] + (try money("amount", total.amount)))
          })
      ))
    answer.members += try money("closing", closing)
    return answer
  }
}
