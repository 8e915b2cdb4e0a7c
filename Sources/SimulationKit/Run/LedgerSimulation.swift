import CallModel
import Foundation
import LandlineSQLite
import LedgerCore
import LedgerSQLite
import Synchronization

/// Drives the real ledger with random work, faults and crashes, all decided by one seed, and holds every answer and
/// every balance against a model of its own.
public enum LedgerSimulation {
  /// - Parameters:
  ///   - operations: how many the ledger is to answer; repeats count.
  ///   - progress: told the operations done, about once in a thousand.
  /// - Throws: ``SimulationViolation`` when a rule is broken; otherwise what stopped the run: no folder, no disk.
  public static func run(
    seed: UInt64, operations: Int, options: SimulationOptions = SimulationOptions(),
    progress: @Sendable (Int) -> Void = { _ in }
  ) async throws -> SimulationReport {
    let folder = try options.makeFolder(named: "landline-simulation")
    let run = try SimulationRun(seed: seed, operations: operations, options: options, folder: folder)
    do {
      let report = try await run.run(progress: progress)
      try? FileManager.default.removeItem(at: folder)
      return report
    } catch {
      await run.abandon()
      var failure = error
      if var violation = error as? SimulationViolation, options.keepsBrokenLedger {
        violation.ledger = run.path
        failure = violation
      } else {
        try? FileManager.default.removeItem(at: folder)
      }
      throw failure
    }
  }
}

/// One run in progress; used by one task.
final class SimulationRun {
  /// Operations kept for traces.
  static let traceCapacity = 4096
  static let gateways = 4

  private struct Step {
    let number: Int
    let operation: LedgerOperation
    let result: String
  }

  private let seed: UInt64
  private let operations: Int
  private let options: SimulationOptions
  private let folder: URL
  private let fault = FaultSwitch()
  private var random: SeededGenerator
  private var maker: OperationMaker
  private var model = LedgerModel()
  private var clock: VirtualClock
  private var store: SQLiteLedgerStore
  private(set) var path: String
  private var report: SimulationReport
  private var digest = OutcomeDigest()
  private var pending: [LedgerOperation] = []
  private var trace: [Step] = []
  private var nextCheck: Int
  private var plantAt: Int?
  private var files = 1

  /// Days around which zones of the northern and the southern half change their clocks, and a plain one.
  private static let starts: [Int64] = [1_792_800_000, 1_774_656_000, 1_775_260_800, 1_795_000_000, 1_772_928_000]

  init(seed: UInt64, operations: Int, options: SimulationOptions, folder: URL) throws {
    self.seed = seed
    self.operations = operations
    self.options = options
    self.folder = folder
    random = SeededGenerator(seed: seed)
    let start = SimulationRun.starts[random.index(SimulationRun.starts.count)]
    clock = VirtualClock(Instant(milliseconds: start * 1000 + random.number(0...86_400_000)))
    maker = OperationMaker(random: random.fork(), prefix: "")
    report = SimulationReport(seed: seed)
    nextCheck = options.checkInterval
    path = folder.appendingPathComponent("ledger-1.db").path
    if options.planted == .miscountingModel { model.miscountsEvery = 100 }
    if options.planted?.sql != nil { plantAt = operations / 3 + random.index(operations / 3 + 1) }
    store = try SimulationRun.open(path, options, fault)
  }

  private static func open(
    _ path: String, _ options: SimulationOptions, _ fault: FaultSwitch
  ) throws -> SQLiteLedgerStore {
    var storeOptions = SQLiteLedgerStore.Options(flush: options.flush)
    storeOptions.faults = fault.faults
    storeOptions.onFault = { fault.notice($0) }
    return try SQLiteLedgerStore.open(path: path, options: storeOptions, createIfMissing: true)
  }

  func abandon() async {
    fault.arm(nil)
    await store.close()
  }

  // MARK: The run

