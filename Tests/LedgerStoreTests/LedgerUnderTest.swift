import CallModel
import Foundation
import LedgerCore
import LedgerSQLite
import Synchronization
import Testing

/// What goes wrong around the commits of a store, at the test's word.
final class CommitTrouble: Sendable {
  enum Moment: Sendable {
    case beforeCommit
    /// The commit is durable, its answers are lost.
    case afterCommit
  }

  private let next = Mutex<Moment?>(nil)

  /// The next commit fails at that moment; the one after it goes well again.
  func strike(_ moment: Moment) { next.withLock { $0 = moment } }

  func meets(_ moment: Moment) -> LedgerUnavailable? {
    next.withLock { next in
      guard next == moment else { return nil }
      next = nil
      return LedgerUnavailable(.inputOutput, "the disk failed, as the test asked")
    }
  }
}

/// A store to hold to the protocol. Another store joins by adding itself here; the tests stay as they are.
struct StoreKind: Sendable, CustomTestStringConvertible {
  let name: String
  /// Opens the ledger of a folder, new or as it was left.
  let make: @Sendable (_ folder: URL, _ trouble: CommitTrouble) async throws -> any LedgerStore

  var testDescription: String { name }

  static let all: [StoreKind] = [
    StoreKind(name: "SQLite") { folder, trouble in
      var options = SQLiteLedgerStore.Options(flush: .normal)
      options.faults = CommitFaults { point, _ in
        switch point {
        case .beforeCommit: trouble.meets(.beforeCommit)
        case .afterCommit: trouble.meets(.afterCommit)
        }
      }
      return try SQLiteLedgerStore.open(
        path: folder.appendingPathComponent("ledger.db").path, options: options, createIfMissing: true)
    }
  ]
}

/// A fresh ledger with a clock that only the test moves, and words for what tests do with it.
final class LedgerUnderTest {
  private let kind: StoreKind
  private(set) var store: any LedgerStore
  let trouble = CommitTrouble()
  let folder: URL
  /// 2026-11-18 10:26:40 UTC: a plain day without a clock change.
  var now = Instant(seconds: 1_795_000_000)
  var epoch: Int64 = 0
  let node = NodeID(unchecked: "gw-1")
  private var keys = 0

