public import CallModel

/// The books as a journal that hledger and ledger-cli can check: every posting asserts the balance it leaves.
///
/// A customer's credit is the operator's debt, so signs are those of the operator's books: what the ledger counts as
/// positive is negative here. A period that starts late opens with every balance; a file that another one follows
/// closes with every balance, so that the files add up when they are read together and each one checks alone.
public struct HledgerJournal {
  /// Which part of the books is written.
  public struct Part: Sendable {
    /// Booked at or after; `nil` from the beginning.
    public var from: Instant?
    /// Booked before; `nil` to the present.
    public var to: Instant?
    /// One customer only; other accounts' postings go without assertions.
    public var account: LedgerAccount?
    /// Ends with a transaction that takes every balance back to zero.
    public var isFollowed: Bool

    /// `isFollowed` counts only where `to` is given.
    public init(from: Instant?, to: Instant?, account: LedgerAccount?, isFollowed: Bool) {
      self.from = from
      self.to = to
      self.account = account
      self.isFollowed = isFollowed
    }
  }

  private static let pageSize = 2048

  private let reading: any LedgerReading
  private let zone: CivilZone
  private let head: LedgerHead
  private let accounts: [LedgerAccount]
  private let byID: [Int64: LedgerAccount]
  private var lastDate: CivilDate?

  /// - Parameters:
  ///   - reading: one snapshot of the books.
  ///   - zone: whose days the transactions are dated by.
  public init(_ reading: any LedgerReading, zone: CivilZone) throws {
    self.reading = reading
    self.zone = zone
    head = try reading.head()
    accounts = try reading.allAccounts()
    byID = Dictionary(accounts.map { ($0.id, $0) }) { first, _ in first }
  }

  /// Writes a part in pieces of any size.
  public mutating func write(_ part: Part, now: Instant, to out: (String) throws -> Void) throws {
    lastDate = part.from.map { zone.date(at: $0) }
    try out(try header(part))
    if let from = part.from {
      try out(
        try balances(part, before: from, on: zone.date(at: from), code: "OPEN", "opening balances", isClosing: false))
    }
    try writeTransfers(part, to: out)
    let reachesNow = part.to.map { now < $0 } ?? true
    if reachesNow { try writeHolds(part, to: out) }
    if part.isFollowed, let to = part.to {
      let last = CivilDate(dayNumber: zone.date(at: to).dayNumber - 1)
      try out(try balances(part, before: to, on: last, code: "CLOSE", "closing balances", isClosing: true))
    }
  }

  /// Months with bookings, and every one between them, in order.
  public func months() throws -> [CivilDate] {
    guard let first = try reading.transfers(HistoryRange(limit: 1)).first,
      let last = try reading.transfers(HistoryRange(limit: 1, newest: true)).last
    else { return [] }
    func month(_ instant: Instant) -> CivilDate {
      let date = zone.date(at: instant)
      return CivilDate(dayNumber: date.dayNumber - Int64(date.day) + 1)
    }
    var months = [month(first.transfer.at)]
    while let latest = months.last, latest < month(last.transfer.at) { months.append(latest.firstOfNextMonth) }
    return months
  }
}

// MARK: - Head

extension HledgerJournal {
  private func header(_ part: Part) throws -> String {
    var text = "; landline export, booked in \(zone) time"
    if let account = part.account { text += ", account \(account.name) only" }
    if let from = part.from, let to = part.to { text += ", from \(from) to before \(to)" }
    text += "\n; as of seq \(head.seq)  \(head.at)\n; head \(head.fullHash)\n\ndecimal-mark .\n"
    let shown = try part.account.map { try partners(of: $0, part) } ?? accounts
    for currency in Set(shown.map(\.currency)).sorted() { text += "commodity \(currency) 1000.000000\n" }
    var names = Set(shown.map(\.journalName))
    if part.account != nil { names.insert(ChartOfAccounts.opening) }
    for account in shown where account.kind.isCustomer && account.openHolds > 0 { names.insert(heldName(account)) }
    for name in names.sorted() { text += "account \(name)\n" }
    return text
  }

  /// The account and those on the other side of its transfers; no other customer is named.
  private func partners(of account: LedgerAccount, _ part: Part) throws -> [LedgerAccount] {
    var ids: Set<Int64> = [account.id]
    var after: Int64 = 0
    while true {
      let page = try reading.history(
        of: account.id,
        HistoryRange(after: after, from: part.from, to: part.to, limit: HledgerJournal.pageSize))
      for line in page { ids.formUnion([line.transfer.debit, line.transfer.credit]) }
      guard let last = page.last, page.count == HledgerJournal.pageSize else { break }
      after = last.transfer.seq
    }
    return accounts.filter { ids.contains($0.id) }
  }

  private func heldName(_ account: LedgerAccount) -> String { "liabilities:held:\(account.name)" }