  func run(progress: @Sendable (Int) -> Void) async throws -> SimulationReport {
    let started = ContinuousClock.now
    for index in 1...SimulationRun.gateways {
      let id = NodeID(unchecked: "gw-\(index)")
      maker.gateways.append(OperationMaker.Gateway(id: id, epoch: try await register(id), isBeating: true))
    }
    try await submit(try maker.opening(at: clock.now))
    var nextProgress = 0
    while report.operations < operations {
      passTime()
      try await tendGateways()
      try await runTurn()
      if let plantAt, let sql = options.planted?.sql, report.operations >= plantAt {
        // A fault that finds no row to spoil is planted a little later.
        self.plantAt = try SQLiteDoor.execute(sql, path: path) > 0 ? nil : report.operations + 50
      }
      if report.operations >= nextCheck {
        nextCheck = report.operations + options.checkInterval
        try await verify(full: false)
      }
      if report.operations >= nextProgress {
        progress(report.operations)
        nextProgress = report.operations + 1000
      }
    }
    while !pending.isEmpty {
      let rest = Array(pending.prefix(SimulationOptions.maximumBatch))
      pending.removeFirst(rest.count)
      try await submit(rest)
    }
    try await verify(full: true)
    await store.close()
    progress(report.operations)
    let elapsed = started.duration(to: .now)
    report.seconds = SimulationRun.seconds(elapsed)
    report.digest = digest.text
    return report
  }

  private static func seconds(_ duration: Duration) -> Double {
    Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
  }

  private func runTurn() async throws {
    let faults = min(options.faultsPerThousand, 400)
    let crashes = min(options.crashesPerThousand, 200)
    switch random.weighted([1000 - 2 * faults - crashes, faults, faults, crashes]) {
    case 1: try await submit(try batch(), .loseCommit)
    case 2: try await submit(try batch(), .loseAnswer)
    case 3: try await crash()
    default:
      if random.chance(30) { try await rehearse() }
      try await submit(try batch())
    }
  }

  private func batch() throws -> [LedgerOperation] {
    let size: Int
    switch random.weighted([20, 40, 40]) {
    case 0: size = 1
    case 1: size = 1 + random.index(16)
    default: size = 1 + random.index(SimulationOptions.maximumBatch)
    }
    var batch: [LedgerOperation] = []
    batch.reserveCapacity(size)
    for _ in 0..<size {
      // What was not answered comes again, in any order and with its old time.
      if !pending.isEmpty, random.chance(120) {
        batch.append(pending.remove(at: random.index(pending.count)))
      } else {
        batch.append(try maker.next(at: clock.now, uptime: clock.monotonicMilliseconds))
        clock.advance(milliseconds: random.number(0...40))
      }
    }
    return batch
  }

  private func passTime() {
    switch random.weighted([560, 300, 100, 10, 30]) {
    case 0: clock.advance(milliseconds: random.number(0...500))
    case 1: clock.advance(milliseconds: random.number(0...5000))
    case 2: clock.advance(milliseconds: random.number(0...120_000))
    case 3:
      report.clockSteps += 1
      clock.step(milliseconds: random.number(-3_600_000...3_600_000))
    default: clock.advance(milliseconds: random.number(0...43_200_000))
    }
  }

  // MARK: Contradictions

  private func violation(_ account: String?, _ detail: String) -> SimulationViolation {
    let steps = trace.filter { account == nil || $0.operation.account.text == account }
      .suffix(SimulationViolation.traceLength)
    return SimulationViolation(
      seed: seed, operations: operations, step: report.operations, detail: detail,
      trace: steps.map { "\($0.number) \($0.operation.at) \(SimulationRun.text($0.operation)) → \($0.result)" })
  }

  private func require(_ condition: Bool, _ account: String?, _ detail: @autoclosure () -> String) throws {
    if !condition { throw violation(account, detail()) }
  }

  private func require(_ condition: Bool, _ detail: @autoclosure () -> String) throws {
    try require(condition, nil, detail())
  }

