public import CallModel
import LandlineSQLite
public import LedgerCore

extension SQLiteGatewayStore: IdempotencyStore {
  /// How long a key means its first request.
  public static let idempotencyMilliseconds: Int64 = 86_400_000
  /// Most bytes of an answer that is kept.
  public static let maximumBodyBytes = 1 << 20

  /// Keys taken at or before this are free again.
  static func idempotencyHorizon(_ now: Instant) -> Instant {
    now.advanced(byMilliseconds: -idempotencyMilliseconds)
  }

  /// A key is free again a day after it was taken; old ones are deleted a few at a time along the way.
  /// - Throws: ``InvalidValue`` when the key or the scope is longer than ``maximumTextBytes``; ``LedgerUnavailable``.
  public func begin(
    _ key: String, scope: String, digest: [UInt8], now: Instant
  ) async throws -> IdempotencyState {
    try SQLiteGatewayStore.check(key, kind: "idempotency key")
    try SQLiteGatewayStore.check(scope, kind: "scope")
    return try await change { connection in
      let horizon = SQLiteGatewayStore.idempotencyHorizon(now).milliseconds
      try connection.statement(
        "DELETE FROM idempotency WHERE (scope, key) IN (SELECT scope, key FROM idempotency WHERE at <= $1 LIMIT $2)"
      ).bind(1, horizon).bind(2, SQLiteGatewayStore.rowsTakenAlong).run()
      try connection.statement(
        """
        INSERT INTO idempotency(scope, key, digest, at) VALUES($1, $2, $3, $4)
        ON CONFLICT(scope, key) DO UPDATE SET digest = excluded.digest, at = excluded.at, status = NULL, body = NULL
          WHERE idempotency.at <= $5
        """
      ).bind(1, scope).bind(2, key).bind(3, digest).bind(4, now.milliseconds).bind(5, horizon).run()
      if connection.changes == 1 { return .fresh }
      let statement = try connection.statement(
        "SELECT digest, status, body FROM idempotency WHERE scope = $1 AND key = $2"
      ).bind(1, scope).bind(2, key)
      defer { statement.reset() }
      guard try statement.step() else { throw LedgerUnavailable(.corrupt, "a key is there and is not") }
      guard statement.blob(0) == digest else { return .conflict }
      guard let status = statement.optionalInt64(1) else { return .running }
      return .finished(status: Int(status), body: statement.blob(2))
    }
  }

  /// Keeps the answer for repeats; a key that was never taken stays unknown.
  /// - Throws: ``InvalidValue`` when the body is larger than ``maximumBodyBytes``; ``LedgerUnavailable``.
  public func finish(_ key: String, scope: String, status: Int, body: [UInt8]) async throws {
    guard body.count <= SQLiteGatewayStore.maximumBodyBytes else {
      throw InvalidValue(
        kind: "answer", rule: "store.long", offset: nil, problem: "\(body.count) bytes are too many to be kept",
        accepted: "at most \(SQLiteGatewayStore.maximumBodyBytes)")
    }
    try await change { connection in
      try connection.statement("UPDATE idempotency SET status = $1, body = $2 WHERE scope = $3 AND key = $4")
        .bind(1, Int64(status)).bind(2, body).bind(3, scope).bind(4, key).run()
    }
  }

  /// Frees the key of a request that was never carried out; an answer that is kept already stays.
  public func abandon(_ key: String, scope: String) async throws {
    try await change { connection in
      try connection.statement("DELETE FROM idempotency WHERE scope = $1 AND key = $2 AND status IS NULL")
        .bind(1, scope).bind(2, key).run()
    }
  }
}
