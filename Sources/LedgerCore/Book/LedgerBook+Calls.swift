import CallModel

extension LedgerBook {
  /// The billing life of a call: authorise, answer, extend, settle or void; recovery of a dead node's calls.
  mutating func advance(_ call: CallOperation, _ operation: LedgerOperation) throws -> LedgerReceipt {
    guard let account = try customer(call.account) else { return unrecorded(.unknownAccount) }
    let content = chain.requestHash(of: operation.content)
    switch call.phase {
    case .settle, .void, .recover: return try end(call, operation, account, content)
    case .authorise, .answer, .extend: break
    }
    if let answer = try replay(operation, on: account.id, content: content) { return answer }
    if case .authorise(let authorisation) = call.phase {
      return try authorise(authorisation, call, operation, account, content)
    }
    guard let hold = try hold(of: account.id, call.call) else { return unrecorded(.unknownCall) }
    guard hold.state.isOpen else { return alreadyResolved(hold) }
    guard try isCurrent(call.origin, of: hold) else { return unrecorded(.staleEpoch) }
    switch call.phase {
    case .answer: return try answer(hold, operation, account, content)
    case .extend(let number, let seconds):
      return try extend(hold, number: number, by: seconds, operation, account, content)
    case .authorise, .settle, .void, .recover: throw LedgerFault("a phase was handled before")
    }
  }

  func alreadyResolved(_ hold: Hold) -> LedgerReceipt {
    let outcome: LedgerOutcome =
      hold.state == .voided
      ? .voided
      : .settled(
        milliseconds: hold.duration ?? 0,
        billedSeconds: hold.settlement(milliseconds: hold.duration ?? 0).billedSeconds, cost: hold.cost ?? .zero,
        transfer: hold.transfer)
    return unrecorded(.alreadyResolved, resolved: outcome)
  }

  /// Whether the caller is the node that made the hold, in the same life.
  private mutating func isCurrent(_ origin: CallOperation.Origin, of hold: Hold) throws -> Bool {
    guard let node = try node(origin.node) else { return false }
    return hold.node == origin.node && hold.epoch == origin.epoch && node.epoch == origin.epoch
  }
}

// MARK: - Authorise

extension LedgerBook {
  private mutating func authorise(
    _ request: CallOperation.Authorisation, _ call: CallOperation, _ operation: LedgerOperation,
    _ account: LedgerAccount, _ content: Int64
  ) throws -> LedgerReceipt {
    // The record of an old call may be pruned while its hold is kept.
    if let hold = try hold(of: account.id, call.call) {
      return hold.state.isOpen ? unrecorded(.conflict) : alreadyResolved(hold)
    }
    guard let node = try node(call.origin.node), node.epoch == call.origin.epoch else { return unrecorded(.staleEpoch) }
    let day = try self.day(of: account, at: operation.at)
    let grant: Grant
    switch try plan(request, account, day: day, at: operation.at) {
    case .failure(let refusal):
      return try keepAnswer(.refused(refusal.value), to: operation, on: account.id, content: content)
    case .success(let planned): grant = planned
    }
    let (seq, bookedAt) = nextRecord(at: operation.at)
    let second = callSecond(operation.at)
    try change(account.id) {
      $0.held += grant.amount
      $0.openHolds += 1
      $0.callsInSecond = $0.callSecond == second ? $0.callsInSecond + 1 : 1
      $0.callSecond = second
    }
    try changeCounter(account.id, day: day, held: grant.amount)
    let hold = Hold(
      account: account.id, call: call.call, seq: seq, state: .authorised, amount: grant.amount,
      grantedSeconds: grant.seconds, extensions: 0, maximumSeconds: grant.maximumSeconds, node: call.origin.node,
      epoch: call.origin.epoch, destination: request.destination, isEmergency: request.isEmergency,
      snapshot: grant.snapshot, linkedCall: request.linkedCall, day: day, authorisedAt: bookedAt)
    try rows.insert(hold)
    keep(hold)
    try rows.insert(
      HoldGrant(
        hold: seq, number: 0, at: bookedAt, grantedSeconds: grant.seconds, amount: grant.amount))
    return try keepAnswer(
      .granted(seconds: grant.seconds, amount: grant.amount, isFinal: grant.isFinal), to: operation, on: account.id,
      content: content, seq: seq)
  }

