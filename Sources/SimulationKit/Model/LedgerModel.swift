import CallModel
import LedgerCore

/// A second opinion on the ledger: plain dictionaries and the rules as the specification words them, written apart from
/// the ledger's own. It foresees every answer; where the ledger may choose (the size of a grant), it bounds it.
struct LedgerModel {
  private(set) var accounts: [String: ModelAccount] = [:]
  /// The operator's side, by name and currency.
  private(set) var operators: [String: MicroUnits] = [:]
  private(set) var holds: [ModelCallKey: ModelHold] = [:]
  private(set) var days: [ModelDayKey: ModelDay] = [:]
  private(set) var transfers: [Int64: ModelTransfer] = [:]
  /// Recorded answers by account and key.
  private(set) var records: [String: [String: ModelRecord]] = [:]
  private(set) var lives: [NodeID: [ModelLife]] = [:]
  /// Booking time of the newest record.
  private(set) var newest = Instant(milliseconds: 0)
  private(set) var lastSeq: Int64 = 0
  /// Every how manieth settled call the model miscounts by one micro-unit: a planted fault of the checks; 0 for none.
  var miscountsEvery = 0
  private var settledCalls = 0
  private var zones: [String: CivilZone] = [:]

  // MARK: Reading

  func record(_ account: String, _ key: String) -> ModelRecord? { records[account]?[key] }

  func day(_ account: String, _ at: Instant) -> Int64 {
    let identifier = accounts[account]?.zone ?? "UTC"
    if let zone = zones[identifier] { return zone.dayNumber(at: at) }
    return ((try? CivilZone(identifier)) ?? .utc).dayNumber(at: at)
  }

  func isCurrent(_ origin: CallOperation.Origin) -> Bool { lives[origin.node]?.last?.epoch == origin.epoch }

  /// Open calls of lives of `node` that have ended.
  func orphans(of node: NodeID) -> [(key: ModelCallKey, hold: ModelHold)] {
    guard let current = lives[node]?.last?.epoch else { return [] }
    return holds.filter { $0.value.end == nil && $0.value.origin.node == node && $0.value.origin.epoch < current }
      .sorted { ($0.key.account, $0.key.call) < ($1.key.account, $1.key.call) }.map { ($0.key, $0.value) }
  }

  static func operatorKey(_ name: String, _ currency: Currency) -> String { "\(name) \(currency)" }

  // MARK: What the answer must be

  func expectation(of operation: LedgerOperation) -> Expectation {
    let name = operation.account.text
    let account = accounts[name]
    if case .administer(let administration) = operation.request, case .create = administration.change {
      return creation(operation, administration.change, exists: account != nil)
    }
    guard let account else { return .unrecorded(.unknownAccount, nil) }
    if case .call(let call) = operation.request {
      switch call.phase {
      case .settle, .void, .recover: return ending(operation, call)
      case .authorise, .answer, .extend: break
      }
    }
    if let record = record(name, operation.key) {
      return record.content == ModelContent(operation) ? .replay(record) : .unrecorded(.conflict, nil)
    }
    switch operation.request {
    case .administer(let administration): return change(administration.change, account)
    case .move(let movement): return moving(movement, name, account)
    case .call(let call): return progress(operation, call, name, account)
    }
  }

  private func creation(
    _ operation: LedgerOperation, _ change: AccountAdministration.Change, exists: Bool
  ) -> Expectation {
    if exists {
      if let record = record(operation.account.text, operation.key), record.content == ModelContent(operation) {
        return .replay(record)
      }
      return .unrecorded(.accountExists, nil)
    }
    guard case .create(let kind, _, let limit, _, _, _) = change, kind.isCustomer, limit >= 0,
      limit == 0 || kind == .postpaid
    else { return .unrecorded(.amountOutOfRange, nil) }
    return .recorded(.changed)
  }

