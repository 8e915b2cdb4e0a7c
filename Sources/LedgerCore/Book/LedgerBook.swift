import CallModel

/// The rules of the ledger: applies operations to the rows of one open write transaction.
///
/// Pure decisions over rows; no clock, no input or output of its own. A store calls ``begin()``, then ``apply(_:)`` for
/// each queued operation, then ``finish()``, and commits; every balance touched is written once a group, and read once
/// as long as nobody else writes.
/// An operation checks everything before it changes anything, so a refusal leaves no trace but its own record. After a
/// throw the store rolls back and the book must ``begin()`` anew.
public struct LedgerBook<Rows: LedgerRows>: ~Copyable {
  /// The open transaction; a store may look at it between operations.
  public var rows: Rows

  var head = LedgerHead.empty
  var chain = HashChain()
  private var accounts: [Int64: CachedAccount] = [:]
  private var customers: [String: Int64] = [:]
  private var operators: [OperatorName: Int64] = [:]
  private var counters: [CounterKey: CachedCounter] = [:]
  private var nodes: [NodeID: LedgerNode] = [:]
  /// Open holds.
  private var holds: [HoldKey: Hold] = [:]
  private var changedAccounts: [Int64] = []
  private var changedCounters: [CounterKey] = []
  /// Zones outlive a group: their names are values, not rows.
  private var zones: [String: CivilZone] = [:]

  private struct CachedAccount {
    var row: LedgerAccount
    var storedRevision: Int64
    /// Something besides balances and counts has changed.
    var hasNewSettings = false
  }

  private struct OperatorName: Hashable {
    let name: String
    let currency: Currency
  }

  private struct CounterKey: Hashable {
    let account: Int64
    let day: Int64
  }

  private struct HoldKey: Hashable {
    let account: Int64
    let call: CallID
  }

  private struct CachedCounter {
    var row: DayCounter
    var isChanged: Bool
  }

  /// Rows of one kind that may be kept from group to group.
  public static var defaultRowsLimit: Int { 16_384 }

  private let rowsLimit: Int

  /// `rowsLimit` is how many rows of one kind are kept from group to group; above it the next group reads anew.
  public init(rows: Rows, rowsLimit: Int = defaultRowsLimit) {
    self.rows = rows
    self.rowsLimit = rowsLimit
  }

  /// Starts a group of operations inside an open write transaction.
  /// - Parameter isUnchanged: since this book last finished a group, and that was committed, nobody else has written.
  ///   Otherwise every row known is forgotten.
  public mutating func begin(isUnchanged: Bool = false) throws {
    let isKept = isUnchanged && max(accounts.count, counters.count, holds.count, customers.count) <= rowsLimit
    changedAccounts.removeAll(keepingCapacity: true)
    changedCounters.removeAll(keepingCapacity: true)
    guard !isKept else { return }
    accounts.removeAll(keepingCapacity: true)
    customers.removeAll(keepingCapacity: true)
    operators.removeAll(keepingCapacity: true)
    counters.removeAll(keepingCapacity: true)
    nodes.removeAll(keepingCapacity: true)
    holds.removeAll(keepingCapacity: true)
    head = try rows.head()
    guard (0...LedgerHead.maximumSeq).contains(head.seq), (1...LedgerHead.maximumSeq).contains(head.nextAccount) else {
      throw LedgerFault("the head of the ledger is at \(head.seq), with account \(head.nextAccount) next")
    }
  }

  /// Writes every balance and counter that changed, and the head.
  /// - Throws: ``LedgerWriteConflict`` when another writer came between.
  public mutating func finish() throws {
    for id in changedAccounts {
      guard var cached = accounts.removeValue(forKey: id) else { continue }
      let isWritten =
        cached.hasNewSettings
        ? try rows.update(cached.row, ifRevision: cached.storedRevision)
        : try rows.updateBalance(cached.row, ifRevision: cached.storedRevision)
      guard isWritten else { throw LedgerWriteConflict() }
      cached.storedRevision = cached.row.revision
      cached.hasNewSettings = false
      accounts[id] = cached
    }
    for key in changedCounters {
      guard let cached = counters[key] else { continue }
      try rows.save(cached.row)
      counters[key] = CachedCounter(row: cached.row, isChanged: false)
    }
    try rows.save(head)
  }

  /// Decides and records one operation.
  /// - Throws: whatever the rows throw, or ``LedgerFault``.
  public mutating func apply(_ operation: LedgerOperation) throws -> LedgerReceipt {
    switch operation.request {
    case .administer(let administration): try administer(administration, operation)
    case .move(let movement): try move(movement, operation)
    case .call(let call): try advance(call, operation)
    }
  }
}

extension LedgerAccount {
  /// What only an administrator, or the end of the account, changes.
  fileprivate var settings: (AccountStatus, MicroUnits, String, AccountCaps, String) {
    (status, floor, plan, caps, zone)
  }
}

// MARK: - Rows, read once a group

