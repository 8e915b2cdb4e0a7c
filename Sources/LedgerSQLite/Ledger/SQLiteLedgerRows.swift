import CallModel
import LandlineSQLite
import LedgerCore

/// The rows of the ledger inside one write transaction of a connection.
///
/// Statements number their parameters `$1, $2, …` in the order in which they first appear, which SQLite and PostgreSQL
/// read alike.
final class SQLiteLedgerRows: LedgerRows {
  let connection: SQLiteConnection

  private let readDataVersion, readHead, saveHead: SQLiteStatement
  private let accountByID, customerByName, operatorByName, insertAccount, updateAccount, updateBalance: SQLiteStatement
  private let readOperation, insertOperation: SQLiteStatement
  private let readHold, insertHold, answerHold, extendHold, resolveHold, insertGrant, orphanHolds: SQLiteStatement
  private let insertTransfer, insertEntry, insertEvent, readTransfer, reversed: SQLiteStatement
  private let readCounter, saveCounter: SQLiteStatement
  private let newestNode, readNode, saveNode: SQLiteStatement
  private let pruneOperations, pruneHolds, pruneGrants: SQLiteStatement

  init(_ connection: SQLiteConnection) throws {
    self.connection = connection
    func prepare(_ sql: String) throws -> SQLiteStatement { try connection.statement(sql) }
    readDataVersion = try prepare("PRAGMA data_version")
    readHead = try prepare("SELECT seq, at, hash, next_account FROM ledger_head WHERE id = 1")
    saveHead = try prepare("UPDATE ledger_head SET seq = $1, at = $2, hash = $3, next_account = $4 WHERE id = 1")

    accountByID = try prepare("SELECT \(RowCoding.account) FROM account WHERE id = $1")
    customerByName = try prepare(
      "SELECT \(RowCoding.account) FROM account WHERE name = $1 AND kind IN ('prepaid', 'postpaid')")
    operatorByName = try prepare(
      "SELECT \(RowCoding.account) FROM account WHERE name = $1 AND currency = $2 AND kind NOT IN ('prepaid', 'postpaid')"
    )
    insertAccount = try prepare(
      """
      INSERT INTO account(\(RowCoding.account))
      VALUES($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)
      """)
    updateAccount = try prepare(
      """
      UPDATE account SET posted = $1, held = $2, floor = $3, version = $4, revision = $5, status = $6, plan = $7,
        cap_concurrent = $8, cap_second = $9, cap_call = $10, cap_day = $11, cap_rate = $12, cap_countries = $13,
        zone = $14, open_holds = $15, call_second = $16, calls_in_second = $17
      WHERE id = $18 AND revision = $19
      """)
    updateBalance = try prepare(
      """
      UPDATE account SET posted = $1, held = $2, version = $3, revision = $4, open_holds = $5, call_second = $6,
        calls_in_second = $7
      WHERE id = $8 AND revision = $9
      """)

    readOperation = try prepare("SELECT \(RowCoding.operation) FROM op WHERE account = $1 AND key = $2")
    insertOperation = try prepare("INSERT INTO op(\(RowCoding.operation)) VALUES($1, $2, $3, $4, $5, $6)")

    readHold = try prepare("SELECT \(RowCoding.hold) FROM hold WHERE account = $1 AND call_id = $2")
    insertHold = try prepare(
      """
      INSERT INTO hold(\(RowCoding.hold))
      VALUES($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)
      """)
    // One statement for each step: columns that it does not name keep their index entries untouched.
    answerHold = try prepare(
      "UPDATE hold SET state = $1, answered_at = $2, answered_uptime = $3 WHERE seq = $4 AND resolved_at IS NULL")
    extendHold = try prepare(
      """
      UPDATE hold SET amount = $1, granted_seconds = $2, extensions = $3, day = $4
      WHERE seq = $5 AND resolved_at IS NULL
      """)
    resolveHold = try prepare(
      """
      UPDATE hold SET state = $1, resolved_at = $2, duration_ms = $3, cost = $4, transfer = $5, reason = $6
      WHERE seq = $7 AND resolved_at IS NULL
      """)
    insertGrant = try prepare(
      "INSERT INTO hold_grant(hold, number, at, granted_seconds, amount) VALUES($1, $2, $3, $4, $5)")
    orphanHolds = try prepare(
      """
      SELECT \(RowCoding.hold) FROM hold WHERE node = $1 AND epoch < $2 AND resolved_at IS NULL ORDER BY seq LIMIT $3
      """)

    insertTransfer = try prepare(
      """
      INSERT INTO transfer(seq, kind, debit, credit, debit_version, credit_version, amount, currency, call_id, reverses,
        key, actor, at, event_at, detail, hash)
      VALUES($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
      """)
    insertEntry = try prepare(
      "INSERT INTO entry(account, version, transfer, amount, balance_after) VALUES($1, $2, $3, $4, $5)")
    insertEvent = try prepare("INSERT INTO account_event(\(RowCoding.event)) VALUES($1, $2, $3, $4, $5, $6, $7, $8)")
    readTransfer = try prepare("SELECT \(RowCoding.transfer) FROM transfer t WHERE t.seq = $1")
    reversed = try prepare("SELECT COALESCE(SUM(amount), 0) FROM transfer WHERE reverses = $1")

    readCounter = try prepare("SELECT account, day, spent, held FROM counter WHERE account = $1 AND day = $2")
    saveCounter = try prepare(
      """
      INSERT INTO counter(account, day, spent, held) VALUES($1, $2, $3, $4)
      ON CONFLICT(account, day) DO UPDATE SET spent = excluded.spent, held = excluded.held
      """)

    newestNode = try prepare("SELECT \(RowCoding.node) FROM node WHERE id = $1 ORDER BY epoch DESC LIMIT 1")
    readNode = try prepare("SELECT \(RowCoding.node) FROM node WHERE id = $1 AND epoch = $2")
    saveNode = try prepare(
      """
      INSERT INTO node(\(RowCoding.node)) VALUES($1, $2, $3, $4, $5)
      ON CONFLICT(id, epoch) DO UPDATE SET lease_until = excluded.lease_until, last_beat = excluded.last_beat,
        uptime = excluded.uptime
      """)

    // A person's keys (k/…) are money and stay for ever; calls' phases (c/…) end with the retries that need them.
    pruneOperations = try prepare("DELETE FROM op WHERE key >= 'c/' AND key < 'c0' AND at < $1")
    pruneGrants = try prepare(
      "DELETE FROM hold_grant WHERE hold IN (SELECT seq FROM hold WHERE state = 'voided' AND resolved_at < $1)")
    pruneHolds = try prepare("DELETE FROM hold WHERE state = 'voided' AND resolved_at < $1")
  }

