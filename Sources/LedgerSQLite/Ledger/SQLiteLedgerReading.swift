import CallModel
import LandlineSQLite
import LedgerCore

/// One snapshot of the ledger on a connection that has an open read transaction.
struct SQLiteLedgerReading: LedgerReading {
  let connection: SQLiteConnection

  private func statement(_ sql: String) throws -> SQLiteStatement { try connection.statement(sql) }

  private static let booked = """
    SELECT \(RowCoding.transfer), d.account, d.version, d.transfer, d.amount, d.balance_after,
      c.account, c.version, c.transfer, c.amount, c.balance_after
    FROM transfer t
      LEFT JOIN entry d ON d.account = t.debit AND d.version = t.debit_version AND d.transfer = t.seq
      LEFT JOIN entry c ON c.account = t.credit AND c.version = t.credit_version AND c.transfer = t.seq
    """

  private func booked(_ row: SQLiteStatement) throws -> BookedTransfer {
    BookedTransfer(
      transfer: try RowCoding.transfer(row), debit: RowCoding.entry(row, at: RowCoding.transferColumns),
      credit: RowCoding.entry(row, at: RowCoding.transferColumns + 5))
  }

  func head() throws -> LedgerHead {
    guard
      let head = try statement("SELECT seq, at, hash, next_account FROM ledger_head WHERE id = 1").first(RowCoding.head)
    else { throw LedgerFault("the ledger has lost its head row") }
    return head
  }

  // MARK: Accounts

  func accounts(after id: Int64, limit: Int) throws -> [LedgerAccount] {
    try statement("SELECT \(RowCoding.account) FROM account WHERE id > $1 ORDER BY id LIMIT $2")
      .bind(1, id).bind(2, Int64(limit)).rows(RowCoding.account)
  }

  func account(id: Int64) throws -> LedgerAccount? {
    try statement("SELECT \(RowCoding.account) FROM account WHERE id = $1").bind(1, id).first(RowCoding.account)
  }

  func customer(named name: String) throws -> LedgerAccount? {
    try statement("SELECT \(RowCoding.account) FROM account WHERE name = $1 AND kind IN ('prepaid', 'postpaid')")
      .bind(1, name).first(RowCoding.account)
  }

  // MARK: Money

  /// The sequence numbers of a time range: booking times never run backwards, so the range is one stretch.
  private func sequence(_ range: HistoryRange) throws -> (after: Int64, before: Int64) {
    var after = range.after
    var before = Int64.max
    if let from = range.from {
      let first = try statement("SELECT seq FROM transfer WHERE at >= $1 ORDER BY at, seq LIMIT 1")
        .bind(1, from.milliseconds).first { $0.int64(0) }
      after = max(after, first.map { $0 - 1 } ?? .max)
    }
    if let to = range.to {
      before =
        try statement("SELECT seq FROM transfer WHERE at >= $1 ORDER BY at, seq LIMIT 1")
        .bind(1, to.milliseconds).first { $0.int64(0) } ?? .max
    }
    return (after, before)
  }

  func history(of account: Int64, _ range: HistoryRange) throws -> [HistoryLine] {
    let (after, before) = try sequence(range)
    let lines = try statement(
      """
      SELECT \(RowCoding.transfer), e.account, e.version, e.transfer, e.amount, e.balance_after
      FROM entry e JOIN transfer t ON t.seq = e.transfer
      WHERE e.account = $1 AND e.transfer > $2 AND e.transfer < $3
      ORDER BY e.version \(range.newest ? "DESC" : "ASC") LIMIT $4
      """
    ).bind(1, account).bind(2, after).bind(3, before).bind(4, Int64(range.limit)).rows { row in
      let transfer = try RowCoding.transfer(row)
      guard let entry = RowCoding.entry(row, at: RowCoding.transferColumns) else {
        throw LedgerFault("transfer \(transfer.seq) lacks an entry")
      }
      return HistoryLine(transfer: transfer, entry: entry)
    }
    return range.newest ? lines.reversed() : lines
  }

  func transfers(_ range: HistoryRange) throws -> [BookedTransfer] {
    let (after, before) = try sequence(range)
    let rows = try statement(
      """
      \(SQLiteLedgerReading.booked) WHERE t.seq > $1 AND t.seq < $2
      ORDER BY t.seq \(range.newest ? "DESC" : "ASC") LIMIT $3
      """
    ).bind(1, after).bind(2, before).bind(3, Int64(range.limit)).rows(booked)
    return range.newest ? rows.reversed() : rows
  }

  func transfer(seq: Int64) throws -> BookedTransfer? {
    try statement("\(SQLiteLedgerReading.booked) WHERE t.seq = $1").bind(1, seq).first(booked)
  }

  func events(after seq: Int64, limit: Int) throws -> [AccountEvent] {
    try statement("SELECT \(RowCoding.event) FROM account_event WHERE seq > $1 ORDER BY seq LIMIT $2")
      .bind(1, seq).bind(2, Int64(limit)).rows(RowCoding.event)
  }

  func latestEvent(of account: Int64) throws -> AccountEvent? {
    try statement("SELECT \(RowCoding.event) FROM account_event WHERE account = $1 ORDER BY seq DESC LIMIT 1")
      .bind(1, account).first(RowCoding.event)
  }

