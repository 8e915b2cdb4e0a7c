import CallModel
import LedgerCore

extension LedgerModel {
  /// The clock's second; those before 1970 count down.
  static func second(_ at: Instant) -> Int64 { (at.milliseconds - (at.milliseconds < 0 ? 999 : 0)) / 1000 }

  /// The price that a call carries: an emergency call is free whatever the deck says.
  static func snapshot(_ request: CallOperation.Authorisation, _ currency: Currency) -> RateSnapshot? {
    if request.isEmergency {
      guard let free = try? Tariff(ratePerMinute: 0, initial: 1, increment: 1) else { return nil }
      return try? RateSnapshot(
        deck: "emergency", prefix: "", destination: "emergency", currency: currency, tariff: free)
    }
    if case .rated(let rated) = request.rating { return rated }
    return nil
  }

  /// The longest that a call may be granted: what was asked for, what every tariff allows, and where a tariff ends its
  /// calls at their maximum cost, what that pays for; at least the first billed step.
  static func longest(_ snapshot: RateSnapshot, asked: Int64) -> Int64 {
    var longest = asked
    for segment in snapshot.segments { longest = min(longest, segment.tariff.secondsLimit) }
    let paidFor = snapshot.segments.reduce(longest) { longest, segment in
      let tariff = segment.tariff
      guard tariff.maximumCost != nil, tariff.maximumCostStrategy == .disconnect else { return longest }
      return min(longest, tariff.secondsBought(by: .max, limit: longest))
    }
    return max(paidFor, firstStep(snapshot, longest: longest))
  }

  /// The end of the first billed step under every tariff that may apply.
  static func firstStep(_ snapshot: RateSnapshot, longest: Int64) -> Int64 {
    var step: Int64 = 1
    for segment in snapshot.segments {
      let tariff = segment.tariff
      let first = max(tariff.grace, tariff.freeSeconds) + 1
      // Up to the last second that is billed like the first.
      var end = tariff.freeSeconds + max(tariff.initial, 0)
      while end < first { end += tariff.tiers[0].increment }
      if tariff.tiers.count > 1 { end = tariff.freeSeconds + tariff.billedSeconds(first) }
      step = max(step, end)
    }
    return min(step, longest)
  }

  func progress(
    _ operation: LedgerOperation, _ call: CallOperation, _ name: String, _ account: ModelAccount
  ) -> Expectation {
    let hold = holds[ModelCallKey(account: name, call: call.call.text)]
    if case .authorise(let request) = call.phase {
      // The record of an old call may have been pruned and its hold kept.
      if let hold { return hold.end.map { .unrecorded(.alreadyResolved, $0.outcome) } ?? .unrecorded(.conflict, nil) }
      guard isCurrent(call.origin) else { return .unrecorded(.staleEpoch, nil) }
      return authorisation(request, name, account, at: operation.at)
    }
    guard let hold else { return .unrecorded(.unknownCall, nil) }
    if let end = hold.end { return .unrecorded(.alreadyResolved, end.outcome) }
    guard hold.origin == call.origin, isCurrent(call.origin) else { return .unrecorded(.staleEpoch, nil) }
    guard case .extend(_, let seconds) = call.phase else { return .recorded(.answered) }
    return growth(hold, by: seconds, name, account, at: operation.at)
  }

  private func authorisation(
    _ request: CallOperation.Authorisation, _ name: String, _ account: ModelAccount, at: Instant
  ) -> Expectation {
    func refused(_ refusal: LedgerRefusal) -> Expectation { .recorded(.refused(refusal)) }
    let asked = min(max(request.maximumSeconds, 1), Tariff.maximumSeconds)
    if request.isEmergency {
      if account.status == .closed { return refused(.accountClosed) }
      return .granted(seconds: asked...asked, budget: 0, base: 0, answeredAt: nil, maximum: asked)
    }
    if case .rated(let rated) = request.rating, rated.currency != account.currency { return refused(.currencyMismatch) }
    if account.status == .closed || account.status == .closing { return refused(.accountClosed) }
    if account.status == .locked { return refused(.accountLocked) }
    let snapshot: RateSnapshot
    switch request.rating {
    case .refused(let refusal): return refused(refusal)
    case .rated(let rated): snapshot = rated
    }
    let caps = account.caps
    if let allowed = caps.countries ?? request.defaultCountries, let country = request.country,
      !allowed.contains(country)
    {
      return refused(.countryNotAllowed)
    }
    let dearest = snapshot.segments.flatMap { $0.tariff.tiers }.map(\.ratePerMinute).max() ?? 0
    if let highest = caps.highestRate, dearest > highest { return refused(.rateTooHigh) }
    if let perSecond = caps.callsPerSecond {
      let begun = account.second == LedgerModel.second(at) ? account.callsInSecond : 0
      if begun >= perSecond { return refused(.rateCap) }
    }
    if let parallel = caps.concurrentCalls, account.openCalls >= parallel { return refused(.concurrencyCap) }

    let longest = LedgerModel.longest(snapshot, asked: asked)
    let step = LedgerModel.firstStep(snapshot, longest: longest)
    let price = snapshot.coveringCost(seconds: step, answeredAt: nil)
    let today = days[ModelDayKey(account: name, day: day(name, at))] ?? ModelDay()
    if let perCall = caps.perCall, price > perCall { return refused(.callCap) }
    let dayLeft = caps.perDay.map { max(0, $0 - today.spent - today.held) } ?? .max
    if price > dayLeft { return refused(.dailyCap) }
    // What costs nothing needs no credit, of an account that owes either.
    let credit = max(account.available, 0)
    if price > credit { return refused(.insufficientCredit) }
    let budget = min(credit, caps.perCall ?? .max, dayLeft)
    let wanted = min(max(request.seconds, 1), longest)
    let isCovered = snapshot.coveringCost(seconds: wanted, answeredAt: nil) <= budget
    return .granted(
      seconds: (isCovered ? wanted : step)...longest, budget: budget, base: 0, answeredAt: nil, maximum: longest)
  }

