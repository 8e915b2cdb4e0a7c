import CallEngine
import CallModel
import LedgerCore

// MARK: - Ledgers: lives, beats, accounts, and the operations of calls

extension NodeCore {
  /// The lines try their spools first, in the name of the earlier life; what comes after is the keepers'.
  func start() {
    hasStarted = true
    if ledgers.isEmpty { begin() }
  }

  // MARK: Operations

  func bill(_ environment: String, _ step: LedgerStep, _ operation: CallOperation) {
    let request = LedgerOperation(
      .call(operation), at: time.clock, uptime: time.now.milliseconds, actor: configuration.node.text)
    submit(request, .call(operation.call, step, askedAt: time.now), environment)
  }

  /// Locks an account by a rule of what may be done within an hour.
  func lock(_ account: AccountName, _ environment: String, _ reason: String) {
    let key = RequestKey(unchecked: "velocity-" + String(draw(), radix: 16) + String(draw(), radix: 16))
    let request = LedgerOperation(
      .administer(AccountAdministration(account: account, key: key, .lock, reason: reason)), at: time.clock,
      actor: configuration.node.text)
    submit(request, .lock(account), environment)
  }

  private func submit(_ operation: LedgerOperation, _ purpose: BillingLine.Purpose, _ environment: String) {
    guard ledgers[environment]?.line.submit(operation, purpose, at: time.now) == false else { return }
    let problem = LedgerUnavailable(.busy, "too many operations wait for the ledger")
    answer(BillingLine.Answer(purpose: purpose, result: .failure(problem)), environment)
  }

  /// What the turn asked of the ledgers goes out at its end.
  func sendErrands() {
    guard hasStarted else { return }
    for environment in configuration.environments { sendErrands(environment.name) }
  }

  private func sendErrands(_ environment: String) {
    while true {
      switch ledgers[environment]?.line.step(at: time.now) ?? .nothing {
      case .nothing: return
      case .errand(let errand): effects.append(.bill(environment: environment, errand))
      case .answers(let answers):
        for answer in answers { self.answer(answer, environment) }
        runWork()
      }
    }
  }

  private func answer(_ answer: BillingLine.Answer, _ environment: String) {
    switch answer.purpose {
    case .call(let call, let step, let askedAt):
      effects.append(
        .billed(call, step, answer.result, microseconds: time.now.microseconds(since: askedAt)))
      later(.engine(.ledger(call, step, answer.result)))
    case .lock(let account):
      var isLocked = false
      if case .success(let receipt) = answer.result { isLocked = receipt.refusal == nil }
      if !isLocked {
        log(
          .error, "an account could not be locked",
          ["account": "\(account)", "environment": environment, "answer": "\(answer.result)"])
      }
      later(.engine(.lockAnswered(account, environment: environment, isLocked: isLocked)))
    }
  }

  func billed(_ answer: BillingAnswer, _ environment: String) {
    switch answer {
    case .performed(let results):
      ledgers[environment]?.line.performed(results)
      // One line for a commit: its operations fail together.
      for case .failure(let problem) in results {
        log(.warning, "the ledger is away", ["environment": environment, "problem": "\(problem)"])
        break
      }
    case .spooled(let waiting, let problem):
      ledgers[environment]?.line.spooled(waiting: waiting, isKept: problem == nil)
      if let problem {
        log(
          .error, "operations wait in memory alone",
          ["environment": environment, "waiting": "\(waiting)", "problem": problem])
      } else {
        log(.warning, "operations wait in the spool", ["environment": environment, "waiting": "\(waiting)"])
      }
    case .replayed(let replay): replayed(replay, environment)
    }
  }

  private func replayed(_ replay: SpoolReplay, _ environment: String) {
    if replay.answered > 0 {
      log(
        .info, "the spool was replayed", ["answered": "\(replay.answered)", "refused": "\(replay.refused.count)"])
    }
    for refused in replay.refused {
      log(
        .error, "the ledger refused a spooled operation",
        ["call": "\(refused.call)", "refusal": refused.refusal.rawValue])
    }
    if let problem = replay.problem {
      log(.warning, "the spool cannot be replayed yet", ["environment": environment, "problem": problem])
    }
    ledgers[environment]?.line.replayed(waiting: replay.waiting)
    if let duty = ledgers[environment]?.keeper.replayed() { perform(duty, environment) }
  }

