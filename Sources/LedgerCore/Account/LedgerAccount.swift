public import CallModel

/// What an account stands for in the chart of accounts.
public enum AccountKind: String, Hashable, Sendable, CaseIterable {
  /// A customer who pays before calling: `liabilities:prepaid:NAME`.
  case prepaid
  /// A customer who may owe up to a credit limit: `liabilities:postpaid:NAME`.
  case postpaid
  case revenue, carrier, payments, expense, overrun, equity

  /// Whether calls can be charged to accounts of this kind.
  public var isCustomer: Bool { self == .prepaid || self == .postpaid }
}

/// Where an account is in its life.
///
/// ```
/// open ──close──▶ closing ──last hold resolved──▶ closed
///  │ ▲
/// lock unlock
///  ▼ │
/// locked
/// ```
/// Closing and locked accounts accept no new call and no extension, but every call under way still settles.
public enum AccountStatus: String, Hashable, Sendable, CaseIterable {
  case open, closing, closed, locked
}

/// Limits of one customer account; `nil` means no limit of its own.
public struct AccountCaps: Hashable, Sendable {
  /// Calls that may be open at the same time.
  public var concurrentCalls: Int64?
  /// New calls in one second of the clock.
  public var callsPerSecond: Int64?
  /// Micro-units that one call may cost.
  public var perCall: MicroUnits?
  /// Micro-units that calls may cost on one local day, open holds included.
  public var perDay: MicroUnits?
  /// Nano-units a minute of the dearest destination that may be called.
  public var highestRate: NanoUnits?
  /// ``E164Number/country`` of the countries that may be called, ascending.
  public var countries: [Int]?

  /// Longest list of countries; an account with more is refused.
  public static let maximumCountries = 300
  /// Country calling codes have one to three digits (ITU-T E.164 6.2.1), and countries that share +1 have four.
  public static let countryCodes = 1...1999

  /// Whether every cap is an amount or a count that can be kept to.
  var isInRange: Bool {
    [concurrentCalls, callsPerSecond, perCall?.count, perDay?.count, highestRate?.count]
      .allSatisfy { $0.map { $0 >= 0 } ?? true }
      && (countries.map { list in
        list.count <= AccountCaps.maximumCountries && list.allSatisfy { AccountCaps.countryCodes.contains($0) }
      } ?? true)
  }

  /// `highestRate` is a minute's; countries are sorted and each is kept once. Ranges
  /// are checked by the ledger.
  public init(
    concurrentCalls: Int64? = nil, callsPerSecond: Int64? = nil, perCall: MicroUnits? = nil, perDay: MicroUnits? = nil,
    highestRate: NanoUnits? = nil, countries: [Int]? = nil
  ) {
    self.concurrentCalls = concurrentCalls
    self.callsPerSecond = callsPerSecond
    self.perCall = perCall
    self.perDay = perDay
    self.highestRate = highestRate
    self.countries = countries.map { Array(Set($0)).sorted() }
  }

  /// Canonical text of the country list, as stored: `1,46`; empty list and no list differ.
  public var countriesText: String? { countries.map { $0.map { String($0) }.joined(separator: ",") } }

  /// Every cap as canonical text: what an account event records.
  var text: String {
    func text<Value>(_ value: Value?) -> String { value.map { "\($0)" } ?? "-" }
    return "concurrent=\(text(concurrentCalls));second=\(text(callsPerSecond));call=\(text(perCall));"
      + "day=\(text(perDay));rate=\(text(highestRate));countries=\(countriesText ?? "-")"
  }

  /// Reads ``countriesText`` back: `nil` for no list, parts that are no number are left out.
  public static func countries(parsing text: String?) -> [Int]? {
    text.map { $0.split(separator: ",").compactMap { Int($0) } }
  }
}