  func latestLockEvent(of account: Int64) throws -> AccountEvent? {
    try statement(
      """
      SELECT \(RowCoding.event) FROM account_event WHERE account = $1 AND kind IN ('lock', 'unlock')
      ORDER BY seq DESC LIMIT 1
      """
    ).bind(1, account).first(RowCoding.event)
  }

  func lastEntry(of account: Int64, before instant: Instant?) throws -> Entry? {
    let before = try sequence(HistoryRange(to: instant, limit: 1)).before
    return try statement(
      """
      SELECT account, version, transfer, amount, balance_after FROM entry WHERE account = $1 AND transfer < $2
      ORDER BY version DESC LIMIT 1
      """
    ).bind(1, account).bind(2, before).first { RowCoding.entry($0) } ?? nil
  }

  // MARK: Holds

  func holds(_ filter: HoldFilter) throws -> [Hold] {
    var conditions = ["seq > $1"]
    var parameters: [(SQLiteStatement, Int32) -> Void] = []
    if let account = filter.account {
      conditions.append("account = $\(parameters.count + 2)")
      parameters.append { $0.bind($1, account) }
    }
    if let node = filter.node {
      conditions.append("node = $\(parameters.count + 2)")
      parameters.append { $0.bind($1, node.text) }
    }
    if filter.openOnly { conditions.append("resolved_at IS NULL") }
    let statement = try statement(
      """
      SELECT \(RowCoding.hold) FROM hold\(filter.openOnly ? " INDEXED BY hold_open" : "")
      WHERE \(conditions.joined(separator: " AND "))
      ORDER BY seq LIMIT $\(parameters.count + 2)
      """)
    statement.bind(1, filter.after)
    for (index, bind) in parameters.enumerated() { bind(statement, Int32(index) + 2) }
    return try statement.bind(Int32(parameters.count) + 2, Int64(filter.limit)).rows(RowCoding.hold)
  }

  func hold(account: Int64, call: CallID) throws -> Hold? {
    try statement("SELECT \(RowCoding.hold) FROM hold WHERE account = $1 AND call_id = $2")
      .bind(1, account).bind(2, call.text).first(RowCoding.hold)
  }

  func grants(ofHold seq: Int64) throws -> [HoldGrant] {
    try statement("SELECT hold, number, at, granted_seconds, amount FROM hold_grant WHERE hold = $1 ORDER BY number")
      .bind(1, seq).rows {
        HoldGrant(
          hold: $0.int64(0), number: $0.int64(1), at: Instant(milliseconds: $0.int64(2)), grantedSeconds: $0.int64(3),
          amount: $0.amount(4))
      }
  }

  func openHoldTotals() throws -> [Int64: (amount: MicroUnits, count: Int64)] {
    let rows = try statement(
      "SELECT account, SUM(amount), COUNT(*) FROM hold INDEXED BY hold_open WHERE resolved_at IS NULL GROUP BY account"
    ).rows { ($0.int64(0), (amount: MicroUnits($0.int64(1)), count: $0.int64(2))) }
    return Dictionary(uniqueKeysWithValues: rows)
  }

  // MARK: Counters, answers, nodes

  func counters(of account: Int64?) throws -> [DayCounter] {
    guard let account else {
      return try statement("SELECT account, day, spent, held FROM counter ORDER BY account, day").rows(
        RowCoding.counter)
    }
    return try statement("SELECT account, day, spent, held FROM counter WHERE account = $1 ORDER BY day")
      .bind(1, account).rows(RowCoding.counter)
  }

  func countersFromHolds() throws -> [DayCounter] {
    try statement(
      """
      SELECT account, day, COALESCE(SUM(cost), 0), COALESCE(SUM(CASE WHEN resolved_at IS NULL THEN amount END), 0)
      FROM hold GROUP BY account, day ORDER BY account, day
      """
    ).rows(RowCoding.counter)
  }

  func operations(afterAccount account: Int64, key: String, limit: Int) throws -> [OperationRecord] {
    try statement(
      "SELECT \(RowCoding.operation) FROM op WHERE (account, key) > ($1, $2) ORDER BY account, key LIMIT $3"
    )
    .bind(1, account).bind(2, key).bind(3, Int64(limit)).rows(RowCoding.operation)
  }

  func operation(account: Int64, key: String) throws -> OperationRecord? {
    try statement("SELECT \(RowCoding.operation) FROM op WHERE account = $1 AND key = $2")
      .bind(1, account).bind(2, key).first(RowCoding.operation)
  }

  func nodes() throws -> [LedgerNode] {
    try statement("SELECT \(RowCoding.node) FROM node ORDER BY id, epoch").rows(RowCoding.node)
  }

  func counts() throws -> LedgerCounts {
    LedgerCounts(
      accounts: try connection.integer("SELECT COUNT(*) FROM account"),
      transfers: try connection.integer("SELECT COUNT(*) FROM transfer"),
      entries: try connection.integer("SELECT COUNT(*) FROM entry"),
      openHolds: try connection.integer("SELECT COUNT(*) FROM hold WHERE resolved_at IS NULL"))
  }
}
