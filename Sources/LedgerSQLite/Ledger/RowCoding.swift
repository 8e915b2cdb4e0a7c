import CallModel
import LandlineSQLite
import LedgerCore

/// Reading rows back into values. A value that cannot be read was put there by someone else: the row is refused.
enum RowCoding {
  static let account = """
    id, name, kind, currency, posted, held, floor, version, revision, status, plan, cap_concurrent, cap_second, cap_call, \
    cap_day, cap_rate, cap_countries, zone, open_holds, call_second, calls_in_second, created_at
    """
  static let hold = """
    account, call_id, seq, state, amount, granted_seconds, extensions, maximum_seconds, node, epoch, destination, \
    is_emergency, snapshot, linked_call, day, authorised_at, answered_at, resolved_at, duration_ms, cost, transfer, reason, \
    answered_uptime
    """
  static let transfer = """
    t.seq, t.kind, t.debit, t.credit, t.debit_version, t.credit_version, t.amount, t.currency, t.call_id, t.reverses, \
    t.key, t.actor, t.at, t.event_at, t.detail, t.hash
    """
  static let event = "seq, account, kind, settings, actor, at, hash, reason"
  static let node = "id, epoch, lease_until, last_beat, uptime"
  static let operation = "account, key, seq, request_hash, outcome, at"

  /// A column whose text is none of the values that the type knows.
  static func unreadable(_ table: String, _ text: String) -> LedgerFault {
    LedgerFault("table \(table) holds the unknown value \"\(text.prefix(40))\"")
  }

  private static func value<Value: RawRepresentable>(
    _ row: SQLiteStatement, _ column: Int32, _ table: String
  ) throws -> Value where Value.RawValue == String {
    let text = row.text(column)
    guard let value = Value(rawValue: text) else { throw unreadable(table, text) }
    return value
  }

  private static func currency(_ row: SQLiteStatement, _ column: Int32, _ table: String) throws -> Currency {
    let text = row.text(column)
    do { return try Currency(text) } catch { throw unreadable(table, text) }
  }

  static func account(_ row: SQLiteStatement) throws -> LedgerAccount {
    LedgerAccount(
      id: row.int64(0), name: row.text(1), kind: try value(row, 2, "account"),
      currency: try currency(row, 3, "account"), posted: row.amount(4), held: row.amount(5), floor: row.amount(6),
      version: row.int64(7), revision: row.int64(8), status: try value(row, 9, "account"), plan: row.text(10),
      caps: AccountCaps(
        concurrentCalls: row.optionalInt64(11), callsPerSecond: row.optionalInt64(12), perCall: row.optionalAmount(13),
        perDay: row.optionalAmount(14), highestRate: row.optionalAmount(15),
        countries: AccountCaps.countries(parsing: row.optionalText(16))),
      zone: row.text(17), openHolds: row.int64(18), callSecond: row.int64(19), callsInSecond: row.int64(20),
      createdAt: Instant(milliseconds: row.int64(21)))
  }

  static func hold(_ row: SQLiteStatement) throws -> Hold {
    let snapshot: RateSnapshot
    do { snapshot = try RateSnapshot(parsing: row.text(12)) } catch {
      throw LedgerFault("the price of call \(row.text(1)) cannot be read: \(error)")
    }
    return Hold(
      account: row.int64(0), call: CallID(unchecked: row.text(1)), seq: row.int64(2), state: try value(row, 3, "hold"),
      amount: row.amount(4), grantedSeconds: row.int64(5), extensions: row.int64(6), maximumSeconds: row.int64(7),
      node: NodeID(unchecked: row.text(8)), epoch: row.int64(9), destination: row.text(10),
      isEmergency: row.int64(11) != 0, snapshot: snapshot,
      linkedCall: row.optionalText(13).map { CallID(unchecked: $0) }, day: row.int64(14),
      authorisedAt: Instant(milliseconds: row.int64(15)),
      answeredAt: row.optionalInt64(16).map { Instant(milliseconds: $0) }, answeredUptime: row.optionalInt64(22),
      resolvedAt: row.optionalInt64(17).map { Instant(milliseconds: $0) }, duration: row.optionalInt64(18),
      cost: row.optionalAmount(19), transfer: row.optionalInt64(20), reason: row.optionalText(21))
  }

