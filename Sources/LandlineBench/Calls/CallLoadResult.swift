import CallModel
import Synchronization

/// The moments of one call as its app saw them, in seconds of ``ProcessClock``.
struct CallMarks: Sendable {
  /// Before `call` was written.
  var asked = 0.0
  var placed = 0.0
  var accepted = 0.0
  var ended = 0.0
}

/// What became of the calls of one load.
package struct CallLoadResult: Sendable {
  package var calls = 0
  /// Calls that went as they should, from `placed` to `ended` with a settled cost.
  package var good = 0
  /// Why others did not, with how often.
  package var failures: [String: Int] = [:]
  /// By the call's place in the load.
  var marks: [CallMarks] = []

  package var failed: Int { calls - good }

  /// The most frequent reason first.
  var failureText: String {
    failures.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) x \($0.key)" }
      .joined(separator: "; ")
  }
}

/// How far a load has come, seen from another thread.
final class CallLoadProgress: Sendable {
  private let endedCalls = Atomic<Int>(0)
  private let cost = Atomic<Int64>(0)

  /// Calls that were placed and are over.
  var ended: Int { endedCalls.load(ordering: .relaxed) }
  /// What the gateway told that they cost.
  var costMicro: MicroUnits { MicroUnits(cost.load(ordering: .relaxed)) }

  func ended(costMicro: MicroUnits) {
    endedCalls.add(1, ordering: .relaxed)
    cost.add(costMicro.count, ordering: .relaxed)
  }
}