  // MARK: The life of the node

  func beginRound(_ environment: String) {
    if let duty = ledgers[environment]?.keeper.beginRound(at: time.now) { perform(duty, environment) }
  }

  private func perform(_ duty: Keeper.Duty, _ environment: String) {
    guard let keeper = ledgers[environment]?.keeper else { return }
    let errand: KeepingErrand
    switch duty {
    case .register: errand = .register(configuration.node, at: time.clock)
    case .recover: errand = .recover(at: time.clock)
    case .beat:
      errand = .beat(configuration.node, epoch: keeper.epoch, at: time.clock, uptime: time.now.milliseconds)
    case .look:
      let accounts = payingAccounts(environment)
      guard !accounts.isEmpty else { return done(environment) }
      errand = .readAccounts(accounts.sorted { $0.text < $1.text })
    case .prune:
      guard let retention = configuration.environments.first(where: { $0.name == environment })?.retention else {
        return done(environment)
      }
      errand = .prune(
        retention.due(
          at: time.clock, callOperationMilliseconds: LedgerRetention.callOperationHours * 3_600_000))
    }
    effects.append(.keep(environment: environment, errand))
  }

  private func done(_ environment: String) {
    if let duty = ledgers[environment]?.keeper.done(at: time.now, isIdle: engine.isIdle) { perform(duty, environment) }
  }

  /// Accounts with live calls.
  private func payingAccounts(_ environment: String) -> Set<AccountName> {
    Set(engine.liveCalls.lazy.filter { $0.environment == environment }.map(\.account))
  }

  func kept(_ answer: KeepingAnswer, _ environment: String) {
    switch answer {
    case .registered(.success(let epoch)):
      if let duty = ledgers[environment]?.keeper.registered(epoch: epoch) { perform(duty, environment) }
      return
    case .registered(.failure(let problem)):
      effects.append(.startFailed(environment: environment, problem))
      return
    case .beaten(.success(let isAlive)): beaten(isAlive, environment)
    case .beaten(.failure(let problem)):
      log(.error, "the ledger is away", ["environment": environment, "problem": "\(problem)"])
      ledgers[environment]?.keeper.failed("\(problem)")
    case .recovered(let result): recovered(result, environment)
    case .accounts(.success(let rows)):
      let paying = payingAccounts(environment)
      for change in ledgers[environment]?.watch.changes(in: rows, paying: paying, environment: environment) ?? [] {
        later(.engine(change))
      }
    case .accounts(.failure(let problem)):
      // The next beat says so.
      log(.debug, "accounts cannot be read", ["environment": environment, "problem": "\(problem)"])
    case .pruned(let problem):
      if let problem {
        log(.warning, "pruning has to wait", ["environment": environment, "problem": problem])
      }
    }
    done(environment)
    begin()
  }

  private func beaten(_ isAlive: Bool, _ environment: String) {
    if !isAlive {
      // Another life of this node, or a peer that found it dead, has its calls: they are no longer ours to bill.
      log(.critical, "the node was declared dead", ["environment": environment])
      later(.engine(.fenced(environment: environment)))
    }
    ledgers[environment]?.keeper.beaten(isAlive: isAlive)
    ledgers[environment]?.line.retrySpool()
  }

  private func recovered(_ result: Result<[LedgerRecovery], LedgerUnavailable>, _ environment: String) {
    switch result {
    case .success(let recoveries):
      for recovery in recoveries where !recovery.settled.isEmpty || !recovery.voided.isEmpty {
        log(
          .warning, "calls of an earlier life were settled",
          [
            "node": "\(recovery.node)", "settled": "\(recovery.settled.count)", "voided": "\(recovery.voided.count)",
          ])
      }
    case .failure(let problem):
      log(.error, "recovery has to wait", ["environment": environment, "problem": "\(problem)"])
    }
  }

  /// Everybody may call once the last environment has its life.
  private func begin() {
    guard !hasBegun, ledgers.values.allSatisfy({ $0.keeper.isStarted }) else { return }
    hasBegun = true
    adoptOrigins()
    beginSIP()
    effects.append(.started)
  }
}