  static func transfer(_ row: SQLiteStatement) throws -> Transfer {
    Transfer(
      seq: row.int64(0), kind: try value(row, 1, "transfer"), debit: row.int64(2), credit: row.int64(3),
      debitVersion: row.int64(4), creditVersion: row.int64(5), amount: row.amount(6),
      currency: try currency(row, 7, "transfer"), call: row.optionalText(8).map { CallID(unchecked: $0) },
      reverses: row.optionalInt64(9), key: row.text(10), actor: row.text(11), at: Instant(milliseconds: row.int64(12)),
      eventAt: Instant(milliseconds: row.int64(13)), detail: row.text(14), hash: row.blob(15))
  }

  /// Columns of ``transfer(_:)``; further columns of a join start here.
  static let transferColumns: Int32 = 16

  /// An entry whose five columns start at `column`; `nil` where an outer join found none.
  static func entry(_ row: SQLiteStatement, at column: Int32 = 0) -> Entry? {
    guard let account = row.optionalInt64(column) else { return nil }
    return Entry(
      account: account, version: row.int64(column + 1), transfer: row.int64(column + 2),
      amount: row.amount(column + 3), balanceAfter: row.amount(column + 4))
  }

  static func event(_ row: SQLiteStatement) -> AccountEvent {
    AccountEvent(
      seq: row.int64(0), account: row.int64(1), kind: row.text(2), settings: row.text(3), actor: row.text(4),
      at: Instant(milliseconds: row.int64(5)), reason: row.optionalText(7), hash: row.blob(6))
  }

  static func operation(_ row: SQLiteStatement) -> OperationRecord {
    OperationRecord(
      account: row.int64(0), key: row.text(1), seq: row.int64(2), requestHash: row.int64(3), outcome: row.text(4),
      at: Instant(milliseconds: row.int64(5)))
  }

  static func node(_ row: SQLiteStatement) -> LedgerNode {
    LedgerNode(
      id: NodeID(unchecked: row.text(0)), epoch: row.int64(1), leaseUntil: Instant(milliseconds: row.int64(2)),
      lastBeat: Instant(milliseconds: row.int64(3)), uptime: row.optionalInt64(4))
  }

  static func counter(_ row: SQLiteStatement) -> DayCounter {
    DayCounter(account: row.int64(0), day: row.int64(1), spent: row.amount(2), held: row.amount(3))
  }

  static func head(_ row: SQLiteStatement) -> LedgerHead {
    LedgerHead(
      seq: row.int64(0), at: Instant(milliseconds: row.int64(1)), hash: row.blob(2), nextAccount: row.int64(3))
  }
}

// MARK: - Money in rows

extension SQLiteStatement {
  @discardableResult
  func bind(_ index: Int32, _ amount: some MoneyUnits) -> SQLiteStatement { bind(index, amount.count) }

  @discardableResult
  func bind(_ index: Int32, _ amount: (some MoneyUnits)?) -> SQLiteStatement { bind(index, amount?.count) }

  func amount<Amount: MoneyUnits>(_ column: Int32) -> Amount { Amount(int64(column)) }

  func optionalAmount<Amount: MoneyUnits>(_ column: Int32) -> Amount? { optionalInt64(column).map { Amount($0) } }
}

extension SQLiteStatement {
  /// Every row of a bound statement.
  func rows<Row>(_ body: (SQLiteStatement) throws -> Row) throws -> [Row] {
    defer { reset() }
    var rows: [Row] = []
    while try step() { rows.append(try body(self)) }
    return rows
  }

  /// The first row of a bound statement.
  func first<Row>(_ body: (SQLiteStatement) throws -> Row) throws -> Row? {
    defer { reset() }
    return try step() ? try body(self) : nil
  }
}