  /// A number that changes when another connection, of this process or another, has committed
  /// (sqlite.org/pragma.html#pragma_data_version).
  func foreignChanges() throws -> Int64 { try readDataVersion.first { $0.int64(0) } ?? 0 }

  func head() throws -> LedgerHead {
    guard let head = try readHead.first(RowCoding.head) else { throw LedgerFault("the ledger has lost its head row") }
    return head
  }

  func save(_ head: LedgerHead) throws {
    try saveHead.bind(1, head.seq).bind(2, head.at.milliseconds).bind(3, head.hash).bind(4, head.nextAccount).run()
  }

  // MARK: Accounts

  func account(id: Int64) throws -> LedgerAccount? { try accountByID.bind(1, id).first(RowCoding.account) }

  func customer(named name: String) throws -> LedgerAccount? {
    try customerByName.bind(1, name).first(RowCoding.account)
  }

  func operatorAccount(named name: String, currency: Currency) throws -> LedgerAccount? {
    try operatorByName.bind(1, name).bind(2, currency.description).first(RowCoding.account)
  }

  func insert(_ account: LedgerAccount) throws {
    let caps = account.caps
    try insertAccount
      .bind(1, account.id).bind(2, account.name).bind(3, account.kind.rawValue).bind(4, account.currency.description)
      .bind(5, account.posted).bind(6, account.held).bind(7, account.floor).bind(8, account.version)
      .bind(9, account.revision).bind(10, account.status.rawValue).bind(11, account.plan)
      .bind(12, caps.concurrentCalls).bind(13, caps.callsPerSecond).bind(14, caps.perCall).bind(15, caps.perDay)
      .bind(16, caps.highestRate).bind(17, caps.countriesText).bind(18, account.zone).bind(19, account.openHolds)
      .bind(20, account.callSecond).bind(21, account.callsInSecond).bind(22, account.createdAt.milliseconds).run()
  }

