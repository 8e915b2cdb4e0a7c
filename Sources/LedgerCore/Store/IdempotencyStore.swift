public import CallModel

/// Answers of requests that carried an idempotency key: the same request gets the same answer for a day.
public protocol IdempotencyStore: Sendable {
  /// Takes a key for a request, or tells what became of it.
  /// - Parameter digest: SHA-256 of method, path and body.
  func begin(_ key: String, scope: String, digest: [UInt8], now: Instant) async throws -> IdempotencyState
  func finish(_ key: String, scope: String, status: Int, body: [UInt8]) async throws
  /// The request was never carried out: its key is free again.
  func abandon(_ key: String, scope: String) async throws
}

/// What became of a key: whether its request is to be carried out now and, if not, why.
public enum IdempotencyState: Hashable, Sendable {
  case fresh
  /// Another request with this key is being carried out, or was when the gateway stopped: its outcome is to be asked for.
  case running
  case finished(status: Int, body: [UInt8])
  /// The key belongs to a request with other content.
  case conflict
}
