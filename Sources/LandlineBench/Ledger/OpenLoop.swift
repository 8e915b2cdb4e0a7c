import Foundation
import LedgerCore
import LedgerSQLite
import Synchronization

/// Operations that arrive by a schedule, whether or not the ones before have been answered.
///
/// A third authorises, a third answers and a third settles calls. The delay of each counts from the instant at which it
/// was due, so a store that falls behind cannot hide it.
final class OpenLoop: Sendable {
  /// Calls between an authorisation and its answer, and again to its settlement.
  static let callsBetweenPhases = 32
  /// Shortest sleep between looks at the schedule, in seconds: what falls due meanwhile is handed over together.
  static let shortestSleep = 0.0001

  struct Result {
    /// Answer minus due instant of each operation in seconds, ascending.
    var delays: [Double]
    var cpu: Double
    var wall: Double
    var commits: Int
  }

  private struct State {
    var delays: [Double] = []
    var waiting = 0
    var problem: (any Error)?
    var finished: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  func run(
    _ store: SQLiteLedgerStore, commits: CommitCounter, _ workload: LedgerWorkload, firstCall: Int,
    operationsPerSecond: Int, seconds: Double
  ) async throws -> Result {
    let operations = schedule(
      workload, firstCall: firstCall, count: max(1, Int(Double(operationsPerSecond) * seconds)))
    commits.reset()
    state.withLock { state in
      state.waiting = operations.count
      state.delays.reserveCapacity(operations.count)
    }
    let clock = ProcessClock.now()
    await withCheckedContinuation { continuation in
      state.withLock { $0.finished = continuation }
      let thread = Thread {
        self.submit(operations, to: store, start: clock.wall, interval: 1 / Double(operationsPerSecond))
      }
      thread.name = "bench-arrivals"
      thread.start()
    }
    let end = ProcessClock.now()
    return try state.withLock { state in
      if let problem = state.problem { throw problem }
      return Result(
        delays: state.delays.sorted(), cpu: end.cpu - clock.cpu, wall: end.wall - clock.wall,
        commits: commits.read().commits)
    }
  }

  private func schedule(_ workload: LedgerWorkload, firstCall: Int, count: Int) -> [LedgerOperation] {
    (0..<count).map { index in
      let number = index / 3
      let phases: [(LedgerWorkload.Phase, Int)] = [
        (.authorise, number), (.answer, number - OpenLoop.callsBetweenPhases),
        (.settle, number - 2 * OpenLoop.callsBetweenPhases),
      ]
      let (phase, call) = phases[index % 3]
      // The first answers and settlements have no call yet; operations of their own calls take their places.
      return call >= 0
        ? workload.operation(phase, call: firstCall + call, at: Int64(number))
        : workload.operation(.authorise, call: firstCall + count + index, at: Int64(number))
    }
  }

  private func submit(_ operations: [LedgerOperation], to store: SQLiteLedgerStore, start: Double, interval: Double) {
    var next = 0
    while next < operations.count {
      let elapsed = ProcessClock.monotonicSeconds() - start
      while next < operations.count, Double(next) * interval <= elapsed {
        let due = start + Double(next) * interval
        store.submit([operations[next]]) { self.complete($0[0], due: due) }
        next += 1
      }
      let untilNext = start + Double(next) * interval - ProcessClock.monotonicSeconds()
      if next < operations.count { usleep(useconds_t(max(untilNext, OpenLoop.shortestSleep) * 1e6)) }
    }
  }

  private func complete(_ answer: Swift.Result<LedgerReceipt, LedgerUnavailable>, due: Double) {
    let now = ProcessClock.monotonicSeconds()
    let finished: CheckedContinuation<Void, Never>? = state.withLock { state in
      state.delays.append(now - due)
      state.waiting -= 1
      do {
        if let refusal = try answer.get().refusal { throw BenchProblem("an operation was refused: \(refusal)") }
      } catch {
        state.problem = error
      }
      return state.waiting == 0 ? state.finished : nil
    }
    finished?.resume()
  }
}
