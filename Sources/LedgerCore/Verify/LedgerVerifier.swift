import CallModel

/// One rule of the books and whether they keep it.
public struct VerifiedRule: Hashable, Sendable {
  /// The twelve rules of the books by the numbers that reports print; ``title`` says each in words.
  public enum ID: String, Hashable, Sendable, CaseIterable {
    case i1 = "I1"
    case i2 = "I2"
    case i3 = "I3"
    case i4 = "I4"
    case i5 = "I5"
    case i6 = "I6"
    case i7 = "I7"
    case i8 = "I8"
    case i9 = "I9"
    case i10 = "I10"
    case i11 = "I11"
    case i12 = "I12"

    /// What the rule says, in a few words.
    public var title: String {
      switch self {
      case .i1: "zero sum"
      case .i2: "transfers balanced"
      case .i3: "balances"
      case .i4: "versions"
      case .i5: "holds"
      case .i6: "floors"
      case .i7: "resolutions"
      case .i8: "one charge a call"
      case .i9: "currencies"
      case .i10: "prices recomputed"
      case .i11: "chain"
      case .i12: "daily counters"
      }
    }
  }

  /// Which rule was checked; codes such as `I1` stand in reports.
  public var id: ID
  /// The first contradiction found; `nil` when the rule holds.
  public var problem: Problem?

  /// Where the books contradict themselves, and how.
  public struct Problem: Hashable, Sendable {
    /// The record at fault; 0 when a whole account or table is.
    public var seq: Int64
    /// What was found beside what was expected, in words for an operator.
    public var detail: String
  }
}

/// What a verification checked and found, for one consistent state of the ledger.
public struct VerificationReport: Hashable, Sendable {
  /// The newest point of the ledger that was checked; ``LedgerHead/empty`` where it could not be read.
  public var head: LedgerHead
  /// How many rows the checked ledger held, to judge the scope of the report.
  public var counts: LedgerCounts
  /// Every record was checked; `false` for a quick run, which leaves out most of the chain and some rules.
  public var isFull: Bool
  /// The rules that were checked, in order.
  public var rules: [VerifiedRule]

  /// No rule that was checked is broken; of a quick run, rules that were left out say nothing.
  public var isSound: Bool { rules.allSatisfy { $0.problem == nil } }
}

/// Checks the invariants of the books against their rows alone, trusting no total.
public struct LedgerVerifier {
  /// Links of the chain that a quick verification recomputes.
  public static let quickChainLength: Int64 = 1000

  private var problems: [VerifiedRule.ID: VerifiedRule.Problem] = [:]
  private let reading: any LedgerReading
  /// Holds that name a charge; the other side is counted among the transfers.
  private var chargedHolds: Int64 = 0

  private init(_ reading: any LedgerReading) { self.reading = reading }

  /// - Parameter full: every record; otherwise balances, holds, floors, counters and the end of the chain.
  public static func verify(_ reading: any LedgerReading, full: Bool) throws -> VerificationReport {
    var verifier = LedgerVerifier(reading)
    let counts = try reading.counts()
    var head = LedgerHead.empty
    // A row that cannot be read was altered: the rule that it belongs to is broken, the others are still checked.
    try verifier.reading(.i11) { head = try $0.reading.head() }
    var accounts: [LedgerAccount] = []
    try verifier.reading(.i11) { accounts = try $0.reading.allAccounts() }
    try verifier.reading(.i3) { try $0.checkAccounts(accounts) }
    try verifier.reading(.i10) { try $0.checkHolds(accounts, head: head, full: full) }
    try verifier.reading(.i11) { try $0.checkRecords(accounts, head: head, counts: counts, full: full) }
    if full {
      try verifier.checkCounters(accounts)
      try verifier.reading(.i11) { try $0.checkAnswers(head: head) }
    }
    let checked: [VerifiedRule.ID] = full ? VerifiedRule.ID.allCases : [.i1, .i3, .i5, .i6, .i7, .i10, .i11]
    return VerificationReport(
      head: head, counts: counts, isFull: full,
      rules: checked.map { VerifiedRule(id: $0, problem: verifier.problems[$0]) })
  }

  /// Runs one part of the verification; a row of it that cannot be read is the part's problem.
  private mutating func reading(
    _ id: VerifiedRule.ID, _ body: (inout LedgerVerifier) throws -> Void
  ) throws {
    do { try body(&self) } catch let fault as LedgerFault { report(id, fault.description) }
  }

  private mutating func report(_ id: VerifiedRule.ID, seq: Int64 = 0, _ detail: String) {
    if problems[id] == nil { problems[id] = VerifiedRule.Problem(seq: seq, detail: detail) }
  }

