package import AppProtocol
package import CallEngine
package import CallModel
package import LedgerCore
package import SIPCore

/// What a node is told.
package enum NodeInput: Sendable {
  /// The first input: lives of this node begin at the ledgers, and what an earlier life left is settled and ended. Answered
  /// with ``NodeEffect/started`` or ``NodeEffect/startFailed(_:_:)``.
  case start
  /// Something is due: see ``NodeCore/nextDeadline``.
  case due
  /// From the connections of apps, and verdicts on their proofs.
  case door(AppDoorInput)
  /// One datagram, or one message of a stream.
  case sip([UInt8], SIPPath)
  /// A request could not be sent, or its stream broke before an answer.
  case unsent(TransactionID)
  /// Answers ``NodeEffect/locate(_:_:)``: empty where there is no way.
  case located(LocationID, [SIPPath])
  /// Answers ``NodeEffect/prepare(_:_:)``.
  case prepared(CallID, Result<PreparedMedia, MediaShortage>)
  case media(CallID, MediaNotice)
  /// Answers ``NodeEffect/bill(_:_:)``, the one that was asked last in this environment.
  case billed(environment: String, BillingAnswer)
  /// Answers ``NodeEffect/keep(_:_:)``, the one that was asked last in this environment.
  case kept(environment: String, KeepingAnswer)
  /// Answers ``NodeEffect/readPayer(environment:_:)``; `nil` where the ledger has no such account.
  case payer(environment: String, AccountName, Result<Payer?, PayerUnavailable>)
  /// A call between two destinations, asked for over REST; answered with ``NodeEffect/originated(_:_:)``.
  case originate(OriginationID, OriginateOrder)
  /// An operator ends a call.
  case hangUp(CallID, by: String)
  /// What may change while calls are up.
  case configure(NodeSettings)
  /// No new sessions and calls from now on; apps are told.
  case drain
  /// Every session ends.
  case endSessions
  /// How long something that came in waited: what calls are refused by when there is too much to do.
  case waited(microseconds: Int64)
}

/// Why the prices of an account cannot be read, for the log.
package struct PayerUnavailable: Error, Hashable, Sendable {
  package var problem: String
  package init(_ problem: String) { self.problem = problem }
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
