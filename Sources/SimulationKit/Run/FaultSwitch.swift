import LedgerCore
import LedgerSQLite
import Synchronization

/// What goes wrong at the store's next commit; set by the simulation, asked on the writer's thread.
final class FaultSwitch: Sendable {
  enum Fault: Hashable {
    case loseCommit
    case loseAnswer
    /// The process is dead: nothing is answered any more; `commits` tells whether the first commit still reached the disk.
    case die(commits: Bool)
  }

  private let armed = Mutex<Fault?>(nil)

  /// The first write that the ledger itself undid as impossible. Its neighbours go through, so nothing else would tell.
  private let noticed = Mutex<String?>(nil)

  var impossibleWrite: String? { noticed.withLock { $0 } }

  func notice(_ fault: String) { noticed.withLock { $0 = $0 ?? fault } }

  func arm(_ fault: Fault?) { armed.withLock { $0 = fault } }

  var faults: CommitFaults {
    CommitFaults { [self] point, _ in
      armed.withLock { fault -> LedgerUnavailable? in
        switch (fault, point) {
        case (.loseCommit, .beforeCommit), (.loseAnswer, .afterCommit): fault = nil
        case (.die(commits: false), .beforeCommit): break
        case (.die(commits: true), .afterCommit): fault = .die(commits: false)
        default: return nil
        }
        return LedgerUnavailable(.inputOutput, FaultSwitch.problem)
      }
    }
  }

  static let problem = "a fault of the simulation"
}
