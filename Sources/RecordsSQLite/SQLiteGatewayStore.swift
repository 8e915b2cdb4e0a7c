public import CallModel
import Dispatch
import Foundation
import LandlineSQLite
public import LedgerCore

/// What the gateway itself keeps, in one SQLite file beside the ledgers: call records, the state of registrations, and
/// answers of requests that carried an idempotency key.
///
/// Every change is answered after its commit is on disk. Several processes may use one file at the same time.
public final class SQLiteGatewayStore: Sendable {
  /// The store in the words of its refusals.
  static let words = "the gateway's store"
  /// Changes that may wait for the writer.
  public static let queueLimit = 8192
  /// Readers at the same time.
  public static let readerLimit = 4
  /// Most bytes of a text that is kept as a key: nonces, scopes, names of devices.
  public static let maximumTextBytes = 512
  /// Rows that one transaction of pruning deletes, so that no change waits long for it.
  public static let pruneBatch: Int64 = 1000

  /// The file as it was named to ``open(path:createIfMissing:)``; SQLite keeps its log beside it.
  public let path: String
  let queue: WriterQueue<GatewayJob>
  let readers: ReaderPool
  /// The time at which something was kept, for its later pruning.
  let clock: @Sendable () -> Instant

  /// Opens a store and starts its writer. A new file is readable by this user only, and so is an older one from now on.
  /// - Parameter gathers: records and traces may wait a moment for others, so that they share a commit: for a gateway,
  ///   where nobody waits for each.
  /// - Throws: ``LedgerUnavailable``: `missing` unless `createIfMissing`, `notPermitted`, `corrupt`, `newer`, `busy`.
  public static func open(
    path: String, createIfMissing: Bool, gathers: Bool = false
  ) throws(LedgerUnavailable) -> SQLiteGatewayStore {
    try open(path: path, createIfMissing: createIfMissing, gathers: gathers) {
      Instant(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded()))
    }
  }

  package static func open(
    path: String, createIfMissing: Bool, gathers: Bool = false, clock: @escaping @Sendable () -> Instant
  ) throws(LedgerUnavailable) -> SQLiteGatewayStore {
    try SQLiteError.translated(path: path) {
      let exists = FileManager.default.fileExists(atPath: path)
      guard exists || createIfMissing else {
        throw LedgerUnavailable(.missing, "there is no gateway's store at \(path)")
      }
      try GatewaySchema.schema.checkSize(path: path)
      let connection = try SQLiteConnection(
        path: path, mode: createIfMissing ? .create : .readWrite, gathersWrites: true)
      // Before the first write: somebody else's database is left as it was found.
      try GatewaySchema.schema.checkedVersion(connection, path: path)
      // SQLite gives its log and its shared memory the mode of the file itself.
      try? FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
      try connection.execute("PRAGMA journal_mode = WAL")
      try connection.execute("PRAGMA synchronous = FULL")
      try connection.execute("PRAGMA temp_store = MEMORY")
      try GatewaySchema.schema.migrate(connection, path: path)
      let queue = WriterQueue<GatewayJob>(
        store: words, limit: queueLimit, gatherMilliseconds: gathers ? GatewayWriter.gatherMilliseconds : 0)
      GroupWriter.start(
        try GatewayWriter(connection: connection, path: path), name: "gateway-store", queue: queue,
        groupLimit: GatewayWriter.groupLimit)
      return SQLiteGatewayStore(path: path, queue: queue, clock: clock)
    }
  }

  private init(path: String, queue: WriterQueue<GatewayJob>, clock: @escaping @Sendable () -> Instant) {
    self.path = path
    self.queue = queue
    self.clock = clock
    readers = ReaderPool(store: SQLiteGatewayStore.words, path: path, limit: SQLiteGatewayStore.readerLimit)
  }

  deinit { queue.close {} }

  /// Finishes what waits, folds the log into the file and gives it back. Everything after it is refused.
  public func close() async {
    // The writer is the last to leave: only a connection that may write can fold the log into the file.
    readers.close()
    await withCheckedContinuation { continuation in queue.close { continuation.resume() } }
  }

  /// What went wrong, as an operator should hear it.
  static func failure(_ error: any Error, path: String) -> any Error {
    (error as? SQLiteError)?.unavailable(path: path) ?? error
  }

  // MARK: Ways in

  /// Runs a change on the writer's thread and answers after its commit.
  func change<Answer: Sendable>(
    _ body: @escaping @Sendable (SQLiteConnection) throws -> Answer
  ) async throws -> Answer {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Answer, any Error>) in
      queue.append(
        GatewayJob(
          apply: { connection in
            let answer = try body(connection)
            return { continuation.resume(returning: answer) }
          }, fail: { continuation.resume(throwing: $0) }, canWait: false))
    }
  }

  /// Hands a change to the writer's thread.
  /// - Parameters:
  ///   - canWait: it may wait ``GatewayWriter/gatherMilliseconds`` for others that share its commit.
  ///   - completion: called once, after the commit or with what went wrong.
  func submit(
    canWait: Bool = false, _ completion: @escaping @Sendable ((any Error)?) -> Void,
    _ body: @escaping @Sendable (SQLiteConnection) throws -> Void
  ) {
    queue.append(
      GatewayJob(
        apply: { connection in
          try body(connection)
          return { completion(nil) }
        }, fail: completion, canWait: canWait))
  }

  /// As ``read(_:)``, with all that was kept before: what waits for others is written first.
  func readNewest<Answer: Sendable>(
    _ body: @escaping @Sendable (SQLiteConnection) throws -> Answer
  ) async throws -> Answer {
    if queue.isWaiting { try await change { _ in } }
    return try await read(body)
  }

  func read<Answer: Sendable>(_ body: @escaping @Sendable (SQLiteConnection) throws -> Answer) async throws -> Answer {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async { [readers, path] in
        continuation.resume(
          with: Result {
            do { return try readers.read(body) } catch { throw SQLiteGatewayStore.failure(error, path: path) }
          })
      }
    }
  }

  /// - Throws: ``InvalidValue`` with rule `store.long`.
  static func check(_ text: String, kind: String) throws(InvalidValue) {
    guard text.utf8.count <= maximumTextBytes else {
      throw InvalidValue(
        kind: kind, rule: "store.long", offset: maximumTextBytes, problem: "it is too long to be kept",
        accepted: "at most \(maximumTextBytes) bytes")
    }
  }

  /// Runs a statement that deletes a batch until it finds nothing more.
  func deleteAll(_ sql: String, before: Int64) async throws -> Int {
    var deleted = 0
    while true {
      let batch = try await change { connection in
        try connection.statement(sql).bind(1, before).bind(2, SQLiteGatewayStore.pruneBatch).run()
        return connection.changes
      }
      deleted += batch
      if batch < Int(SQLiteGatewayStore.pruneBatch) { return deleted }
    }
  }

  // MARK: Pruning

  /// Deletes what nobody can ask for any more: nonces past their time, idempotency keys of more than a day, credentials
  /// that have ended. To be called now and then.
  /// - Returns: how many rows.
  @discardableResult
  public func sweep(now: Instant) async throws -> Int {
    var deleted = try await deleteAll(
      """
      DELETE FROM identity_nonce WHERE (application, nonce) IN
        (SELECT application, nonce FROM identity_nonce WHERE until <= $1 LIMIT $2)
      """, before: now.milliseconds)
    deleted += try await deleteAll(
      "DELETE FROM idempotency WHERE (scope, key) IN (SELECT scope, key FROM idempotency WHERE at <= $1 LIMIT $2)",
      before: SQLiteGatewayStore.idempotencyHorizon(now).milliseconds)
    deleted += try await deleteAll(
      """
      DELETE FROM identity_credential WHERE number IN
        (SELECT number FROM identity_credential WHERE expires_at <= $1 LIMIT $2)
      """, before: now.milliseconds)
    return deleted
  }
}
