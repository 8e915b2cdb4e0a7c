import CallModel
import Foundation
import LedgerCore
import LedgerSQLite
import LedgerSpool
import Synchronization
import Testing

@Suite("Answers and ends of calls that wait for the ledger")
struct LedgerSpoolTests {
  let now = Instant(seconds: 1_795_000_000)
  let account = AccountName(unchecked: "acme")
  let node = NodeID(unchecked: "gw-1")

  private func withFolder(_ body: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("spool-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder)
  }

  private func call(_ id: String, _ phase: CallOperation.Phase, epoch: Int64 = 1, after seconds: Int64 = 0)
    -> LedgerOperation
  {
    LedgerOperation(
      .call(
        CallOperation(
          account: account, call: CallID(unchecked: id), origin: .init(node: node, epoch: epoch), phase)),
      at: now.advanced(byMilliseconds: seconds * 1000), actor: "node:gw-1")
  }

  /// A ledger with an account and one authorised call.
  private func ledger(_ folder: URL) async throws -> SQLiteLedgerStore {
    let store = try SQLiteLedgerStore.open(
      path: folder.appendingPathComponent("ledger.db").path, options: .init(flush: .normal), createIfMissing: true)
    _ = try await store.registerNode(node, at: now)
    let key = RequestKey(unchecked: "k1")
    _ = try await store.perform(
      LedgerOperation(
        .administer(
          AccountAdministration(
            account: account, key: key,
            .create(kind: .prepaid, currency: .eur, creditLimit: 0, plan: "", caps: AccountCaps(), zone: "UTC"))),
        at: now, actor: "test"))
    _ = try await store.perform(
      LedgerOperation(
        .move(
          MoneyMovement(
            account: account, key: RequestKey(unchecked: "k2"), .topup(method: key),
            amount: try Credits(parsing: "1", .eur))), at: now, actor: "test"))
    let snapshot = try RateSnapshot(
      deck: "retail@1", prefix: "46", destination: "Sweden", currency: .eur,
      tariff: Tariff(ratePerMinute: 60_000_000, initial: 1, increment: 1))
    _ = try await store.perform(
      call(
        "c1", .authorise(.init(destination: "+4670", country: 46, rating: .rated(snapshot)))))
    return store
  }

  private func cost(_ store: SQLiteLedgerStore) async throws -> MicroUnits? {
    try await store.read { reading in
      guard let acme = try reading.customer(named: "acme") else { return nil }
      return try reading.hold(account: acme.id, call: CallID(unchecked: "c1"))?.cost
    }
  }

  @Test("3.3 row 26: a settlement that finds no ledger waits on disk and is charged once, however often it is replayed")
  func replay() async throws {
    try await withFolder { folder in
      let store = try await ledger(folder)
      let path = folder.appendingPathComponent("spool").path
      let spool = try LedgerSpool(path: path)
      try await spool.append(call("c1", .answer, after: 3))
      try await spool.append(
        call(
          "c1",
          .settle(
            milliseconds: 12_345, reason: "hungUp",
            carriers: [CarrierCharge(trunk: TrunkName(unchecked: "telia"), amount: 5000)]), after: 15))
      #expect(await spool.count == 2)
      #expect(await spool.oldest == now.advanced(byMilliseconds: 3000))

      // The process ends here; the next one finds both records.
      let reopened = try LedgerSpool(path: path)
      #expect(await reopened.count == 2)
      let replay = try await reopened.replay(into: store)
      #expect(replay.answered == 2)
      #expect(replay.refused.isEmpty)
      #expect(try await cost(store) == 13_000)
      #expect(await reopened.count == 0)

      // The first process had kept the same records and sends them too.
      #expect(try await spool.replay(into: store).answered == 2)
      #expect(try await cost(store) == 13_000)
      let report = try await store.read { try LedgerVerifier.verify($0, full: true) }
      #expect(report.isSound)
      await store.close()
      #expect(try await LedgerSpool(path: path).count == 0)
    }
  }

  @Test("3.3 row 29: an answer whose record was lost is replayed from the spool before the call is judged")
  func answerFirst() async throws {
    try await withFolder { folder in
      let store = try await ledger(folder)
      let spool = try LedgerSpool(path: folder.appendingPathComponent("spool").path)
      try await spool.append(call("c1", .answer, after: 3))
      _ = try await store.beat(node, epoch: 1, at: now.advanced(byMilliseconds: 9000))
      _ = try await spool.replay(into: store)
      _ = try await store.registerNode(node, at: now.advanced(byMilliseconds: 10_000))
      let recoveries = try await store.recover(node, at: now.advanced(byMilliseconds: 10_000))
      #expect(recoveries.first?.settled.map(\.milliseconds) == [6000])
      #expect(try await cost(store) == 6000)
      await store.close()
    }
  }

  @Test("the answer's uptime waits in the spool with it, and a line of before that has none is read")
  func uptime() async throws {
    var answer = call("c1", .answer, after: 3)
    let line = try JSONEncoder().encode(#require(SpoolRecord(answer)))
    #expect(try JSONDecoder().decode(SpoolRecord.self, from: line).operation() == answer)
    answer.uptime = 12_345
    let newer = try JSONEncoder().encode(#require(SpoolRecord(answer)))
    #expect(try JSONDecoder().decode(SpoolRecord.self, from: newer).operation() == answer)
    #expect(!String(decoding: line, as: UTF8.self).contains("uptime"))
  }

  @Test("a ledger that is still away leaves the records where they are")
  func stillAway() async throws {
    try await withFolder { folder in
      let store = try await ledger(folder)
      await store.close()
      let spool = try LedgerSpool(path: folder.appendingPathComponent("spool").path)
      try await spool.append(call("c1", .void(reason: "noAnswer", carriers: [])))
      await #expect(throws: LedgerUnavailable.self) { try await spool.replay(into: store) }
      #expect(await spool.count == 1)
    }
  }

  @Test("a refused record is reported with its call")
  func refused() async throws {
    try await withFolder { folder in
      let store = try await ledger(folder)
      let spool = try LedgerSpool(path: folder.appendingPathComponent("spool").path)
      try await spool.append(call("unknown", .void(reason: "noAnswer", carriers: [])))
      let replay = try await spool.replay(into: store)
      #expect(replay.refused == [.init(call: CallID(unchecked: "unknown"), refusal: .unknownCall)])
      await store.close()
    }
  }

  @Test("a promise of credit cannot be spooled")
  func notSpoolable() async throws {
    try await withFolder { folder in
      let spool = try LedgerSpool(path: folder.appendingPathComponent("spool").path)
      let operation = call("c1", .extend(number: 1, seconds: 60))
      await #expect(throws: LedgerSpool.Failure.notSpoolable) { try await spool.append(operation) }
    }
  }

  @Test("a line that a crash cut short is dropped, a spoiled one stops with its number")
  func tornLine() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("spool")
      let spool = try LedgerSpool(path: file.path)
      try await spool.append(call("c1", .answer))
      let whole = try Data(contentsOf: file)
      try (whole + whole.prefix(20)).write(to: file)
      let torn = try LedgerSpool(path: file.path)
      #expect(await torn.count == 1)
      try await torn.append(call("c2", .answer))
      #expect(try await LedgerSpool(path: file.path).count == 2)

      try (whole + Data("not json\n".utf8) + whole).write(to: file)
      #expect {
        try LedgerSpool(path: file.path)
      } throws: { error in
        if case LedgerSpool.Failure.unreadable(line: 2, _) = error { true } else { false }
      }
    }
  }

