import Dispatch
import LedgerCore
import Synchronization

/// One change to the store.
struct GatewayJob: Sendable {
  /// Makes the change inside the open transaction. What it returns sends the answer, once the commit is durable.
  let apply: @Sendable (SQLiteConnection) throws -> @Sendable () -> Void
  let fail: @Sendable (any Error) -> Void
}

/// What waits for the writer, in order of arrival. Bounded: what does not fit is answered as overloaded at once.
final class GatewayQueue: Sendable {
  private struct State {
    var jobs: [GatewayJob] = []
    var isClosed = false
    var isFinished = false
    var onFinished: [@Sendable () -> Void] = []
  }

  private let state = Mutex(State())
  private let arrival = DispatchSemaphore(value: 0)
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  func append(_ job: GatewayJob) {
    let refusal: LedgerUnavailable? = state.withLock { state in
      if state.isClosed { return LedgerUnavailable(.closed, "the gateway's store is shutting down") }
      guard state.jobs.count < limit else {
        return LedgerUnavailable(.overloaded, "\(state.jobs.count) changes wait for the gateway's store; try again")
      }
      state.jobs.append(job)
      return nil
    }
    if let refusal { job.fail(refusal) } else { arrival.signal() }
  }

  /// Waits for work and takes up to `groupLimit` jobs; `nil` once closed and empty.
  func take(groupLimit: Int) -> [GatewayJob]? {
    while true {
      let (group, isDone): ([GatewayJob], Bool) = state.withLock { state in
        guard !state.jobs.isEmpty else { return ([], state.isClosed) }
        let group = Array(state.jobs.prefix(groupLimit))
        state.jobs.removeFirst(group.count)
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
      if !state.isFinished { state.onFinished.append(completion) }
      return state.isFinished
    }
    if isFinished { completion() } else { arrival.signal() }
  }

  /// The writer has left its loop and closed its connection.
  func finish() {
    let completions = state.withLock { state in
      state.isFinished = true
      defer { state.onFinished.removeAll() }
      return state.onFinished
    }
    for completion in completions { completion() }
  }
}
