import CallModel
import LandlineSQLite
import LedgerCore

/// One thing for the ledger's writer to do.
enum LedgerJob: WriterJob {
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

  /// Calls wait for each.
  var canWait: Bool { false }

  /// Whether it is undone once it is answered.
  var isRehearsal: Bool {
    if case .rehearse = self { return true }
    return false
  }

  func refuse(_ error: LedgerUnavailable) {
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
