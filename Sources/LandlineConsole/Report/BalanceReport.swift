import CallModel
import LedgerCore

/// What accounts have booked, held and available, now or at a past instant.
struct BalanceReport {
  struct Line: Hashable {
    var account: LedgerAccount
    var posted: MicroUnits
    var held: MicroUnits
    var floor: MicroUnits
    var openCalls: Int64
    var status: String
  }

  var head: LedgerHead
  /// The past instant asked for.
  var at: Instant?
  var lines: [Line]

  init(_ reading: any LedgerReading, accounts names: [String], includesOperator: Bool, at: Instant?) throws {
    head = try reading.head()
    self.at = at
    let lookup = LedgerLookup(reading)
    var accounts: [LedgerAccount] = []
    if names.isEmpty {
      accounts = try reading.allAccounts().filter { includesOperator || $0.kind.isCustomer }
    } else {
      for name in names { accounts.append(contentsOf: try lookup.accounts(name)) }
    }
    guard let at else {
      lines = accounts.map {
        Line(
          account: $0, posted: $0.posted, held: $0.held, floor: $0.floor, openCalls: $0.openHolds,
          status: $0.status.rawValue)
      }
      return
    }
    let settings = try BalanceReport.settings(reading, at: at)
    lines = []
    for account in accounts {
      guard let past = settings[account.id] else {
        if names.isEmpty { continue }
        throw ConsoleError(
          .notFound, code: "unknownAccount", "the account did not exist at \(at)", at: account.displayName,
          fix: "an instant from \(account.createdAt) on")
      }
      let posted = try reading.lastEntry(of: account.id, before: at.advanced(byMilliseconds: 1))?.balanceAfter ?? 0
      var held = MicroUnits.zero
      var open: Int64 = 0
      try reading.forEachHold(HoldFilter(account: account.id, limit: 0)) { hold in
        guard hold.authorisedAt <= at, hold.resolvedAt.map({ at < $0 }) ?? true else { return }
        held += try reading.grants(ofHold: hold.seq).last { $0.at <= at }?.amount ?? 0
        open += 1
      }
      lines.append(
        Line(
          account: account, posted: posted, held: held,
          floor: past["floor"].flatMap { Int64($0) }.map { MicroUnits($0) } ?? account.floor,
          openCalls: open, status: past["status"] ?? account.status.rawValue))
    }
  }

  /// Each account's settings as last recorded at `instant`.
  private static func settings(
    _ reading: any LedgerReading, at instant: Instant
  ) throws -> [Int64: [String: String]] {
    let pageSize = 2048
    var newest: [Int64: String] = [:]
    var after: Int64 = 0
    scan: while true {
      let page = try reading.events(after: after, limit: pageSize)
      for event in page {
        guard event.at <= instant else { break scan }
        newest[event.account] = event.settings
      }
      guard let last = page.last, page.count == pageSize else { break }
      after = last.seq
    }
    return newest.mapValues { text in
      var fields: [String: String] = [:]
      for field in text.split(separator: ";") {
        let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2 { fields[String(parts[0])] = String(parts[1]) }
      }
      return fields
    }
  }

  func answer() throws -> Answer {
    var listing = Listing([
      Column("account"), Column("currency"), Column("posted", .amount), Column("held", .amount),
      Column("available", .amount), Column("open_calls", title: "open calls", .number), Column("status"),
    ])
    for line in lines {
      let account = line.account
      listing.rows.append([
        .text(account.displayName), .text("\(account.currency)"), .amount(try account.credits(line.posted)),
        .amount(try account.credits(line.held)),
        // An operator's account has no floor worth naming.
        account.kind.isCustomer
          ? .amount(try account.credits(line.posted - line.held - line.floor)) : .absent,
        .integer(line.openCalls), .text(line.status),
      ])
    }
    var answer = Answer("accounts", listing, asOf: head)
    if let at {
      answer.members.append(("at", .string("\(at)")))
      answer.blocks.append(.line("at \(at)"))
    }
    return answer
  }
}