/// One row of the account table.
///
/// `posted` is what has been booked: positive when the operator owes the holder, so a
/// customer's credit is positive and all accounts of a currency add up to zero.
public struct LedgerAccount: Hashable, Sendable {
  /// From 1, in the order of creation; the operator's own accounts are numbered among the customers'.
  public var id: Int64
  /// A customer's own name, or the place in the chart of accounts such as `revenues:calls`.
  public var name: String
  /// What the account stands for; it never changes.
  public var kind: AccountKind
  /// Every amount of the account is in it; it never changes.
  public var currency: Currency
  /// Booked so far, holds not included.
  public var posted: MicroUnits
  /// Sum of the open holds.
  public var held: MicroUnits
  /// The lowest that `posted − held` may reach: 0, or minus the credit limit.
  public var floor: MicroUnits
  /// Number of entries; the last entry carries it.
  public var version: Int64
  /// Counts every change of the row: what a conditional update compares.
  public var revision: Int64
  /// Decides which calls and movements of money are refused.
  public var status: AccountStatus
  /// Name of the rate plan; empty when none is assigned.
  public var plan: String
  /// Limits of its calls; no limit for the operator's own accounts.
  public var caps: AccountCaps
  /// IANA zone whose midnight rolls the daily counter.
  public var zone: String
  /// Calls authorised or answered that have not ended.
  public var openHolds: Int64
  /// The clock second of the newest call, and the calls authorised in it: the `callsPerSecond` cap's window.
  public var callSecond: Int64
  /// Calls authorised in ``callSecond``; the next second starts at 1 again.
  public var callsInSecond: Int64
  /// When it was created; the operator's own accounts are at their first posting.
  public var createdAt: Instant

  /// What has a default is that of a new account without credit, plan or caps.
  public init(
    id: Int64, name: String, kind: AccountKind, currency: Currency, posted: MicroUnits = 0,
    held: MicroUnits = 0, floor: MicroUnits = 0, version: Int64 = 0, revision: Int64 = 0, status: AccountStatus = .open,
    plan: String = "",
    caps: AccountCaps = AccountCaps(), zone: String = "UTC", openHolds: Int64 = 0, callSecond: Int64 = 0,
    callsInSecond: Int64 = 0, createdAt: Instant
  ) {
    self.id = id
    self.name = name
    self.kind = kind
    self.currency = currency
    self.posted = posted
    self.held = held
    self.floor = floor
    self.version = version
    self.revision = revision
    self.status = status
    self.plan = plan
    self.caps = caps
    self.zone = zone
    self.openHolds = openHolds
    self.callSecond = callSecond
    self.callsInSecond = callsInSecond
    self.createdAt = createdAt
  }

  /// What a new hold or a withdrawal may take.
  public var available: MicroUnits {
    MicroUnits(Int64(clamping: Int128(posted.count) - Int128(held.count) - Int128(floor.count)))
  }

  /// The account's place in the chart of accounts: `liabilities:prepaid:acme`, or the name itself for the operator's own.
  public var journalName: String {
    switch kind {
    case .prepaid: "liabilities:prepaid:\(name)"
    case .postpaid: "liabilities:postpaid:\(name)"
    default: name
    }
  }

  /// The settings that only an administrator changes, as one canonical line: what an account event records.
  public var settingsText: String {
    "name=\(name);kind=\(kind.rawValue);currency=\(currency);status=\(status.rawValue);floor=\(floor);plan=\(plan);"
      + "zone=\(zone);\(caps.text)"
  }
}

/// The operator's side of the chart of accounts. One account a name and currency, created when first posted to.
public enum ChartOfAccounts {
  /// What customers paid for calls.
  public static let revenue = "revenues:calls"
  /// What carriers bill for calls, ``overrun`` left out.
  public static let termination = "expenses:termination"
  /// What carriers bill for time past a customer's last grant, which the operator bears.
  public static let overrun = "expenses:overrun"
  /// The other side of balances that were brought over from another system.
  public static let opening = "equity:opening"
  /// The other side of corrections.
  public static let adjustments = "equity:adjustments"

  /// Money that came in by one way of paying: `assets:payments:card`.
  public static func payments(_ method: RequestKey) -> String { "assets:payments:\(method)" }
  /// What the operator owes a carrier, by trunk: `liabilities:carriers:carrier-1`.
  public static func carrier(_ trunk: TrunkName) -> String { "liabilities:carriers:\(trunk)" }

  static func kind(of name: String) -> AccountKind {
    switch name {
    case revenue: .revenue
    case overrun: .overrun
    case termination: .expense
    case _ where name.hasPrefix("assets:payments:"): .payments
    case _ where name.hasPrefix("liabilities:carriers:"): .carrier
    default: .equity
    }
  }
}