extension LedgerBook {
  func unrecorded(_ refusal: LedgerRefusal, resolved: LedgerOutcome? = nil) -> LedgerReceipt {
    LedgerReceipt(seq: 0, isReplay: false, outcome: .refused(refusal), resolved: resolved)
  }

  /// The account row as this group has left it so far.
  func account(_ id: Int64) throws -> LedgerAccount {
    guard let cached = accounts[id] else { throw LedgerFault("account \(id) was used before it was read") }
    return cached.row
  }

  mutating func customer(_ name: AccountName) throws -> LedgerAccount? {
    if let id = customers[name.text] { return try account(id) }
    guard let row = try rows.customer(named: name.text) else { return nil }
    customers[name.text] = row.id
    return cache(row)
  }

  /// An account by its number, read if this group has not met it yet.
  mutating func loadAccount(_ id: Int64) throws -> LedgerAccount {
    if let cached = accounts[id] { return cached.row }
    guard let row = try rows.account(id: id) else { throw LedgerFault("account \(id) is missing") }
    return cache(row)
  }

  /// One of the operator's accounts, created at its first use.
  mutating func operatorAccount(_ name: String, _ currency: Currency, at: Instant) throws -> Int64 {
    let key = OperatorName(name: name, currency: currency)
    if let id = operators[key] { return id }
    if let row = try rows.operatorAccount(named: name, currency: currency) {
      operators[key] = row.id
      return cache(row).id
    }
    let id = try create(
      LedgerAccount(
        id: head.nextAccount, name: name, kind: ChartOfAccounts.kind(of: name), currency: currency,
        floor: -Credits.maximumMicros, createdAt: at), actor: "ledger", at: at)
    operators[key] = id
    return id
  }

  /// Inserts an account and the event that tells of it.
  mutating func create(_ row: LedgerAccount, actor: String, at: Instant) throws -> Int64 {
    head.nextAccount += 1
    try rows.insert(row)
    cache(row)
    if row.kind.isCustomer { customers[row.name] = row.id }
    try record(event: "create", of: row, actor: actor, at: at)
    return row.id
  }

  /// Keeps a row that was read, unless this group has met it by another way and may have changed it since.
  @discardableResult
  private mutating func cache(_ row: LedgerAccount) -> LedgerAccount {
    if let cached = accounts[row.id] { return cached.row }
    accounts[row.id] = CachedAccount(row: row, storedRevision: row.revision)
    return row
  }

  mutating func change(_ id: Int64, _ body: (inout LedgerAccount) -> Void) throws {
    guard var cached = accounts.removeValue(forKey: id) else {
      throw LedgerFault("account \(id) was changed before it was read")
    }
    let (status, floor, plan, caps, zone) = cached.row.settings
    body(&cached.row)
    if cached.row.settings != (status, floor, plan, caps, zone) { cached.hasNewSettings = true }
    if cached.row.revision == cached.storedRevision {
      cached.row.revision += 1
      changedAccounts.append(id)
    }
    accounts[id] = cached
  }

  mutating func counter(_ account: Int64, day: Int64) throws -> DayCounter {
    let key = CounterKey(account: account, day: day)
    if let cached = counters[key] { return cached.row }
    let row =
      try rows.counter(account: account, day: day) ?? DayCounter(account: account, day: day, spent: 0, held: 0)
    counters[key] = CachedCounter(row: row, isChanged: false)
    return row
  }

  mutating func changeCounter(_ account: Int64, day: Int64, spent: MicroUnits = 0, held: MicroUnits = 0) throws {
    guard spent != .zero || held != .zero else { return }
    var row = try counter(account, day: day)
    row.spent += spent
    row.held += held
    guard row.held >= .zero else { throw LedgerFault("day counter \(day) of account \(account) would fall below zero") }
    let key = CounterKey(account: account, day: day)
    if counters.updateValue(CachedCounter(row: row, isChanged: true), forKey: key)?.isChanged != true {
      changedCounters.append(key)
    }
  }

  /// The hold of a call, open or resolved.
  mutating func hold(of account: Int64, _ call: CallID) throws -> Hold? {
    if let row = holds[HoldKey(account: account, call: call)] { return row }
    guard let row = try rows.hold(account: account, call: call) else { return nil }
    keep(row)
    return row
  }

  /// Remembers an open hold as it is now, and forgets a resolved one.
  mutating func keep(_ hold: Hold) {
    holds[HoldKey(account: hold.account, call: hold.call)] = hold.state.isOpen ? hold : nil
  }

  /// The newest life of a node.
  mutating func node(_ id: NodeID) throws -> LedgerNode? {
    if let row = nodes[id] { return row }
    guard let row = try rows.newestLife(of: id) else { return nil }
    nodes[id] = row
    return row
  }

  mutating func saveNode(_ node: LedgerNode) throws {
    try rows.save(node)
    nodes[node.id] = node
  }

