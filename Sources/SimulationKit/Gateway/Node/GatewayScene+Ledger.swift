import CallEngine
import CallModel
import LedgerCore

/// The way of the node's operations to the ledger: in order, and into the spool while the ledger is away.
struct SimulatedLine {
  struct Job {
    let life: Int
    let step: LedgerStep
    let operation: LedgerOperation
    let call: CallOperation
  }

  var waiting: [Job] = []
  var isBusy = false
  /// On disk: it outlives the node.
  var spool: [LedgerOperation] = []
}

// MARK: - The ledger and the way to it

extension GatewayScene {
  var isLedgerAway: Bool { now < ledgerAwayUntil }

  func submit(_ step: LedgerStep, _ operation: CallOperation, _ node: SimulatedNode) {
    oracles.asked(step, operation, in: self)
    line.waiting.append(
      SimulatedLine.Job(
        life: node.life, step: step,
        operation: LedgerOperation(.call(operation), at: clock, uptime: uptime(of: node), actor: "gw"), call: operation)
    )
    guard !line.isBusy else { return }
    line.isBusy = true
    let microseconds =
      now < ledgerSlowUntil ? random.number(200_000...8_000_000) : random.number(200...random.one(2000, 20_000))
    schedule.add(.ledgerTurn(life: node.life), at: now.advanced(byMicroseconds: microseconds))
  }

  /// What the node tells the ledger of its monotonic clock.
  func uptime(of node: SimulatedNode) -> Int64? { plants(.wallClockTalk, always: true) ? nil : node.uptime(at: now) }

  func ledgerTurn() {
    performWaiting(answering: true)
    line.isBusy = false
  }

  /// What waits in one commit; its answers come a little later.
  func performWaiting(answering: Bool) {
    let batch = line.waiting
    line.waiting = []
    if !line.spool.isEmpty { replaySpool() }
    // An answer that is lost concerns a whole commit.
    let isAnswerLost = plan.faults.count > 0 && random.chance(5) && !isQuiet
    let isCommitLost = plan.faults.count > 0 && random.chance(5) && !isQuiet
    for job in batch where violation == nil {
      if isLedgerAway || !line.spool.isEmpty || isCommitLost {
        setAside(job, answering)
        continue
      }
      guard let receipt = perform(job.operation) else { return }
      if isAnswerLost {
        setAside(job, answering)
      } else if answering {
        answer(job, .success(receipt))
      }
    }
    if isAnswerLost { count("lost answer") }
    if isCommitLost { count("lost commit") }
  }

  private func setAside(_ job: SimulatedLine.Job, _ answering: Bool) {
    switch job.call.phase {
    case .answer, .settle, .void:
      line.spool.append(job.operation)
      count("spooled")
    case .authorise, .extend, .recover: break
    }
    if answering { answer(job, .failure(LedgerUnavailable(.busy, "a fault of the simulation"))) }
  }

  private func answer(_ job: SimulatedLine.Job, _ result: Result<LedgerReceipt, LedgerUnavailable>) {
    schedule.add(
      .engine(life: job.life, .ledger(job.call.call, job.step, result)),
      at: now.advanced(byMicroseconds: random.number(50...1000)))
  }

  func replaySpool() {
    guard !isLedgerAway else { return }
    let spool = line.spool
    line.spool = []
    for operation in spool where violation == nil {
      count("spool replay")
      _ = perform(operation)
    }
  }

  /// One operation on the real book, and what must hold after it.
  @discardableResult
  func perform(_ operation: LedgerOperation) -> LedgerReceipt? {
    if case .call(let call) = operation.request, let receipt = spoiled(call, operation) { return receipt }
    do {
      let receipt = try ledger.perform(operation)
      digest.add(operation.key)
      digest.add(receipt.outcome.text)
      note {
        "ledger \(operation.account) \(operation.key): \(receipt.outcome.text)\(receipt.isReplay ? " again" : "")"
      }
      if case .call(let call) = operation.request { oracles.answered(call, receipt, in: self) }
      checkBalances()
      return receipt
    } catch {
      fail("ledger", "\(operation.key): \(error)")
      return nil
    }
  }

