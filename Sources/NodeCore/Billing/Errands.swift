package import CallModel
package import LedgerCore

/// What is wanted of the one who speaks with a ledger for calls: one at a time in each environment.
package enum BillingErrand: Sendable {
  /// Apply operations in order, with one commit where that can be.
  case perform([LedgerOperation])
  /// Keep operations on disk until the ledger is back.
  case spool([LedgerOperation])
  /// Hand what is on disk to the ledger.
  case replaySpool
}

/// What is wanted of the one who speaks with a ledger for the node: one at a time in each environment.
package enum KeepingErrand: Sendable {
  case register(NodeID, at: Instant)
  /// - Parameter uptime: milliseconds of the node's monotonic clock.
  case beat(NodeID, epoch: Int64, at: Instant, uptime: Int64)
  /// Settle the calls of lives that are over.
  case recover(at: Instant)
  case readAccounts([AccountName])
  case prune(Retention.Due)
}

/// What became of a ``BillingErrand``.
package enum BillingAnswer: Sendable {
  /// One result for each operation, in order.
  case performed([Result<LedgerReceipt, LedgerUnavailable>])
  /// - Parameters:
  ///   - waiting: operations that are in the spool now.
  ///   - problem: why some are in memory alone.
  case spooled(waiting: Int, problem: String?)
  case replayed(SpoolReplay)
}

/// What a replay of the spool came to.
package struct SpoolReplay: Hashable, Sendable {
  /// Operations that the ledger has answered.
  package var answered: Int
  /// Those among them that it refused: an operator should look at each.
  package var refused: [Refused]
  /// Operations that still wait.
  package var waiting: Int
  /// Why they do.
  package var problem: String?

  package struct Refused: Hashable, Sendable {
    package var call: CallID
    package var refusal: LedgerRefusal

    package init(call: CallID, refusal: LedgerRefusal) {
      self.call = call
      self.refusal = refusal
    }
  }

  package init(answered: Int = 0, refused: [Refused] = [], waiting: Int, problem: String? = nil) {
    self.answered = answered
    self.refused = refused
    self.waiting = waiting
    self.problem = problem
  }
}

/// What became of a ``KeepingErrand``.
package enum KeepingAnswer: Sendable {
  /// The epoch of the life that began.
  case registered(Result<Int64, LedgerUnavailable>)
  /// Whether the life goes on: `false` where the node was declared dead or replaced.
  case beaten(Result<Bool, LedgerUnavailable>)
  case recovered(Result<[LedgerRecovery], LedgerUnavailable>)
  /// The accounts that were asked for and exist.
  case accounts(Result<[LedgerAccount], LedgerUnavailable>)
  /// Why something is still there; `nil` where all is gone.
  case pruned(problem: String?)
}
