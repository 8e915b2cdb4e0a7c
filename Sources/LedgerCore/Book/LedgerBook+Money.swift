import CallModel

extension LedgerBook {
  /// Top-ups, refunds, corrections, transfers and chargebacks.
  mutating func move(_ movement: MoneyMovement, _ operation: LedgerOperation) throws -> LedgerReceipt {
    guard let account = try customer(movement.account) else { return unrecorded(.unknownAccount) }
    let content = chain.requestHash(of: operation.content)
    if let answer = try replay(operation, on: account.id, content: content) { return answer }
    let plan = try plan(movement, account, at: operation.at)
    let step: MoneyStep
    switch plan {
    case .failure(let refusal):
      return try keepAnswer(.refused(refusal.value), to: operation, on: account.id, content: content)
    case .success(let planned): step = planned
    }
    let seq = try post(
      step.kind, debit: step.debit, credit: step.credit, amount: step.amount, call: step.call, reverses: step.reverses,
      key: movement.key.text, actor: operation.actor, at: operation.at, eventAt: operation.at,
      detail: LedgerOperation.cut(movement.detail, to: LedgerOperation.maximumDetailBytes))
    if step.locks {
      try change(account.id) { $0.status = .locked }
      try record(event: "lock", of: try self.account(account.id), actor: operation.actor, at: operation.at)
    }
    let after = try self.account(account.id)
    return try keepAnswer(
      .posted(
        transfer: seq, amount: step.debit == account.id ? -step.amount : step.amount, balance: after.posted),
      to: operation, on: account.id, content: content, seq: seq)
  }

  /// A movement that has passed every check.
  private struct MoneyStep {
    var kind: TransferKind
    var debit: Int64
    var credit: Int64
    var amount: MicroUnits
    var call: CallID?
    var reverses: Int64?
    var locks = false
  }

  private mutating func plan(
    _ movement: MoneyMovement, _ account: LedgerAccount, at: Instant
  ) throws -> Result<MoneyStep, Refusal> {
    // The checks stand in the order of ``LedgerRefusal``.
    let given = movement.amount?.micros
    let isForeign = movement.amount.map { $0.currency != account.currency } ?? false
    let isOpen = account.status == .open || account.status == .locked
    func refuse(_ refusal: LedgerRefusal) -> Result<MoneyStep, Refusal> { .failure(Refusal(refusal)) }

    switch movement.kind {
    case .opening, .topup:
      guard let amount = given, amount > .zero, account.posted + amount <= Credits.maximumMicros else {
        return refuse(.amountOutOfRange)
      }
      guard amount <= movement.largest else { return refuse(.amountTooLarge) }
      guard !isForeign else { return refuse(.currencyMismatch) }
      guard isOpen else { return refuse(.accountClosed) }
      let source: String
      let kind: TransferKind
      if case .topup(let method) = movement.kind {
        (source, kind) = (ChartOfAccounts.payments(method), .topup)
      } else {
        (source, kind) = (ChartOfAccounts.opening, .opening)
      }
      let debit = try operatorAccount(source, account.currency, at: at)
      return checked(MoneyStep(kind: kind, debit: debit, credit: account.id, amount: amount))

    case .adjust(let force):
      guard let amount = given, amount != .zero,
        (account.posted + amount).magnitude <= Credits.maximumMicros
      else { return refuse(.amountOutOfRange) }
      guard amount.magnitude <= movement.largest else { return refuse(.amountTooLarge) }
      guard !isForeign else { return refuse(.currencyMismatch) }
      guard account.status != .closed else { return refuse(.accountClosed) }
      let isBelow = amount < .zero && account.available < -amount
      guard !isBelow || force else { return refuse(.insufficientCredit) }
      let other = try operatorAccount(ChartOfAccounts.adjustments, account.currency, at: at)
      return checked(
        MoneyStep(
          kind: .adjust, debit: amount > .zero ? other : account.id, credit: amount > .zero ? account.id : other,
          amount: amount.magnitude, locks: isBelow && account.status == .open))

    case .transfer(let name):
      guard let target = try customer(name) else { return refuse(.unknownAccount) }
      guard let amount = given, amount > .zero, target.id != account.id else { return refuse(.amountOutOfRange) }
      guard !isForeign, target.currency == account.currency else { return refuse(.currencyMismatch) }
      guard isOpen, target.status == .open || target.status == .locked else { return refuse(.accountClosed) }
      guard account.status == .open else { return refuse(.accountLocked) }
      guard account.available >= amount else { return refuse(.insufficientCredit) }
      return checked(MoneyStep(kind: .transfer, debit: account.id, credit: target.id, amount: amount))

    case .refund(let seq), .chargeback(let seq):
      guard let original = try rows.transfer(seq: seq), original.debit == account.id || original.credit == account.id
      else { return refuse(.unknownTransfer) }
      let isChargeback = if case .chargeback = movement.kind { true } else { false }
      // A charge may be given back, money that came in may be paid back; nothing else has a meaning here.
      let isCharge = original.kind == .call && original.debit == account.id && !isChargeback
      let isTopup = original.kind == .topup && original.credit == account.id
      guard isCharge || isTopup else { return refuse(.unknownTransfer) }
      let left = original.amount - (try rows.reversedAmount(of: seq))
      let amount = given ?? left
      guard amount > .zero, amount <= left else { return refuse(.amountOutOfRange) }
      guard !isForeign else { return refuse(.currencyMismatch) }
      guard account.status != .closed || isChargeback else { return refuse(.accountClosed) }
      guard isCharge || isChargeback || account.available >= amount else { return refuse(.insufficientCredit) }
      _ = try loadAccount(original.debit)
      _ = try loadAccount(original.credit)
      return checked(
        MoneyStep(
          kind: isChargeback ? .chargeback : .refund, debit: original.credit, credit: original.debit, amount: amount,
          call: original.call, reverses: seq, locks: isChargeback && account.status == .open))
    }
  }

  /// The last check of every movement: both balances stay in range.
  private func checked(_ step: MoneyStep) -> Result<MoneyStep, Refusal> {
    guard let debit = try? account(step.debit), let credit = try? account(step.credit) else {
      return .failure(Refusal(.amountOutOfRange))
    }
    if canPost(debit: debit, credit: credit, amount: step.amount) { return .success(step) }
    // Whose balance it is decides the reason: a customer cannot mend the operator's books.
    let isInRange = step.amount > .zero && step.amount <= Credits.maximumMicros
    let isDebitFull = isInRange && debit.posted - step.amount < -Credits.maximumMicros && !debit.kind.isCustomer
    let isCreditFull = isInRange && credit.posted + step.amount > Credits.maximumMicros && !credit.kind.isCustomer
    return .failure(Refusal(isDebitFull || isCreditFull ? .counterAccountFull : .amountOutOfRange))
  }
}

/// A refusal on its way out of a plan.
struct Refusal: Error {
  let value: LedgerRefusal

  init(_ value: LedgerRefusal) { self.value = value }
}
