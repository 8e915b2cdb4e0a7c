package import CallEngine
package import CallModel
package import LedgerCore

/// The way of calls' operations to one ledger: in order, what has gathered in one commit, and into the spool while the
/// ledger is away. Answers come back in the order of the operations.
///
/// ```
///            submit                      performed, all answered
///   idle ───────────────▶ performing ─────────────────────────────▶ idle
///    │  ▲                     │ the ledger is away
///    │  └──── spooled ◀── spooling (answers and ends of calls)
///    │                        ▲
///    └─ replaying ────────────┘ what an outage left goes first; it is still away
/// ```
package struct BillingLine {
  /// Who waits for an operation.
  package enum Purpose {
    case call(CallID, LedgerStep, askedAt: MonotonicInstant)
    case lock(AccountName)
  }

  package struct Answer {
    package let purpose: Purpose
    package let result: Result<LedgerReceipt, LedgerUnavailable>
  }

  package enum Step {
    case nothing
    case errand(BillingErrand)
    case answers([Answer])
  }

  /// Most operations that wait; above, calls hear that billing is unavailable. Answers and ends of calls are always taken.
  package static let maximumWaiting = 65_536
  /// Most operations of one commit.
  package static let batch = 512
  /// How long an answer may wait for another operation, to share its commit. Nobody waits for an answer's receipt, and a
  /// node that dies meanwhile charges the customer nothing.
  package static let answerMilliseconds: Int64 = 50

  private struct Job {
    let operation: LedgerOperation
    var purpose: Purpose
    let submittedAt: MonotonicInstant
  }

  private enum Stage {
    case idle
    case replaying
    case performing([Job])
    /// The ledger has refused to answer some: what may wait for it goes to disk, then all are told.
    case unanswered([LedgerOperation], [Answer])
    case spooling([Answer])
    case answered([Answer])
  }

  private var waiting: [Job] = []
  private var stage = Stage.idle
  /// Operations on disk, as last told.
  package private(set) var spooled = 0
  /// Calls whose answer is among them: a call asks for its answer once a second while the ledger is away, and one record
  /// of it is enough.
  private var spooledAnswers: Set<CallID> = []
  /// Whether the spool is to be tried though nothing waits behind it.
  private var wantsReplay = true
  /// Whether the spool was tried since the last commit was asked for.
  private var hasTriedSpool = false

  package init() {}

  /// Whether nothing waits and nothing is under way.
  package var isIdle: Bool {
    guard waiting.isEmpty, case .idle = stage else { return false }
    return true
  }

  /// - Returns: `false` where too many wait.
  package mutating func submit(_ operation: LedgerOperation, _ purpose: Purpose, at now: MonotonicInstant) -> Bool {
    guard waiting.count < BillingLine.maximumWaiting || BillingLine.isSpoolable(operation) else { return false }
    waiting.append(Job(operation: operation, purpose: purpose, submittedAt: now))
    return true
  }

  /// Until when what waits may go on waiting; `nil` where nothing waits by choice.
  package var nextDeadline: MonotonicInstant? {
    guard case .idle = stage, let first = waiting.first else { return nil }
    return first.submittedAt.advanced(byMilliseconds: BillingLine.answerMilliseconds)
  }

  /// Tries the spool again, where something waits in it.
  package mutating func retrySpool() { if spooled > 0 { wantsReplay = true } }

  /// What is to be done next, until there is nothing.
  package mutating func step(at now: MonotonicInstant) -> Step {
    switch stage {
    case .replaying, .performing, .spooling: return .nothing
    case .answered(let answers):
      stage = .idle
      return .answers(answers)
    case .unanswered(let operations, let answers):
      stage = .spooling(answers)
      return .errand(.spool(operations))
    case .idle: break
    }
    // What an earlier outage left goes first: an answer before the end of the same call.
    if wantsReplay || spooled > 0 && !waiting.isEmpty && !hasTriedSpool {
      stage = .replaying
      return .errand(.replaySpool)
    }
    guard !waiting.isEmpty, !mayWait(at: now) else { return .nothing }
    var jobs = Array(waiting.prefix(BillingLine.batch))
    waiting.removeFirst(jobs.count)
    hasTriedSpool = false
    guard spooled == 0 else {
      let away = LedgerUnavailable(.busy, "the ledger is away")
      setAside(jobs, jobs.map { _ in .failure(away) })
      return step(at: now)
    }
    for index in jobs.indices {
      // An answer may have waited by choice, which says nothing of how fast the ledger is.
      if case .call(let call, .answer, _) = jobs[index].purpose {
        jobs[index].purpose = .call(call, .answer, askedAt: now)
      }
    }
    stage = .performing(jobs)
    return .errand(.perform(jobs.map(\.operation)))
  }

  package mutating func performed(_ results: [Result<LedgerReceipt, LedgerUnavailable>]) {
    guard case .performing(let jobs) = stage else { return }
    setAside(jobs, results)
  }

  /// - Parameter isKept: whether the disk has taken all that it was given.
  package mutating func spooled(waiting count: Int, isKept: Bool = true) {
    countSpooled(count)
    guard case .spooling(let answers) = stage else { return }
    for case .call(let call, .answer, _) in answers.map(\.purpose) where isKept { spooledAnswers.insert(call) }
    stage = .answered(answers)
  }

  private mutating func countSpooled(_ count: Int) {
    spooled = count
    if count == 0 { spooledAnswers = [] }
  }

  package mutating func replayed(waiting count: Int) {
    countSpooled(count)
    wantsReplay = false
    hasTriedSpool = true
    if case .replaying = stage { stage = .idle }
  }

  private mutating func setAside(_ jobs: [Job], _ results: [Result<LedgerReceipt, LedgerUnavailable>]) {
    var operations: [LedgerOperation] = []
    var answers: [Answer] = []
    for (job, result) in zip(jobs, results) {
      if case .failure = result, BillingLine.isSpoolable(job.operation), !isSpooled(job.purpose) {
        operations.append(job.operation)
      }
      answers.append(Answer(purpose: job.purpose, result: result))
    }
    stage = operations.isEmpty ? .answered(answers) : .unanswered(operations, answers)
  }

  private func isSpooled(_ purpose: Purpose) -> Bool {
    guard case .call(let call, .answer, _) = purpose else { return false }
    return spooledAnswers.contains(call)
  }

  /// Whether all that waits is answers of calls, and none has waited for long.
  private func mayWait(at now: MonotonicInstant) -> Bool {
    guard let nextDeadline, now < nextDeadline else { return false }
    return waiting.allSatisfy { job in
      guard case .call(let call) = job.operation.request, case .answer = call.phase else { return false }
      return true
    }
  }

  /// Whether an operation may wait for the ledger: answers and ends of calls promise no credit.
  package static func isSpoolable(_ operation: LedgerOperation) -> Bool {
    guard case .call(let call) = operation.request else { return false }
    switch call.phase {
    case .answer, .settle, .void: return true
    case .authorise, .extend, .recover: return false
    }
  }
}
