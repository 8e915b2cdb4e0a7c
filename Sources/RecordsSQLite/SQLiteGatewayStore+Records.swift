import AppProtocol
public import CallEngine
public import CallModel
import Foundation
import LandlineSQLite
import LedgerCore

extension SQLiteGatewayStore: CallRecordStore {
  /// Kept as JSON, with what queries ask for in columns beside it; a record of the same call is replaced.
  public func submit(_ record: CallRecord, _ completion: @escaping @Sendable ((any Error)?) -> Void) {
    submit(canWait: true, completion) { connection in
      let document = CallRecordDocument(record).text
      try connection.statement(
        """
        INSERT INTO call_record(id, environment, account, destination, cause, started_at, ended_at, document)
        VALUES($1, $2, $3, $4, $5, $6, $7, $8)
        ON CONFLICT(id) DO UPDATE SET environment = excluded.environment, account = excluded.account,
          destination = excluded.destination, cause = excluded.cause, started_at = excluded.started_at,
          ended_at = excluded.ended_at, document = excluded.document
        """
      ).bind(1, record.call.id.text).bind(2, record.call.environment).bind(3, record.call.account.text)
        .bind(4, record.call.destination).bind(5, record.summary.cause.rawValue)
        .bind(6, record.call.startedAt.milliseconds).bind(7, record.summary.endedAt.milliseconds).bind(8, document)
        .run()
    }
  }

  /// New figures replace those of the same name; the record of the call may come later, or be there already.
  public func submit(
    _ statistics: [String: Double], to call: CallID, _ completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    let added = CallStatistics.bounded(statistics)
    guard !added.isEmpty else { return completion(nil) }
    let now = clock().milliseconds
    submit(completion) { connection in
      let kept = try SQLiteGatewayStore.statistics(of: call.text, connection)
      let all = CallStatistics.bounded(kept.merging(added) { _, new in new })
      let document = String(decoding: try JSONEncoder().encode(all), as: UTF8.self)
      try connection.statement(
        """
        INSERT INTO call_statistics(call, at, document) VALUES($1, $2, $3)
        ON CONFLICT(call) DO UPDATE SET at = excluded.at, document = excluded.document
        """
      ).bind(1, call.text).bind(2, now).bind(3, document).run()
    }
  }

  /// Of any environment; figures that were added on their own are merged in.
  public func record(_ call: CallID) async throws -> CallRecord? { try await record(call, environment: nil) }

  /// Of all environments, newest first; a limit outside of 1 to ``CallRecordQuery/maximumLimit`` is brought into it.
  public func records(_ query: CallRecordQuery) async throws -> CallRecordPage {
    try await records(query, environment: nil)
  }

  /// Also sweeps what has ended by itself (``sweep(now:)``).
  public func prune(before instant: Instant) async throws -> Int {
    try await sweep(now: clock())
    let deleted = try await deleteAll(
      "DELETE FROM call_record WHERE id IN (SELECT id FROM call_record WHERE ended_at < $1 LIMIT $2)",
      before: instant.milliseconds)
    // Those of records that went, and those whose record never came.
    _ = try await deleteAll(
      """
      DELETE FROM call_statistics WHERE call IN
        (SELECT call FROM call_statistics WHERE at < $1 AND NOT EXISTS
          (SELECT 1 FROM call_record WHERE call_record.id = call_statistics.call) LIMIT $2)
      """, before: max(instant, clock().advanced(byMilliseconds: -SQLiteGatewayStore.orphanMilliseconds)).milliseconds)
    return deleted
  }

  /// How long what an app measured waits for the record of its call.
  static let orphanMilliseconds: Int64 = 86_400_000

  /// Forgets what apps measured in calls that ended before `instant`; the records stay.
  /// - Returns: how many records had something.
  @discardableResult
  public func dropStatistics(before instant: Instant) async throws -> Int {
    var dropped = try await deleteAll(
      """
      DELETE FROM call_statistics WHERE call IN
        (SELECT call FROM call_statistics JOIN call_record ON call_record.id = call_statistics.call
         WHERE call_record.ended_at < $1 LIMIT $2)
      """, before: instant.milliseconds)
    dropped += try await deleteAll(
      """
      UPDATE call_record SET document = json_remove(document, '$.statistics') WHERE id IN
        (SELECT id FROM call_record WHERE ended_at < $1
         AND json_extract(document, '$.statistics') IS NOT NULL
         AND json_extract(document, '$.statistics') <> '{}' LIMIT $2)
      """, before: instant.milliseconds)
    return dropped
  }

  /// The records of one environment alone.
  public func records(of environment: String) -> EnvironmentCallRecords {
    EnvironmentCallRecords(store: self, environment: environment)
  }

  // MARK: Reading

  private static let columns = "id, environment, account, destination, cause, started_at, document"

  func record(_ call: CallID, environment: String?) async throws -> CallRecord? {
    try await readNewest { connection in
      let statement = try connection.statement(
        "SELECT \(SQLiteGatewayStore.columns) FROM call_record WHERE id = $1"
      ).bind(1, call.text)
      defer { statement.reset() }
      guard try statement.step() else { return nil }
      let record = try SQLiteGatewayStore.record(statement, connection)
      return environment == nil || record.call.environment == environment ? record : nil
    }
  }