  private func growth(
    _ hold: ModelHold, by seconds: Int64, _ name: String, _ account: ModelAccount, at: Instant
  ) -> Expectation {
    func refused(_ refusal: LedgerRefusal) -> Expectation { .recorded(.refused(refusal)) }
    if !hold.isEmergency {
      if account.status == .closed || account.status == .closing { return refused(.accountClosed) }
      if account.status == .locked { return refused(.accountLocked) }
    }
    guard hold.seconds < hold.maximumSeconds else { return refused(.durationCap) }
    func price(_ seconds: Int64) -> MicroUnits {
      max(hold.amount, hold.snapshot.coveringCost(seconds: seconds, answeredAt: hold.answeredAt))
    }
    let tariff = hold.snapshot.segment(at: hold.answeredAt ?? .distantPast).tariff
    let stepEnd = tariff.billedSeconds(hold.seconds + 1) + tariff.freeSeconds
    let next = min(hold.maximumSeconds, max(hold.seconds + 1, stepEnd))
    let day = day(name, at)
    var today = days[ModelDayKey(account: name, day: day)] ?? ModelDay()
    if hold.day == day { today.held -= hold.amount }
    let caps = account.caps
    // The account's credit with this call's own hold given back; a call may always keep what it has.
    let own = hold.amount + max(account.available, 0)
    if let perCall = caps.perCall, price(next) > perCall { return refused(.callCap) }
    let dayLeft = caps.perDay.map { max(0, $0 - today.spent - today.held) } ?? .max
    if price(next) > dayLeft { return refused(.dailyCap) }
    if price(next) > own { return refused(.insufficientCredit) }
    let budget = min(own, caps.perCall ?? .max, dayLeft)
    let wanted = max(next, min(hold.maximumSeconds, hold.seconds + min(max(seconds, 1), Tariff.maximumSeconds)))
    return .granted(
      seconds: (price(wanted) <= budget ? wanted : next)...hold.maximumSeconds, budget: budget, base: hold.amount,
      answeredAt: hold.answeredAt, maximum: hold.maximumSeconds)
  }

  func ending(_ operation: LedgerOperation, _ call: CallOperation) -> Expectation {
    let name = call.account.text
    guard let hold = holds[ModelCallKey(account: name, call: call.call.text)] else {
      return .unrecorded(.unknownCall, nil)
    }
    if let end = hold.end {
      guard let record = record(name, operation.key) else { return .unrecorded(.alreadyResolved, end.outcome) }
      if record.content == ModelContent(operation) { return .replay(record) }
      let isSameWay =
        switch (call.phase, end.outcome) {
        case (.settle, .settled), (.void, .voided): !end.isRecovery
        default: false
        }
      return isSameWay ? .unrecorded(.conflict, nil) : .unrecorded(.alreadyResolved, end.outcome)
    }
    func settled(_ milliseconds: Int64) -> Expectation {
      let carried = min(max(milliseconds, 0), hold.seconds * 1000)
      let start = hold.answeredAt ?? hold.authorisedAt
      return .settled(
        milliseconds: carried, billedSeconds: hold.snapshot.billedSeconds(milliseconds: carried, answeredAt: start),
        cost: hold.snapshot.cost(milliseconds: carried, answeredAt: start))
    }
    if case .recover = call.phase {
      guard let lives = lives[hold.origin.node], let current = lives.last, current.epoch > hold.origin.epoch,
        let life = lives.first(where: { $0.epoch == hold.origin.epoch })
      else { return .unrecorded(.staleEpoch, nil) }
      guard hold.answeredAt != nil else { return .recorded(.voided) }
      // Every beat and every answer of the simulation tells its uptime; without a beat nothing is certain.
      return settled(max(0, (life.uptime ?? 0) - (hold.answeredUptime ?? 0)))
    }
    guard hold.origin == call.origin, isCurrent(call.origin) else { return .unrecorded(.staleEpoch, nil) }
    func areValid(_ carriers: [CarrierCharge]) -> Bool {
      carriers.count <= CarrierCharge.maximumPerCall
        && carriers.allSatisfy {
          0 <= $0.overrun && $0.overrun <= $0.amount && $0.amount <= CarrierCharge.maximumAmount
        }
    }
    switch call.phase {
    case .settle(let milliseconds, _, let carriers):
      guard hold.answeredAt != nil else { return .unrecorded(.notAnswered, nil) }
      return areValid(carriers) ? settled(milliseconds) : .unrecorded(.amountOutOfRange, nil)
    case .void(_, let carriers):
      return areValid(carriers) ? .recorded(.voided) : .unrecorded(.amountOutOfRange, nil)
    case .authorise, .answer, .extend, .recover: return .unrecorded(.unknownCall, nil)
    }
  }
}
