public import CallModel
import Dispatch
import Foundation
import LandlineSQLite
public import LedgerCore

/// The ledger in one SQLite file, in write-ahead-log mode: one writer thread that commits whatever has queued in one
/// transaction, readers that never wait for it, and checkpoints off the commit path.
///
/// Several processes may use one file; each commit takes the file's write lock and trusts no row it read before.
///
/// ```
/// perform ──▶ queue ──▶ writer thread: BEGIN IMMEDIATE · apply each · COMMIT (flush) ──▶ receipts
///                            │ pages in the log
///                            ▼
///                       checkpoint thread        read ──▶ a reader connection's snapshot
/// ```
public final class SQLiteLedgerStore: LedgerStore {
  /// How hard a commit tries before it answers.
  public enum Flush: String, Hashable, Sendable, CaseIterable {
    /// On disk before the receipt (PRAGMA synchronous = FULL).
    case full
    /// Survives the end of the process, not of the power: the last moments before an outage may be lost, never torn.
    case normal
  }

  /// How a ledger is opened; the defaults are those of a gateway.
  public struct Options: Sendable {
    /// Operations in one commit.
    public static let defaultGroupLimit = 512
    /// Operations that may wait; more are refused as overloaded.
    public static let defaultQueueLimit = 65_536
    /// Pages in the log at which a checkpoint starts.
    public static let defaultCheckpointPages: Int32 = 1000
    /// Pages in the log at which the writer itself finishes the checkpoint, so that the log starts anew: 16 MiB.
    public static let defaultLogPagesLimit: Int32 = 4096
    /// Reads that run at the same time; more wait for one to end.
    public static let defaultReaders = 4
    /// 64 MiB of pages in the writer's memory.
    public static let defaultCacheKibibytes = 65_536

    /// Whether receipts wait for the disk; ``Flush/full`` unless losing the last moments is acceptable.
    public var flush = Flush.full
    /// Most operations in one commit; one that was handed over with more goes in whole.
    public var groupLimit = Options.defaultGroupLimit
    /// Operations that may wait for the writer; more are refused as overloaded.
    public var queueLimit = Options.defaultQueueLimit
    /// Pages in the log at which a checkpoint starts beside the writer.
    public var checkpointPages = Options.defaultCheckpointPages
    /// Pages in the log at which the writer finishes the checkpoint itself, before further commits.
    public var logPagesLimit = Options.defaultLogPagesLimit
    /// Reads that run at the same time, at least 1.
    public var readers = Options.defaultReaders
    /// Kibibytes of pages that the writer keeps in memory.
    public var cacheKibibytes = Options.defaultCacheKibibytes
    /// Told, on the writer's thread, of each write that met a state which the ledger's own rules exclude. The write was
    /// undone and its neighbours went on: log it, for it is a fault of ours or an altered file.
    public var onFault: (@Sendable (String) -> Void)?
    /// Strict opening: refuse a ledger whose balances, holds or newest records contradict each other.
    public var verifiesAtOpen = false
    /// For tests: pages that the file may have, so that a full disk can be met without one.
    package var maximumPages: Int64?
    /// For tests: what may go wrong around a commit.
    package var faults: CommitFaults?

    /// Everything but the flush as the defaults say.
    public init(flush: Flush = .full) { self.flush = flush }
  }

  /// The store in the words of its refusals.
  private static let words = "the ledger"

  /// The file as it was named to ``open(path:options:createIfMissing:)``; SQLite keeps its log beside it.
  public let path: String
  private let queue: WriterQueue<LedgerJob>
  private let readers: ReaderPool

  /// Opens a ledger and starts its writer.
  /// - Throws: ``LedgerUnavailable``: `missing` unless `createIfMissing`, `notPermitted`, `corrupt`, `newer`, `busy`.
  public static func open(
    path: String, options: Options = Options(), createIfMissing: Bool
  ) throws(LedgerUnavailable) -> SQLiteLedgerStore {
    try SQLiteError.translated(path: path) {
      let exists = FileManager.default.fileExists(atPath: path)
      guard exists || createIfMissing else {
        throw LedgerUnavailable(.missing, "there is no ledger at \(path)")
      }
      try LedgerSchema.schema.checkSize(path: path)
      let connection = try SQLiteConnection(
        path: path, mode: exists ? .readWrite : .create, gathersWrites: options.flush == .full)
      // Before the first write: somebody else's database is left as it was found.
      try LedgerSchema.schema.checkedVersion(connection, path: path)
      try connection.execute("PRAGMA journal_mode = WAL")
      try connection.execute("PRAGMA synchronous = \(options.flush == .full ? "FULL" : "NORMAL")")
      // No PRAGMA wal_autocheckpoint: it would take the connection's own hook away, and with it every checkpoint.
      try connection.execute("PRAGMA temp_store = MEMORY")
      try connection.execute("PRAGMA cache_size = -\(max(options.cacheKibibytes, 1))")
      try LedgerSchema.migrate(connection, path: path)
      if options.verifiesAtOpen { try refuseUnsound(connection, path: path) }
      if let pages = options.maximumPages { try connection.execute("PRAGMA max_page_count = \(pages)") }
      let queue = WriterQueue<LedgerJob>(store: words, limit: options.queueLimit)
      let checkpointer = try Checkpointer(path: path)
      GroupWriter.start(
        try LedgerWriter(connection: connection, path: path, options: options, checkpointer: checkpointer),
        name: "ledger-writer", queue: queue, groupLimit: options.groupLimit)
      return SQLiteLedgerStore(
        path: path, queue: queue, readers: ReaderPool(store: words, path: path, limit: options.readers))
    }
  }