  private mutating func require(
    _ condition: Bool, _ id: VerifiedRule.ID, seq: Int64 = 0, _ detail: @autoclosure () -> String
  ) {
    if !condition { report(id, seq: seq, detail()) }
  }
}

// MARK: - Accounts

extension LedgerVerifier {
  private mutating func checkAccounts(_ accounts: [LedgerAccount]) throws {
    var sums: [Currency: MicroUnits] = [:]
    for account in accounts {
      let (sum, overflow) = (sums[account.currency] ?? .zero).addingReportingOverflow(account.posted)
      require(!overflow, .i1, "the balances in \(account.currency) leave the range")
      sums[account.currency] = sum
      let last = try reading.lastEntry(of: account.id, before: nil)
      require(
        account.posted == last?.balanceAfter ?? 0, .i3, seq: last?.transfer ?? 0,
        "account \(account.name) shows \(account.posted), its last entry \(last?.balanceAfter ?? 0)")
      require(
        account.version == last?.version ?? 0, .i4, seq: last?.transfer ?? 0,
        "account \(account.name) counts \(account.version) entries, its last is number \(last?.version ?? 0)")
      require(
        !account.kind.isCustomer || account.status != .open || account.available >= 0, .i6,
        "account \(account.name) is \(account.available.magnitude) micro-units below its floor")
      let event = try reading.latestEvent(of: account.id)
      require(
        event?.settings == account.settingsText, .i11, seq: event?.seq ?? 0,
        "the settings of account \(account.name) are not those last recorded")
    }
    for (currency, sum) in sums.sorted(by: { $0.key < $1.key }) {
      require(sum == 0, .i1, "the balances in \(currency) add up to \(sum), not 0")
    }
  }

  private mutating func checkCounters(_ accounts: [LedgerAccount]) throws {
    let names = Dictionary(uniqueKeysWithValues: accounts.map { ($0.id, $0.name) })
    let stored = Set(try reading.counters(of: nil).filter { $0.spent != 0 || $0.held != 0 })
    let derived = Set(try reading.countersFromHolds().filter { $0.spent != 0 || $0.held != 0 })
    if let wrong = stored.symmetricDifference(derived).min(by: { ($0.account, $0.day) < ($1.account, $1.day) }) {
      let account = names[wrong.account] ?? "\(wrong.account)"
      let days: ClosedRange<Int64> = -10_000_000...10_000_000
      let day = days.contains(wrong.day) ? "\(CivilDate(dayNumber: wrong.day))" : "day \(wrong.day)"
      report(.i12, "\(day) of account \(account) is not what its calls add up to")
    }
  }
}

// MARK: - Holds

extension LedgerVerifier {
  private mutating func checkHolds(_ accounts: [LedgerAccount], head: LedgerHead, full: Bool) throws {
    let totals = try reading.openHoldTotals()
    for account in accounts {
      let open = totals[account.id] ?? (amount: 0, count: 0)
      require(
        open.amount == account.held && open.count == account.openHolds, .i5,
        "account \(account.name) holds \(account.held) for \(account.openHolds) calls, "
          + "its open holds add up to \(open.amount) for \(open.count)")
    }
    let currencies = Dictionary(uniqueKeysWithValues: accounts.map { ($0.id, $0.currency) })
    let lives = Set(try reading.nodes().map { CallOperation.Origin(node: $0.id, epoch: $0.epoch) })
    try reading.forEachHold(HoldFilter(openOnly: !full, limit: 0)) { hold in
      require(hold.seq <= head.seq, .i11, seq: hold.seq, "call \(hold.call) is newer than the head")
      require(
        lives.contains(CallOperation.Origin(node: hold.node, epoch: hold.epoch)), .i7, seq: hold.seq,
        "call \(hold.call) belongs to life \(hold.epoch) of node \(hold.node), which is not known")
      try checkHold(hold, currency: currencies[hold.account])
    }
  }

  /// Each step of a hold is the next one, never smaller or earlier, and within its price.
  private func isGrowth(_ grants: [HoldGrant], of hold: Hold) -> Bool {
    var last: HoldGrant?
    for (number, grant) in grants.enumerated() {
      guard grant.number == number, grant.at >= last?.at ?? hold.authorisedAt, grant.amount >= last?.amount ?? 0,
        grant.grantedSeconds > last?.grantedSeconds ?? 0,
        grant.amount <= hold.snapshot.coveringCost(seconds: grant.grantedSeconds, answeredAt: nil)
      else { return false }
      last = grant
    }
    return grants.first?.at == hold.authorisedAt
  }