  private static func text(_ operation: LedgerOperation) -> String {
    switch operation.request {
    case .administer(let administration): "\(administration.account) \(operation.key) \(administration.change)"
    case .move(let movement):
      "\(movement.account) \(operation.key) \(movement.kind) \(movement.amount.map { "\($0)" } ?? "rest")"
    case .call(let call):
      switch call.phase {
      case .authorise(let request):
        "\(call.account) \(operation.key) \(call.origin.node)/\(call.origin.epoch) \(request.seconds) s of "
          + "\(request.maximumSeconds)\(request.isEmergency ? " emergency" : "") \(text(request.rating))"
      case .answer, .extend, .settle, .void, .recover:
        "\(call.account) \(operation.key) \(call.origin.node)/\(call.origin.epoch) \(call.phase)"
      }
    }
  }

  private static func text(_ rating: CallOperation.Authorisation.Rating) -> String {
    switch rating {
    case .rated(let snapshot): snapshot.text
    case .refused(let refusal): refusal.rawValue
    }
  }

  // MARK: Handing over and checking answers

  private func submit(_ batch: [LedgerOperation], _ armed: FaultSwitch.Fault? = nil) async throws {
    guard !batch.isEmpty else { return }
    report.batches += 1
    fault.arm(armed)
    let results =
      armed == nil && batch.count > 1 && random.chance(200) ? await spread(batch) : await store.perform(batch)
    guard let armed else {
      for (operation, result) in zip(batch, results) {
        switch result {
        case .success(let receipt): try checkAgainstModel(operation, receipt)
        case .failure(let failure):
          throw violation(operation.account.text, "\(operation.key) was not answered: \(failure)")
        }
      }
      return
    }
    for (operation, result) in zip(batch, results) {
      guard case .failure(let failure) = result, failure.problem == FaultSwitch.problem else {
        throw violation(operation.account.text, "\(operation.key) was answered although its commit failed: \(result)")
      }
    }
    switch armed {
    case .loseCommit: report.lostCommits += 1
    case .loseAnswer: report.lostAnswers += 1
    case .die: break
    }
    if case .die = armed {} else { try await absorb(batch, wasCommitted: armed == .loseAnswer) }
    pending += batch
  }

  /// Hands a batch over in parts at once, so that the store groups them as it likes; their order stays.
  private func spread(_ batch: [LedgerOperation]) async -> [Result<LedgerReceipt, LedgerUnavailable>] {
    let size = 1 + random.index(batch.count)
    let parts = stride(from: 0, to: batch.count, by: size).map { Array(batch[$0..<min($0 + size, batch.count)]) }
    let answers = AnswerCollector(parts: parts.count)
    return await withCheckedContinuation { continuation in
      for (index, part) in parts.enumerated() {
        store.submit(part) { results in
          if let all = answers.put(index, results) { continuation.resume(returning: all) }
        }
      }
    }
  }

  private func checkAgainstModel(_ operation: LedgerOperation, _ receipt: LedgerReceipt) throws {
    let expectation = model.expectation(of: operation)
    keep(operation, receipt)
    do { try model.apply(operation, expectation, receipt) } catch let contradiction as Contradiction {
      throw violation(contradiction.account, contradiction.detail)
    }
    maker.note(operation, receipt.outcome)
  }

  /// Counts an answer and keeps it for traces and the digest.
  private func keep(_ operation: LedgerOperation, _ receipt: LedgerReceipt) {
    report.operations += 1
    let text = receipt.outcome.text
    digest.add(operation.key)
    digest.add(text)
    digest.add(receipt.seq)
    let step = Step(
      number: report.operations, operation: operation, result: receipt.isReplay ? "\(text) (replay)" : text)
    if trace.count == SimulationRun.traceCapacity { trace.removeFirst(SimulationRun.traceCapacity / 2) }
    trace.append(step)
    report.outcomes[SimulationRun.label(operation, receipt), default: 0] += 1
  }

