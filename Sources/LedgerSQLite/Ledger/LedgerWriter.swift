import CallModel
import LandlineSQLite
package import LedgerCore

/// What tests make go wrong around a commit. Asked on the writer's thread.
package struct CommitFaults: Sendable {
  package enum Point: Sendable {
    case beforeCommit
    /// The commit is on disk, its answers are not yet sent.
    case afterCommit
  }

  /// The fault to inject; the operations count those in the group.
  package var fault: @Sendable (Point, _ operations: Int) -> LedgerUnavailable?

  package init(_ fault: @escaping @Sendable (Point, _ operations: Int) -> LedgerUnavailable?) { self.fault = fault }
}

/// Applies operations to the ledger's file: a group in one transaction, answered after its commit.
final class LedgerWriter: GroupWork {
  /// Attempts at a group that another writer keeps changing under.
  static let maximumAttempts = 8

  private let connection: SQLiteConnection
  private let path: String
  private let options: SQLiteLedgerStore.Options
  private let checkpointer: Checkpointer
  private let writing: WriteTransaction
  private var book: LedgerBook<SQLiteLedgerRows>
  /// ``SQLiteLedgerRows/foreignChanges()`` at the newest commit; `nil` once the book may know what was rolled back.
  private var committedAt: Int64?
  /// Pages in the log when a checkpoint was last asked for.
  private var requestedPages: Int32 = 0

  init(
    connection: SQLiteConnection, path: String, options: SQLiteLedgerStore.Options, checkpointer: Checkpointer
  ) throws {
    self.connection = connection
    self.path = path
    self.options = options
    self.checkpointer = checkpointer
    book = LedgerBook(rows: try SQLiteLedgerRows(connection))
    writing = try WriteTransaction(connection)
  }

  func close() {
    checkpointer.close()
    connection.close()
  }

  /// Keeps the log short: what is rewritten stays in the processor's caches, and a log that does not grow needs no
  /// change to the file's size at each flush.
  func groupEnded() {
    let pages = connection.logPages
    if pages < requestedPages { requestedPages = 0 }
    if pages >= options.logPagesLimit {
      // While commits follow one another the other thread never reaches the log's end: finish here, where nothing can
      // come between, so that the log starts anew. Little is left to do.
      connection.checkpoint()
    } else if pages - requestedPages >= options.checkpointPages {
      requestedPages = pages
      checkpointer.request()
    }
  }

  // MARK: Groups

  func perform(_ group: [LedgerJob]) throws {
    do {
      try performGroup(group)
    } catch {
      // One of them met a state that the rules exclude.
      if concernsOneOperation(error) { options.onFault?("\(error)") }
      throw error
    }
  }

  func concernsOneOperation(_ error: any Error) -> Bool {
    (error as? SQLiteError)?.concernsOneOperation ?? (error is LedgerFault)
  }

  func fail(_ job: LedgerJob, _ error: any Error) { job.refuse(unavailable(error)) }

  func performAlone(_ job: LedgerJob) {
    guard case .apply(let operations, let answer) = job, operations.count > 1 else {
      do { try performGroup([job]) } catch { fail(job, error) }
      return
    }
    var results: [Result<LedgerReceipt, LedgerUnavailable>] = []
    for operation in operations {
      do {
        results.append(.success(try transaction { try book.apply(operation) }))
      } catch {
        results.append(.failure(unavailable(error)))
      }
    }
    answer(results)
  }

  /// Applies a group in one transaction and answers it once the commit is durable. Rehearsals follow, each by itself, since
  /// what they did is undone.
  private func performGroup(_ group: [LedgerJob]) throws {
    let changes = group.filter { !$0.isRehearsal }
    if !changes.isEmpty {
      let answers = try transaction(weight: changes.reduce(0) { $0 + $1.weight }) { try changes.map { try apply($0) } }
      for answer in answers { answer() }
    }
    for case .rehearse(let operation, let answer) in group {
      answer(
        Result { try transaction(commits: false) { try book.apply(operation) } }.mapError { unavailable($0) })
    }
  }

