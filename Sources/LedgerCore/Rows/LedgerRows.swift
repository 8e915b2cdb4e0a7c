public import CallModel

/// What a transfer is for.
public enum TransferKind: String, Hashable, Sendable, CaseIterable {
  case opening, topup, call, termination, refund, adjust, transfer, overrun, chargeback
}

/// An amount moved from one account to another. Immutable; a correction is another transfer.
public struct Transfer: Hashable, Sendable {
  /// Position in the ledger, from 1; shared with holds, events and all other records.
  public var seq: Int64
  /// Why the amount moved; part of what the hash covers.
  public var kind: TransferKind
  /// The account that the amount leaves.
  public var debit: Int64
  /// The account that the amount reaches.
  public var credit: Int64
  /// The numbers of the two entries on their accounts.
  public var debitVersion: Int64
  /// The number of the credit side's entry on its account.
  public var creditVersion: Int64
  /// More than 0.
  public var amount: MicroUnits
  /// That of both accounts: nothing is ever converted.
  public var currency: Currency
  /// The call that it was charged, given back or billed for; `nil` for money that moves outside calls.
  public var call: CallID?
  /// The transfer that this one undoes, wholly or in part.
  public var reverses: Int64?
  /// Key of the request that booked it: the caller's own, or that of the end of a call such as `c/ID/end`.
  public var key: String
  /// Who asked, as in ``LedgerOperation/actor``.
  public var actor: String
  /// When the ledger booked it; never earlier than the transfer before.
  public var at: Instant
  /// When it happened, by the clock of whoever asked.
  public var eventAt: Instant
  /// For people: a number and a duration, a reason.
  public var detail: String
  /// Link of the chain, 32 bytes: SHA-256 of the hash before and of this record with its entries.
  public var hash: [UInt8]

  /// `hash` may be empty until the chain gives it.
  public init(
    seq: Int64, kind: TransferKind, debit: Int64, credit: Int64, debitVersion: Int64, creditVersion: Int64,
    amount: MicroUnits, currency: Currency, call: CallID?, reverses: Int64?, key: String, actor: String, at: Instant,
    eventAt: Instant, detail: String, hash: [UInt8]
  ) {
    self.seq = seq
    self.kind = kind
    self.debit = debit
    self.credit = credit
    self.debitVersion = debitVersion
    self.creditVersion = creditVersion
    self.amount = amount
    self.currency = currency
    self.call = call
    self.reverses = reverses
    self.key = key
    self.actor = actor
    self.at = at
    self.eventAt = eventAt
    self.detail = detail
    self.hash = hash
  }
}

/// One side of a transfer on one account.
public struct Entry: Hashable, Sendable {
  /// ``LedgerAccount/id``.
  public var account: Int64
  /// 1, 2, … without a gap on each account.
  public var version: Int64
  /// ``Transfer/seq`` of the transfer that this is a side of.
  public var transfer: Int64
  /// Negative on the debit side, positive on the credit side.
  public var amount: MicroUnits
  /// What the account has posted after this entry.
  public var balanceAfter: MicroUnits

  /// Amounts are signed: negative on the debit side.
  public init(account: Int64, version: Int64, transfer: Int64, amount: MicroUnits, balanceAfter: MicroUnits) {
    self.account = account
    self.version = version
    self.transfer = transfer
    self.amount = amount
    self.balanceAfter = balanceAfter
  }
}

/// A change of an account's settings, in the same hash chain as the money.
public struct AccountEvent: Hashable, Sendable {
  /// Position in the ledger, from 1; shared with transfers, holds and all other records.
  public var seq: Int64
  /// ``LedgerAccount/id`` of the account that changed.
  public var account: Int64
  /// `create`, `lock`, `set-cap`, …
  public var kind: String
  /// ``LedgerAccount/settingsText`` after the change.
  public var settings: String
  /// Who asked, as in ``LedgerOperation/actor``; `ledger` for accounts that it creates for itself.
  public var actor: String
  /// Booking time; never earlier than the record before.
  public var at: Instant
  /// What was said of it, such as the rule by which the gateway locked the account.
  public var reason: String?
  /// Link of the chain, 32 bytes: SHA-256 of the hash before and of this record.
  public var hash: [UInt8]