  private static func label(_ operation: LedgerOperation, _ receipt: LedgerReceipt) -> String {
    let kind: String
    switch operation.request {
    case .administer(let administration):
      switch administration.change {
      case .create: kind = "create"
      case .close: kind = "close"
      case .lock: kind = "lock"
      case .unlock: kind = "unlock"
      case .setPlan: kind = "set-plan"
      case .setCaps: kind = "set-cap"
      case .setCreditLimit: kind = "set-credit-limit"
      case .setZone: kind = "set-zone"
      }
    case .move(let movement):
      switch movement.kind {
      case .opening: kind = "opening"
      case .topup: kind = "topup"
      case .refund: kind = "refund"
      case .adjust: kind = "adjust"
      case .transfer: kind = "transfer"
      case .chargeback: kind = "chargeback"
      }
    case .call(let call):
      switch call.phase {
      case .authorise: kind = "authorise"
      case .answer: kind = "answer"
      case .extend: kind = "extend"
      case .settle: kind = "settle"
      case .void: kind = "void"
      case .recover: kind = "recover"
      }
    }
    if receipt.isReplay { return "\(kind) replayed" }
    switch receipt.outcome {
    case .changed: return "\(kind) changed"
    case .posted: return "\(kind) posted"
    case .granted: return "\(kind) granted"
    case .answered: return "\(kind) answered"
    case .settled: return "\(kind) settled"
    case .voided: return "\(kind) voided"
    case .refused(let refusal): return "\(kind) refused \(refusal.rawValue)"
    }
  }

  private struct Name: Sendable {
    let account: String
    let key: String
  }

  private func recorded(_ names: [Name]) async throws -> [OperationRecord?] {
    try await store.read { reading in
      var ids: [String: Int64] = [:]
      return try names.map { name in
        let id = try ids[name.account] ?? reading.customer(named: name.account)?.id
        guard let id else { return nil }
        ids[name.account] = id
        return try reading.operation(account: id, key: name.key)
      }
    }
  }

  /// Learns from the rows what became of a batch whose answers were lost: all of it or nothing.
  private func absorb(_ batch: [LedgerOperation], wasCommitted: Bool) async throws {
    let records = try await recorded(batch.map { Name(account: $0.account.text, key: $0.key) })
    for (operation, record) in zip(batch, records) {
      let name = operation.account.text
      if let known = model.record(name, operation.key) {
        try require(
          record?.seq == known.seq && record?.outcome == known.outcome.text, name,
          "\(operation.key) of \(name) was recorded as \"\(known.outcome.text)\" and now is \(record?.outcome ?? "gone")"
        )
        continue
      }
      guard wasCommitted else {
        try require(record == nil, name, "\(operation.key) of \(name) is recorded although its commit failed")
        continue
      }
      let expectation = model.expectation(of: operation)
      guard expectation.isNewRecord else { continue }
      guard let record, let outcome = LedgerOutcome(parsing: record.outcome) else {
        throw violation(name, "\(operation.key) of \(name) was committed and is not recorded")
      }
      do {
        try model.apply(
          operation, expectation, LedgerReceipt(seq: record.seq, isReplay: false, outcome: outcome))
      } catch let contradiction as Contradiction {
        throw violation(contradiction.account, contradiction.detail)
      }
    }
  }

  private func rehearse() async throws {
    let operation = try maker.next(at: clock.now, uptime: clock.monotonicMilliseconds)
    fault.arm(nil)
    let rehearsed = try await store.rehearse(operation)
    let receipt = try await store.perform(operation)
    report.rehearsals += 1
    try checkAgainstModel(operation, receipt)
    try require(
      rehearsed == receipt, operation.account.text,
      "\(operation.key) was rehearsed as \"\(rehearsed.outcome.text)\" and answered \"\(receipt.outcome.text)\"")
  }

  // MARK: Crashes

  /// The process dies in mid-work; another one opens what is on the disk.
  private func crash() async throws {
    report.crashes += 1
    let commits = random.chance(500)
    let batch = try batch()
    try await submit(batch, .die(commits: commits))
    // The dead answer nothing more.
    let last = try maker.next(at: clock.now, uptime: clock.monotonicMilliseconds)
    fault.arm(.die(commits: false))
    if case .success(let receipt) = await store.perform([last])[0] {
      throw violation(last.account.text, "\(last.key) was answered after the end: \(receipt.outcome.text)")
    }
    pending.append(last)
    if random.chance(500) {
      await store.close()
    } else {
      // As a killed process leaves it: the log not merged. The file first, so that the copied log covers all it lacks.
      let abandoned = path
      files += 1
      path = folder.appendingPathComponent("ledger-\(files).db").path
      try FileManager.default.copyItem(atPath: abandoned, toPath: path)
      if FileManager.default.fileExists(atPath: abandoned + "-wal") {
        try FileManager.default.copyItem(atPath: abandoned + "-wal", toPath: path + "-wal")
      }
      await store.close()
      try FileManager.default.removeItem(atPath: abandoned)
    }
    fault.arm(nil)
    store = try SimulationRun.open(path, options, fault)
    try await absorb(batch, wasCommitted: commits)
    try await absorb([last], wasCommitted: false)
    try await verify(full: true)
  }