  private mutating func checkHold(_ hold: Hold, currency: Currency?) throws {
    let call = hold.call
    require(currency == hold.snapshot.currency, .i9, seq: hold.seq, "call \(call) is priced in another currency")
    // One grant a step, and the hold equal to the last.
    let grants = try reading.grants(ofHold: hold.seq)
    require(
      Int64(grants.count) == hold.extensions &+ 1 && isGrowth(grants, of: hold) && grants.last?.amount == hold.amount
        && grants.last?.grantedSeconds == hold.grantedSeconds, .i5, seq: hold.seq,
      "the hold of call \(call) is not what was granted step by step")
    let started = hold.answeredAt ?? hold.authorisedAt
    require(
      hold.authorisedAt <= started && started <= hold.resolvedAt ?? started, .i7, seq: hold.seq,
      "call \(call) was authorised, answered and ended in another order")
    require(
      hold.grantedSeconds >= 1 && hold.grantedSeconds <= hold.maximumSeconds
        && hold.maximumSeconds <= Tariff.maximumSeconds, .i5, seq: hold.seq,
      "call \(call) is granted \(hold.grantedSeconds) s of at most \(hold.maximumSeconds)")
    // Before the answer the dearest class is covered; afterwards at least the answer's.
    let covered = hold.snapshot.coveringCost(
      seconds: hold.grantedSeconds, answeredAt: hold.state == .authorised ? nil : hold.answeredAt)
    let dearest = hold.snapshot.coveringCost(seconds: hold.grantedSeconds, answeredAt: nil)
    require(
      hold.amount >= covered && hold.amount <= dearest, .i10, seq: hold.seq,
      "the hold of call \(call) is \(hold.amount), its price is \(covered)")
    switch hold.state {
    case .authorised, .answered:
      require(
        hold.resolvedAt == nil && hold.cost == nil && hold.duration == nil && hold.transfer == nil
          && (hold.state == .answered) == (hold.answeredAt != nil), .i7, seq: hold.seq,
        "call \(call) is open and resolved at once")
    case .voided:
      require(
        hold.resolvedAt != nil && hold.cost == nil && hold.duration == nil && hold.transfer == nil, .i7, seq: hold.seq,
        "call \(call) is voided and charged at once")
    case .settled:
      guard let duration = hold.duration, let cost = hold.cost, hold.resolvedAt != nil, hold.answeredAt != nil else {
        report(.i7, seq: hold.seq, "call \(call) is settled without a duration, a cost or an answer")
        return
      }
      require(cost <= hold.amount, .i7, seq: hold.seq, "call \(call) cost \(cost), more than its hold \(hold.amount)")
      let settlement = hold.settlement(milliseconds: duration)
      require(
        settlement.cost == cost && settlement.duration == duration, .i10, seq: hold.seq,
        "call \(call) cost \(cost), its snapshot says \(settlement.cost)")
      require((cost > 0) == (hold.transfer != nil), .i8, seq: hold.seq, "call \(call) cost \(cost) without a charge")
      if let seq = hold.transfer {
        chargedHolds += 1
        let transfer = try reading.transfer(seq: seq)?.transfer
        require(
          transfer?.kind == .call && transfer?.call == call && transfer?.amount == cost
            && transfer?.debit == hold.account && transfer?.at == hold.resolvedAt
            && transfer?.detail == hold.chargeDetail(milliseconds: duration), .i8, seq: seq,
          "the charge of call \(call) is not the call's")
      }
    }
  }
}

// MARK: - Transfers, entries, chain

extension LedgerVerifier {
  private struct Running {
    var posted = MicroUnits.zero
    var version: Int64 = 0
  }

