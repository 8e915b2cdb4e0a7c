import CallModel
import LedgerCore
import LedgerSQLite
import Synchronization

/// A ledger whose database can be out of reach, or slow to read.
final class LedgerThatGoesAway: LedgerStore {
  private let store: SQLiteLedgerStore
  private let away = Mutex(false)
  private let readings = Mutex((count: 0, isHeld: false))

  init(_ store: SQLiteLedgerStore) { self.store = store }

  var isAway: Bool {
    get { away.withLock { $0 } }
    set { away.withLock { $0 = newValue } }
  }

  /// Readings that were asked for.
  var readingCount: Int { readings.withLock { $0.count } }

  /// Whether readings wait.
  var holdsReadings: Bool {
    get { readings.withLock { $0.isHeld } }
    set { readings.withLock { $0.isHeld = newValue } }
  }

  private func check() throws(LedgerUnavailable) {
    if isAway { throw LedgerUnavailable(.inputOutput, "the disk is gone") }
  }

  func perform(_ operation: LedgerOperation) async throws(LedgerUnavailable) -> LedgerReceipt {
    try check()
    return try await store.perform(operation)
  }
  func perform(_ operations: [LedgerOperation]) async -> [Result<LedgerReceipt, LedgerUnavailable>] {
    do { try check() } catch { return operations.map { _ in .failure(error) } }
    return await store.perform(operations)
  }
  func rehearse(_ operation: LedgerOperation) async throws(LedgerUnavailable) -> LedgerReceipt {
    try check()
    return try await store.rehearse(operation)
  }
  func registerNode(_ id: NodeID, at: Instant) async throws(LedgerUnavailable) -> LedgerNode {
    try check()
    return try await store.registerNode(id, at: at)
  }
  func beat(_ id: NodeID, epoch: Int64, at: Instant, uptime: Int64?) async throws(LedgerUnavailable) -> Bool {
    try check()
    return try await store.beat(id, epoch: epoch, at: at, uptime: uptime)
  }
  func recover(_ only: NodeID?, at: Instant) async throws(LedgerUnavailable) -> [LedgerRecovery] {
    try check()
    return try await store.recover(only, at: at)
  }
  func prune(before instant: Instant) async throws(LedgerUnavailable) -> Int {
    try check()
    return try await store.prune(before: instant)
  }
  func read<Answer: Sendable>(
    _ body: @escaping @Sendable (any LedgerReading) throws -> Answer
  ) async throws -> Answer {
    readings.withLock { $0.count += 1 }
    while holdsReadings { await Task.yield() }
    try check()
    return try await store.read(body)
  }
  func close() async { await store.close() }
}
