import CallModel
package import LedgerCore
package import LedgerSpool
package import Logging
import Synchronization

/// The way of calls' operations to one ledger: in order, what has queued in one commit, and into the spool while the
/// ledger is away. Answers come back in the same order.
package final class LedgerLine: Sendable {
  package typealias Completion = @Sendable (Result<LedgerReceipt, LedgerUnavailable>) -> Void

  /// Most operations that wait; above, calls hear that billing is unavailable. Ends of calls are always taken.
  package static let maximumWaiting = 65_536
  /// Most operations of one commit.
  private static let batch = 512

  private struct State {
    var waiting: [(operation: LedgerOperation, completion: Completion)] = []
    var wakeUp: CheckedContinuation<Void, Never>?
    var isClosed = false
    var isPoked = false
    var spooled = 0
  }

  private let ledger: any LedgerStore
  private let spool: LedgerSpool
  private let log: Logger
  private let state = Mutex(State())
  private let task = Mutex<Task<Void, Never>?>(nil)

  package init(_ ledger: any LedgerStore, spool: LedgerSpool, log: Logger) {
    self.ledger = ledger
    self.spool = spool
    self.log = log
  }

  package func start() { task.withLock { $0 = Task { await self.run() } } }

  /// Carries out everything that waits, then ends.
  package func close() async {
    state.withLock { state in
      state.isClosed = true
      state.wakeUp?.resume()
      state.wakeUp = nil
    }
    await task.withLock { $0 }?.value
  }

  /// Tries the spool again, where something waits in it.
  package func poke() {
    state.withLock { state in
      guard state.spooled > 0 else { return }
      state.isPoked = true
      state.wakeUp?.resume()
      state.wakeUp = nil
    }
  }

  /// Records in the spool, as last seen.
  package var spooled: Int { state.withLock { $0.spooled } }

  package func submit(_ operation: LedgerOperation, _ completion: @escaping Completion) {
    let isTaken = state.withLock { state in
      guard !state.isClosed, state.waiting.count < Self.maximumWaiting || operation.isSpoolable else { return false }
      state.waiting.append((operation, completion))
      state.wakeUp?.resume()
      state.wakeUp = nil
      return true
    }
    if !isTaken { completion(.failure(LedgerUnavailable(.busy, "too many operations wait for the ledger"))) }
  }

  /// - Returns: nothing for a second try of the spool; `nil` when the line is closed and everything is done.
  private func next() async -> [(operation: LedgerOperation, completion: Completion)]? {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      state.withLock { state in
        if !state.waiting.isEmpty || state.isClosed || state.isPoked {
          continuation.resume()
        } else {
          state.wakeUp = continuation
        }
      }
    }
    return state.withLock { state in
      if state.waiting.isEmpty, state.isClosed { return nil }
      state.isPoked = false
      let batch = Array(state.waiting.prefix(Self.batch))
      state.waiting.removeFirst(batch.count)
      return batch
    }
  }

  private func run() async {
    await drainSpool()
    while let batch = await next() {
      // What an earlier outage left goes first: an answer before the end of the same call.
      if state.withLock({ $0.spooled }) > 0 { await drainSpool() }
      if state.withLock({ $0.spooled }) > 0 {
        for entry in batch { await setAside(entry, LedgerUnavailable(.busy, "the ledger is away")) }
        continue
      }
      let results = await ledger.perform(batch.map(\.operation))
      for (entry, result) in zip(batch, results) {
        switch result {
        case .success: entry.completion(result)
        case .failure(let problem): await setAside(entry, problem)
        }
      }
    }
  }

  private func setAside(
    _ entry: (operation: LedgerOperation, completion: Completion), _ problem: LedgerUnavailable
  ) async {
    if entry.operation.isSpoolable {
      do {
        try await spool.append(entry.operation)
        let count = await spool.count
        log.warning("an operation waits in the spool", metadata: ["problem": "\(problem)", "waiting": "\(count)"])
      } catch {
        log.error(
          "an operation waits in memory alone", metadata: ["key": "\(entry.operation.key)", "problem": "\(error)"])
      }
      let count = await spool.count
      state.withLock { $0.spooled = count }
    }
    entry.completion(.failure(problem))
  }

  /// Replays the spool; what the ledger does not take stays.
  func drainSpool() async {
    do {
      let replay = try await spool.replay(into: ledger)
      if replay.answered > 0 {
        log.info(
          "the spool was replayed", metadata: ["answered": "\(replay.answered)", "refused": "\(replay.refused.count)"])
      }
      for refused in replay.refused {
        log.error(
          "the ledger refused a spooled operation",
          metadata: ["call": "\(refused.call)", "refusal": "\(refused.refusal.rawValue)"])
      }
    } catch {
      log.warning("the spool cannot be replayed yet", metadata: ["problem": "\(error)"])
    }
    let count = await spool.count
    state.withLock { $0.spooled = count }
  }
}

extension LedgerOperation {
  /// Whether the operation may wait for the ledger: answers and ends of calls promise no credit.
  var isSpoolable: Bool {
    guard case .call(let call) = request else { return false }
    switch call.phase {
    case .answer, .settle, .void: return true
    case .authorise, .extend, .recover: return false
    }
  }
}