  private mutating func checkRecords(
    _ accounts: [LedgerAccount], head: LedgerHead, counts: LedgerCounts, full: Bool
  ) throws {
    let start = full ? 0 : max(0, max(0, head.seq) - LedgerVerifier.quickChainLength)
    let byID = Dictionary(uniqueKeysWithValues: accounts.map { ($0.id, $0) })
    var running: [Int64: Running] = [:]
    var chain = HashChain()
    // A quick check starts inside the chain: the first link only lends its hash.
    var previous: [UInt8]? = start == 0 ? LedgerHead.empty.hash : nil
    var newest = LedgerHead.empty
    let reading = reading
    var transfers = Page(start) { try reading.transfers(HistoryRange(after: $0, limit: LedgerVerifier.pageSize)) }
    var events = Page(start) { try reading.events(after: $0, limit: LedgerVerifier.pageSize) }
    var seen: Int64 = 0
    var charges: Int64 = 0
    while true {
      let nextTransfer = try transfers.peek { $0.transfer.seq }
      let nextEvent = try events.peek { $0.seq }
      if let booked = nextTransfer, nextEvent.map({ booked.transfer.seq < $0.seq }) ?? true {
        transfers.drop()
        seen += 1
        if booked.transfer.kind == .call { charges += 1 }
        try check(booked, accounts: byID, running: &running, full: full)
        if let last = previous, let debit = booked.debit, let credit = booked.credit {
          require(
            chain.hash(after: last, transfer: booked.transfer, debit: debit, credit: credit) == booked.transfer.hash,
            .i11, seq: booked.transfer.seq, "transfer \(booked.transfer.seq) was altered, or one before it is missing")
        }
        previous = booked.transfer.hash
        newest.seq = booked.transfer.seq
        newest.at = booked.transfer.at
      } else if let event = nextEvent {
        events.drop()
        require(byID[event.account] != nil, .i11, seq: event.seq, "event \(event.seq) names no account")
        if let last = previous {
          require(
            chain.hash(after: last, event: event) == event.hash, .i11, seq: event.seq,
            "event \(event.seq) was altered, or a record before it is missing")
        }
        previous = event.hash
        newest.seq = event.seq
        newest.at = event.at
      } else {
        break
      }
    }
    require(
      previous ?? head.hash == head.hash && newest.seq <= head.seq && newest.at <= head.at
        && head.seq <= LedgerHead.maximumSeq, .i11, seq: head.seq,
      "the newest record is not the one at the head")
    require(
      head.nextAccount == (accounts.last?.id ?? 0) &+ 1, .i11,
      "the next account would be number \(head.nextAccount), the last is \(accounts.last?.id ?? 0)")
    guard full else { return }
    let chargedHolds = chargedHolds
    require(charges == chargedHolds, .i8, "\(charges) charges are booked for \(chargedHolds) charged calls")
    require(seen == counts.transfers, .i2, "\(counts.transfers) transfers are stored, \(seen) were found in order")
    require(
      counts.entries == 2 * counts.transfers, .i2,
      "\(counts.entries) entries are stored for \(counts.transfers) transfers")
    for account in accounts {
      let found = running[account.id] ?? Running()
      require(
        found.posted == account.posted, .i3,
        "account \(account.name) shows \(account.posted), its entries add up to \(found.posted)")
      require(
        found.version == account.version, .i4,
        "account \(account.name) counts \(account.version) entries, \(found.version) were found")
    }
  }

  private mutating func check(
    _ booked: BookedTransfer, accounts: [Int64: LedgerAccount], running: inout [Int64: Running], full: Bool
  ) throws {
    let transfer = booked.transfer
    guard let debit = booked.debit, let credit = booked.credit else {
      report(.i2, seq: transfer.seq, "transfer \(transfer.seq) lacks an entry")
      return
    }
    require(
      debit.amount.count == 0 &- transfer.amount.count && credit.amount == transfer.amount && transfer.amount > .zero
        && debit.account == transfer.debit && credit.account == transfer.credit, .i2, seq: transfer.seq,
      "the entries of transfer \(transfer.seq) are not its amount on both sides")
    require(
      accounts[transfer.debit]?.currency == transfer.currency
        && accounts[transfer.credit]?.currency == transfer.currency,
      .i9, seq: transfer.seq, "transfer \(transfer.seq) crosses currencies or names an account that is missing")
    guard full else { return }
    switch transfer.kind {
    case .call, .termination, .overrun: break
    case .opening, .topup, .refund, .adjust, .transfer, .chargeback:
      // A person's request is kept for ever, so that its key can never move the money twice.
      let key = "k/\(transfer.key)"
      let record = try reading.operation(account: transfer.credit, key: key)
      let isKept =
        try record?.seq == transfer.seq
        || reading.operation(account: transfer.debit, key: key)?.seq == transfer.seq
      require(isKept, .i11, seq: transfer.seq, "the request that booked transfer \(transfer.seq) is not recorded")
    }
    for entry in [debit, credit] {
      var state = running[entry.account] ?? Running()
      let (posted, overflow) = state.posted.addingReportingOverflow(entry.amount)
      state.posted = posted
      state.version += 1
      require(
        entry.version == state.version, .i4, seq: transfer.seq,
        "entry \(entry.version) of account \(entry.account) should be number \(state.version)")
      require(
        !overflow && entry.balanceAfter == state.posted, .i3, seq: transfer.seq,
        "transfer \(transfer.seq) leaves \(entry.balanceAfter) on account \(entry.account), the entries say \(state.posted)"
      )
      running[entry.account] = state
    }
  }