  init(_ kind: StoreKind) async throws {
    self.kind = kind
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("ledger-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    store = try await kind.make(folder, trouble)
    epoch = try await store.registerNode(node, at: now).epoch
  }

  /// Runs a test on a fresh ledger; it must end with sound books.
  static func run(
    _ kind: StoreKind, sourceLocation: SourceLocation = #_sourceLocation, _ body: (LedgerUnderTest) async throws -> Void
  ) async throws {
    let ledger = try await LedgerUnderTest(kind)
    try await body(ledger)
    try await ledger.finish(sourceLocation: sourceLocation)
  }

  /// Ends the ledger: every test finishes with sound books.
  func finish(sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let report = try await store.read { try LedgerVerifier.verify($0, full: true) }
    for rule in report.rules {
      #expect(rule.problem == nil, "\(rule.id.rawValue) \(rule.id.title)", sourceLocation: sourceLocation)
    }
    await store.close()
    try FileManager.default.removeItem(at: folder)
  }

  /// A second gateway's store on the same ledger.
  func anotherStore() async throws -> any LedgerStore { try await kind.make(folder, CommitTrouble()) }

  /// The store after its process ended and started again.
  func reopen() async throws {
    await store.close()
    store = try await kind.make(folder, trouble)
  }

  /// The gateway starts a new life.
  func restartNode() async throws { epoch = try await store.registerNode(node, at: now).epoch }

  func advance(milliseconds: Int64) { now = now.advanced(byMilliseconds: milliseconds) }
  func advance(seconds: Int64) { advance(milliseconds: seconds * 1000) }

  func newKey() -> RequestKey {
    keys += 1
    return RequestKey(unchecked: "key-\(keys)")
  }

  func operation(_ request: LedgerOperation.Request) -> LedgerOperation {
    LedgerOperation(request, at: now, actor: "test")
  }

  // MARK: Accounts and money

  @discardableResult
  func administer(
    _ name: String, _ change: AccountAdministration.Change, key: RequestKey? = nil
  ) async throws -> LedgerReceipt {
    try await store.perform(
      operation(
        .administer(AccountAdministration(account: AccountName(unchecked: name), key: key ?? newKey(), change))))
  }

  @discardableResult
  func create(
    _ name: String, credit: String? = nil, currency: Currency = .eur, caps: AccountCaps = AccountCaps(),
    kind: AccountKind = .prepaid, creditLimit: MicroUnits = 0, zone: String = "UTC"
  ) async throws -> LedgerReceipt {
    let receipt = try await administer(
      name,
      .create(kind: kind, currency: currency, creditLimit: creditLimit, plan: "retail", caps: caps, zone: zone))
    if let credit { try await move(name, .topup(method: RequestKey(unchecked: "card")), credit, currency) }
    return receipt
  }

  @discardableResult
  func move(
    _ name: String, _ kind: MoneyMovement.Kind, _ amount: String?, _ currency: Currency = .eur, key: RequestKey? = nil
  ) async throws -> LedgerReceipt {
    try await store.perform(movement(name, kind, amount, currency, key: key))
  }

  func movement(
    _ name: String, _ kind: MoneyMovement.Kind, _ amount: String?, _ currency: Currency = .eur, key: RequestKey? = nil
  ) throws -> LedgerOperation {
    operation(
      .move(
        MoneyMovement(
          account: AccountName(unchecked: name), key: key ?? newKey(), kind,
          amount: try amount.map { try Credits(parsing: $0, currency) })))
  }

  @discardableResult
  func topup(_ name: String, _ amount: String, key: RequestKey? = nil) async throws -> LedgerReceipt {
    try await move(name, .topup(method: RequestKey(unchecked: "card")), amount, key: key)
  }

  // MARK: Calls

  /// 60/1 at 0.06 a minute unless told otherwise: a thousand micro-units a second.
  static func snapshot(
    rate: NanoUnits = 60_000_000, initial: Int64 = 60, increment: Int64 = 1, fee: NanoUnits = 0, grace: Int64 = 0,
    tolerance: Int64 = 0, maximumCost: NanoUnits? = nil, strategy: Tariff.MaximumCostStrategy = .disconnect,
    currency: Currency = .eur
  ) throws -> RateSnapshot {
    try RateSnapshot(
      deck: "retail@1", prefix: "46", destination: "Sweden", currency: currency,
      tariff: Tariff(
        tiers: [.init(fromSecond: 0, ratePerMinute: rate, increment: increment)], initial: initial, fee: fee,
        grace: grace, maximumCost: maximumCost, maximumCostStrategy: strategy, tolerance: tolerance))
  }

  func call(_ name: String, _ call: String, _ phase: CallOperation.Phase, epoch: Int64? = nil) -> LedgerOperation {
    operation(
      .call(
        CallOperation(
          account: AccountName(unchecked: name), call: CallID(unchecked: call),
          origin: CallOperation.Origin(node: node, epoch: epoch ?? self.epoch), phase)))
  }

  func authorisation(
    _ name: String, _ id: String, _ snapshot: RateSnapshot? = nil, seconds: Int64 = 60, maximumSeconds: Int64 = 14_400,
    country: Int? = 46, emergency: Bool = false, refused: LedgerRefusal? = nil, linked: String? = nil
  ) throws -> LedgerOperation {
    call(
      name, id,
      .authorise(
        CallOperation.Authorisation(
          destination: "+46701234567", country: country,
          rating: try refused.map { .refused($0) } ?? .rated(snapshot ?? LedgerUnderTest.snapshot()), seconds: seconds,
          maximumSeconds: maximumSeconds, isEmergency: emergency,
          linkedCall: linked.map { CallID(unchecked: $0) })))
  }

  @discardableResult
  func authorise(
    _ name: String, _ id: String, _ snapshot: RateSnapshot? = nil, seconds: Int64 = 60, maximumSeconds: Int64 = 14_400,
    country: Int? = 46, emergency: Bool = false, refused: LedgerRefusal? = nil, linked: String? = nil
  ) async throws -> LedgerReceipt {
    try await store.perform(
      authorisation(
        name, id, snapshot, seconds: seconds, maximumSeconds: maximumSeconds, country: country, emergency: emergency,
        refused: refused, linked: linked))
  }

  @discardableResult
  func answer(_ name: String, _ id: String, epoch: Int64? = nil) async throws -> LedgerReceipt {
    try await store.perform(call(name, id, .answer, epoch: epoch))
  }

  @discardableResult
  func extend(_ name: String, _ id: String, _ number: Int64, by seconds: Int64 = 60) async throws -> LedgerReceipt {
    try await store.perform(call(name, id, .extend(number: number, seconds: seconds)))
  }

  @discardableResult
  func settle(
    _ name: String, _ id: String, milliseconds: Int64, carriers: [CarrierCharge] = [], epoch: Int64? = nil
  ) async throws -> LedgerReceipt {
    try await store.perform(
      call(name, id, .settle(milliseconds: milliseconds, reason: "hungUp", carriers: carriers), epoch: epoch))
  }

  @discardableResult
  func void(_ name: String, _ id: String, reason: String = "noAnswer", carriers: [CarrierCharge] = []) async throws
    -> LedgerReceipt
  {
    try await store.perform(call(name, id, .void(reason: reason, carriers: carriers)))
  }

  // MARK: Looking

  struct Balance: Equatable {
    var posted: MicroUnits
    var held: MicroUnits
    var available: MicroUnits { posted - held }
  }

  func account(_ name: String) async throws -> LedgerAccount {
    try #require(try await store.read { try $0.customer(named: name) })
  }

  func balance(_ name: String) async throws -> Balance {
    let account = try await account(name)
    return Balance(posted: account.posted, held: account.held)
  }

  /// What one of the operator's accounts has posted, from the operator's side of the books.
  func operatorBalance(_ name: String, _ currency: Currency = .eur) async throws -> MicroUnits {
    try await store.read { reading in
      try reading.allAccounts().first { $0.name == name && $0.currency == currency }?.posted ?? .zero
    }
  }

  func hold(_ name: String, _ id: String) async throws -> Hold? {
    let account = try await account(name)
    return try await store.read { try $0.hold(account: account.id, call: CallID(unchecked: id)) }
  }

  func counters(_ name: String) async throws -> [DayCounter] {
    let account = try await account(name)
    return try await store.read { try $0.counters(of: account.id) }
  }

  func transfers() async throws -> [BookedTransfer] {
    try await store.read { try $0.transfers(HistoryRange(limit: 10_000)) }
  }

  func counts() async throws -> LedgerCounts { try await store.read { try $0.counts() } }
}

extension LedgerUnderTest {
  /// Performs operations at the same time, each in a task of its own.
  func race(_ operations: [LedgerOperation]) async throws -> [LedgerReceipt] {
    try await LedgerUnderTest.race(operations, on: store)
  }

  static func race(_ operations: [LedgerOperation], on store: any LedgerStore) async throws -> [LedgerReceipt] {
    try await withThrowingTaskGroup(of: LedgerReceipt.self) { group in
      for operation in operations { group.addTask { try await store.perform(operation) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }
}

extension LedgerOperation {
  /// The same step of a call, as another node would send it.
  func from(_ node: NodeID, epoch: Int64) -> LedgerOperation {
    guard case .call(var call) = request else { return self }
    call.origin = CallOperation.Origin(node: node, epoch: epoch)
    return LedgerOperation(.call(call), at: at, actor: actor)
  }
}

/// Random numbers that a seed repeats (Steele, Lea, Flood: SplitMix64, OOPSLA 2014).
struct SplitMix: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}
