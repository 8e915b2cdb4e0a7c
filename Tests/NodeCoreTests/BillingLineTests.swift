import CallEngine
import CallModel
import LedgerCore
import NodeCore
import Testing

@Suite("The way of operations to a ledger")
struct BillingLineTests {
  private func operation(_ phase: CallOperation.Phase, of call: String = "a") -> LedgerOperation {
    LedgerOperation(
      .call(
        CallOperation(
          account: AccountName(unchecked: "anna"), call: CallID(unchecked: call),
          origin: CallOperation.Origin(node: NodeID(unchecked: "gw-1"), epoch: 1), phase)),
      at: Instant(seconds: 1_794_999_000), actor: "gw-1")
  }

  private func time(_ milliseconds: Int64) -> MonotonicInstant {
    MonotonicInstant.zero.advanced(byMilliseconds: milliseconds)
  }

  /// A line that has tried its spool. A class, so that an expectation may ask it.
  private final class Line {
    var line = BillingLine()

    init() {
      _ = line.step(at: .zero)
      line.replayed(waiting: 0)
    }

    func submit(_ operation: LedgerOperation, _ step: LedgerStep, at now: MonotonicInstant) {
      let isTaken = line.submit(operation, .call(CallID(unchecked: "a"), step, askedAt: now), at: now)
      #expect(isTaken)
    }

    func step(at now: MonotonicInstant) -> BillingLine.Step { line.step(at: now) }

    /// Operations that are asked of the ledger now; none where nothing is.
    func asked(at now: MonotonicInstant) -> [LedgerOperation] {
      if case .errand(.perform(let operations)) = line.step(at: now) { operations } else { [] }
    }
  }

  private static let end = CallOperation.Phase.settle(milliseconds: 1, reason: "hungUp", carriers: [])

  @Test("an answer waits for company, and not for long")
  func answerAlone() {
    let line = Line()
    line.submit(operation(.answer), .answer, at: time(100))
    #expect(line.asked(at: time(100)).isEmpty)
    #expect(!line.line.isIdle)
    #expect(line.line.nextDeadline == time(100 + BillingLine.answerMilliseconds))
    // A later one does not make the first wait longer.
    line.submit(operation(.answer), .answer, at: time(140))
    #expect(line.asked(at: time(99 + BillingLine.answerMilliseconds)).isEmpty)
    #expect(line.asked(at: time(100 + BillingLine.answerMilliseconds)).count == 2)
    #expect(line.line.nextDeadline == nil)
  }

  @Test("an answer goes with whatever else comes, before the end of its call")
  func answerInCompany() {
    let line = Line()
    line.submit(operation(.answer), .answer, at: time(100))
    line.submit(operation(Self.end), .end, at: time(110))
    let both = [operation(.answer), operation(Self.end)]
    #expect(line.asked(at: time(110)) == both)
    line.line.performed(both.map { _ in .failure(LedgerUnavailable(.busy, "away")) })
    // Both go to disk in the same order.
    guard case .errand(.spool(both)) = line.step(at: time(111)) else {
      Issue.record("nothing is spooled")
      return
    }
  }

  @Test("while the ledger is away a call's answer is spooled once, however often the call asks")
  func answerIsSpooledOnce() {
    let line = Line()
    let away = LedgerUnavailable(.busy, "away")
    line.submit(operation(.answer), .answer, at: time(100))
    #expect(line.asked(at: time(150)).count == 1)
    line.line.performed([.failure(away)])
    guard case .errand(.spool(let first)) = line.step(at: time(151)) else {
      Issue.record("the answer is not spooled")
      return
    }
    #expect(first == [operation(.answer)])
    line.line.spooled(waiting: 1)
    guard case .answers = line.step(at: time(152)) else {
      Issue.record("the call is not told")
      return
    }
    // A second later: the spool is tried in vain, and the call is told at once.
    line.submit(operation(.answer), .answer, at: time(1100))
    guard case .errand(.replaySpool) = line.step(at: time(1150)) else {
      Issue.record("the spool is not tried")
      return
    }
    line.line.replayed(waiting: 1)
    guard case .answers = line.step(at: time(1200)) else {
      Issue.record("the answer is spooled once more")
      return
    }
    // Its end goes to disk all the same.
    line.submit(operation(Self.end), .end, at: time(1300))
    _ = line.step(at: time(1300))
    line.line.replayed(waiting: 1)
    guard case .errand(.spool(let end)) = line.step(at: time(1301)) else {
      Issue.record("the end is not spooled")
      return
    }
    #expect(end == [operation(Self.end)])
  }

  @Test("how long an answer waited by choice is no figure of the ledger")
  func askedAt() {
    let line = Line()
    line.submit(operation(.answer), .answer, at: time(100))
    #expect(line.asked(at: time(150)).count == 1)
    line.line.performed([.failure(LedgerUnavailable(.busy, "away"))])
    _ = line.step(at: time(151))
    line.line.spooled(waiting: 1)
    guard case .answers(let answers) = line.step(at: time(152)),
      case .call(_, .answer, let askedAt) = answers.first?.purpose
    else {
      Issue.record("no answer")
      return
    }
    #expect(askedAt == time(150))
  }
}