  private func change(_ change: AccountAdministration.Change, _ account: ModelAccount) -> Expectation {
    if account.status == .closed { return .recorded(.refused(.accountClosed)) }
    switch change {
    case .lock where account.status == .closing, .unlock where account.status == .closing:
      return .recorded(.refused(.accountClosed))
    case .unlock where account.available < 0: return .recorded(.refused(.belowFloor))
    case .setCreditLimit(let limit):
      if limit < 0 || (account.kind == .prepaid && limit != 0) { return .recorded(.refused(.amountOutOfRange)) }
      if account.posted - account.held + limit < 0 { return .recorded(.refused(.belowFloor)) }
    default: break
    }
    return .recorded(.changed)
  }

  private func moving(_ movement: MoneyMovement, _ name: String, _ account: ModelAccount) -> Expectation {
    func refused(_ refusal: LedgerRefusal) -> Expectation { .recorded(.refused(refusal)) }
    let isForeign = movement.amount.map { $0.currency != account.currency } ?? false
    let amount = movement.amount?.micros ?? 0
    let takesMoney = account.status == .open || account.status == .locked
    let locked = account.status == .locked

    func posting(
      _ reason: ModelPosting.Reason, from debit: String, to credit: String, _ amount: MicroUnits, locks: Bool = false
    ) -> Expectation {
      let limit = Credits.maximumMicros
      func balance(_ side: String) -> MicroUnits { accounts[side]?.posted ?? operators[side] ?? 0 }
      guard amount <= limit else { return refused(.amountOutOfRange) }
      let full = [debit].filter { balance($0) - amount < -limit } + [credit].filter { balance($0) + amount > limit }
      guard full.isEmpty else {
        return refused(full.contains { accounts[$0] == nil } ? .counterAccountFull : .amountOutOfRange)
      }
      return .posted(ModelPosting(reason: reason, debit: debit, credit: credit, amount: amount, locks: locks))
    }
    func operatorName(_ name: String) -> String { LedgerModel.operatorKey(name, account.currency) }

    switch movement.kind {
    case .opening, .topup:
      guard amount > 0, account.posted + amount <= Credits.maximumMicros else { return refused(.amountOutOfRange) }
      if amount > movement.largest { return refused(.amountTooLarge) }
      if isForeign { return refused(.currencyMismatch) }
      guard takesMoney else { return refused(.accountClosed) }
      if case .topup(let method) = movement.kind {
        return posting(.topup, from: operatorName(ChartOfAccounts.payments(method)), to: name, amount)
      }
      return posting(.adjust, from: operatorName(ChartOfAccounts.opening), to: name, amount)
    case .adjust(let force):
      let after = account.posted + amount
      guard amount != 0, -Credits.maximumMicros...Credits.maximumMicros ~= after else {
        return refused(.amountOutOfRange)
      }
      if amount.magnitude > movement.largest.magnitude { return refused(.amountTooLarge) }
      if isForeign { return refused(.currencyMismatch) }
      guard account.status != .closed else { return refused(.accountClosed) }
      let other = operatorName(ChartOfAccounts.adjustments)
      if amount > 0 { return posting(.adjust, from: other, to: name, amount) }
      let tooMuch = -amount > account.available
      if tooMuch && !force { return refused(.insufficientCredit) }
      return posting(.adjust, from: name, to: other, -amount, locks: tooMuch && account.status == .open)
    case .transfer(let target):
      guard let receiver = accounts[target.text] else { return .unrecorded(.unknownAccount, nil) }
      guard amount > 0, target.text != name else { return refused(.amountOutOfRange) }
      guard !isForeign, receiver.currency == account.currency else { return refused(.currencyMismatch) }
      guard takesMoney, receiver.status == .open || receiver.status == .locked else { return refused(.accountClosed) }
      guard !locked else { return refused(.accountLocked) }
      guard amount <= account.available else { return refused(.insufficientCredit) }
      return posting(.transfer, from: name, to: target.text, amount)
    case .refund(let seq), .chargeback(let seq):
      guard let original = transfers[seq], original.customer == name else { return .unrecorded(.unknownTransfer, nil) }
      let isChargeback = if case .chargeback = movement.kind { true } else { false }
      if isChargeback, original.isCharge { return .unrecorded(.unknownTransfer, nil) }
      let left = original.amount - original.reversed
      let wanted = movement.amount == nil ? left : amount
      guard wanted > 0, wanted <= left else { return refused(.amountOutOfRange) }
      if isForeign { return refused(.currencyMismatch) }
      if isChargeback {
        return posting(.chargeback(seq), from: name, to: original.other, wanted, locks: account.status == .open)
      }
      guard account.status != .closed else { return refused(.accountClosed) }
      if original.isCharge { return posting(.refund(seq), from: original.other, to: name, wanted) }
      guard wanted <= account.available else { return refused(.insufficientCredit) }
      return posting(.refund(seq), from: name, to: original.other, wanted)
    }
  }

