import CLandlineSQLite
import CallModel
import Foundation
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

/// The one thread that writes: takes what has queued, applies it in one transaction, answers after the commit.
///
/// Unchecked: the connection and the book are touched by the writer's own thread alone, from ``run()``.
final class LedgerWriter: @unchecked Sendable {
  /// Attempts at a group that another writer keeps changing under.
  static let maximumAttempts = 8

  private let connection: SQLiteConnection
  private let path: String
  private let options: SQLiteLedgerStore.Options
  private let queue: LedgerQueue
  private let checkpointer: Checkpointer
  private var book: LedgerBook<SQLiteLedgerRows>
  private let begin, commit, rollback: SQLiteStatement
  /// ``SQLiteLedgerRows/foreignChanges()`` at the newest commit; `nil` once the book may know what was rolled back.
  private var committedAt: Int64?
  /// Pages in the log when a checkpoint was last asked for.
  private var requestedPages: Int32 = 0

  init(
    connection: SQLiteConnection, path: String, options: SQLiteLedgerStore.Options, queue: LedgerQueue,
    checkpointer: Checkpointer
  ) throws {
    self.connection = connection
    self.path = path
    self.options = options
    self.queue = queue
    self.checkpointer = checkpointer
    book = LedgerBook(rows: try SQLiteLedgerRows(connection))
    begin = try connection.statement("BEGIN IMMEDIATE")
    commit = try connection.statement("COMMIT")
    rollback = try connection.statement("ROLLBACK")
  }

  func start() {
    let queue = queue
    let handover = WriterHandover(self)
    let thread = Thread {
      // The thread alone owns the writer, so everything it holds is gone before anyone hears that it is done: the
      // process may exit then.
      do { handover.take()?.run() }
      queue.finish()
    }
    thread.name = "ledger-writer"
    thread.start()
  }

  private func run() {
    while let group = queue.take(groupLimit: options.groupLimit) {
      process(group)
      checkpointIfNeeded()
    }
    checkpointer.close()
    connection.close()
  }

  /// Keeps the log short: what is rewritten stays in the processor's caches, and a log that does not grow needs no
  /// change to the file's size at each flush.
  private func checkpointIfNeeded() {
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

  private func process(_ group: [LedgerJob]) {
    do {
      try runGroup(group)
    } catch {
      let isOurs = LedgerWriter.concernsOneOperation(error)
      if isOurs { options.onFault?("\(error)") }
      if isOurs, group.count > 1 || group[0].weight > 1 {
        // One of them met a state that the rules exclude. Alone, the others go through.
        for job in group { processAlone(job) }
      } else {
        let failure = unavailable(error)
        for job in group { job.fail(failure) }
      }
    }
  }

  /// Whether another operation of the same group may well succeed.
  private static func concernsOneOperation(_ error: any Error) -> Bool {
    if let error = error as? SQLiteError { return [SQLITE_CONSTRAINT, SQLITE_TOOBIG].contains(error.code & 0xFF) }
    return error is LedgerFault
  }

  private func processAlone(_ job: LedgerJob) {
    guard case .apply(let operations, let answer) = job, operations.count > 1 else {
      do { try runGroup([job]) } catch { job.fail(unavailable(error)) }
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

  /// Applies a group in one transaction and answers it once the commit is durable.
  private func runGroup(_ group: [LedgerJob]) throws {
    if case .rehearse(let operation, let answer) = group[0], group.count == 1 {
      let receipt = try transaction(commits: false) { try book.apply(operation) }
      answer(.success(receipt))
      return
    }
    let answers = try transaction(weight: group.reduce(0) { $0 + $1.weight }) { try group.map { try apply($0) } }
    for answer in answers { answer() }
  }

  /// Applies one job inside the open transaction; the closure returned sends its answer.
  private func apply(_ job: LedgerJob) throws -> () -> Void {
    switch job {
    case .apply(let operations, let answer):
      var receipts: [Result<LedgerReceipt, LedgerUnavailable>] = []
      receipts.reserveCapacity(operations.count)
      for operation in operations { receipts.append(.success(try book.apply(operation))) }
      return { answer(receipts) }
    case .rehearse(let operation, let answer):
      // Not in this transaction, which will be committed: rehearsed by itself afterwards.
      return { [self] in
        do { answer(.success(try transaction(commits: false) { try book.apply(operation) })) } catch {
          answer(.failure(unavailable(error)))
        }
      }
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
    try begin.run()
    let value: Value
    let known = committedAt
    committedAt = nil
    do {
      // Within the write lock nobody else can commit, so what is unchanged now stays so.
      let changes = try book.rows.foreignChanges()
      try book.begin(isUnchanged: changes == known)
      value = try body()
      if commits {
        try book.finish()
        if let fault = options.faults?.fault(.beforeCommit, weight) { throw fault }
        try commit.run()
        committedAt = changes
      } else {
        try rollback.run()
      }
    } catch {
      // SQLite may have rolled back by itself (a full disk); a second ROLLBACK then fails harmlessly.
      if connection.isInTransaction { try? rollback.run() }
      throw error
    }
    if commits, let fault = options.faults?.fault(.afterCommit, weight) { throw fault }
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

/// Unchecked: filled before the writer's thread starts and emptied by it.
private final class WriterHandover: @unchecked Sendable {
  private var writer: LedgerWriter?

  init(_ writer: LedgerWriter) { self.writer = writer }

  func take() -> LedgerWriter? {
    defer { writer = nil }
    return writer
  }
}

extension SQLiteConnection {
  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }
}