  private struct Grant {
    var seconds: Int64
    var amount: MicroUnits
    var isFinal: Bool
    var snapshot: RateSnapshot
    var maximumSeconds: Int64
  }

  private func callSecond(_ at: Instant) -> Int64 {
    let (quotient, remainder) = at.milliseconds.quotientAndRemainder(dividingBy: 1000)
    return remainder < 0 ? quotient - 1 : quotient
  }

  /// Decides a first grant. The checks stand in the order of ``LedgerRefusal``.
  private mutating func plan(
    _ request: CallOperation.Authorisation, _ account: LedgerAccount, day: Int64, at: Instant
  ) throws -> Result<Grant, Refusal> {
    func refuse(_ refusal: LedgerRefusal) -> Result<Grant, Refusal> { .failure(Refusal(refusal)) }
    guard account.kind.isCustomer else { return refuse(.unknownAccount) }
    let seconds = min(max(request.seconds, 1), Tariff.maximumSeconds)
    let maximumSeconds = min(max(request.maximumSeconds, 1), Tariff.maximumSeconds)

    if request.isEmergency {
      // Nobody is kept from help for money's sake; only an account that no longer exists cannot carry the call.
      guard account.status != .closed else { return refuse(.accountClosed) }
      let snapshot = try freeSnapshot(named: "emergency", request.destination, account.currency)
      return .success(
        Grant(
          seconds: maximumSeconds, amount: 0, isFinal: true, snapshot: snapshot, maximumSeconds: maximumSeconds))
    }
    switch request.rating {
    case .rated(let snapshot) where snapshot.currency != account.currency: return refuse(.currencyMismatch)
    case .refused(.currencyMismatch): return refuse(.currencyMismatch)
    case .rated, .refused: break
    }
    switch account.status {
    case .closing, .closed: return refuse(.accountClosed)
    case .locked: return refuse(.accountLocked)
    case .open: break
    }
    let snapshot: RateSnapshot
    switch request.rating {
    case .refused(let refusal): return refuse(refusal)
    case .rated(let rated): snapshot = rated
    }
    if let countries = account.caps.countries ?? request.defaultCountries, let country = request.country,
      !countries.contains(country)
    {
      return refuse(.countryNotAllowed)
    }
    if let highest = account.caps.highestRate, snapshot.highestRatePerMinute > highest { return refuse(.rateTooHigh) }
    if let limit = account.caps.callsPerSecond,
      limit <= 0 || (account.callSecond == callSecond(at) && account.callsInSecond >= limit)
    {
      return refuse(.rateCap)
    }
    if let limit = account.caps.concurrentCalls, account.openHolds >= limit { return refuse(.concurrencyCap) }

    let limit = min(maximumSeconds, snapshot.secondsLimit)
    let step = firstStep(of: snapshot, longest: limit)
    // A tariff whose maximum cost disconnects ends the call where the maximum is used up, however much credit is left.
    let longest = min(limit, max(step, snapshot.secondsBought(by: .max, answeredAt: nil, limit: limit)))
    let stepCost = snapshot.coveringCost(seconds: step, answeredAt: nil)
    let counter = try self.counter(account.id, day: day)
    let callLeft = account.caps.perCall ?? .max
    let dayLeft = account.caps.perDay.map { counter.left(of: $0) } ?? .max
    guard stepCost <= callLeft else { return refuse(.callCap) }
    guard stepCost <= dayLeft else { return refuse(.dailyCap) }
    // What costs nothing needs no credit, of an account that owes either.
    let credit = max(account.available, .zero)
    guard stepCost <= credit else { return refuse(.insufficientCredit) }

    let budget = min(credit, callLeft, dayLeft)
    let wanted = aligned(min(seconds, longest), snapshot, answeredAt: nil, longest: longest)
    var granted = wanted
    if snapshot.coveringCost(seconds: wanted, answeredAt: nil) > budget {
      // Nearly empty: a fair share for this call beside those already open, at least one increment.
      let share = min(credit / (account.openHolds + 1), budget)
      granted = max(step, min(wanted, snapshot.secondsBought(by: share, answeredAt: nil, limit: longest)))
    }
    let amount = snapshot.coveringCost(seconds: granted, answeredAt: nil)
    guard amount <= budget else { throw LedgerFault("a grant of \(granted) s costs more than its budget") }
    let reachable = snapshot.secondsBought(by: budget, answeredAt: nil, limit: longest)
    return .success(
      Grant(
        seconds: granted, amount: amount, isFinal: granted >= longest || reachable <= granted, snapshot: snapshot,
        maximumSeconds: longest))
  }