  // MARK: Applying an answer

  /// Holds an answer against what was expected, then does what it says.
  mutating func apply(_ operation: LedgerOperation, _ expectation: Expectation, _ receipt: LedgerReceipt) throws {
    let name = operation.account.text
    func refuse(_ expected: String) -> Contradiction {
      Contradiction(
        name,
        "\(operation.key) of \(name): the ledger says \"\(receipt.outcome.text)\" (seq \(receipt.seq)"
          + "\(receipt.isReplay ? ", replay" : "")), the model \(expected)")
    }
    switch expectation {
    case .replay(let record):
      guard receipt.isReplay, receipt.outcome == record.outcome, receipt.seq == record.seq else {
        throw refuse("a repeat of \"\(record.outcome.text)\" (seq \(record.seq))")
      }
      return
    case .unrecorded(let refusal, let resolved):
      guard !receipt.isReplay, receipt.seq == 0, receipt.outcome == .refused(refusal), receipt.resolved == resolved
      else {
        throw refuse("an unrecorded refusal, \(refusal.rawValue)\(resolved.map { " after \($0.text)" } ?? "")")
      }
      return
    case .recorded(let outcome):
      guard receipt.outcome == outcome else { throw refuse("\"\(outcome.text)\"") }
    case .posted(let posting):
      guard case .posted(_, let amount, let balance) = receipt.outcome, let account = accounts[name] else {
        throw refuse("posts \(posting.amount) from \(posting.debit) to \(posting.credit)")
      }
      let effect = posting.debit == name ? -posting.amount : posting.amount
      guard amount == effect, balance == account.posted + effect else {
        throw refuse("posts \(effect), leaving \(account.posted + effect)")
      }
    case .settled(let milliseconds, let billed, let cost):
      guard case .settled(milliseconds, billed, cost, let transfer) = receipt.outcome, (transfer == nil) == (cost == 0)
      else { throw refuse("settles \(milliseconds) ms as \(billed) s for \(cost)") }
    case .granted(let range, let budget, let base, let answeredAt, let maximum):
      guard case .granted(let seconds, let amount, let isFinal) = receipt.outcome, range.contains(seconds),
        case .call(let call) = operation.request
      else { throw refuse("grants \(range.lowerBound) to \(range.upperBound) s") }
      let snapshot: RateSnapshot? =
        if case .authorise(let request) = call.phase, case .rated(let rated) = request.rating, !request.isEmergency {
          rated
        } else if case .extend = call.phase {
          holds[ModelCallKey(account: name, call: call.call.text)]?.snapshot
        } else {
          nil
        }
      let price = max(base, snapshot?.coveringCost(seconds: seconds, answeredAt: answeredAt) ?? 0)
      guard amount == price, amount <= budget else {
        throw refuse("holds \(price) for \(seconds) s out of \(budget)")
      }
      guard isFinal || seconds < maximum else { throw refuse("knows that no second can follow") }
    }
    guard !receipt.isReplay, receipt.seq > lastSeq else { throw refuse("a new record after \(lastSeq)") }
    lastSeq = receipt.seq
    newest = max(newest, operation.at)
    if records[name]?.updateValue(
      ModelRecord(content: ModelContent(operation), outcome: receipt.outcome, seq: receipt.seq, at: newest),
      forKey: operation.key) != nil
    {
      throw refuse("recorded another answer before")
    }
    carryOut(operation, expectation, receipt.outcome)
    if let account = accounts[name], account.status == .open, account.available < 0 {
      throw Contradiction(name, "\(name) is open and \(-account.available) micro-units below its floor")
    }
  }

