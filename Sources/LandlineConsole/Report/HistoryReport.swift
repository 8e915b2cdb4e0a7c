import CallModel
import LedgerCore

/// The entries of one account with their running balance, and its open holds.
struct HistoryReport {
  struct Line {
    var history: HistoryLine
    /// The other side's account.
    var counterpart: LedgerAccount
    /// The hold of a call's charge or refund.
    var hold: Hold?
  }

  var head: LedgerHead
  var account: LedgerAccount
  var lines: [Line]
  /// Open holds, oldest first; empty where the range does not reach the present.
  var holds: [Hold]
  /// There is more after the last line.
  var isCut: Bool

  /// Open holds shown at most.
  static let maximumHolds = 1000

  init(
    _ reading: any LedgerReading, account: LedgerAccount, period: Period, page: PageOptions, reason: String?,
    now: Instant
  ) throws {
    head = try reading.head()
    self.account = account
    var lookup = LedgerLookup(reading)
    lines = []
    isCut = false
    let newest = page.after == nil && reason == nil
    var after = page.after ?? 0
    // One more than the page tells whether there is more; a filter may need many pages.
    scan: while true {
      let limit = reason == nil ? page.limit + 1 : 2048
      let found = try reading.history(
        of: account.id,
        HistoryRange(after: after, from: period.from, to: period.to, limit: limit, newest: newest))
      for line in found {
        let other = line.transfer.debit == account.id ? line.transfer.credit : line.transfer.debit
        let hold = try line.transfer.call.flatMap { call in
          try reading.hold(account: account.kind.isCustomer ? account.id : other, call: call)
        }
        if let reason, hold?.reason != reason { continue }
        lines.append(Line(history: line, counterpart: try lookup.account(id: other), hold: hold))
        if lines.count > page.limit { break scan }
      }
      guard let last = found.last, found.count == limit, reason != nil else { break }
      after = last.transfer.seq
    }
    if lines.count > page.limit {
      isCut = true
      if newest { lines.removeFirst() } else { lines.removeLast() }
    }
    let reachesNow = period.to.map { now < $0 } ?? true
    holds =
      reachesNow && reason == nil && (newest || !isCut)
      ? try reading.holds(HoldFilter(account: account.id, openOnly: true, limit: HistoryReport.maximumHolds)) : []
  }

  static func describe(_ line: Line) -> String {
    let transfer = line.history.transfer
    var words: [String] = []
    switch transfer.kind {
    case .call:
      if let hold = line.hold {
        words = [
          hold.destination, describe(duration: hold.duration ?? 0), describe(step: hold.snapshot, hold.answeredAt),
        ]
      } else {
        words = [transfer.detail]
      }
      return words.joined(separator: " ")
    case .termination, .overrun:
      return ([transfer.detail] + (transfer.call.map { ["call \($0)"] } ?? [])).joined(separator: " ")
    case .refund, .chargeback: words = ["of \(transfer.reverses ?? 0)"]
    case .transfer:
      words = [line.history.entry.amount < 0 ? "to" : "from", line.counterpart.displayName]
    case .opening, .topup, .adjust: words = []
    }
    words += ["key", transfer.key]
    if !transfer.detail.isEmpty { words.append(transfer.detail) }
    return words.joined(separator: " ")
  }

  /// `63.412s`
  static func describe(duration milliseconds: Int64) -> String {
    "\(DecimalText.format(milliseconds, scale: 3))s"
  }

  /// Initial and next increment: `60/1`.
  static func describe(step snapshot: RateSnapshot, _ answeredAt: Instant?) -> String {
    let tariff = snapshot.segment(at: answeredAt ?? .distantPast).tariff
    return "\(tariff.initial)/\(tariff.tiers[0].increment)"
  }

  func answer() throws -> Answer {
    let currency = account.currency
    var table = Listing([
      Column("seq"), Column("time"), Column("kind"), Column("detail"),
      Column("amount", title: "amount (\(currency))", .number),
      Column("balance", title: "balance (\(currency))", .number), Column("mark", title: ""),
    ])
    // Ids of calls, for landline explain; a column of nothing is left out.
    let hasCalls = lines.contains { $0.history.transfer.call != nil } || !holds.isEmpty
    if hasCalls { table.columns.append(Column("call")) }
    var records = Listing([
      Column("seq", .number), Column("time"), Column("kind"), Column("amount", .amount), Column("balance", .amount),
      Column("currency"), Column("counterpart"), Column("call"), Column("destination"), Column("duration_ms", .number),
      Column("billed_seconds", .number), Column("rate", .rate), Column("reason"), Column("reverses", .number),
      Column("key"), Column("actor"), Column("detail"),
    ])
    for line in lines {
      let transfer = line.history.transfer
      let entry = line.history.entry
      table.rows.append(
        [
          .text(String(transfer.seq)), .instant(transfer.at), .text(transfer.kind.rawValue),
          .text(HistoryReport.describe(line)), .signed(try account.credits(entry.amount)),
          .amount(try account.credits(entry.balanceAfter)), .absent,
        ] + (hasCalls ? [.text(optional: transfer.call?.text)] : []))
      let hold = transfer.kind == .call ? line.hold : nil
      records.rows.append([
        .integer(transfer.seq), .instant(transfer.at), .text(transfer.kind.rawValue),
        .signed(try account.credits(entry.amount)), .amount(try account.credits(entry.balanceAfter)),
        .text("\(currency)"), .text(line.counterpart.displayName), .text(optional: transfer.call?.text),
        .text(optional: line.hold?.destination), .integer(optional: hold?.duration),
        .integer(optional: hold.map { $0.settlement(milliseconds: $0.duration ?? 0).billedSeconds }),
        .rate(
          optional: hold.map { $0.snapshot.segment(at: $0.answeredAt ?? .distantPast).tariff.tiers[0].ratePerMinute }),
        .text(optional: hold?.reason), .integer(optional: transfer.reverses), .text(transfer.key),
        .text(transfer.actor),
        .text(transfer.detail),
      ])
    }
    var available = account.posted - account.floor
    for hold in holds {
      available -= hold.amount
      // Brackets: reserved, not moved.
      let amount = try account.credits(hold.amount)
      table.rows.append([
        .text("\(hold.seq)*"), .instant(hold.authorisedAt), .text("hold"),
        .text("\(hold.destination) \(hold.grantedSeconds)s granted"), .reserved(amount),
        .amount(try account.credits(available)), .text("avail."), .text(hold.call.text),
      ])
    }
    let holdListing = try HoldReport.listing(holds) { _ in account }
    var answer = Answer(
      blocks: [.listing(table)],
      members: [
        ("account", .string(account.displayName)), ("currency", .string("\(currency)")),
        ("entries", .array(records.json)),
        ("open_holds", .array(holdListing.json)),
        ("next_after", isCut ? lines.last.map { .integer($0.history.transfer.seq) } ?? .null : .null),
      ], records: records, asOf: head)
    if !holds.isEmpty { answer.blocks.append(.line("* open hold, not part of the balance")) }
    return answer
  }
}