  /// Seconds in the smallest grant worth making: the first billed step, under every class that can apply.
  private func firstStep(of snapshot: RateSnapshot, longest: Int64) -> Int64 {
    let step = snapshot.segments.reduce(Int64(1)) { longest, segment in
      let tariff = segment.tariff
      // A second past grace and free time is the first one that is billed.
      let firstBilled = max(tariff.grace, tariff.freeSeconds) + 1
      return max(longest, tariff.billedSeconds(firstBilled) + tariff.freeSeconds)
    }
    return min(step, longest)
  }

  /// The end of the increment that `seconds` falls into: it costs the same and lasts longer.
  private func aligned(_ seconds: Int64, _ snapshot: RateSnapshot, answeredAt: Instant?, longest: Int64) -> Int64 {
    let cost = snapshot.coveringCost(seconds: seconds, answeredAt: answeredAt)
    let tariff = snapshot.segment(at: answeredAt ?? .distantPast).tariff
    let end = min(longest, tariff.billedSeconds(seconds) + tariff.freeSeconds)
    return end > seconds && snapshot.coveringCost(seconds: end, answeredAt: answeredAt) == cost ? end : seconds
  }

  private func freeSnapshot(
    named deck: String, _ destination: String, _ currency: Currency
  ) throws -> RateSnapshot {
    try RateSnapshot(
      deck: deck, prefix: "", destination: deck, currency: currency,
      tariff: Tariff(ratePerMinute: 0, initial: 1, increment: 1))
  }
}

// MARK: - Answer and extend

extension LedgerBook {
  private mutating func answer(
    _ hold: Hold, _ operation: LedgerOperation, _ account: LedgerAccount, _ content: Int64
  ) throws -> LedgerReceipt {
    var answered = hold
    answered.state = .answered
    // Never before the authorisation: a clock that stepped back must not choose another time class.
    answered.answeredAt = max(operation.at, hold.authorisedAt)
    answered.answeredUptime = operation.uptime
    try confirm(rows.answer(answered), answered)
    return try keepAnswer(.answered, to: operation, on: account.id, content: content)
  }

