public import CallEngine
public import CallModel
import LandlineSQLite

extension SQLiteGatewayStore: CallTraceStore {
  /// Replaces what is kept of the same call; `at` is what ``dropTraces(before:)`` goes by.
  public func submit(
    _ trace: @escaping @Sendable () -> [UInt8], of call: CallID, at: Instant,
    _ completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    submit(canWait: true, completion) { connection in
      try connection.statement(
        """
        INSERT INTO call_trace(call, at, document) VALUES($1, $2, $3)
        ON CONFLICT(call) DO UPDATE SET at = excluded.at, document = excluded.document
        """
      ).bind(1, call.text).bind(2, at.milliseconds).bind(3, trace()).run()
    }
  }

  /// The bytes as they were kept; `nil` when there are none, or no more.
  public func trace(of call: CallID) async throws -> [UInt8]? {
    try await readNewest { connection in
      let statement = try connection.statement("SELECT document FROM call_trace WHERE call = $1").bind(1, call.text)
      defer { statement.reset() }
      return try statement.step() ? statement.blob(0) : nil
    }
  }

  /// Deletes traces kept before `instant`, in batches that let other changes through.
  /// - Returns: how many.
  public func dropTraces(before instant: Instant) async throws -> Int {
    try await deleteAll(
      "DELETE FROM call_trace WHERE call IN (SELECT call FROM call_trace WHERE at < $1 LIMIT $2)",
      before: instant.milliseconds)
  }
}