  // MARK: Gateways

  private func register(_ id: NodeID) async throws -> Int64 {
    fault.arm(nil)
    let node = try await store.registerNode(id, at: clock.now)
    let epoch = model.register(id, at: clock.now)
    try require(node.epoch == epoch, "\(id) was registered as life \(node.epoch) and is \(epoch)")
    digest.add(epoch)
    return epoch
  }

  private func tendGateways() async throws {
    for index in maker.gateways.indices {
      let gateway = maker.gateways[index]
      if gateway.isBeating {
        if random.chance(8) {
          report.nodeDeaths += 1
          maker.gateways[index].isBeating = false
        } else if random.chance(300) {
          try await beat(index)
        }
      } else if random.chance(60) {
        maker.gateways[index].isBeating = true
        // Started anew, or back from a pause without knowing that it was declared dead.
        if random.chance(500) {
          maker.gateways[index].epoch = try await register(gateway.id)
        } else {
          try await beat(index)
        }
      }
    }
    if random.chance(40) {
      for index in maker.gateways.indices where maker.gateways[index].isBeating && !random.chance(60) {
        try await beat(index)
      }
      try await recover()
    }
    if random.chance(25) {
      let hours = random.chance(400) ? 1 : LedgerRetention.callOperationHours
      let instant = clock.now.advanced(byMilliseconds: -random.number(0...hours * 3_600_000))
      fault.arm(nil)
      let deleted = try await store.prune(before: instant)
      let expected = model.prune(before: instant)
      report.prunedRows += deleted
      digest.add(Int64(deleted))
      try require(deleted == expected, "pruning deleted \(deleted) rows, the model \(expected)")
    }
  }

  private func beat(_ index: Int) async throws {
    let gateway = maker.gateways[index]
    fault.arm(nil)
    let uptime = clock.monotonicMilliseconds
    let isAlive = try await store.beat(gateway.id, epoch: gateway.epoch, at: clock.now, uptime: uptime)
    let expected = model.beat(gateway.id, epoch: gateway.epoch, at: clock.now, uptime: uptime)
    digest.add(isAlive ? 1 : 0)
    try require(
      isAlive == expected, "\(gateway.id)/\(gateway.epoch) was told \(isAlive ? "alive" : "dead") and is not")
    // Most drop their calls and start anew when told so; some go on as if nothing had happened.
    if !isAlive, random.chance(600) { maker.gateways[index].epoch = try await register(gateway.id) }
  }