  func records(_ query: CallRecordQuery, environment: String?) async throws -> CallRecordPage {
    let cursor = try query.cursor.map { text throws(InvalidValue) in try CallRecordCursor(text) }
    let limit = min(max(query.limit, 1), CallRecordQuery.maximumLimit)
    return try await readNewest { connection in
      let statement = try SQLiteGatewayStore.select(connection, query, environment, cursor, limit)
      defer { statement.reset() }
      var records: [CallRecord] = []
      var hasMore = false
      while try statement.step() {
        if records.count == limit {
          hasMore = true
          break
        }
        records.append(try SQLiteGatewayStore.record(statement, connection))
      }
      let next = hasMore ? records.last : nil
      return CallRecordPage(
        records: records,
        next: next.map { CallRecordCursor(start: $0.call.startedAt.milliseconds, id: $0.call.id.text).text })
    }
  }

  /// The statement of a query: fixed texts only, every value is bound.
  private static func select(
    _ connection: SQLiteConnection, _ query: CallRecordQuery, _ environment: String?, _ cursor: CallRecordCursor?,
    _ limit: Int
  ) throws -> SQLiteStatement {
    var conditions: [String] = []
    var bindings: [(SQLiteStatement, Int32) -> Void] = []
    func add(_ condition: String, _ bind: @escaping (SQLiteStatement, Int32) -> Void) {
      conditions.append(condition)
      bindings.append(bind)
    }
    if let environment { add("environment = ?") { $0.bind($1, environment) } }
    if let account = query.account { add("account = ?") { $0.bind($1, account.text) } }
    if let from = query.from { add("started_at >= ?") { $0.bind($1, from.milliseconds) } }
    if let to = query.to { add("started_at < ?") { $0.bind($1, to.milliseconds) } }
    if let cause = query.cause { add("cause = ?") { $0.bind($1, cause.rawValue) } }
    if let destination = query.destination, !destination.isEmpty {
      // All texts that begin so lie between it and it with the last code point behind.
      add("destination >= ?") { $0.bind($1, destination) }
      add("destination < ?") { $0.bind($1, destination + "\u{10FFFF}") }
    }
    if let cursor {
      conditions.append("(started_at, id) < (?, ?)")
      bindings.append { $0.bind($1, cursor.start) }
      bindings.append { $0.bind($1, cursor.id) }
    }
    let filter = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
    let statement = try connection.statement(
      "SELECT \(columns) FROM call_record\(filter) ORDER BY started_at DESC, id DESC LIMIT ?")
    for (index, bind) in bindings.enumerated() { bind(statement, Int32(index + 1)) }
    return statement.bind(Int32(bindings.count + 1), Int64(limit + 1))
  }

  private static func record(_ statement: SQLiteStatement, _ connection: SQLiteConnection) throws -> CallRecord {
    let columns = CallRecordColumns(
      id: statement.text(0), environment: statement.text(1), account: statement.text(2),
      destination: statement.text(3), cause: statement.text(4))
    do {
      let document = try JSONDecoder().decode(CallRecordDocument.self, from: Data(statement.text(6).utf8))
      var record = try document.record(columns)
      // What was added on its own is newer.
      record.clientStatistics.merge(try statistics(of: columns.id, connection)) { _, new in new }
      return record
    } catch let error as SQLiteError {
      throw error
    } catch {
      throw LedgerUnavailable(.corrupt, "the record of call \(columns.id) cannot be read: \(error)")
    }
  }

  private static func statistics(of call: String, _ connection: SQLiteConnection) throws -> [String: Double] {
    let statement = try connection.statement("SELECT document FROM call_statistics WHERE call = $1").bind(1, call)
    defer { statement.reset() }
    guard try statement.step() else { return [:] }
    return try JSONDecoder().decode([String: Double].self, from: Data(statement.text(0).utf8))
  }
}

/// The records of one environment: those of others are not there.
public struct EnvironmentCallRecords: CallRecordStore {
  let store: SQLiteGatewayStore
  /// As it stands in ``CallRecord``s: records of any other name are not seen.
  public let environment: String

  /// The record goes under the environment that it names itself.
  public func submit(_ record: CallRecord, _ completion: @escaping @Sendable ((any Error)?) -> Void) {
    store.submit(record, completion)
  }
  /// By the call alone: figures of a call are kept apart from its record, which names the environment.
  public func submit(
    _ statistics: [String: Double], to call: CallID, _ completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    store.submit(statistics, to: call, completion)
  }
  /// `nil` also for a call of another environment.
  public func record(_ call: CallID) async throws -> CallRecord? {
    try await store.record(call, environment: environment)
  }
  /// Newest start first, as ``SQLiteGatewayStore/records(_:)``, but of this environment alone.
  public func records(_ query: CallRecordQuery) async throws -> CallRecordPage {
    try await store.records(query, environment: environment)
  }
  /// Of all environments: the file is one.
  public func prune(before instant: Instant) async throws -> Int { try await store.prune(before: instant) }
  /// Of all environments: the file is one.
  public func dropStatistics(before instant: Instant) async throws -> Int {
    try await store.dropStatistics(before: instant)
  }
}