  /// Recorded answers must agree with what was booked, held or changed; refusals left nothing to compare.
  private mutating func checkAnswers(head: LedgerHead) throws {
    var account: Int64 = 0
    var key = ""
    var call = RecordedCall()
    while true {
      let page = try reading.operations(afterAccount: account, key: key, limit: LedgerVerifier.pageSize)
      for record in page {
        require(
          record.seq > 0 && record.seq <= head.seq && record.at <= head.at, .i11, seq: record.seq,
          "the recorded answer to \(record.key) is newer than the head")
        guard let outcome = LedgerOutcome(parsing: record.outcome) else {
          report(.i11, seq: record.seq, "the recorded answer to \(record.key) cannot be read")
          continue
        }
        let isTrue: Bool
        if record.key.hasPrefix("c/") {
          let parts = record.key.split(separator: "/", omittingEmptySubsequences: false)
          guard parts.count >= 3 else {
            report(.i11, seq: record.seq, "the key \(record.key) names no phase of a call")
            continue
          }
          if call.account != record.account || call.name != parts[1] {
            let hold = try reading.hold(account: record.account, call: CallID(unchecked: String(parts[1])))
            call = RecordedCall(
              account: record.account, name: String(parts[1]), hold: hold,
              grants: try hold.map { try reading.grants(ofHold: $0.seq) } ?? [])
          }
          isTrue = call.agrees(with: outcome, phase: parts[2], record)
        } else {
          isTrue = try isBooked(outcome, record)
        }
        require(
          isTrue, .i11, seq: record.seq, "the recorded answer to \(record.key) is not what was done: \(outcome.text)")
      }
      guard let last = page.last, page.count == LedgerVerifier.pageSize else { return }
      account = last.account
      key = last.key
    }
  }

  private func isBooked(_ outcome: LedgerOutcome, _ record: OperationRecord) throws -> Bool {
    switch outcome {
    case .posted(let seq, let amount, let balance):
      let booked = try reading.transfer(seq: seq)
      let entry = booked?.debit?.account == record.account ? booked?.debit : booked?.credit
      return record.seq == seq && entry?.account == record.account && entry?.amount == amount
        && entry?.balanceAfter == balance
    case .changed:
      let event = try reading.events(after: record.seq &- 1, limit: 1).first
      return event?.seq == record.seq && event?.account == record.account
    case .refused: return true
    case .granted, .answered, .settled, .voided: return false
    }
  }

  /// A call whose recorded answers are being checked; they stand side by side in the order of keys.
  private struct RecordedCall {
    var account: Int64 = 0
    var name = ""
    var hold: Hold?
    var grants: [HoldGrant] = []

    func agrees(with outcome: LedgerOutcome, phase: Substring, _ record: OperationRecord) -> Bool {
      switch (phase, outcome) {
      case ("authorise", .granted(let seconds, let amount, _)):
        guard let hold, let first = grants.first else { return false }
        return hold.seq == record.seq && first.grantedSeconds == seconds && first.amount == amount
      case ("authorise", .refused): return hold == nil
      case ("extend", .granted(let seconds, let amount, _)):
        return grants.dropFirst().contains {
          $0.grantedSeconds == seconds && $0.amount == amount && $0.at == record.at
        }
      case ("extend", .refused): return true
      case ("answer", .answered): return hold?.answeredAt != nil
      case ("end", .settled(let milliseconds, let billed, let cost, let transfer)):
        guard let hold, hold.state == .settled else { return false }
        return hold.duration == milliseconds && hold.cost == cost && hold.transfer == transfer
          && hold.settlement(milliseconds: milliseconds).billedSeconds == billed && hold.resolvedAt == record.at
      case ("end", .voided): return hold?.state == .voided && hold?.resolvedAt == record.at
      default: return false
      }
    }
  }

  private static let pageSize = 2048

  /// A forward scan that can be looked at before it moves on.
  private struct Page<Row> {
    private let load: (Int64) throws -> [Row]
    private var rows: [Row] = []
    private var index = 0
    private var after: Int64
    private var isLast = false

    init(_ after: Int64, _ load: @escaping (Int64) throws -> [Row]) {
      self.after = after
      self.load = load
    }

    mutating func peek(_ seq: (Row) -> Int64) throws -> Row? {
      if index == rows.count {
        if isLast { return nil }
        rows = try load(after)
        index = 0
        isLast = rows.count < LedgerVerifier.pageSize
        guard let last = rows.last else { return nil }
        after = seq(last)
      }
      return rows[index]
    }

    mutating func drop() { index += 1 }
  }
}
