import CallModel

extension LedgerBook {
  /// Creates an account or changes its settings; each change is an event in the hash chain.
  mutating func administer(
    _ administration: AccountAdministration, _ operation: LedgerOperation
  ) throws -> LedgerReceipt {
    let content = chain.requestHash(of: operation.content)
    let existing = try customer(administration.account)

    if case .create(let kind, let currency, let creditLimit, let plan, let caps, let zone) = administration.change {
      if let existing {
        // The same creation again is answered again; another creation under the same name is refused.
        if let record = try rows.operation(account: existing.id, key: operation.key), record.requestHash == content {
          return LedgerReceipt(seq: record.seq, isReplay: true, outcome: .changed)
        }
        return unrecorded(.accountExists)
      }
      // An account whose days nobody can count could never make a call.
      guard isKnown(zone: zone) else { return unrecorded(.unknownZone) }
      guard kind.isCustomer, creditLimit >= 0, creditLimit <= Credits.maximumMicros,
        kind == .postpaid || creditLimit == 0, caps.isInRange
      else {
        return unrecorded(.amountOutOfRange)
      }
      let id = try create(
        LedgerAccount(
          id: head.nextAccount, name: administration.account.text, kind: kind, currency: currency, floor: -creditLimit,
          plan: LedgerOperation.cut(plan, to: LedgerOperation.maximumPlanBytes), caps: caps, zone: zone,
          createdAt: max(head.at, operation.at)), actor: operation.actor,
        at: operation.at)
      return try keepAnswer(.changed, to: operation, on: id, content: content, seq: head.seq)
    }

    guard let account = existing else { return unrecorded(.unknownAccount) }
    if let answer = try replay(operation, on: account.id, content: content) { return answer }
    if account.status == .closed {
      return try keepAnswer(.refused(.accountClosed), to: operation, on: account.id, content: content)
    }
    let event: String
    switch administration.change {
    case .create: throw LedgerFault("a creation was handled before")
    case .close:
      event = "close"
      try change(account.id) { $0.status = $0.openHolds > 0 ? .closing : .closed }
    case .lock:
      guard account.status != .closing else {
        return try keepAnswer(.refused(.accountClosed), to: operation, on: account.id, content: content)
      }
      event = "lock"
      try change(account.id) { $0.status = .locked }
    case .unlock:
      guard account.status != .closing else {
        return try keepAnswer(.refused(.accountClosed), to: operation, on: account.id, content: content)
      }
      guard account.available >= 0 else {
        return try keepAnswer(.refused(.belowFloor), to: operation, on: account.id, content: content)
      }
      event = "unlock"
      try change(account.id) { $0.status = .open }
    case .setPlan(let plan):
      event = "set-plan"
      try change(account.id) { $0.plan = LedgerOperation.cut(plan, to: LedgerOperation.maximumPlanBytes) }
    case .setCaps(let caps):
      guard caps.isInRange else {
        return try keepAnswer(.refused(.amountOutOfRange), to: operation, on: account.id, content: content)
      }
      event = "set-cap"
      try change(account.id) { $0.caps = caps }
    case .setCreditLimit(let limit):
      guard limit >= 0, limit <= Credits.maximumMicros, account.kind == .postpaid || limit == 0 else {
        return try keepAnswer(.refused(.amountOutOfRange), to: operation, on: account.id, content: content)
      }
      guard account.posted - account.held >= -limit else {
        return try keepAnswer(.refused(.belowFloor), to: operation, on: account.id, content: content)
      }
      event = "set-credit-limit"
      try change(account.id) { $0.floor = -limit }
    case .setZone(let zone):
      guard isKnown(zone: zone) else { return unrecorded(.unknownZone) }
      event = "set-zone"
      try change(account.id) { $0.zone = zone }
    }
    try record(
      event: event, of: try self.account(account.id), actor: operation.actor, at: operation.at,
      reason: administration.reason)
    return try keepAnswer(.changed, to: operation, on: account.id, content: content, seq: head.seq)
  }

  private func isKnown(zone: String) -> Bool { (try? CivilZone(zone)) != nil }
}