  /// All balances at an instant as one transaction: opening when they are put in place, closing when they are taken away.
  private func balances(
    _ part: Part, before instant: Instant, on date: CivilDate, code: String, _ title: String, isClosing: Bool
  ) throws -> String {
    var text = ""
    func posting(_ name: String, _ amount: MicroUnits, _ currency: Currency, asserting balance: MicroUnits?) {
      text += "    \(name)    \(currency) \(amount.decimal)"
      if let balance { text += " = \(currency) \(balance.decimal)" }
      text += "\n"
    }
    for account in accounts where part.account.map({ $0.id == account.id }) ?? true {
      guard let balance = try reading.lastEntry(of: account.id, before: instant)?.balanceAfter, balance != .zero else {
        continue
      }
      let amount = isClosing ? balance : -balance
      posting(account.journalName, amount, account.currency, asserting: isClosing ? .zero : amount)
      // Alone, one account's balance needs another side; all accounts together add up to zero.
      if part.account != nil {
        posting(ChartOfAccounts.opening, -amount, account.currency, asserting: nil)
      }
    }
    return text.isEmpty ? "" : "\n\(date) * (\(code)) \(title)\n\(text)"
  }

}

// MARK: - Transfers and holds

extension HledgerJournal {
  private mutating func writeTransfers(_ part: Part, to out: (String) throws -> Void) throws {
    var after: Int64 = 0
    while true {
      let range = HistoryRange(
        after: after, from: part.from, to: part.to, limit: HledgerJournal.pageSize)
      let page: [BookedTransfer]
      if let account = part.account {
        page = try reading.history(of: account.id, range).compactMap { try reading.transfer(seq: $0.transfer.seq) }
      } else {
        page = try reading.transfers(range)
      }
      var text = ""
      for booked in page { text += try transaction(booked, part) }
      try out(text)
      guard let last = page.last, page.count == HledgerJournal.pageSize else { return }
      after = last.transfer.seq
    }
  }

  /// Dates never run backwards inside a file, whatever the zone's clocks do.
  private mutating func date(_ instant: Instant) -> CivilDate {
    let date = max(zone.date(at: instant), lastDate ?? zone.date(at: instant))
    lastDate = date
    return date
  }

  private mutating func transaction(_ booked: BookedTransfer, _ part: Part) throws -> String {
    let transfer = booked.transfer
    guard let debit = booked.debit, let credit = booked.credit else {
      throw LedgerFault("transfer \(transfer.seq) lacks an entry")
    }
    let hold = try transfer.call.flatMap { call in
      try (byID[transfer.debit]?.kind.isCustomer ?? false ? transfer.debit : transfer.credit)
        .hold(of: call, in: reading)
    }
    var title = transfer.kind.rawValue
    if transfer.kind == .call, let hold { title += " \(hold.destination)" }
    if let reversed = transfer.reverses { title += " of \(reversed)" }
    var tags: [String] = []
    func tag(_ name: String, _ value: String) { tags.append("\(name):\(JournalText.tagValue(value))") }
    if let call = transfer.call { tag("call", call.text) }
    if transfer.kind == .call, let hold {
      let settlement = hold.settlement(milliseconds: hold.duration ?? 0)
      let tariff = hold.snapshot.segment(at: hold.answeredAt ?? .distantPast).tariff
      tag("dur", DecimalText.format(settlement.duration, scale: 3))
      tag("billed", String(settlement.billedSeconds))
      tags.append("rate:\(JournalText.rate(tariff.tiers[0].ratePerMinute))")
    }
    switch transfer.kind {
    case .call, .termination, .overrun: break
    case .opening, .topup, .refund, .adjust, .transfer, .chargeback: tag("key", transfer.key)
    }
    if !transfer.detail.isEmpty, transfer.kind != .call { tag("note", transfer.detail) }
    var text =
      "\n\(date(transfer.at)) * (\(transfer.seq)) \(JournalText.description(title))  ; \(tags.joined(separator: ", "))\n"
    for entry in [debit, credit] {
      guard let account = byID[entry.account] else {
        throw LedgerFault("transfer \(transfer.seq) names no account")
      }
      text += "    \(account.journalName)    \(account.currency) \((-entry.amount).decimal)"
      if part.account.map({ $0.id == account.id }) ?? true {
        text += " = \(account.currency) \((-entry.balanceAfter).decimal)"
      }
      text += "\n"
    }
    return text
  }

  /// Open holds come last and pending: `-C` shows what is booked, the default what is available. They carry the date of
  /// the ledger's head, so that no assertion follows them.
  private mutating func writeHolds(_ part: Part, to out: (String) throws -> Void) throws {
    let date = date(head.at)
    let journal = self
    try reading.forEachHold(HoldFilter(account: part.account?.id, openOnly: true, limit: 0)) { hold in
      guard let account = journal.byID[hold.account], hold.amount > .zero else { return }
      let amount = hold.amount.decimal
      try out(
        "\n\(date) ! (\(hold.seq)) hold \(JournalText.description(hold.destination))"
          + "  ; call:\(JournalText.tagValue(hold.call.text)), granted:\(hold.grantedSeconds)\n"
          + "    \(account.journalName)    \(account.currency) \(amount)\n"
          + "    \(journal.heldName(account))    \(account.currency) -\(amount)\n")
    }
  }
}

extension Int64 {
  fileprivate func hold(of call: CallID, in reading: any LedgerReading) throws -> Hold? {
    try reading.hold(account: self, call: call)
  }
}