  func update(_ account: LedgerAccount, ifRevision revision: Int64) throws -> Bool {
    let caps = account.caps
    try updateAccount
      .bind(1, account.posted).bind(2, account.held).bind(3, account.floor).bind(4, account.version)
      .bind(5, account.revision).bind(6, account.status.rawValue).bind(7, account.plan).bind(8, caps.concurrentCalls)
      .bind(9, caps.callsPerSecond).bind(10, caps.perCall).bind(11, caps.perDay).bind(12, caps.highestRate)
      .bind(13, caps.countriesText).bind(14, account.zone).bind(15, account.openHolds).bind(16, account.callSecond)
      .bind(17, account.callsInSecond).bind(18, account.id).bind(19, revision).run()
    return connection.changes == 1
  }

  func updateBalance(_ account: LedgerAccount, ifRevision revision: Int64) throws -> Bool {
    try updateBalance
      .bind(1, account.posted).bind(2, account.held).bind(3, account.version).bind(4, account.revision)
      .bind(5, account.openHolds).bind(6, account.callSecond).bind(7, account.callsInSecond).bind(8, account.id)
      .bind(9, revision).run()
    return connection.changes == 1
  }

  // MARK: Recorded answers

  func operation(account: Int64, key: String) throws -> OperationRecord? {
    try readOperation.bind(1, account).bind(2, key).first(RowCoding.operation)
  }

  func insert(_ operation: OperationRecord) throws {
    try insertOperation.bind(1, operation.account).bind(2, operation.key).bind(3, operation.seq)
      .bind(4, operation.requestHash).bind(5, operation.outcome).bind(6, operation.at.milliseconds).run()
  }

  // MARK: Holds

  func hold(account: Int64, call: CallID) throws -> Hold? {
    try readHold.bind(1, account).bind(2, call.text).first(RowCoding.hold)
  }

  func insert(_ hold: Hold) throws {
    try insertHold
      .bind(1, hold.account).bind(2, hold.call.text).bind(3, hold.seq).bind(4, hold.state.rawValue)
      .bind(5, hold.amount).bind(6, hold.grantedSeconds).bind(7, hold.extensions).bind(8, hold.maximumSeconds)
      .bind(9, hold.node.text).bind(10, hold.epoch).bind(11, hold.destination).bind(12, hold.isEmergency ? 1 : 0)
      .bind(13, hold.snapshot.text).bind(14, hold.linkedCall?.text).bind(15, hold.day)
      .bind(16, hold.authorisedAt.milliseconds).bind(17, hold.answeredAt?.milliseconds)
      .bind(18, hold.resolvedAt?.milliseconds).bind(19, hold.duration).bind(20, hold.cost).bind(21, hold.transfer)
      .bind(22, hold.reason).bind(23, hold.answeredUptime).run()
  }

  func answer(_ hold: Hold) throws -> Bool {
    try answerHold.bind(1, hold.state.rawValue).bind(2, hold.answeredAt?.milliseconds).bind(3, hold.answeredUptime)
      .bind(4, hold.seq).run()
    return connection.changes == 1
  }