  /// `hash` may be empty until the chain gives it.
  public init(
    seq: Int64, account: Int64, kind: String, settings: String, actor: String, at: Instant, reason: String? = nil,
    hash: [UInt8]
  ) {
    self.reason = reason
    self.seq = seq
    self.account = account
    self.kind = kind
    self.settings = settings
    self.actor = actor
    self.at = at
    self.hash = hash
  }
}

/// The recorded answer to one keyed request.
public struct OperationRecord: Hashable, Sendable {
  /// ``LedgerAccount/id`` of the account that the request named.
  public var account: Int64
  /// ``LedgerOperation/key``; unique inside the account.
  public var key: String
  /// The number that the answer carried, ``LedgerReceipt/seq``.
  public var seq: Int64
  /// First 8 bytes of the SHA-256 of the request's content.
  public var requestHash: Int64
  /// ``LedgerOutcome/text``.
  public var outcome: String
  /// Booking time of the answer; what is older than the retention may be pruned for calls.
  public var at: Instant

  /// `outcome` is ``LedgerOutcome/text``; `requestHash` comes from the request's content.
  public init(account: Int64, key: String, seq: Int64, requestHash: Int64, outcome: String, at: Instant) {
    self.account = account
    self.key = key
    self.seq = seq
    self.requestHash = requestHash
    self.outcome = outcome
    self.at = at
  }
}

/// What calls have cost, and may still cost, on one local day of an account.
public struct DayCounter: Hashable, Sendable {
  /// ``LedgerAccount/id``.
  public var account: Int64
  /// Days since 1970-01-01 on the account's calendar.
  public var day: Int64
  /// What settled calls cost.
  public var spent: MicroUnits
  /// What open holds reserve.
  public var held: MicroUnits

  /// `day` counts from 1970-01-01 on the account's calendar.
  public init(account: Int64, day: Int64, spent: MicroUnits, held: MicroUnits) {
    self.account = account
    self.day = day
    self.spent = spent
    self.held = held
  }

  /// What `cap` still allows on this day; 0 once it is reached, so that calls which cost nothing go on.
  func left(of cap: MicroUnits) -> MicroUnits {
    MicroUnits(Int64(clamping: max(0, Int128(cap.count) - Int128(spent.count) - Int128(held.count))))
  }
}

/// One life of one gateway process, from its start to its end or to its being declared dead.
public struct LedgerNode: Hashable, Sendable {
  /// The same in every life of one gateway.
  public var id: NodeID
  /// Fencing token: the life's number. Only the newest life of a node may write.
  public var epoch: Int64
  /// Alive until then; equal to ``lastBeat`` in a row that only marks the life before it as ended.
  public var leaseUntil: Instant
  /// Wall clock of the newest beat; the start of the life before the first.
  public var lastBeat: Instant
  /// What the life's monotonic clock showed at its last beat; `nil` before the first.
  public var uptime: Int64?

  /// `uptime` in milliseconds; `nil` as long as the life has not beaten.
  public init(id: NodeID, epoch: Int64, leaseUntil: Instant, lastBeat: Instant, uptime: Int64? = nil) {
    self.id = id
    self.epoch = epoch
    self.leaseUntil = leaseUntil
    self.lastBeat = lastBeat
    self.uptime = uptime
  }
}

/// The newest point of the ledger: last sequence number, end of the hash chain.
public struct LedgerHead: Hashable, Sendable {
  /// Number of the newest record of any kind; 0 in an empty ledger.
  public var seq: Int64
  /// Booking time of the newest record.
  public var at: Instant
  /// Hash of the newest transfer or account event; 32 zero bytes in an empty ledger.
  public var hash: [UInt8]
  /// Identifier that the next account will get.
  public var nextAccount: Int64