  private mutating func carryOut(
    _ operation: LedgerOperation, _ expectation: Expectation, _ outcome: LedgerOutcome
  ) {
    let name = operation.account.text
    if case .refused = outcome { return }
    switch operation.request {
    case .administer(let administration): change(name, administration, outcome, operation)
    case .move(let movement):
      guard case .posted(let posting) = expectation, case .posted(let seq, _, _) = outcome else { return }
      book(posting, seq: seq, name, movement)
    case .call(let call): advance(name, call, operation, outcome)
    }
  }

  private mutating func change(
    _ name: String, _ administration: AccountAdministration, _ outcome: LedgerOutcome, _ operation: LedgerOperation
  ) {
    switch administration.change {
    case .create(let kind, let currency, let limit, _, let caps, let zone):
      accounts[name] = ModelAccount(currency: currency, kind: kind, floor: -limit, caps: caps, zone: zone)
      records[name] = [
        operation.key: ModelRecord(
          content: ModelContent(operation), outcome: outcome, seq: lastSeq, at: newest)
      ]
      learn(zone)
    case .close:
      let hasCalls = (accounts[name]?.openCalls ?? 0) > 0
      accounts[name]?.status = hasCalls ? .closing : .closed
    case .lock: accounts[name]?.status = .locked
    case .unlock: accounts[name]?.status = .open
    case .setPlan: break
    case .setCaps(let caps): accounts[name]?.caps = caps
    case .setCreditLimit(let limit): accounts[name]?.floor = -limit
    case .setZone(let zone):
      accounts[name]?.zone = zone
      learn(zone)
    }
  }

  private mutating func learn(_ zone: String) {
    if zones[zone] == nil { zones[zone] = try? CivilZone(zone) }
  }

  private mutating func book(_ posting: ModelPosting, seq: Int64, _ name: String, _ movement: MoneyMovement) {
    post(posting.debit, posting.credit, posting.amount)
    if posting.locks { accounts[name]?.status = .locked }
    switch posting.reason {
    case .topup:
      transfers[seq] = ModelTransfer(isCharge: false, customer: name, other: posting.debit, amount: posting.amount)
    case .refund(let original), .chargeback(let original): transfers[original]?.reversed += posting.amount
    case .adjust, .transfer: break
    }
  }

  private mutating func post(_ debit: String, _ credit: String, _ amount: MicroUnits) {
    if accounts[debit] != nil { accounts[debit]?.posted -= amount } else { operators[debit, default: 0] -= amount }
    if accounts[credit] != nil { accounts[credit]?.posted += amount } else { operators[credit, default: 0] += amount }
  }

  private mutating func addToDay(_ name: String, _ day: Int64, spent: MicroUnits = 0, held: MicroUnits = 0) {
    guard spent != 0 || held != 0 else { return }
    days[ModelDayKey(account: name, day: day), default: ModelDay()].spent += spent
    days[ModelDayKey(account: name, day: day), default: ModelDay()].held += held
  }

  private mutating func advance(
    _ name: String, _ call: CallOperation, _ operation: LedgerOperation, _ outcome: LedgerOutcome
  ) {
    let key = ModelCallKey(account: name, call: call.call.text)
    switch (call.phase, outcome) {
    case (.authorise(let request), .granted(let seconds, let amount, _)):
      guard let account = accounts[name], let snapshot = LedgerModel.snapshot(request, account.currency) else { return }
      let day = day(name, operation.at)
      let second = LedgerModel.second(operation.at)
      let longest = min(max(request.maximumSeconds, 1), Tariff.maximumSeconds)
      holds[key] = ModelHold(
        amount: amount, seconds: seconds,
        maximumSeconds: request.isEmergency ? longest : LedgerModel.longest(snapshot, asked: longest),
        origin: call.origin, snapshot: snapshot, isEmergency: request.isEmergency, day: day, authorisedAt: newest)
      accounts[name]?.held += amount
      accounts[name]?.openCalls += 1
      accounts[name]?.callsInSecond = account.second == second ? account.callsInSecond + 1 : 1
      accounts[name]?.second = second
      addToDay(name, day, held: amount)
    case (.answer, .answered):
      let authorisedAt = holds[key]?.authorisedAt ?? operation.at
      holds[key]?.answeredAt = max(operation.at, authorisedAt)
      holds[key]?.answeredUptime = operation.uptime
    case (.extend, .granted(let seconds, let amount, _)):
      guard let before = holds[key] else { return }
      let day = day(name, operation.at)
      accounts[name]?.held += amount - before.amount
      addToDay(name, before.day, held: -before.amount)
      addToDay(name, day, held: amount)
      holds[key]?.amount = amount
      holds[key]?.seconds = seconds
      holds[key]?.extensions += 1
      holds[key]?.day = day
    case (.settle(_, _, let carriers), _), (.void(_, let carriers), _):
      resolve(name, key, outcome, carriers, isRecovery: false)
    case (.recover, _): resolve(name, key, outcome, [], isRecovery: true)
    default: break
    }
  }

