import CallModel
import Foundation
import LedgerCore
import Synchronization

/// One thing for the writer thread to do, with the way to answer it.
enum LedgerJob: Sendable {
  typealias Answer<Value> = @Sendable (Result<Value, LedgerUnavailable>) -> Void

  case apply([LedgerOperation], @Sendable ([Result<LedgerReceipt, LedgerUnavailable>]) -> Void)
  case rehearse(LedgerOperation, Answer<LedgerReceipt>)
  case register(NodeID, Instant, Answer<LedgerNode>)
  case beat(NodeID, Int64, Instant, uptime: Int64?, Answer<Bool>)
  case recover(NodeID, Instant, Answer<LedgerRecovery?>)
  case prune(Instant, Answer<Int>)

  /// Operations that the job adds to a commit.
  var weight: Int {
    if case .apply(let operations, _) = self { return operations.count }
    return 1
  }

  func fail(_ error: LedgerUnavailable) {
    switch self {
    case .apply(let operations, let answer): answer(operations.map { _ in .failure(error) })
    case .rehearse(_, let answer): answer(.failure(error))
    case .register(_, _, let answer): answer(.failure(error))
    case .beat(_, _, _, _, let answer): answer(.failure(error))
    case .recover(_, _, let answer): answer(.failure(error))
    case .prune(_, let answer): answer(.failure(error))
    }
  }
}

/// What waits for the writer, in order of arrival. Bounded: what does not fit is answered as overloaded at once.
final class LedgerQueue: Sendable {
  private struct State {
    var jobs: [LedgerJob] = []
    var weight = 0
    var isClosed = false
    var onClosed: [@Sendable () -> Void] = []
    var isFinished = false
  }

  private let state = Mutex(State())
  private let arrival = DispatchSemaphore(value: 0)
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  func append(_ job: LedgerJob) {
    let refusal: LedgerUnavailable? = state.withLock { state in
      if state.isClosed { return LedgerUnavailable(.closed, "the ledger is shutting down") }
      guard state.weight + job.weight <= limit || state.jobs.isEmpty else {
        return LedgerUnavailable(.overloaded, "\(state.weight) ledger operations wait already; try again")
      }
      state.jobs.append(job)
      state.weight += job.weight
      return nil
    }
    if let refusal { job.fail(refusal) } else { arrival.signal() }
  }

  /// Waits for work and takes up to `groupLimit` operations of it; `nil` once closed and empty.
  func take(groupLimit: Int) -> [LedgerJob]? {
    while true {
      let (group, isDone): ([LedgerJob], Bool) = state.withLock { state in
        guard !state.jobs.isEmpty else { return ([], state.isClosed) }
        var count = 0
        var weight = 0
        while count < state.jobs.count {
          let next = state.jobs[count].weight
          if count > 0, weight + next > groupLimit { break }
          weight += next
          count += 1
        }
        let group = Array(state.jobs.prefix(count))
        state.jobs.removeFirst(count)
        state.weight -= weight
        return (group, false)
      }
      if !group.isEmpty { return group }
      if isDone { return nil }
      arrival.wait()
    }
  }

  /// No more work is accepted; what waits is still done, then `completion` runs.
  func close(_ completion: @escaping @Sendable () -> Void) {
    let isFinished = state.withLock { state in
      state.isClosed = true
      if !state.isFinished { state.onClosed.append(completion) }
      return state.isFinished
    }
    if isFinished { completion() } else { arrival.signal() }
  }

  /// The writer has left its loop and closed its connection.
  func finish() {
    let completions = state.withLock { state in
      state.isFinished = true
      defer { state.onClosed.removeAll() }
      return state.onClosed
    }
    for completion in completions { completion() }
  }
}
