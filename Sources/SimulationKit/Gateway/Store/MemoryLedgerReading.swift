import CallModel
import LedgerCore

/// The state of a ledger in memory as the real verifier reads it.
struct MemoryLedgerReading: LedgerReading {
  let rows: MemoryLedgerRows

  func head() -> LedgerHead { rows.ledgerHead }

  func accounts(after id: Int64, limit: Int) -> [LedgerAccount] {
    Array(rows.accounts.values.filter { $0.id > id }.sorted { $0.id < $1.id }.prefix(limit))
  }

  func account(id: Int64) -> LedgerAccount? { rows.account(id: id) }
  func customer(named name: String) -> LedgerAccount? { rows.customer(named: name) }

  // MARK: Money

  private func isBooked(_ at: Instant, _ range: HistoryRange) -> Bool {
    range.from.map { $0 <= at } ?? true && range.to.map { at < $0 } ?? true
  }

  private func cut<Row>(_ rows: [Row], _ range: HistoryRange) -> [Row] {
    Array(range.newest ? rows.suffix(range.limit) : rows.prefix(range.limit))
  }

  func history(of account: Int64, _ range: HistoryRange) -> [HistoryLine] {
    let lines = (rows.entries[account] ?? []).compactMap { entry -> HistoryLine? in
      guard entry.transfer > range.after, let transfer = rows.transfer(seq: entry.transfer),
        isBooked(transfer.at, range)
      else { return nil }
      return HistoryLine(transfer: transfer, entry: entry)
    }
    return cut(lines, range)
  }

  private func booked(_ transfer: Transfer) -> BookedTransfer {
    func entry(_ account: Int64, _ version: Int64) -> Entry? {
      guard let entries = rows.entries[account], version >= 1, version <= entries.count else { return nil }
      return entries[Int(version) - 1]
    }
    return BookedTransfer(
      transfer: transfer, debit: entry(transfer.debit, transfer.debitVersion),
      credit: entry(transfer.credit, transfer.creditVersion))
  }

  func transfers(_ range: HistoryRange) -> [BookedTransfer] {
    cut(rows.transfers.filter { $0.seq > range.after && isBooked($0.at, range) }, range).map(booked)
  }

  func transfer(seq: Int64) -> BookedTransfer? { rows.transfer(seq: seq).map(booked) }

  func events(after seq: Int64, limit: Int) -> [AccountEvent] {
    Array(rows.events.filter { $0.seq > seq }.prefix(limit))
  }

  func latestLockEvent(of account: Int64) -> AccountEvent? {
    rows.events.last { $0.account == account && ["lock", "unlock"].contains($0.kind) }
  }

  func latestEvent(of account: Int64) -> AccountEvent? { rows.events.last { $0.account == account } }

  func lastEntry(of account: Int64, before instant: Instant?) -> Entry? {
    guard let instant else { return rows.entries[account]?.last }
    return rows.entries[account]?.last { entry in
      rows.transfer(seq: entry.transfer).map { $0.at < instant } ?? false
    }
  }

  // MARK: Holds

  func holds(_ filter: HoldFilter) -> [Hold] {
    Array(
      rows.holds.lazy.filter {
        $0.seq > filter.after && (!filter.openOnly || $0.state.isOpen)
          && (filter.account == nil || $0.account == filter.account)
          && (filter.node == nil || $0.node == filter.node)
      }.prefix(filter.limit))
  }

  func hold(account: Int64, call: CallID) -> Hold? { rows.hold(account: account, call: call) }
  func grants(ofHold seq: Int64) -> [HoldGrant] { rows.grants[seq] ?? [] }

  func openHoldTotals() -> [Int64: (amount: MicroUnits, count: Int64)] {
    rows.openHolds.reduce(into: [:]) { totals, index in
      let hold = rows.holds[index]
      let total = totals[hold.account] ?? (0, 0)
      totals[hold.account] = (total.amount + hold.amount, total.count + 1)
    }
  }

  // MARK: Counters, answers, nodes

  func counters(of account: Int64?) -> [DayCounter] {
    rows.counters.values.flatMap(\.values).filter { account == nil || $0.account == account }.sorted {
      ($0.account, $0.day) < ($1.account, $1.day)
    }
  }

  func countersFromHolds() -> [DayCounter] {
    var days: [Int64: [Int64: DayCounter]] = [:]
    for hold in rows.holds {
      var counter =
        days[hold.account]?[hold.day] ?? DayCounter(account: hold.account, day: hold.day, spent: 0, held: 0)
      counter.spent += hold.cost ?? 0
      if hold.state.isOpen { counter.held += hold.amount }
      days[hold.account, default: [:]][hold.day] = counter
    }
    return days.values.flatMap(\.values).sorted { ($0.account, $0.day) < ($1.account, $1.day) }
  }

  func operations(afterAccount account: Int64, key: String, limit: Int) -> [OperationRecord] {
    Array(
      rows.operations.values.filter { ($0.account, $0.key) > (account, key) }
        .sorted { ($0.account, $0.key) < ($1.account, $1.key) }.prefix(limit))
  }

  func operation(account: Int64, key: String) -> OperationRecord? { rows.operation(account: account, key: key) }
  func nodes() -> [LedgerNode] { rows.nodes.sorted { ($0.id.text, $0.epoch) < ($1.id.text, $1.epoch) } }

  func counts() -> LedgerCounts {
    LedgerCounts(
      accounts: Int64(rows.accounts.count), transfers: Int64(rows.transfers.count),
      entries: Int64(rows.entries.values.reduce(0) { $0 + $1.count }), openHolds: Int64(rows.openHolds.count))
  }
}