  private mutating func resolve(
    _ name: String, _ key: ModelCallKey, _ outcome: LedgerOutcome, _ carriers: [CarrierCharge], isRecovery: Bool
  ) {
    guard let hold = holds[key], let currency = accounts[name]?.currency else { return }
    accounts[name]?.held -= hold.amount
    accounts[name]?.openCalls -= 1
    var spent = MicroUnits.zero
    if case .settled(_, _, let cost, let transfer) = outcome {
      spent = cost
      settledCalls += 1
      let revenue = LedgerModel.operatorKey(ChartOfAccounts.revenue, currency)
      if let transfer {
        transfers[transfer] = ModelTransfer(isCharge: true, customer: name, other: revenue, amount: cost)
      }
      let isMiscounted = miscountsEvery > 0 && settledCalls % miscountsEvery == 0
      post(name, revenue, isMiscounted ? cost + 1 : cost)
    }
    addToDay(name, hold.day, spent: spent, held: -hold.amount)
    for carrier in carriers {
      let liability = LedgerModel.operatorKey(ChartOfAccounts.carrier(carrier.trunk), currency)
      post(
        LedgerModel.operatorKey(ChartOfAccounts.termination, currency), liability, carrier.amount - carrier.overrun)
      post(LedgerModel.operatorKey(ChartOfAccounts.overrun, currency), liability, carrier.overrun)
    }
    holds[key]?.end = ModelHold.End(outcome: outcome, at: newest, isRecovery: isRecovery)
    if accounts[name]?.status == .closing, accounts[name]?.openCalls == 0 { accounts[name]?.status = .closed }
  }

  // MARK: Nodes and pruning

  mutating func register(_ id: NodeID, at: Instant) -> Int64 {
    let epoch = (lives[id]?.last?.epoch ?? 0) + 1
    lives[id, default: []].append(
      ModelLife(epoch: epoch, lastBeat: at, leaseUntil: at.advanced(byMilliseconds: NodeLease.milliseconds)))
    return epoch
  }

  mutating func beat(_ id: NodeID, epoch: Int64, at: Instant, uptime: Int64) -> Bool {
    guard var life = lives[id]?.popLast() else { return false }
    defer { lives[id]?.append(life) }
    guard life.epoch == epoch else { return false }
    life.lastBeat = max(life.lastBeat, at)
    life.uptime = uptime
    let lease = at.advanced(byMilliseconds: NodeLease.milliseconds)
    life.leaseUntil = max(life.leaseUntil ?? lease, lease)
    return true
  }

  /// Declares a node dead if its lease has lapsed.
  mutating func takeOver(_ id: NodeID, at: Instant) {
    guard let life = lives[id]?.last, let lease = life.leaseUntil, lease < at else { return }
    lives[id]?.append(ModelLife(epoch: life.epoch + 1, lastBeat: life.lastBeat, leaseUntil: nil))
  }

  /// Forgets what the ledger may forget.
  /// - Returns: rows that the ledger should have deleted.
  mutating func prune(before instant: Instant) -> Int {
    var deleted = 0
    for (account, kept) in records {
      let remaining = kept.filter { !($0.key.hasPrefix("c/") && $0.value.at < instant) }
      deleted += kept.count - remaining.count
      records[account] = remaining
    }
    for (key, hold) in holds {
      guard let end = hold.end, end.outcome == .voided, end.at < instant else { continue }
      deleted += 2 + Int(hold.extensions)
      holds[key] = nil
    }
    return deleted
  }
}
