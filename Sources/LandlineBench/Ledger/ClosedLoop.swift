import LedgerCore
import LedgerSQLite
import Synchronization

/// As many callers as a group has calls, in step: all authorise, all are answered, all settle, and again.
///
/// Each caller hands over its operation by itself. All do so while the writer is busy with the answers of the group
/// before, so that a commit takes the whole group, as it does under steady load. Time runs during authorisations and
/// settlements; answers, and the making of operations, are left out.
final class ClosedLoop: Sendable {
  struct Result {
    var pair = PairSample()
    var authorise = ProcessTime()
    var answer = ProcessTime()
    var settle = ProcessTime()
    /// Operations in all commits of the counted time, by count of operations.
    var operations = 0
  }

  private struct State {
    var result = Result()
    var phase = LedgerWorkload.Phase.authorise
    var waiting = 0
    var firstCall = 0
    var start = ProcessClock.now()
    var problem: (any Error)?
    var finished: CheckedContinuation<Void, Never>?
  }

  private let store: SQLiteLedgerStore
  private let workload: LedgerWorkload
  private let group: Int
  private let seconds: Double
  private let commits: CommitCounter
  private let state = Mutex(State())

  init(store: SQLiteLedgerStore, commits: CommitCounter, workload: LedgerWorkload, group: Int, seconds: Double) {
    self.store = store
    self.commits = commits
    self.workload = workload
    self.group = group
    self.seconds = seconds
  }

  func run() async throws -> Result {
    await withCheckedContinuation { continuation in
      state.withLock { $0.finished = continuation }
      begin()
    }
    return try state.withLock { state in
      if let problem = state.problem { throw problem }
      return state.result
    }
  }

  /// Makes the operations of the current phase, starts the clock and hands them over one by one.
  private func begin() {
    let (phase, firstCall) = state.withLock { ($0.phase, $0.firstCall) }
    let operations = (0..<group).map { workload.operation(phase, call: firstCall + $0, at: Int64(firstCall / group)) }
    commits.reset()
    state.withLock { state in
      state.waiting = group
      state.start = ProcessClock.now()
    }
    for operation in operations {
      store.submit([operation]) { self.complete($0[0]) }
    }
  }

  private func complete(_ answer: Swift.Result<LedgerReceipt, LedgerUnavailable>) {
    enum Next {
      case wait, phase
      case end(CheckedContinuation<Void, Never>?)
    }
    let next: Next = state.withLock { state in
      state.waiting -= 1
      do {
        if let refusal = try answer.get().refusal { throw BenchProblem("a call was refused: \(refusal)") }
      } catch {
        state.problem = error
      }
      guard state.waiting == 0 else { return .wait }
      let now = ProcessClock.now()
      let counted = commits.read()
      switch state.phase {
      case .authorise:
        state.result.authorise.add(from: state.start, to: now)
        state.phase = .answer
      case .answer:
        state.result.answer.add(from: state.start, to: now)
        state.phase = .settle
        return state.problem == nil ? .phase : .end(state.finished)
      case .settle:
        state.result.settle.add(from: state.start, to: now)
        state.result.pair.pairs += group
        state.phase = .authorise
        state.firstCall += group
      }
      state.result.pair.commits += counted.commits
      state.result.operations += counted.operations
      state.result.pair.wall = state.result.authorise.wall + state.result.settle.wall
      state.result.pair.cpu = state.result.authorise.cpu + state.result.settle.cpu
      let isOver = state.phase == .authorise && state.result.pair.wall >= seconds
      return isOver || state.problem != nil ? .end(state.finished) : .phase
    }
    switch next {
    case .wait: break
    case .phase: begin()
    case .end(let finished): finished?.resume()
    }
  }
}

/// Counts the commits of a store and the operations in them.
final class CommitCounter: Sendable {
  private let count = Mutex((commits: 0, operations: 0))

  /// To be asked by the store around each commit; nothing is made to fail.
  var faults: CommitFaults {
    CommitFaults { [self] point, operations in
      if case .afterCommit = point {
        count.withLock { count in
          count.commits += 1
          count.operations += operations
        }
      }
      return nil
    }
  }

  func reset() { count.withLock { $0 = (0, 0) } }
  func read() -> (commits: Int, operations: Int) { count.withLock { $0 } }
}
