public import CallModel

/// One consistent state of the ledger, for reports and verification.
///
/// Lists are pages in a stable order; a page shorter than its limit is the last.
public protocol LedgerReading {
  func head() throws -> LedgerHead
  /// Accounts in the order of their numbers.
  func accounts(after id: Int64, limit: Int) throws -> [LedgerAccount]
  func account(id: Int64) throws -> LedgerAccount?
  func customer(named name: String) throws -> LedgerAccount?

  /// Entries of one account with their transfers, ascending by sequence number.
  func history(of account: Int64, _ range: HistoryRange) throws -> [HistoryLine]
  /// Transfers with both entries, ascending by sequence number.
  func transfers(_ range: HistoryRange) throws -> [BookedTransfer]
  func transfer(seq: Int64) throws -> BookedTransfer?
  func events(after seq: Int64, limit: Int) throws -> [AccountEvent]
  func latestEvent(of account: Int64) throws -> AccountEvent?
  /// The latest event of kind `lock` or `unlock`.
  func latestLockEvent(of account: Int64) throws -> AccountEvent?
  /// The newest entry of an account at `instant`; `nil` before its first.
  func lastEntry(of account: Int64, before instant: Instant?) throws -> Entry?

  func holds(_ filter: HoldFilter) throws -> [Hold]
  func hold(account: Int64, call: CallID) throws -> Hold?
  /// The steps of one hold, oldest first.
  func grants(ofHold seq: Int64) throws -> [HoldGrant]
  /// Sum and number of the open holds, by account.
  func openHoldTotals() throws -> [Int64: (amount: MicroUnits, count: Int64)]

  /// Daily counters of one account, or of all.
  func counters(of account: Int64?) throws -> [DayCounter]
  /// What the holds themselves say about each day of each account: the other side of ``counters(of:)``.
  func countersFromHolds() throws -> [DayCounter]
  func operations(afterAccount account: Int64, key: String, limit: Int) throws -> [OperationRecord]
  func operation(account: Int64, key: String) throws -> OperationRecord?
  /// Every life of every node, ascending by name and epoch.
  func nodes() throws -> [LedgerNode]
  func counts() throws -> LedgerCounts
}

/// Which part of a history is wanted.
public struct HistoryRange: Hashable, Sendable {
  /// Only records after this sequence number.
  public var after: Int64
  /// Booked at or after.
  public var from: Instant?
  /// Booked before.
  public var to: Instant?
  /// Most records of the answer; fewer mean that there are no more.
  public var limit: Int
  /// Take the newest `limit` records instead of the oldest; the order of the answer stays ascending.
  public var newest: Bool

  /// Without `from` and `to` all times; `limit` counts records.
  public init(after: Int64 = 0, from: Instant? = nil, to: Instant? = nil, limit: Int, newest: Bool = false) {
    self.after = after
    self.from = from
    self.to = to
    self.limit = limit
    self.newest = newest
  }
}

/// An entry as a person reads it: what it belongs to, and the balance it left.
public struct HistoryLine: Hashable, Sendable {
  /// What was booked, with its other side's account.
  public var transfer: Transfer
  /// The side of the transfer on the account whose history this is.
  public var entry: Entry

  /// `entry` is the side of `transfer` on the account whose history is read.
  public init(transfer: Transfer, entry: Entry) {
    self.transfer = transfer
    self.entry = entry
  }
}

/// A transfer with the entries it made; an altered database may lack one.
public struct BookedTransfer: Hashable, Sendable {
  /// What was booked, as its row says.
  public var transfer: Transfer
  /// The entry on the account that paid; `nil` only where the row is missing.
  public var debit: Entry?
  /// The entry on the account that was paid; `nil` only where the row is missing.
  public var credit: Entry?

  /// An entry that is not there is `nil`, for verification to report.
  public init(transfer: Transfer, debit: Entry?, credit: Entry?) {
    self.transfer = transfer
    self.debit = debit
    self.credit = credit
  }
}

