import CallModel
import LedgerCore
import Testing

@Suite("Accounts")
struct LedgerAccountTests {
  private static func account(_ kind: AccountKind = .prepaid, caps: AccountCaps = AccountCaps()) -> LedgerAccount {
    LedgerAccount(id: 1, name: "acme", kind: kind, currency: .eur, caps: caps, createdAt: Instant(milliseconds: 0))
  }

  @Test("a country list is sorted, free of repeats, and reads back; no list and an empty one differ")
  func countries() {
    #expect(AccountCaps(countries: [46, 1, 46]).countries == [1, 46])
    #expect(AccountCaps(countries: [46, 1]).countriesText == "1,46")
    #expect(AccountCaps(countries: []).countriesText == "" && AccountCaps().countriesText == nil)
    for list in [[], [1], [1, 46, 358]] as [[Int]] {
      #expect(AccountCaps.countries(parsing: AccountCaps(countries: list).countriesText) == list)
    }
    #expect(AccountCaps.countries(parsing: nil) == nil)
  }

  @Test("every setting changes the line that an event records")
  func settings() {
    let plain = Self.account()
    var lines: Set<String> = [plain.settingsText]
    let changes: [(inout LedgerAccount) -> Void] = [
      { $0.name = "other" }, { $0.kind = .postpaid }, { $0.currency = .usd }, { $0.status = .locked },
      { $0.floor = -1 },
      { $0.plan = "retail" }, { $0.zone = "Europe/Stockholm" }, { $0.caps.concurrentCalls = 1 },
      { $0.caps.callsPerSecond = 1 }, { $0.caps.perCall = 1 }, { $0.caps.perDay = 1 }, { $0.caps.highestRate = 1 },
      { $0.caps.countries = [] }, { $0.caps.countries = [1] },
    ]
    for change in changes {
      var account = plain
      change(&account)
      lines.insert(account.settingsText)
    }
    #expect(lines.count == changes.count + 1)
    var moved = plain
    moved.posted = 5
    moved.held = 1
    moved.version = 3
    moved.openHolds = 1
    #expect(moved.settingsText == plain.settingsText, "money is no setting")
  }

  @Test(
    "available is exact, and saturates where rows were altered",
    arguments: [
      (100, 30, 0, 70), (0, 0, -500, 500), (-20, 0, 0, -20),
      (Credits.maximumMicros, 0, -Credits.maximumMicros, MicroUnits(.max - 1)), (.max, 0, .min, .max),
      (.min, .max, .max, .min),
    ] as [(MicroUnits, MicroUnits, MicroUnits, MicroUnits)])
  func available(_ posted: MicroUnits, _ held: MicroUnits, _ floor: MicroUnits, _ expected: MicroUnits) {
    var account = Self.account()
    account.posted = posted
    account.held = held
    account.floor = floor
    #expect(account.available == expected)
  }

  @Test("accounts stand in the chart of accounts by their kind")
  func journalNames() {
    #expect(Self.account(.prepaid).journalName == "liabilities:prepaid:acme")
    #expect(Self.account(.postpaid).journalName == "liabilities:postpaid:acme")
    #expect(ChartOfAccounts.payments(RequestKey(unchecked: "card")) == "assets:payments:card")
    #expect(ChartOfAccounts.carrier(TrunkName(unchecked: "north")) == "liabilities:carriers:north")
    #expect(AccountKind.allCases.filter(\.isCustomer) == [.prepaid, .postpaid])
  }

  @Test("a head is named by the first four bytes of its hash")
  func shortHash() {
    var head = LedgerHead.empty
    #expect(head.shortHash == "00000000" && head.hash.count == 32)
    head.hash = [0x9F, 0x3C, 0x01, 0xAB] + [UInt8](repeating: 7, count: 28)
    #expect(head.shortHash == "9f3c01ab")
  }

  @Test(
    "a settlement is never longer or dearer than its hold",
    arguments: [Int64.min, -1, 0, 1, 59_999, 60_000, 60_001, .max])
  func settlement(_ milliseconds: Int64) throws {
    let snapshot = try RateSnapshot(
      deck: "d", prefix: "46", destination: "Sweden", currency: .eur,
      tariff: Tariff(ratePerMinute: 60_000_000, initial: 1, increment: 1))
    let hold = Hold(
      account: 1, call: CallID(unchecked: "c"), seq: 1, state: .answered, amount: 60_000, grantedSeconds: 60,
      extensions: 0, maximumSeconds: 60, node: NodeID(unchecked: "gw"), epoch: 1, destination: "+46",
      isEmergency: false,
      snapshot: snapshot, linkedCall: nil, day: 0, authorisedAt: Instant(milliseconds: 0),
      answeredAt: Instant(milliseconds: 0))
    let settled = hold.settlement(milliseconds: milliseconds)
    #expect(settled.duration == min(max(milliseconds, 0), 60_000))
    #expect(settled.cost <= hold.amount && settled.cost == MicroUnits(settled.billedSeconds * 1000))
    #expect(HoldState.allCases.filter(\.isOpen) == [.authorised, .answered])
  }
}