  /// `hash` has 32 bytes; `nextAccount` starts at 1.
  public init(seq: Int64, at: Instant, hash: [UInt8], nextAccount: Int64) {
    self.seq = seq
    self.at = at
    self.hash = hash
    self.nextAccount = nextAccount
  }

  /// All of the hash in hexadecimal.
  public var fullHash: String { hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }

  /// Largest sequence number: a head beyond it was not counted up to, but written.
  public static let maximumSeq: Int64 = 1 << 62

  /// A ledger without any record: sequence 0, a hash of zero bytes, account 1 next.
  public static let empty = LedgerHead(
    seq: 0, at: Instant(milliseconds: 0), hash: [UInt8](repeating: 0, count: 32), nextAccount: 1)

  /// The first four bytes of the hash in hexadecimal: what people compare.
  public var shortHash: String {
    hash.prefix(4).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}

/// The rows that ``LedgerBook`` needs inside one open write transaction of a store.
///
/// Implementations translate; they decide nothing. A throw means that the store cannot go on: the caller rolls the whole
/// transaction back.
public protocol LedgerRows {
  mutating func head() throws -> LedgerHead
  mutating func save(_ head: LedgerHead) throws

  mutating func account(id: Int64) throws -> LedgerAccount?
  /// A customer's account by its name.
  mutating func customer(named name: String) throws -> LedgerAccount?
  /// One of the operator's own accounts.
  mutating func operatorAccount(named name: String, currency: Currency) throws -> LedgerAccount?
  mutating func insert(_ account: LedgerAccount) throws
  /// Replaces the row whose revision is `revision`.
  /// - Returns: `false` when another writer changed the row meanwhile.
  mutating func update(_ account: LedgerAccount, ifRevision revision: Int64) throws -> Bool
  /// The same for a row in which nothing but balances, versions and counts of calls has changed.
  mutating func updateBalance(_ account: LedgerAccount, ifRevision revision: Int64) throws -> Bool

  mutating func operation(account: Int64, key: String) throws -> OperationRecord?
  mutating func insert(_ operation: OperationRecord) throws

  mutating func hold(account: Int64, call: CallID) throws -> Hold?
  mutating func insert(_ hold: Hold) throws
  /// Writes the state and the instant of the answer to an open hold.
  /// - Returns: `false` when the hold is no longer open.
  mutating func answer(_ hold: Hold) throws -> Bool
  /// Writes the amount, the granted seconds, the number of extensions and the day to an open hold.
  /// - Returns: `false` when the hold is no longer open.
  mutating func extend(_ hold: Hold) throws -> Bool
  /// Writes the state and everything about the end to an open hold, which is then open no more.
  /// - Returns: `false` when the hold was no longer open.
  mutating func resolve(_ hold: Hold) throws -> Bool
  mutating func insert(_ grant: HoldGrant) throws
  /// Open holds of `node` whose epoch is below `epoch`, oldest first.
  mutating func openHolds(node: NodeID, beforeEpoch epoch: Int64, limit: Int) throws -> [Hold]

  mutating func insert(_ transfer: Transfer) throws
  mutating func insert(_ entry: Entry) throws
  mutating func insert(_ event: AccountEvent) throws
  mutating func transfer(seq: Int64) throws -> Transfer?
  /// Sum of the transfers that reverse `seq`.
  mutating func reversedAmount(of seq: Int64) throws -> MicroUnits

  mutating func counter(account: Int64, day: Int64) throws -> DayCounter?
  mutating func save(_ counter: DayCounter) throws

  /// The life of the node with the highest epoch.
  mutating func newestLife(of id: NodeID) throws -> LedgerNode?
  mutating func life(of id: NodeID, epoch: Int64) throws -> LedgerNode?
  mutating func save(_ node: LedgerNode) throws

  /// Deletes what repeats no longer need: call operations and voided holds older than `instant`. Never money.
  /// - Returns: rows deleted.
  mutating func prune(before instant: Instant) throws -> Int
}
