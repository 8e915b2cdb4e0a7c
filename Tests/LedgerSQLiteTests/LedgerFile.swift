import CallModel
import Foundation
import LedgerCore
import LedgerSQLite
import Testing

/// A ledger's file in a folder of its own, and words for what these tests do with it.
final class LedgerFile {
  let folder: URL
  var now = Instant(seconds: 1_795_000_000)
  let node = NodeID(unchecked: "gw-1")
  private var keys = 0

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("ledger-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  var path: String { folder.appendingPathComponent("ledger.db").path }

  func open(_ options: SQLiteLedgerStore.Options = .init(flush: .normal)) throws -> SQLiteLedgerStore {
    try SQLiteLedgerStore.open(path: path, options: options, createIfMissing: true)
  }

  /// The ledger as it lies on disk now, without asking its store: what a crash would leave.
  func copy() throws -> LedgerFile {
    let copy = try LedgerFile()
    copy.now = now
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path + suffix) {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: copy.path + suffix)
    }
    return copy
  }

  func verify(full: Bool = true) throws -> VerificationReport {
    try SQLiteLedgerReader.open(path: path).read { try LedgerVerifier.verify($0, full: full) }
  }

  // MARK: Operations

  func operation(_ request: LedgerOperation.Request) -> LedgerOperation {
    LedgerOperation(request, at: now, actor: "test")
  }

  private func newKey() -> RequestKey {
    keys += 1
    return RequestKey(unchecked: "key-\(keys)")
  }

  func administer(_ name: String, _ change: AccountAdministration.Change) -> LedgerOperation {
    operation(
      .administer(AccountAdministration(account: AccountName(unchecked: name), key: newKey(), change)))
  }

  func create(
    _ name: String, _ currency: Currency = .eur, kind: AccountKind = .prepaid, creditLimit: MicroUnits = 0
  ) -> LedgerOperation {
    administer(
      name,
      .create(
        kind: kind, currency: currency, creditLimit: creditLimit, plan: "retail", caps: AccountCaps(), zone: "UTC"))
  }

  func move(
    _ name: String, _ kind: MoneyMovement.Kind, _ micros: MicroUnits?, _ currency: Currency = .eur
  ) throws -> LedgerOperation {
    operation(
      .move(
        MoneyMovement(
          account: AccountName(unchecked: name), key: newKey(), kind,
          amount: try micros.map { try Credits(micros: $0, currency) }, detail: "by hand")))
  }

  func topup(_ name: String, _ micros: MicroUnits, _ currency: Currency = .eur) throws -> LedgerOperation {
    try move(name, .topup(method: RequestKey(unchecked: "card")), micros, currency)
  }

  func call(_ name: String, _ id: String, _ phase: CallOperation.Phase, epoch: Int64 = 1) -> LedgerOperation {
    operation(
      .call(
        CallOperation(
          account: AccountName(unchecked: name), call: CallID(unchecked: id),
          origin: CallOperation.Origin(node: node, epoch: epoch), phase)))
  }

  func authorise(
    _ name: String, _ id: String, currency: Currency = .eur, emergency: Bool = false, epoch: Int64 = 1
  ) throws -> LedgerOperation {
    let snapshot = try RateSnapshot(
      deck: "retail@1", prefix: "46", destination: "Sweden", currency: currency,
      tariff: Tariff(ratePerMinute: 60_000_000, initial: 1, increment: 1, fee: 5_000_000))
    return call(
      name, id,
      .authorise(
        .init(destination: "+46701234567", country: 46, rating: .rated(snapshot), isEmergency: emergency)),
      epoch: epoch)
  }

  func settle(_ name: String, _ id: String, milliseconds: Int64, epoch: Int64 = 1) -> LedgerOperation {
    let carrier = CarrierCharge(trunk: TrunkName(unchecked: "north"), amount: 4000, overrun: 1000)
    return call(name, id, .settle(milliseconds: milliseconds, reason: "hungUp", carriers: [carrier]), epoch: epoch)
  }

  /// A ledger with something of everything, closed.
  static func varied() async throws -> LedgerFile {
    let file = try LedgerFile()
    let store = try file.open()
    _ = try await store.registerNode(file.node, at: file.now)
    @discardableResult
    func perform(_ operation: LedgerOperation) async throws -> LedgerReceipt {
      file.now = file.now.advanced(byMilliseconds: 1000)
      let receipt = try await store.perform(operation)
      #expect(receipt.refusal == nil)
      return receipt
    }
    try await perform(file.create("acme"))
    try await perform(file.create("bolt", kind: .postpaid, creditLimit: 1_000_000))
    try await perform(file.create("cent", .usd))
    guard case .posted(let topup, _, _) = try await perform(file.topup("acme", 5_000_000)).outcome else { return file }
    try await perform(file.topup("cent", 1_000_000, .usd))
    try await perform(file.move("bolt", .opening, 700_000))
    try await perform(file.administer("acme", .setCaps(AccountCaps(concurrentCalls: 9, countries: [1, 46]))))
    try await perform(file.authorise("acme", "orphan"))
    try await perform(file.call("acme", "orphan", .answer))
    file.now = file.now.advanced(byMilliseconds: 10_000)
    _ = try await store.beat(file.node, epoch: 1, at: file.now)
    _ = try await store.registerNode(file.node, at: file.now)
    _ = try await store.recover(nil, at: file.now)
    try await perform(file.authorise("acme", "settled", epoch: 2))
    try await perform(file.call("acme", "settled", .answer, epoch: 2))
    try await perform(file.call("acme", "settled", .extend(number: 1, seconds: 60), epoch: 2))
    try await perform(file.call("acme", "settled", .extend(number: 2, seconds: 60), epoch: 2))
    guard
      case .settled(_, _, _, let charge?) = try await perform(
        file.settle("acme", "settled", milliseconds: 95_500, epoch: 2)
      ).outcome
    else { return file }
    try await perform(file.authorise("cent", "dollars", currency: .usd, epoch: 2))
    try await perform(file.call("cent", "dollars", .answer, epoch: 2))
    try await perform(file.settle("cent", "dollars", milliseconds: 12_000, epoch: 2))
    try await perform(file.authorise("acme", "voided", epoch: 2))
    try await perform(file.call("acme", "voided", .void(reason: "busy", carriers: []), epoch: 2))
    try await perform(file.move("acme", .refund(of: charge), 40_000))
    try await perform(file.move("acme", .transfer(to: AccountName(unchecked: "bolt")), 250_000))
    try await perform(file.move("bolt", .adjust(force: false), -1000))
    try await perform(file.authorise("acme", "talking", epoch: 2))
    try await perform(file.call("acme", "talking", .answer, epoch: 2))
    try await perform(file.call("acme", "talking", .extend(number: 1, seconds: 60), epoch: 2))
    try await perform(file.authorise("bolt", "ringing", epoch: 2))
    try await perform(file.authorise("bolt", "help", emergency: true, epoch: 2))
    let refused = try await store.perform(file.authorise("cent", "too-dear", currency: .eur, epoch: 2))
    #expect(refused.refusal == .currencyMismatch)
    try await perform(file.move("acme", .chargeback(of: topup), 100_000))
    await store.close()
    return file
  }
}
