import CallEngine
import CallModel
import LedgerCore
import NodeCore

// MARK: - The ledger and the spool, as the node's errands reach them

extension GatewayScene {
  var isLedgerAway: Bool { now < ledgerAwayUntil }
  private static let away = LedgerUnavailable(.busy, "a fault of the simulation")

  // MARK: Calls

  func carryOut(_ errand: BillingErrand, _ node: SimulatedNode) {
    switch errand {
    case .perform(let operations):
      for operation in operations {
        if case .call(let call) = operation.request { oracles.asked(call, uptime: operation.uptime, in: self) }
      }
      underWay = operations.map { told($0, by: node) }
      let microseconds =
        now < ledgerSlowUntil ? random.number(200_000...8_000_000) : random.number(200...random.one(2000, 20_000))
      schedule.add(.ledgerTurn(life: node.life), at: now.advanced(byMicroseconds: microseconds))
    case .spool(let operations):
      for operation in operations {
        if case .call(let call) = operation.request {
          // While the ledger is known to be away nothing but the disk is asked.
          oracles.spooled(call, uptime: operation.uptime, in: self)
        }
        spool.append(told(operation, by: node))
        count("spooled")
      }
      answer(.spooled(waiting: spool.count, problem: nil), node)
    case .replaySpool:
      let waited = spool.count
      replaySpool()
      answer(.replayed(SpoolReplay(answered: waited - spool.count, waiting: spool.count)), node)
    }
  }

  private func answer(_ answer: BillingAnswer, _ node: SimulatedNode) {
    later(.billed(environment: GatewayScene.environment, answer), node, microseconds: 50...1000)
  }

  /// The operation with what the node's own monotonic clock shows.
  private func told(_ operation: LedgerOperation, by node: SimulatedNode) -> LedgerOperation {
    var operation = operation
    operation.uptime = plants(.wallClockTalk, always: true) ? nil : operation.uptime.map { node.uptime($0) }
    return operation
  }

  /// What was asked for in one commit; its answers come a little later.
  func ledgerTurn(_ node: SimulatedNode) {
    // An answer that is lost concerns a whole commit.
    let isAnswerLost = plan.faults.count > 0 && random.chance(5) && !isQuiet
    let isCommitLost = plan.faults.count > 0 && random.chance(5) && !isQuiet
    if isAnswerLost { count("lost answer") }
    if isCommitLost { count("lost commit") }
    let operations = underWay
    underWay = []
    var results: [Result<LedgerReceipt, LedgerUnavailable>] = []
    for operation in operations where violation == nil {
      let receipt = isLedgerAway || isCommitLost ? nil : perform(operation)
      if let receipt { recordLock(operation, receipt) }
      results.append(isAnswerLost ? .failure(Self.away) : receipt.map { .success($0) } ?? .failure(Self.away))
    }
    answer(.performed(results), node)
  }

  /// The first time that an account is locked by a rule.
  private func recordLock(_ operation: LedgerOperation, _ receipt: LedgerReceipt) {
    guard case .administer(let administration) = operation.request, case .lock = administration.change,
      receipt.refusal == nil, lock == nil
    else { return }
    lock = (administration.reason ?? "", now.milliseconds)
  }

  // MARK: The node

  func carryOut(_ errand: KeepingErrand, _ node: SimulatedNode) {
    let answer: KeepingAnswer
    do {
      answer = try isLedgerAway ? GatewayScene.unanswered(errand) : answered(errand, node)
    } catch { return fail("ledger", "\(error)") }
    later(.kept(environment: GatewayScene.environment, answer), node, microseconds: 200...2000)
  }

  private static func unanswered(_ errand: KeepingErrand) -> KeepingAnswer {
    switch errand {
    case .register: .registered(.failure(away))
    case .beat: .beaten(.failure(away))
    case .recover: .recovered(.failure(away))
    case .readAccounts: .accounts(.failure(away))
    case .prune: .pruned(problem: "\(away)")
    }
  }

  private func answered(_ errand: KeepingErrand, _ node: SimulatedNode) throws -> KeepingAnswer {
    switch errand {
    case .register(let id, let at):
      let row = try ledger.register(id, at: at)
      oracles.beat(node.life, at: now)
      return .registered(.success(row.epoch))
    case .beat(let id, let epoch, let at, let uptime):
      let told = plants(.wallClockTalk, always: true) ? nil : node.uptime(uptime)
      let isAlive = try ledger.beat(id, epoch: epoch, at: at, uptime: told)
      if isAlive {
        oracles.beat(node.life, at: now)
      } else if !node.wasFenced {
        node.wasFenced = true
        count("fenced")
        note { "node was declared dead" }
        schedule.add(.restart(life: node.life), at: now.advanced(byMilliseconds: random.number(5000...30_000)))
      }
      return .beaten(.success(isAlive))
    case .recover(let at):
      try recover(at: at)
      return .recovered(.success([]))
    case .readAccounts(let names): return .accounts(.success(names.compactMap { ledger.account($0.text) }))
    case .prune: return .pruned(problem: nil)
    }
  }

  func recover(at clock: Instant) throws {
    guard !plants(.lostRecovery, always: true) else { return }
    let count = try ledger.recover(GatewayScene.nodeID, at: clock)
    report.recovered += count
    checkBalances()
  }

  // MARK: The book

  private func replaySpool() {
    guard !isLedgerAway else { return }
    let waiting = spool
    spool = []
    for operation in waiting where violation == nil {
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

  func topUp(_ account: Int, _ micros: MicroUnits) {
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
