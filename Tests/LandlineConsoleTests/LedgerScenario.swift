import CallModel
import Foundation
import LedgerCore
import LedgerSQLite

/// A small operator's ledger over two months, the same at every run: three customers, calls that cost, cost nothing,
/// failed or are still open, a gateway that has died, refunds, a chargeback.
enum LedgerScenario {
  /// The instant at which commands look at it.
  static let now = "2026-11-21T05:30:04.118Z"
  static let fileName = "ledger.db"

  static func build(in folder: URL) async throws {
    let store = try SQLiteLedgerStore.open(
      path: folder.appendingPathComponent(fileName).path, options: .init(flush: .normal), createIfMissing: true)
    var script = Script(store: store)
    do {
      try await script.october()
      try await script.november()
    } catch {
      await store.close()
      throw error
    }
    await store.close()
  }

  private struct Script {
    let store: SQLiteLedgerStore
    var now = Instant(milliseconds: 1_790_848_800_000)  // 2026-10-01T10:00:00Z
    var origin = CallOperation.Origin(node: NodeID(unchecked: "gw-1"), epoch: 1)

    mutating func advance(_ seconds: Int64, milliseconds: Int64 = 0) {
      now = now.advanced(byMilliseconds: seconds * 1000 + milliseconds)
    }

    /// Days since the script's first day, and a time of day.
    mutating func go(day: Int64, hour: Int64, minute: Int64 = 0) {
      now = Instant(milliseconds: 1_790_812_800_000 + day * 86_400_000 + hour * 3_600_000 + minute * 60_000)
    }

    mutating func send(_ request: LedgerOperation.Request) async throws -> LedgerReceipt {
      let receipt = try await store.perform(LedgerOperation(request, at: now, actor: "node:\(origin.node)"))
      if let refusal = receipt.refusal { throw Unexpected(refusal: refusal) }
      return receipt
    }

    struct Unexpected: Error { let refusal: LedgerRefusal }

    mutating func create(
      _ name: String, _ currency: Currency, kind: AccountKind = .prepaid, creditLimit: MicroUnits = 0,
      caps: AccountCaps = AccountCaps(), zone: String = "UTC"
    ) async throws {
      _ = try await send(
        .administer(
          AccountAdministration(
            account: AccountName(unchecked: name), key: RequestKey(unchecked: "create-\(name)"),
            .create(
              kind: kind, currency: currency, creditLimit: creditLimit, plan: "", caps: caps, zone: zone))))
    }

    mutating func move(
      _ name: String, _ key: String, _ kind: MoneyMovement.Kind, _ micros: MicroUnits?, _ currency: Currency = .eur,
      _ detail: String = ""
    ) async throws -> Int64 {
      try await send(
        .move(
          MoneyMovement(
            account: AccountName(unchecked: name), key: RequestKey(unchecked: key), kind,
            amount: try micros.map { try Credits(micros: $0, currency) }, detail: detail))
      ).seq
    }

    func snapshot(_ prefix: String, _ name: String, _ rate: NanoUnits, _ currency: Currency = .eur) throws
      -> RateSnapshot
    {
      try RateSnapshot(
        deck: "retail-eu@2026-10-01", prefix: prefix, destination: name, currency: currency,
        tariff: Tariff(ratePerMinute: rate, initial: prefix == "46" ? 1 : 60, increment: 1))
    }

    mutating func call(_ name: String, _ id: String, _ phase: CallOperation.Phase) async throws -> LedgerReceipt {
      try await send(
        .call(
          CallOperation(
            account: AccountName(unchecked: name), call: CallID(unchecked: id), origin: origin, phase)))
    }

    mutating func authorise(_ name: String, _ id: String, _ destination: String, _ snapshot: RateSnapshot) async throws
    {
      _ = try await call(
        name, id, .authorise(.init(destination: destination, country: 46, rating: .rated(snapshot))))
    }

    mutating func wholeCall(
      _ name: String, _ id: String, _ destination: String, _ snapshot: RateSnapshot, milliseconds: Int64,
      reason: String = "hungUp", carriers: [CarrierCharge] = []
    ) async throws -> LedgerReceipt {
      try await authorise(name, id, destination, snapshot)
      advance(4)
      _ = try await call(name, id, .answer)
      var number: Int64 = 1
      while number * 60_000 < milliseconds {
        _ = try await call(name, id, .extend(number: number, seconds: 60))
        number += 1
      }
      advance(0, milliseconds: milliseconds)
      return try await call(
        name, id, .settle(milliseconds: milliseconds, reason: reason, carriers: carriers))
    }