  @Test("a disk that takes nothing costs no charge: the ledger gets it from memory, the disk with the next one")
  func failingDisk() async throws {
    try await withFolder { folder in
      let store = try await ledger(folder)
      let path = folder.appendingPathComponent("spool").path
      let isFailing = Mutex(true)
      let spool = try LedgerSpool(path: path) { _ in isFailing.withLock { $0 } ? -1 : 0 }
      await #expect(throws: LedgerSpool.Failure.self) { try await spool.append(call("c1", .answer, after: 3)) }
      #expect(await spool.count == 1)
      #expect(try Data(contentsOf: folder.appendingPathComponent("spool")).isEmpty, "no half of a line stays")
      isFailing.withLock { $0 = false }
      try await spool.append(
        call("c1", .settle(milliseconds: 12_345, reason: "hungUp", carriers: []), after: 15))
      #expect(try await LedgerSpool(path: path).count == 2, "the first one reached the disk with the second")
      #expect(try await spool.replay(into: store).answered == 2)
      #expect(try await cost(store) == 13_000)
      #expect(await spool.count == 0)
      await store.close()
    }
  }

  @Test("what waits in memory alone is settled when the ledger is back")
  func memoryAlone() async throws {
    try await withFolder { folder in
      let store = try await ledger(folder)
      let spool = try LedgerSpool(path: folder.appendingPathComponent("spool").path) { _ in -1 }
      for phase in [CallOperation.Phase.answer, .settle(milliseconds: 5_000, reason: "hungUp", carriers: [])] {
        await #expect(throws: LedgerSpool.Failure.self) { try await spool.append(call("c1", phase, after: 3)) }
      }
      // The empty file cannot be flushed either; the ledger has everything by then.
      await #expect(throws: LedgerSpool.Failure.self) { try await spool.replay(into: store) }
      #expect(await spool.count == 0)
      #expect(try await cost(store) == 5_000)
      await store.close()
    }
  }
}