  private func recover() async throws {
    let names = model.lives.keys.sorted()
    let only = random.chance(300) ? random.element(of: names) : nil
    let armed: FaultSwitch.Fault? = random.chance(80) ? random.one(.loseCommit, .loseAnswer) : nil
    fault.arm(armed)
    var answer: [LedgerRecovery]?
    do { answer = try await store.recover(only, at: clock.now) } catch {
      guard armed != nil, error.problem == FaultSwitch.problem else {
        throw violation(nil, "recovery was not answered: \(error)")
      }
    }
    fault.arm(nil)
    report.recoveries += 1
    let concerned = only.map { [$0] } ?? names
    // A fault stops it at the first node.
    let done = answer != nil ? concerned : armed == .loseAnswer ? Array(concerned.prefix(1)) : []
    for name in done {
      let before = model.lives[name]?.count ?? 0
      model.takeOver(name, at: clock.now)
      let wasDeclaredDead = (model.lives[name]?.count ?? 0) > before
      let orphans = model.orphans(of: name)
      let recovery = answer?.first { $0.node == name }
      let records = try await recorded(
        orphans.map { Name(account: $0.key.account, key: "c/\($0.key.call)/end") })
      var found = zip(orphans, records).compactMap { orphan, record in record.map { (orphan: orphan, record: $0) } }
      found.sort { $0.record.seq < $1.record.seq }
      if answer != nil {
        try require(found.count == orphans.count, "\(orphans.count - found.count) calls of \(name) were not recovered")
        try require(
          (recovery != nil) == (wasDeclaredDead || !orphans.isEmpty)
            && (recovery?.settled.count ?? 0) + (recovery?.voided.count ?? 0) == orphans.count,
          "recovery of \(name) tells of other than its \(orphans.count) calls")
      }
      for (orphan, record) in found {
        guard let outcome = LedgerOutcome(parsing: record.outcome) else {
          throw violation(orphan.key.account, "the recovery of call \(orphan.key.call) cannot be read")
        }
        try checkAgainstModel(
          LedgerOperation(
            .call(
              CallOperation(
                account: AccountName(unchecked: orphan.key.account), call: CallID(unchecked: orphan.key.call),
                origin: orphan.hold.origin, .recover)), at: clock.now, actor: "recovery"),
          LedgerReceipt(seq: record.seq, isReplay: false, outcome: outcome))
        report.recoveredCalls += 1
      }
    }
  }

  // MARK: The books

  private struct Books: Sendable {
    let verification: VerificationReport
    let accounts: [LedgerAccount]
    let counters: [DayCounter]
    let nodes: [LedgerNode]
    let answers: [OperationRecord]?
    let openHolds: [Hold]?
  }

  private func verify(full: Bool) async throws {
    if let problem = fault.impossibleWrite { throw violation(nil, "a write was undone as impossible: \(problem)") }
    let started = ContinuousClock.now
    let books = try await store.read { reading in
      var answers: [OperationRecord] = []
      var holds: [Hold] = []
      if full {
        while true {
          let page = try reading.operations(
            afterAccount: answers.last?.account ?? 0, key: answers.last?.key ?? "", limit: 2048)
          answers += page
          if page.count < 2048 { break }
        }
        try reading.forEachHold(HoldFilter(openOnly: true, limit: 0)) { holds.append($0) }
      }
      return Books(
        verification: try LedgerVerifier.verify(reading, full: full), accounts: try reading.allAccounts(),
        counters: try reading.counters(of: nil), nodes: try reading.nodes(), answers: full ? answers : nil,
        openHolds: full ? holds : nil)
    }
    for rule in books.verification.rules {
      if let problem = rule.problem {
        throw violation(
          nil, "\(rule.id.rawValue) \(rule.id.title): \(problem.detail) (seq \(problem.seq))")
      }
    }
    try compareBalances(books)
    if let answers = books.answers { try compare(answers, books.accounts) }
    if let holds = books.openHolds { try compare(holds, books.accounts) }
    report.transfers = books.verification.counts.transfers
    if full { report.fullVerifications += 1 } else { report.quickVerifications += 1 }
    report.verifySeconds += SimulationRun.seconds(started.duration(to: .now))
  }