  func extend(_ hold: Hold) throws -> Bool {
    try extendHold.bind(1, hold.amount).bind(2, hold.grantedSeconds).bind(3, hold.extensions).bind(4, hold.day)
      .bind(5, hold.seq).run()
    return connection.changes == 1
  }

  func resolve(_ hold: Hold) throws -> Bool {
    try resolveHold.bind(1, hold.state.rawValue).bind(2, hold.resolvedAt?.milliseconds).bind(3, hold.duration)
      .bind(4, hold.cost).bind(5, hold.transfer).bind(6, hold.reason).bind(7, hold.seq).run()
    return connection.changes == 1
  }

  func insert(_ grant: HoldGrant) throws {
    try insertGrant.bind(1, grant.hold).bind(2, grant.number).bind(3, grant.at.milliseconds)
      .bind(4, grant.grantedSeconds).bind(5, grant.amount).run()
  }

  func openHolds(node: NodeID, beforeEpoch epoch: Int64, limit: Int) throws -> [Hold] {
    try orphanHolds.bind(1, node.text).bind(2, epoch).bind(3, Int64(limit)).rows(RowCoding.hold)
  }

  // MARK: Money

  func insert(_ transfer: Transfer) throws {
    try insertTransfer
      .bind(1, transfer.seq).bind(2, transfer.kind.rawValue).bind(3, transfer.debit).bind(4, transfer.credit)
      .bind(5, transfer.debitVersion).bind(6, transfer.creditVersion).bind(7, transfer.amount)
      .bind(8, transfer.currency.description).bind(9, transfer.call?.text).bind(10, transfer.reverses)
      .bind(11, transfer.key).bind(12, transfer.actor).bind(13, transfer.at.milliseconds)
      .bind(14, transfer.eventAt.milliseconds).bind(15, transfer.detail).bind(16, transfer.hash).run()
  }

  func insert(_ entry: Entry) throws {
    try insertEntry.bind(1, entry.account).bind(2, entry.version).bind(3, entry.transfer).bind(4, entry.amount)
      .bind(5, entry.balanceAfter).run()
  }

  func insert(_ event: AccountEvent) throws {
    try insertEvent.bind(1, event.seq).bind(2, event.account).bind(3, event.kind).bind(4, event.settings)
      .bind(5, event.actor).bind(6, event.at.milliseconds).bind(7, event.hash).bind(8, event.reason).run()
  }

  func transfer(seq: Int64) throws -> Transfer? { try readTransfer.bind(1, seq).first(RowCoding.transfer) }

  func reversedAmount(of seq: Int64) throws -> MicroUnits {
    try reversed.bind(1, seq).first { $0.amount(0) } ?? .zero
  }

  // MARK: Counters and nodes

  func counter(account: Int64, day: Int64) throws -> DayCounter? {
    try readCounter.bind(1, account).bind(2, day).first(RowCoding.counter)
  }

  func save(_ counter: DayCounter) throws {
    try saveCounter.bind(1, counter.account).bind(2, counter.day).bind(3, counter.spent).bind(4, counter.held).run()
  }

  func newestLife(of id: NodeID) throws -> LedgerNode? { try newestNode.bind(1, id.text).first(RowCoding.node) }

  func life(of id: NodeID, epoch: Int64) throws -> LedgerNode? {
    try readNode.bind(1, id.text).bind(2, epoch).first(RowCoding.node)
  }

  func save(_ node: LedgerNode) throws {
    try saveNode.bind(1, node.id.text).bind(2, node.epoch).bind(3, node.leaseUntil.milliseconds)
      .bind(4, node.lastBeat.milliseconds).bind(5, node.uptime).run()
  }

  func prune(before instant: Instant) throws -> Int {
    var deleted = 0
    for statement in [pruneOperations, pruneGrants, pruneHolds] {
      try statement.bind(1, instant.milliseconds).run()
      deleted += connection.changes
    }
    return deleted
  }
}