  private mutating func extend(
    _ hold: Hold, number: Int64, by seconds: Int64, _ operation: LedgerOperation, _ account: LedgerAccount,
    _ content: Int64
  ) throws -> LedgerReceipt {
    func refuse(_ refusal: LedgerRefusal) throws -> LedgerReceipt {
      try keepAnswer(.refused(refusal), to: operation, on: account.id, content: content)
    }
    if !hold.isEmergency {
      switch account.status {
      case .closing, .closed: return try refuse(.accountClosed)
      case .locked: return try refuse(.accountLocked)
      case .open: break
      }
    }
    let snapshot = hold.snapshot
    guard hold.grantedSeconds < hold.maximumSeconds else { return try refuse(.durationCap) }

    // A call that runs past midnight counts on the new day from its next grant on.
    let day = try self.day(of: account, at: operation.at)
    let counter = try self.counter(account.id, day: day)
    var others = counter
    if day == hold.day { others.held -= hold.amount }
    let callLeft = account.caps.perCall ?? .max
    let dayLeft = account.caps.perDay.map { others.left(of: $0) } ?? .max
    let own = hold.amount + max(account.available, .zero)

    let tariff = snapshot.segment(at: hold.answeredAt ?? .distantPast).tariff
    let next = min(
      hold.maximumSeconds,
      max(hold.grantedSeconds + 1, tariff.billedSeconds(hold.grantedSeconds + 1) + tariff.freeSeconds))
    func cost(_ seconds: Int64) -> MicroUnits {
      // A hold never shrinks: the class of the answer may be cheaper than the dearest that was reserved.
      max(hold.amount, snapshot.coveringCost(seconds: seconds, answeredAt: hold.answeredAt))
    }
    guard cost(next) <= callLeft else { return try refuse(.callCap) }
    guard cost(next) <= dayLeft else { return try refuse(.dailyCap) }
    guard cost(next) <= own else { return try refuse(.insufficientCredit) }

    let budget = min(own, callLeft, dayLeft)
    let growth = min(max(seconds, 1), Tariff.maximumSeconds)
    let wanted = max(
      next,
      aligned(
        min(hold.maximumSeconds, hold.grantedSeconds + growth), snapshot, answeredAt: hold.answeredAt,
        longest: hold.maximumSeconds))
    var granted = wanted
    if cost(wanted) > budget {
      let share = min(hold.amount + max(account.available, .zero) / max(account.openHolds, 1), budget)
      let bought = snapshot.secondsBought(by: share, answeredAt: hold.answeredAt, limit: hold.maximumSeconds)
      granted = max(next, min(wanted, bought))
    }
    let amount = cost(granted)
    guard amount <= budget else { throw LedgerFault("a grant of \(granted) s costs more than its budget") }

    let (seq, bookedAt) = nextRecord(at: operation.at)
    try change(account.id) { $0.held += amount - hold.amount }
    try changeCounter(account.id, day: hold.day, held: -hold.amount)
    try changeCounter(account.id, day: day, held: amount)
    var extended = hold
    extended.amount = amount
    extended.grantedSeconds = granted
    extended.extensions += 1
    extended.day = day
    try confirm(rows.extend(extended), extended)
    try rows.insert(
      HoldGrant(
        hold: hold.seq, number: extended.extensions, at: bookedAt, grantedSeconds: granted, amount: amount))
    let reachable = snapshot.secondsBought(by: budget, answeredAt: hold.answeredAt, limit: hold.maximumSeconds)
    return try keepAnswer(
      .granted(
        seconds: granted, amount: amount, isFinal: granted >= hold.maximumSeconds || reachable <= granted),
      to: operation, on: account.id, content: content, seq: seq)
  }

  /// Takes a changed hold over once its row was found open and changed.
  private mutating func confirm(_ wasOpen: Bool, _ hold: Hold) throws {
    guard wasOpen else { throw LedgerFault("hold of call \(hold.call) is no longer open") }
    keep(hold)
  }
}

// MARK: - The end of a call

extension LedgerBook {
  private mutating func end(
    _ call: CallOperation, _ operation: LedgerOperation, _ account: LedgerAccount, _ content: Int64
  ) throws -> LedgerReceipt {
    guard let hold = try hold(of: account.id, call.call) else { return unrecorded(.unknownCall) }
    if !hold.state.isOpen {
      guard let record = try rows.operation(account: account.id, key: operation.key) else {
        return alreadyResolved(hold)
      }
      if record.requestHash == content {
        return LedgerReceipt(seq: record.seq, isReplay: true, outcome: try outcome(of: record))
      }
      // The same way to end with other figures is a contradiction; another way to end is merely too late.
      let isSameWay =
        switch call.phase {
        case .settle: hold.state == .settled && hold.reason != LedgerBook.recoveredReason
        case .void: hold.state == .voided && hold.reason != LedgerBook.recoveredReason
        case .authorise, .answer, .extend, .recover: false
        }
      return isSameWay ? unrecorded(.conflict) : alreadyResolved(hold)
    }

    switch call.phase {
    case .settle(let milliseconds, let reason, let carriers):
      guard try isCurrent(call.origin, of: hold) else { return unrecorded(.staleEpoch) }
      guard hold.state == .answered else { return unrecorded(.notAnswered) }
      return try resolve(hold, milliseconds: milliseconds, reason: reason, carriers, operation, account, content)
    case .void(let reason, let carriers):
      guard try isCurrent(call.origin, of: hold) else { return unrecorded(.staleEpoch) }
      return try resolve(hold, milliseconds: nil, reason: reason, carriers, operation, account, content)
    case .recover:
      // Only a node whose epoch has moved on is dead; its last beat bounds what was certainly carried.
      guard let newest = try node(hold.node), newest.epoch > hold.epoch,
        let life = try rows.life(of: hold.node, epoch: hold.epoch)
      else { return unrecorded(.staleEpoch) }
      return try resolve(
        hold, milliseconds: life.carried(hold), reason: LedgerBook.recoveredReason, [], operation, account, content)
    case .authorise, .answer, .extend: throw LedgerFault("a phase was handled before")
    }
  }