  private func compareBalances(_ books: Books) throws {
    var customers = 0
    var names: [Int64: String] = [:]
    for row in books.accounts {
      guard row.kind.isCustomer else {
        let expected = model.operators[LedgerModel.operatorKey(row.name, row.currency)] ?? 0
        try require(row.posted == expected, "\(row.name) \(row.currency) has \(row.posted), the model \(expected)")
        continue
      }
      customers += 1
      names[row.id] = row.name
      guard let account = model.accounts[row.name] else {
        throw violation(row.name, "account \(row.name) came from nowhere")
      }
      try require(
        row.posted == account.posted && row.held == account.held && row.available == account.available
          && row.openHolds == account.openCalls && row.status == account.status && row.caps == account.caps
          && row.zone == account.zone && row.kind == account.kind && row.currency == account.currency, row.name,
        "\(row.name) is \(row.status.rawValue) with \(row.posted) posted, \(row.held) held for \(row.openHolds), floor "
          + "\(row.floor); the model says \(account.status.rawValue), \(account.posted), \(account.held) for "
          + "\(account.openCalls), \(account.floor)")
    }
    try require(
      customers == model.accounts.count, "there are \(customers) customers, the model has \(model.accounts.count)")
    var days = model.days.filter { $0.value != ModelDay() }
    for row in books.counters where row.spent != 0 || row.held != 0 {
      let name = names[row.account] ?? ""
      let expected = days.removeValue(forKey: ModelDayKey(account: name, day: row.day)) ?? ModelDay()
      try require(
        row.spent == expected.spent && row.held == expected.held, name,
        "on \(CivilDate(dayNumber: row.day)) \(name) spent \(row.spent) and holds \(row.held); the model says "
          + "\(expected.spent) and \(expected.held)")
    }
    if let missing = days.keys.min(by: { ($0.account, $0.day) < ($1.account, $1.day) }) {
      throw violation(missing.account, "\(missing.account) has no counter for \(CivilDate(dayNumber: missing.day))")
    }
    for row in books.nodes {
      let life = model.lives[row.id]?.first { $0.epoch == row.epoch }
      try require(
        life?.lastBeat == row.lastBeat && (life?.leaseUntil ?? row.lastBeat) == row.leaseUntil,
        "life \(row.epoch) of \(row.id) last beat at \(row.lastBeat), by the model \(life?.lastBeat.description ?? "never")"
      )
    }
    let lives = model.lives.values.reduce(0) { $0 + $1.count }
    try require(lives == books.nodes.count, "there are \(books.nodes.count) lives of nodes, the model has \(lives)")
  }

  /// Every answer is recorded exactly once, as it was given; nothing else is.
  private func compare(_ answers: [OperationRecord], _ accounts: [LedgerAccount]) throws {
    let names = Dictionary(uniqueKeysWithValues: accounts.map { ($0.id, $0.name) })
    for row in answers {
      let name = names[row.account] ?? ""
      let known = model.record(name, row.key)
      try require(
        known?.seq == row.seq && known?.outcome.text == row.outcome && known?.at == row.at, name,
        "\(row.key) of \(name) is recorded as \"\(row.outcome)\" (seq \(row.seq)), the model knows "
          + "\(known.map { "\"\($0.outcome.text)\" (seq \($0.seq))" } ?? "nothing of it")")
    }
    let expected = model.records.values.reduce(0) { $0 + $1.count }
    try require(answers.count == expected, "\(answers.count) answers are recorded, \(expected) were given")
  }

  private func compare(_ holds: [Hold], _ accounts: [LedgerAccount]) throws {
    let names = Dictionary(uniqueKeysWithValues: accounts.map { ($0.id, $0.name) })
    for row in holds {
      let name = names[row.account] ?? ""
      let known = model.holds[ModelCallKey(account: name, call: row.call.text)]
      try require(
        known != nil && known?.end == nil && known?.amount == row.amount && known?.seconds == row.grantedSeconds
          && known?.day == row.day && known?.answeredAt == row.answeredAt
          && known?.maximumSeconds == row.maximumSeconds,
        name, "the open hold of call \(row.call) differs from the model's")
    }
    let open = model.holds.values.count { $0.end == nil }
    try require(holds.count == open, "\(holds.count) holds are open, by the model \(open)")
  }
}

/// Puts the answers to a batch's parts together again.
private final class AnswerCollector: Sendable {
  private typealias Answers = [Result<LedgerReceipt, LedgerUnavailable>]
  private let state: Mutex<(parts: [Answers?], missing: Int)>

  init(parts: Int) { state = Mutex((parts: Array(repeating: nil, count: parts), missing: parts)) }

  /// - Returns: everything in order once the last part is there.
  func put(
    _ index: Int, _ results: [Result<LedgerReceipt, LedgerUnavailable>]
  ) -> [Result<LedgerReceipt, LedgerUnavailable>]? {
    state.withLock { state in
      state.parts[index] = results
      state.missing -= 1
      return state.missing == 0 ? state.parts.flatMap { $0 ?? [] } : nil
    }
  }
}