    mutating func october() async throws {
      origin.epoch = try await store.registerNode(origin.node, at: now).epoch
      try await create(
        "acme", .eur, caps: AccountCaps(concurrentCalls: 10, perDay: 50_000_000, countries: [46, 47]))
      try await create("beta", .eur, kind: .postpaid, creditLimit: 20_000_000, zone: "Europe/Stockholm")
      try await create("delta-us", .usd)
      _ = try await move("acme", "import-1", .opening, 4_120_000, .eur, "from the old system; see [2026-10-01], ref:9")
      advance(60)
      _ = try await move("delta-us", "wire-1", .topup(method: RequestKey(unchecked: "wire")), 25_000_000, .usd)
      go(day: 4, hour: 9)
      _ = try await wholeCall(
        "beta", "b-1", "+4685550100", snapshot("46", "Sweden fixed", 6_000_000), milliseconds: 125_000,
        carriers: [CarrierCharge(trunk: TrunkName(unchecked: "telia"), amount: 9000)])
      go(day: 30, hour: 22, minute: 30)
      // Still October in UTC, November at nobody's zone here but east of Kyiv.
      _ = try await wholeCall(
        "delta-us", "d-1", "sip:alice@example.com;transport=tcp", snapshot("", "SIP (any) | direct", 0, .usd),
        milliseconds: 15_000)
      go(day: 30, hour: 23, minute: 30)
      _ = try await wholeCall(
        "beta", "b-2", "+46701111111", snapshot("4670", "Sweden mobile", 14_500_000), milliseconds: 61_001)
    }

    mutating func november() async throws {
      go(day: 51, hour: 4, minute: 58)
      _ = try await move("acme", "pay_7781", .topup(method: RequestKey(unchecked: "card")), 10_000_000)
      advance(300)
      let charged = try await wholeCall(
        "acme", "a-1", "+46701234567", snapshot("4670", "Sweden mobile", 14_500_000), milliseconds: 63_412,
        carriers: [CarrierCharge(trunk: TrunkName(unchecked: "telia"), amount: 11_000, overrun: 1000)])
      guard case .settled(_, _, _, let transfer?) = charged.outcome else { throw Unexpected(refusal: .unknownCall) }
      advance(120)
      _ = try await move("acme", "ticket-91", .refund(of: transfer), nil)
      _ = try await wholeCall(
        "acme", "a-2", "+46701234567", snapshot("4670", "Sweden mobile", 14_500_000), milliseconds: 119_000,
        reason: "noCredit")
      try await authorise("acme", "a-3", "+4670555", snapshot("4670", "Sweden mobile", 14_500_000))
      advance(20)
      _ = try await call("acme", "a-3", .void(reason: "noAnswer", carriers: []))
      _ = try await move("acme", "gift", .transfer(to: AccountName(unchecked: "beta")), 1_500_000)
      let topup = try await move("delta-us", "card-2", .topup(method: RequestKey(unchecked: "card")), 5_000_000, .usd)
      _ = try await move("delta-us", "bank-2", .chargeback(of: topup), nil, .usd)
      // A gateway that dies with one call answered and one ringing.
      let alive = origin
      origin = CallOperation.Origin(node: NodeID(unchecked: "gw-2"), epoch: 0)
      origin.epoch = try await store.registerNode(origin.node, at: now).epoch
      try await authorise("beta", "b-3", "+46702222222", snapshot("4670", "Sweden mobile", 14_500_000))
      _ = try await call("beta", "b-3", .answer)
      advance(42, milliseconds: 204)
      _ = try await store.beat(origin.node, epoch: origin.epoch, at: now)
      try await authorise("beta", "b-4", "+46703333333", snapshot("4670", "Sweden mobile", 14_500_000))
      origin = alive
      go(day: 51, hour: 5, minute: 29)
      advance(58, milliseconds: 903)
      try await authorise("acme", "a-4", "+46705551234", snapshot("4670", "Sweden mobile", 14_500_000))
      _ = try await store.beat(origin.node, epoch: origin.epoch, at: now.advanced(byMilliseconds: 5000))
    }
  }
}