  /// The day on the account's own calendar.
  mutating func day(of account: LedgerAccount, at: Instant) throws -> Int64 {
    if let zone = zones[account.zone] { return zone.dayNumber(at: at) }
    do {
      let zone = try CivilZone(account.zone)
      zones[account.zone] = zone
      return zone.dayNumber(at: at)
    } catch {
      throw LedgerFault("the time zone \(account.zone) of account \(account.name) is not known to this system")
    }
  }
}

// MARK: - Records

extension LedgerBook {
  /// Takes the next sequence number. Booking times never run backwards, whatever the clock does.
  mutating func nextRecord(at: Instant) -> (seq: Int64, at: Instant) {
    head.seq += 1
    head.at = max(head.at, at)
    return (head.seq, head.at)
  }

  mutating func record(
    event kind: String, of account: LedgerAccount, actor: String, at: Instant, reason: String? = nil
  ) throws {
    let (seq, bookedAt) = nextRecord(at: at)
    var event = AccountEvent(
      seq: seq, account: account.id, kind: kind, settings: account.settingsText, actor: actor, at: bookedAt,
      reason: reason, hash: [])
    event.hash = chain.hash(after: head.hash, event: event)
    head.hash = event.hash
    try rows.insert(event)
  }

  /// Whether `amount` can move without taking either balance out of range.
  func canPost(debit: LedgerAccount, credit: LedgerAccount, amount: MicroUnits) -> Bool {
    // All three are within ±(2⁶² − 1): neither sum can wrap.
    amount > .zero && amount <= Credits.maximumMicros && debit.posted - amount >= -Credits.maximumMicros
      && credit.posted + amount <= Credits.maximumMicros
  }

  /// Books one transfer: two entries, two balances, one link of the hash chain.
  mutating func post(
    _ kind: TransferKind, debit: Int64, credit: Int64, amount: MicroUnits, call: CallID? = nil, reverses: Int64? = nil,
    key: String, actor: String, at: Instant, eventAt: Instant, detail: String
  ) throws -> Int64 {
    let debitRow = try account(debit)
    let creditRow = try account(credit)
    guard debitRow.currency == creditRow.currency, debit != credit else {
      throw LedgerFault("a transfer needs two accounts of one currency, not \(debitRow.name) and \(creditRow.name)")
    }
    guard canPost(debit: debitRow, credit: creditRow, amount: amount) else {
      throw LedgerFault("a transfer of \(amount) from \(debitRow.name) to \(creditRow.name) would leave the range")
    }
    let (seq, bookedAt) = nextRecord(at: at)
    try change(debit) {
      $0.posted -= amount
      $0.version += 1
    }
    try change(credit) {
      $0.posted += amount
      $0.version += 1
    }
    let debitEntry = Entry(
      account: debit, version: debitRow.version + 1, transfer: seq, amount: -amount,
      balanceAfter: debitRow.posted - amount)
    let creditEntry = Entry(
      account: credit, version: creditRow.version + 1, transfer: seq, amount: amount,
      balanceAfter: creditRow.posted + amount)
    var transfer = Transfer(
      seq: seq, kind: kind, debit: debit, credit: credit, debitVersion: debitEntry.version,
      creditVersion: creditEntry.version, amount: amount, currency: debitRow.currency, call: call, reverses: reverses,
      key: key, actor: actor, at: bookedAt, eventAt: eventAt, detail: detail, hash: [])
    transfer.hash = chain.hash(after: head.hash, transfer: transfer, debit: debitEntry, credit: creditEntry)
    head.hash = transfer.hash
    try rows.insert(transfer)
    try rows.insert(debitEntry)
    try rows.insert(creditEntry)
    return seq
  }

  /// Looks the key up: the first answer if the content is the same, a conflict if not, `nil` if it is new.
  mutating func replay(_ operation: LedgerOperation, on account: Int64, content: Int64) throws -> LedgerReceipt? {
    guard let record = try rows.operation(account: account, key: operation.key) else { return nil }
    guard record.requestHash == content else { return unrecorded(.conflict) }
    return LedgerReceipt(seq: record.seq, isReplay: true, outcome: try outcome(of: record))
  }

  func outcome(of record: OperationRecord) throws -> LedgerOutcome {
    guard let outcome = LedgerOutcome(parsing: record.outcome) else {
      throw LedgerFault("the recorded answer to \(record.key) cannot be read")
    }
    return outcome
  }

  /// Keeps the answer under its key.
  mutating func keepAnswer(
    _ outcome: LedgerOutcome, to operation: LedgerOperation, on account: Int64, content: Int64, seq: Int64? = nil
  ) throws -> LedgerReceipt {
    if case .refused(let refusal) = outcome, !refusal.isSticky { return unrecorded(refusal) }
    let (recordSeq, bookedAt) = seq.map { ($0, head.at) } ?? nextRecord(at: operation.at)
    try rows.insert(
      OperationRecord(
        account: account, key: operation.key, seq: recordSeq, requestHash: content, outcome: outcome.text,
        at: bookedAt))
    return LedgerReceipt(seq: recordSeq, isReplay: false, outcome: outcome)
  }
}