  static var recoveredReason: String { "recovered" }

  /// Releases the hold and charges what the call cost; `nil` milliseconds is a void, which charges nothing.
  private mutating func resolve(
    _ hold: Hold, milliseconds: Int64?, reason: String, _ carriers: [CarrierCharge], _ operation: LedgerOperation,
    _ account: LedgerAccount, _ content: Int64
  ) throws -> LedgerReceipt {
    guard carriers.count <= CarrierCharge.maximumPerCall,
      carriers.allSatisfy({
        $0.amount >= .zero && $0.overrun >= .zero && $0.overrun <= $0.amount
          && $0.amount <= CarrierCharge.maximumAmount
      })
    else { return unrecorded(.amountOutOfRange) }

    var resolved = hold
    resolved.state = milliseconds == nil ? .voided : .settled
    resolved.reason = LedgerOperation.cut(reason, to: LedgerOperation.maximumActorBytes)
    var outcome = LedgerOutcome.voided
    try change(account.id) {
      $0.held -= hold.amount
      $0.openHolds -= 1
    }
    var cost = MicroUnits.zero
    if let milliseconds {
      let settlement = hold.settlement(milliseconds: milliseconds)
      cost = settlement.cost
      guard cost <= hold.amount else { throw LedgerFault("call \(hold.call) costs more than its hold") }
      if cost > .zero {
        let revenue = try operatorAccount(ChartOfAccounts.revenue, account.currency, at: operation.at)
        resolved.transfer = try post(
          .call, debit: account.id, credit: revenue, amount: cost, call: hold.call, key: operation.key,
          actor: operation.actor, at: operation.at, eventAt: operation.at,
          detail: hold.chargeDetail(milliseconds: milliseconds))
      }
      resolved.duration = settlement.duration
      resolved.cost = cost
      outcome = .settled(
        milliseconds: settlement.duration, billedSeconds: settlement.billedSeconds, cost: cost,
        transfer: resolved.transfer)
    }
    try changeCounter(account.id, day: hold.day, spent: cost, held: -hold.amount)
    for carrier in carriers { try book(carrier, of: hold, account.currency, operation) }
    let (seq, bookedAt) = nextRecord(at: operation.at)
    resolved.resolvedAt = bookedAt
    try confirm(rows.resolve(resolved), resolved)
    let after = try self.account(account.id)
    if after.status == .closing, after.openHolds == 0 {
      try change(account.id) { $0.status = .closed }
      try record(event: "closed", of: try self.account(account.id), actor: operation.actor, at: operation.at)
    }
    return try keepAnswer(outcome, to: operation, on: account.id, content: content, seq: seq)
  }

  /// Books what a carrier will bill: the operator's cost of the call, and apart from it the time past the last grant.
  private mutating func book(
    _ carrier: CarrierCharge, of hold: Hold, _ currency: Currency, _ operation: LedgerOperation
  ) throws {
    let parts: [(TransferKind, String, MicroUnits)] = [
      (.termination, ChartOfAccounts.termination, carrier.amount - carrier.overrun),
      (.overrun, ChartOfAccounts.overrun, carrier.overrun),
    ]
    for (kind, name, amount) in parts where amount > .zero {
      let expense = try operatorAccount(name, currency, at: operation.at)
      let liability = try operatorAccount(ChartOfAccounts.carrier(carrier.trunk), currency, at: operation.at)
      _ = try post(
        kind, debit: expense, credit: liability, amount: amount, call: hold.call, key: operation.key,
        actor: operation.actor, at: operation.at, eventAt: operation.at, detail: "\(carrier.trunk)")
    }
  }
}