/// Which holds are wanted; what is `nil` does not narrow the answer.
public struct HoldFilter: Hashable, Sendable {
  /// Holds of this ``LedgerAccount/id`` only.
  public var account: Int64?
  /// Holds that this gateway made, in any of its lives.
  public var node: NodeID?
  /// Leaves out holds that were settled or voided.
  public var openOnly: Bool
  /// Only holds authorised after this sequence number.
  public var after: Int64
  /// Most holds in one page; ``LedgerReading/forEachHold(_:_:)`` puts its own in place of it.
  public var limit: Int

  /// Every hold, open or not, unless something narrows it; `limit` counts holds.
  public init(account: Int64? = nil, node: NodeID? = nil, openOnly: Bool = false, after: Int64 = 0, limit: Int) {
    self.account = account
    self.node = node
    self.openOnly = openOnly
    self.after = after
    self.limit = limit
  }
}

/// Numbers of rows, for reports.
public struct LedgerCounts: Hashable, Sendable {
  /// Customers and the operator's own accounts, closed ones included.
  public var accounts: Int64
  /// Amounts moved since the ledger began; transfers are never deleted.
  public var transfers: Int64
  /// Sides of transfers: two for each one in a sound ledger.
  public var entries: Int64
  /// Calls authorised or answered that have not ended.
  public var openHolds: Int64

  /// Rows as counted in one consistent state of the ledger.
  public init(accounts: Int64, transfers: Int64, entries: Int64, openHolds: Int64) {
    self.accounts = accounts
    self.transfers = transfers
    self.entries = entries
    self.openHolds = openHolds
  }
}

extension LedgerReading {
  /// Rows in one page of a scan.
  public static var pageSize: Int { 2048 }

  /// Every account, in the order of their numbers.
  public func allAccounts() throws -> [LedgerAccount] {
    var all: [LedgerAccount] = []
    while true {
      let page = try accounts(after: all.last?.id ?? 0, limit: Self.pageSize)
      all.append(contentsOf: page)
      if page.count < Self.pageSize { return all }
    }
  }

  /// Visits every transfer of a range in sequence.
  public func forEachTransfer(
    from: Instant? = nil, to: Instant? = nil, _ body: (BookedTransfer) throws -> Void
  ) throws {
    var after: Int64 = 0
    while true {
      let page = try transfers(HistoryRange(after: after, from: from, to: to, limit: Self.pageSize))
      for transfer in page { try body(transfer) }
      guard let last = page.last, page.count == Self.pageSize else { return }
      after = last.transfer.seq
    }
  }

  /// Visits every hold that the filter lets through, in the order of authorisation.
  public func forEachHold(_ filter: HoldFilter, _ body: (Hold) throws -> Void) throws {
    var filter = filter
    filter.limit = Self.pageSize
    while true {
      let page = try holds(filter)
      for hold in page { try body(hold) }
      guard let last = page.last, page.count == Self.pageSize else { return }
      filter.after = last.seq
    }
  }

  /// What an account had posted, held and available at a past instant.
  public func balance(of account: LedgerAccount, at instant: Instant) throws -> (posted: MicroUnits, held: MicroUnits) {
    let posted = try lastEntry(of: account.id, before: instant.advanced(byMilliseconds: 1))?.balanceAfter ?? .zero
    var held = MicroUnits.zero
    try forEachHold(HoldFilter(account: account.id, limit: Self.pageSize)) { hold in
      guard hold.authorisedAt <= instant, hold.resolvedAt.map({ instant < $0 }) ?? true else { return }
      let grant = try grants(ofHold: hold.seq).last { $0.at <= instant }
      held += grant?.amount ?? .zero
    }
    return (posted, held)
  }
}

extension LedgerReading {
  /// The event that locked an account; `nil` for one that is not locked, and where money did it, as a chargeback does.
  public func lock(of account: LedgerAccount) throws -> AccountEvent? {
    guard account.status == .locked, let event = try latestLockEvent(of: account.id), event.kind == "lock" else {
      return nil
    }
    return event
  }
}