  /// Applies one job inside the open transaction; the closure returned sends its answer.
  private func apply(_ job: LedgerJob) throws -> () -> Void {
    switch job {
    case .apply(let operations, let answer):
      var receipts: [Result<LedgerReceipt, LedgerUnavailable>] = []
      receipts.reserveCapacity(operations.count)
      for operation in operations { receipts.append(.success(try book.apply(operation))) }
      return { answer(receipts) }
    case .rehearse: throw LedgerFault("a rehearsal stood in a group that is committed")
    case .register(let id, let at, let answer):
      let node = try book.registerNode(id, at: at)
      return { answer(.success(node)) }
    case .beat(let id, let epoch, let at, let uptime, let answer):
      let isAlive = try book.beat(id, epoch: epoch, at: at, uptime: uptime)
      return { answer(.success(isAlive)) }
    case .recover(let id, let at, let answer):
      let recovery = try recover(id, at: at)
      return { answer(.success(recovery)) }
    case .prune(let instant, let answer):
      let deleted = try book.rows.prune(before: instant)
      return { answer(.success(deleted)) }
    }
  }

  private func recover(_ id: NodeID, at: Instant) throws -> LedgerRecovery? {
    let ended = try book.takeOver(id, at: at)
    let orphans = try book.orphans(of: id)
    guard let life = try ended ?? orphans.first.flatMap({ try book.rows.life(of: id, epoch: $0.epoch) }) else {
      return nil
    }
    var recovery = LedgerRecovery(node: id, life: life, settled: [], voided: [])
    for hold in orphans {
      guard let account = try book.rows.account(id: hold.account) else { continue }
      let receipt = try book.apply(
        LedgerOperation(
          .call(
            CallOperation(
              account: AccountName(unchecked: account.name), call: hold.call,
              origin: CallOperation.Origin(node: id, epoch: hold.epoch), .recover)), at: at, actor: "recovery"))
      switch receipt.outcome {
      case .settled(let milliseconds, _, let cost, _):
        recovery.settled.append(
          LedgerRecovery.Recovered(
            account: hold.account, call: hold.call, milliseconds: milliseconds,
            cost: try Credits(micros: cost, account.currency)))
      case .voided: recovery.voided.append(hold.call)
      case .changed, .posted, .granted, .answered, .refused:
        throw LedgerFault("recovery of call \(hold.call) was answered \(receipt.outcome.text)")
      }
    }
    return recovery
  }

  // MARK: Transactions

  private func transaction<Value>(weight: Int = 1, commits: Bool = true, _ body: () throws -> Value) throws -> Value {
    var attempt = 1
    while true {
      do {
        return try attemptTransaction(weight: weight, commits: commits, body)
      } catch is LedgerWriteConflict where attempt < LedgerWriter.maximumAttempts {
        attempt += 1
      }
    }
  }

  private func attemptTransaction<Value>(weight: Int, commits: Bool, _ body: () throws -> Value) throws -> Value {
    let known = committedAt
    committedAt = nil
    var changes: Int64 = 0
    let value = try writing.run(commits: commits) {
      // Within the write lock nobody else can commit, so what is unchanged now stays so.
      changes = try book.rows.foreignChanges()
      try book.begin(isUnchanged: changes == known)
      let value = try body()
      guard commits else { return value }
      try book.finish()
      if let fault = options.faults?.fault(.beforeCommit, weight) { throw fault }
      return value
    }
    guard commits else { return value }
    committedAt = changes
    if let fault = options.faults?.fault(.afterCommit, weight) { throw fault }
    return value
  }

  private func unavailable(_ error: any Error) -> LedgerUnavailable {
    switch error {
    case let error as LedgerUnavailable: error
    case let error as SQLiteError: error.unavailable(path: path)
    case let error as LedgerFault: LedgerUnavailable(.corrupt, "the ledger refused to write: \(error)")
    case is LedgerWriteConflict: LedgerUnavailable(.busy, "other writers kept changing the same rows; try again")
    default: LedgerUnavailable(.inputOutput, "\(error)")
    }
  }
}