  /// What a planted bug makes of an operation.
  private func spoiled(_ call: CallOperation, _ operation: LedgerOperation) -> LedgerReceipt? {
    func receipt(_ outcome: LedgerOutcome) -> LedgerReceipt { LedgerReceipt(seq: 1, isReplay: false, outcome: outcome) }
    switch call.phase {
    case .settle(let milliseconds, _, _):
      guard milliseconds > 0, plants(.doubleSettle), let receipt = try? ledger.perform(operation),
        case .settled(_, _, let cost, _) = receipt.outcome, cost > 0, let credits = try? Credits(micros: -cost, .eur)
      else { return nil }
      let again = MoneyMovement(
        account: call.account, key: RequestKey(unchecked: "again-\(call.call.text)"), .adjust(force: false),
        amount: credits)
      _ = try? ledger.perform(LedgerOperation(.move(again), at: clock, actor: "gw"))
      oracles.answered(call, receipt, in: self)
      return receipt
    case .void(let reason, _):
      if plants(.forgottenVoid) { return receipt(.voided) }
      guard plants(.unansweredCharge) else { return nil }
      var answer = call
      answer.phase = .answer
      _ = try? ledger.perform(LedgerOperation(.call(answer), at: clock, actor: "gw"))
      var settle = call
      settle.phase = .settle(milliseconds: 1000, reason: reason, carriers: [])
      guard let receipt = try? ledger.perform(LedgerOperation(.call(settle), at: clock, actor: "gw")) else {
        return nil
      }
      oracles.answered(settle, receipt, in: self)
      return receipt
    case .extend(_, let seconds):
      guard let hold = ledger.hold(account: call.account.text, call: call.call) else { return nil }
      let more = receipt(.granted(seconds: hold.grantedSeconds + seconds, amount: hold.amount, isFinal: false))
      if plants(.lostExtension) { return more }
      if plants(.deafToCredit, always: true), let real = try? ledger.perform(operation),
        case .refused(.insufficientCredit) = real.outcome
      {
        return more
      }
      return nil
    case .authorise(let request):
      guard plants(.freeCall), case .rated = request.rating else { return nil }
      return receipt(.granted(seconds: 60, amount: 0, isFinal: false))
    case .answer, .recover: return nil
    }
  }

  /// Once in so many operations every balance is looked at, at other times those that changed.
  static let fullBalanceCheck = 256

  func checkBalances() {
    oracles.checked("balances")
    let isFull = ledger.performed % Self.fullBalanceCheck == 0
    if let problem = ledger.newlyBrokenBalance() ?? (isFull ? ledger.brokenBalance : nil) { fail("balances", problem) }
  }

  // MARK: People at the ledger

  func administer(_ account: Int, _ change: AccountAdministration.Change) {
    keys += 1
    perform(
      LedgerOperation(
        .administer(
          AccountAdministration(
            account: AccountName(unchecked: GatewayScene.accountName(account)), key: RequestKey(unchecked: "a\(keys)"),
            change)), at: clock, actor: "cli"))
  }

  func topUp(_ account: Int, _ micros: Int64) {
    keys += 1
    guard micros > 0, let amount = try? Credits(micros: micros, .eur) else { return }
    let receipt = perform(
      LedgerOperation(
        .move(
          MoneyMovement(
            account: AccountName(unchecked: GatewayScene.accountName(account)), key: RequestKey(unchecked: "t\(keys)"),
            .topup(method: RequestKey(unchecked: "card")), amount: amount)), at: clock, actor: "cli"))
    if case .posted? = receipt?.outcome { oracles.toppedUp(account, micros) }
  }
}