  private static func refuseUnsound(_ connection: SQLiteConnection, path: String) throws {
    let report = try connection.snapshot {
      try LedgerVerifier.verify(SQLiteLedgerReading(connection: connection), full: false)
    }
    guard let broken = report.rules.first(where: { $0.problem != nil }), let problem = broken.problem else { return }
    throw LedgerUnavailable(
      .corrupt,
      "\(path) breaks \(broken.id.rawValue), \(broken.id.title): \(problem.detail); see landline verify --full")
  }

  private init(path: String, queue: WriterQueue<LedgerJob>, readers: ReaderPool) {
    self.path = path
    self.queue = queue
    self.readers = readers
  }

  deinit { queue.close {} }

  // MARK: Writes

  /// Without a task; `completion` is called on the writer's thread.
  public func submit(
    _ operations: [LedgerOperation],
    _ completion: @escaping @Sendable ([Result<LedgerReceipt, LedgerUnavailable>]) -> Void
  ) {
    queue.append(.apply(operations, completion))
  }

  /// Returns once the operation's commit is done, durable as ``Options/flush`` says.
  public func perform(_ operation: LedgerOperation) async throws(LedgerUnavailable) -> LedgerReceipt {
    try await perform([operation])[0].get()
  }

  /// One entry in the queue for all of them; an empty list is answered at once.
  public func perform(_ operations: [LedgerOperation]) async -> [Result<LedgerReceipt, LedgerUnavailable>] {
    guard !operations.isEmpty else { return [] }
    return await withCheckedContinuation { continuation in submit(operations) { continuation.resume(returning: $0) } }
  }

  /// Runs on the writer's thread, in a transaction of its own that is rolled back.
  public func rehearse(_ operation: LedgerOperation) async throws(LedgerUnavailable) -> LedgerReceipt {
    try await request { .rehearse(operation, $0) }
  }

  /// The new life's lease runs ``NodeLease/milliseconds`` from `at`.
  public func registerNode(_ id: NodeID, at: Instant) async throws(LedgerUnavailable) -> LedgerNode {
    try await request { .register(id, at, $0) }
  }

  /// Extends the lease to ``NodeLease/milliseconds`` after `at`.
  public func beat(
    _ id: NodeID, epoch: Int64, at: Instant, uptime: Int64?
  ) async throws(LedgerUnavailable) -> Bool {
    try await request { .beat(id, epoch, at, uptime: uptime, $0) }
  }

  /// - Returns: rows deleted.
  public func prune(before instant: Instant) async throws(LedgerUnavailable) -> Int {
    try await request { .prune(instant, $0) }
  }

  /// Node by node in the order of their names, ``NodeLease/recoveryBatch`` calls a transaction.
  public func recover(_ only: NodeID?, at: Instant) async throws(LedgerUnavailable) -> [LedgerRecovery] {
    let names: Set<NodeID>
    do {
      names = try await read { reading in Set(try reading.nodes().map(\.id)) }
    } catch let error as LedgerUnavailable {
      throw error
    } catch {
      throw LedgerUnavailable(.inputOutput, "\(error)")
    }
    var recoveries: [LedgerRecovery] = []
    for name in names.sorted() where only == nil || only == name {
      var recovery: LedgerRecovery?
      // One transaction a batch: a large node's recovery never blocks other writes for long.
      while let batch = try await request({ .recover(name, at, $0) }) {
        recovery =
          recovery.map {
            LedgerRecovery(
              node: $0.node, life: $0.life, settled: $0.settled + batch.settled, voided: $0.voided + batch.voided)
          } ?? batch
        if batch.settled.count + batch.voided.count < NodeLease.recoveryBatch { break }
      }
      if let recovery { recoveries.append(recovery) }
    }
    return recoveries
  }

  private func request<Answer: Sendable>(
    _ job: (@escaping @Sendable (Result<Answer, LedgerUnavailable>) -> Void) -> LedgerJob
  ) async throws(LedgerUnavailable) -> Answer {
    let result = await withCheckedContinuation { continuation in
      queue.append(job { continuation.resume(returning: $0) })
    }
    return try result.get()
  }

  // MARK: Reads

  /// On a read-only connection, beside the writer; waits only while ``Options/readers`` others read.
  public func read<Answer: Sendable>(
    _ body: @escaping @Sendable (any LedgerReading) throws -> Answer
  ) async throws -> Answer {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async { [readers, path] in
        continuation.resume(
          with: Result {
            do {
              return try readers.read { try body(SQLiteLedgerReading(connection: $0)) }
            } catch let error as SQLiteError {
              throw error.unavailable(path: path)
            }
          })
      }
    }
  }

  /// Waits until all that is queued is committed; what is handed over later is refused as closed.
  public func close() async {
    // The writer is the last to leave: only a connection that may write can fold the log into the file.
    readers.close()
    await withCheckedContinuation { continuation in queue.close { continuation.resume() } }
  }
}
