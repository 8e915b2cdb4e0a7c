public import CallModel

/// A durable ledger: the one door through which money changes.
///
/// A returned receipt is on disk. A throw means that the outcome is unknown: the same operation, with the same key, may
/// be sent again at any time, to this store or to another on the same database.
///
/// Cancelling the caller's task changes nothing: an operation that was handed over is carried out and recorded.
public protocol LedgerStore: Sendable {
  /// Applies one operation and returns its durable answer.
  func perform(_ operation: LedgerOperation) async throws(LedgerUnavailable) -> LedgerReceipt

  /// Applies operations in order; neighbours may share one commit. One that fails does not stop the next.
  func perform(_ operations: [LedgerOperation]) async -> [Result<LedgerReceipt, LedgerUnavailable>]

  /// As ``perform(_:)-([LedgerOperation])``, for a caller that is no task: hands the operations over and returns at once.
  /// - Parameter completion: called once, on any thread.
  func submit(
    _ operations: [LedgerOperation],
    _ completion: @escaping @Sendable ([Result<LedgerReceipt, LedgerUnavailable>]) -> Void)

  /// What ``perform(_:)`` would answer now; nothing is written.
  func rehearse(_ operation: LedgerOperation) async throws(LedgerUnavailable) -> LedgerReceipt

  /// A node starts: its earlier lives are over, their calls await ``recover(_:at:)``.
  func registerNode(_ id: NodeID, at: Instant) async throws(LedgerUnavailable) -> LedgerNode

  /// - Parameter uptime: what the node's monotonic clock shows, the one of its operations' ``LedgerOperation/uptime``.
  /// - Returns: `false` when the node was declared dead or replaced and must drop its calls.
  func beat(_ id: NodeID, epoch: Int64, at: Instant, uptime: Int64?) async throws(LedgerUnavailable) -> Bool

  /// Declares nodes with a lapsed lease dead and settles every call that ended lives left open, in batches.
  /// - Parameter only: one node, or `nil` for all.
  func recover(_ only: NodeID?, at: Instant) async throws(LedgerUnavailable) -> [LedgerRecovery]

  /// Deletes what repeats no longer need: call operations and voided holds older than `instant`. Never money.
  func prune(before instant: Instant) async throws(LedgerUnavailable) -> Int

  /// Reads one consistent state of the ledger, however long it takes and whatever is written meanwhile.
  func read<Answer: Sendable>(
    _ body: @escaping @Sendable (any LedgerReading) throws -> Answer
  ) async throws -> Answer

  /// Finishes what is queued and closes the database.
  func close() async
}

extension LedgerStore {
  /// By a task, for stores that have no shorter way.
  public func submit(
    _ operations: [LedgerOperation],
    _ completion: @escaping @Sendable ([Result<LedgerReceipt, LedgerUnavailable>]) -> Void
  ) {
    Task { completion(await perform(operations)) }
  }

  /// A beat of a node that tells no uptime.
  public func beat(_ id: NodeID, epoch: Int64, at: Instant) async throws(LedgerUnavailable) -> Bool {
    try await beat(id, epoch: epoch, at: at, uptime: nil)
  }
}

/// Hours after which the records of calls' phases may be pruned.
public enum LedgerRetention {
  /// Two days: until then a repeated operation of a call finds its first answer on record.
  public static let callOperationHours: Int64 = 48
}

/// What recovery did, or would do, for one node.
public struct LedgerRecovery: Hashable, Sendable {
  /// The gateway whose ended lives left calls open.
  public var node: NodeID
  /// The newest life that had ended.
  public var life: LedgerNode
  /// Calls that had been answered: charged up to the last beat of the life that ran them.
  public var settled: [Recovered]
  /// Calls that nobody had answered: their holds are released, nothing is charged.
  public var voided: [CallID]

  /// An answered call that recovery ended, with what it was charged for.
  public struct Recovered: Hashable, Sendable {
    /// ``LedgerAccount/id`` of the account that paid.
    public var account: Int64
    /// The call whose hold was resolved, in the ledger under the reason `recovered`.
    public var call: CallID
    /// Talk time charged: from the answer to the node's last beat, at most what was granted.
    public var milliseconds: Int64
    /// What the account was charged; zero is possible.
    public var cost: Credits

    /// Talk time in milliseconds; `account` is a ``LedgerAccount/id``.
    public init(account: Int64, call: CallID, milliseconds: Int64, cost: Credits) {
      self.account = account
      self.call = call
      self.milliseconds = milliseconds
      self.cost = cost
    }
  }

  /// The two lists are disjoint: answered calls in `settled`, all others in `voided`.
  public init(node: NodeID, life: LedgerNode, settled: [Recovered], voided: [CallID]) {
    self.node = node
    self.life = life
    self.settled = settled
    self.voided = voided
  }
}
