import CallEngine
import CallModel
import LedgerCore

/// What the accounts of live calls were like when they were last looked at: changes by any process on the ledger are
/// seen here.
struct AccountWatch {
  private struct State: Hashable {
    var posted: MicroUnits
    var revision: Int64
    var isLocked: Bool
  }

  private var states: [AccountName: State] = [:]

  /// - Parameters:
  ///   - rows: of accounts with live calls.
  ///   - paying: accounts that have live calls now.
  /// - Returns: what calls have to hear.
  mutating func changes(
    in rows: [LedgerAccount], paying: Set<AccountName>, environment: String
  ) -> [EngineInput] {
    var changes: [EngineInput] = []
    for row in rows {
      let name = AccountName(unchecked: row.name)
      let state = State(posted: row.posted, revision: row.revision, isLocked: row.status == .locked)
      guard let former = states.updateValue(state, forKey: name), former != state else { continue }
      if state.isLocked, !former.isLocked {
        changes.append(.accountLocked(name, environment: environment))
      } else if state.posted > former.posted || state.revision != former.revision {
        changes.append(.accountChanged(name, environment: environment))
      }
    }
    states = states.filter { paying.contains($0.key) }
    return changes
  }
}
