import AppProtocol
import CallEngine
import CallModel
import LedgerCore
import SIPCore

/// Holds what a run has left against what the oracle says, and against what holds for every call.
struct GlareVerdict {
  private(set) var problems: [String]
  /// What the call was charged.
  private(set) var cost = MicroUnits.zero

  init(_ run: GlareRun) {
    problems = run.problems
    let oracle = GlareOracle(run)
    checkEnd(run, oracle)
    checkLedger(run)
    checkSignalling(run)
    problems += Invariants(run.bench, isOver: true).problems
  }

  private mutating func check(_ holds: Bool, _ problem: @autoclosure () -> String) {
    if !holds { problems.append(problem()) }
  }

  private mutating func checkEnd(_ run: GlareRun, _ oracle: GlareOracle) {
    guard let call = run.call, let summary = run.bench.summary(of: call), let endedAt = run.closedAt else {
      problems.append("the call never ended")
      return
    }
    cost = summary.costMicro ?? -1
    check(run.bench.records.count == 1, "\(run.bench.records.count) records")
    check(run.bench.records.first?.summary == summary, "the record is not what the app was told")
    let byes = run.sent("BYE")
    let cancels = run.sent("CANCEL", of: 1)
    let matches = oracle.outcomes.contains { outcome in
      let isThen = outcome.at.map { endedAt >= $0 && endedAt <= $0 + outcome.slack } ?? true
      let micro = outcome.micro ?? oracle.answeredAt.map { GlareOracle.cost(from: $0, to: endedAt) } ?? 0
      return isThen && summary.cause == outcome.cause && summary.costMicro == micro && byes == outcome.byes
        && cancels == outcome.cancels
    }
    let charged = cost
    check(
      matches,
      "ended \(summary.cause.rawValue) at \(endedAt) for \(charged) (\(summary.failure?.code.rawValue ?? "-")), \(byes) BYE, "
        + "\(cancels) CANCEL; answered \(oracle.answeredAt.map(String.init) ?? "-"), due: \(oracle.outcomes)")
    let wasAnswered = run.bench.count("app accepted") == 1
    check(wasAnswered == (summary.answeredAt != nil), "the app was told of the answer \(wasAnswered)")
    check(wasAnswered || cost == 0, "charged without an answer")
    let isCrossing = !wasAnswered && oracle.successAt.map { $0 <= run.recordedAt ?? .max } ?? false
    // No sound is played here.
    let silent = [CallRecord.Flag.noSoundFromCaller, .noSoundFromCalled]
    let flags = (run.bench.records.first?.flags ?? []).filter { !silent.contains($0) }
    check(flags == (isCrossing ? [.cancelRace] : []), "flags \(flags)")
    checkInterval(run, summary, endedAt)
  }

  /// The trunk's own bill, from its 200 to the end as it saw it, covers what we charge; a BYE of its own counts from when
  /// it comes here.
  private mutating func checkInterval(_ run: GlareRun, _ summary: CallSummary, _ endedAt: Int64) {
    guard cost > 0, let start = run.trunkAnsweredAt else { return }
    if let end = run.trunkByeAt ?? run.trunkEnds.first?.time, run.cutAt == nil {
      let microseconds = summary.durationMilliseconds * 1000
      check(
        microseconds <= max(end, endedAt) - start,
        "charged \(microseconds) µs, the trunk knows of \(max(end, endedAt) - start)")
    }
  }

  private mutating func checkLedger(_ run: GlareRun) {
    let ends = run.receipts.filter { $0.step == .end }
    check(ends.count == 1, "the hold was ended \(ends.count) times")
    for (step, operation, receipt) in run.receipts {
      if let refusal = receipt.refusal {
        if case .extend = step { continue }
        problems.append("\(Bench.word(step, operation)) was refused: \(refusal)")
      }
    }
    if case .settled(_, _, let settled, _)? = ends.first?.receipt.outcome {
      check(settled == cost, "settled for \(settled)")
    }
  }

  private mutating func checkSignalling(_ run: GlareRun) {
    check(run.trunkEnds.count == 1, "the trunk heard of \(run.trunkEnds.count) ends")
    for (name, agent) in [("gateway", run.gateway), ("trunk", run.trunk)] {
      let left = agent.holdings.filter { $0.value != 0 }
      check(left.isEmpty, "the \(name)'s agent keeps \(left)")
      check(agent.nextDeadline == nil, "the \(name)'s agent waits")
    }
  }
}

extension GlareRun {
  /// Requests of the gateway, each transaction once.
  func sent(_ method: String, of sequence: Int? = nil) -> Int {
    var transactions: Set<String> = []
    for entry in entries {
      guard case .outgoing(let line) = entry.kind, line.isRequest, line.method == method else { continue }
      if sequence.map({ $0 == line.sequence }) ?? true { transactions.insert(line.transaction) }
    }
    return transactions.count
  }
}
