import Dispatch
package import LedgerCore
import Synchronization

/// One thing for a store's writer thread to do, with the way to answer it.
package protocol WriterJob: Sendable {
  /// Operations that the job adds to a commit, at least 1.
  var weight: Int { get }

  /// Answers a job that the queue does not accept.
  func refuse(_ reason: LedgerUnavailable)
}

/// What waits for a store's writer, in order of arrival. Bounded: what does not fit is answered as overloaded at once.
package final class WriterQueue<Job: WriterJob>: Sendable {
  private struct State {
    var jobs: [Job] = []
    var weight = 0
    var isClosed = false
    var isFinished = false
    var onFinished: [@Sendable () -> Void] = []
  }

  private let state = Mutex(State())
  private let arrival = DispatchSemaphore(value: 0)
  private let store: String
  private let limit: Int

  /// - Parameters:
  ///   - store: the store in the words of its refusals: "the ledger".
  ///   - limit: operations that may wait; a job that is alone is accepted whatever its weight.
  package init(store: String, limit: Int) {
    self.store = store
    self.limit = limit
  }

  /// Hands a job to the writer, or refuses it: `overloaded`, or `closed`.
  package func append(_ job: Job) {
    let refusal: LedgerUnavailable? = state.withLock { state in
      if state.isClosed { return LedgerUnavailable(.closed, "\(store) is shutting down") }
      guard state.weight + job.weight <= limit || state.jobs.isEmpty else {
        return LedgerUnavailable(.overloaded, "\(state.weight) operations wait for \(store) already; try again")
      }
      state.jobs.append(job)
      state.weight += job.weight
      return nil
    }
    if let refusal { job.refuse(refusal) } else { arrival.signal() }
  }

  /// Waits for work and removes up to `limit` operations of it, at least one job; `nil` once closed and empty.
  package func nextGroup(limit: Int) -> [Job]? {
    while true {
      let (group, isDone): ([Job], Bool) = state.withLock { state in
        guard !state.jobs.isEmpty else { return ([], state.isClosed) }
        var count = 0
        var weight = 0
        while count < state.jobs.count {
          let next = state.jobs[count].weight
          if count > 0, weight + next > limit { break }
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
  package func close(_ completion: @escaping @Sendable () -> Void) {
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
