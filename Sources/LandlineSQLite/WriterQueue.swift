import Dispatch
package import LedgerCore
import Synchronization

/// One thing for a store's writer thread to do, with the way to answer it.
package protocol WriterJob: Sendable {
  /// Operations that the job adds to a commit, at least 1.
  var weight: Int { get }

  /// Whether nobody waits for the job's answer, so that it may wait for others to share its commit.
  var canWait: Bool { get }

  /// Answers a job that the queue does not accept.
  func refuse(_ reason: LedgerUnavailable)
}

/// What waits for a store's writer, in order of arrival. Bounded: what does not fit is answered as overloaded at once.
package final class WriterQueue<Job: WriterJob>: Sendable {
  private struct State {
    var jobs: [Job] = []
    var weight = 0
    /// Jobs that cannot wait.
    var urgent = 0
    /// Whether the writer does a group that it has not answered yet.
    var isWriting = false
    /// Until when the writer waits for more jobs; nil while none is there, or one cannot wait.
    var gathersUntil: DispatchTime?
    /// Operations of a full group, as the writer says them.
    var groupLimit = Int.max
    var isClosed = false
    var isFinished = false
    var onFinished: [@Sendable () -> Void] = []
  }

  private let state = Mutex(State())
  private let arrival = DispatchSemaphore(value: 0)
  private let store: String
  private let limit: Int
  private let gatherMilliseconds: Int

  /// - Parameters:
  ///   - store: the store in the words of its refusals: "the ledger".
  ///   - limit: operations that may wait; a job that is alone is accepted whatever its weight.
  ///   - gatherMilliseconds: how long jobs that can wait are gathered for one commit.
  package init(store: String, limit: Int, gatherMilliseconds: Int = 0) {
    self.store = store
    self.limit = limit
    self.gatherMilliseconds = gatherMilliseconds
  }

  /// Hands a job to the writer, or refuses it: `overloaded`, or `closed`.
  package func append(_ job: Job) {
    let (refusal, isAwaited): (LedgerUnavailable?, Bool) = state.withLock { state in
      if state.isClosed { return (LedgerUnavailable(.closed, "\(store) is shutting down"), false) }
      guard state.weight + job.weight <= limit || state.jobs.isEmpty else {
        return (
          LedgerUnavailable(.overloaded, "\(state.weight) operations wait for \(store) already; try again"), false
        )
      }
      state.jobs.append(job)
      state.weight += job.weight
      if !job.canWait { state.urgent += 1 }
      // A writer that gathers wakes up by itself.
      return (nil, state.gathersUntil == nil || !job.canWait || state.weight >= state.groupLimit)
    }
    if let refusal { job.refuse(refusal) } else if isAwaited { arrival.signal() }
  }

  /// Whether a job is not answered yet: it waits for the writer, or is being done.
  package var isWaiting: Bool { state.withLock { !$0.jobs.isEmpty || $0.isWriting } }

  /// Waits for work and removes up to `limit` operations of it, at least one job; `nil` once closed and empty.
  package func nextGroup(limit: Int) -> [Job]? {
    while true {
      let (group, isDone, gathersUntil): ([Job], Bool, DispatchTime?) = state.withLock { state in
        state.groupLimit = limit
        state.isWriting = false
        guard !state.jobs.isEmpty else { return ([], state.isClosed, nil) }
        if let end = gathers(&state) { return ([], false, end) }
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
        state.urgent -= group.count { !$0.canWait }
        state.isWriting = true
        return (group, false, nil)
      }
      if !group.isEmpty { return group }
      if isDone { return nil }
      // Signals of jobs that were taken with an earlier group end a wait too soon; then it is asked again.
      if let gathersUntil { _ = arrival.wait(timeout: gathersUntil) } else { arrival.wait() }
    }
  }

  /// - Returns: until when the writer may wait for more; nil when the jobs are to be done now.
  private func gathers(_ state: inout State) -> DispatchTime? {
    let now = DispatchTime.now()
    guard gatherMilliseconds > 0, state.urgent == 0, state.weight < state.groupLimit, !state.isClosed else {
      state.gathersUntil = nil
      return nil
    }
    let end = state.gathersUntil ?? now + .milliseconds(gatherMilliseconds)
    state.gathersUntil = now < end ? end : nil
    return state.gathersUntil
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
