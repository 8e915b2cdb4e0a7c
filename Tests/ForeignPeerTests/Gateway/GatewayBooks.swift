import CallModel
import Foundation
import LedgerCore
import LedgerSQLite
import NodeCore
import PeerKit
import RoutingCore

/// The ledgers of a gateway under test: made before it starts, judged after it ended.
enum GatewayBooks {
  static var now: Instant { Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)) }

  /// A ledger with a price and the accounts of the payers.
  static func make(at path: String, _ payers: [GatewayPayer]) async throws {
    let euro = try Currency("EUR")
    let store = try SQLiteLedgerStore.open(path: path, options: .init(flush: .normal), createIfMissing: true)
    do {
      try prices(path, euro)
      for payer in payers where payer.isInLedger {
        let account = AccountName(unchecked: payer.name)
        try await perform(
          .administer(
            AccountAdministration(
              account: account, key: RequestKey(unchecked: "create"),
              .create(
                kind: .prepaid, currency: euro, creditLimit: 0, plan: payer.hasPlan ? "retail" : "",
                caps: payer.caps, zone: "UTC"))), store)
        if payer.credit > 0 {
          try await perform(
            .move(
              MoneyMovement(
                account: account, key: RequestKey(unchecked: "pay"), .topup(method: RequestKey(unchecked: "card")),
                amount: try Credits(micros: payer.credit, euro))), store)
        }
        if let change = payer.change {
          try await perform(
            .administer(AccountAdministration(account: account, key: RequestKey(unchecked: "change"), change)), store)
        }
      }
    } catch {
      await store.close()
      throw error
    }
    await store.close()
  }

  private static func prices(_ path: String, _ currency: Currency) throws {
    var reader = DeckReader(settings: try DeckSettings(name: "retail", version: "1", currency: currency))
    Array(GatewayRate.deck.utf8).withUnsafeBytes { reader.feed($0) }
    let deck = try reader.finish()
    let rates = try SQLiteRateStore.open(path: path, writable: true)
    defer { rates.close() }
    try rates.store(deck, at: now)
    try rates.activate("retail", version: "1", from: now.advanced(byMilliseconds: -60_000))
    try rates.create(plan: "retail", [StoredPlan.Entry(deck: "retail")], at: now)
  }

  private static func perform(_ request: LedgerOperation.Request, _ store: SQLiteLedgerStore) async throws {
    let receipt = try await store.perform(LedgerOperation(request, at: now, actor: "test"))
    if let refusal = receipt.refusal { throw PeerFailure("the ledger refuses: \(refusal.rawValue)") }
  }

  /// Every rule of the books, and no hold that is still open.
  static func check(_ environment: String, of stores: EnvironmentStores) async throws {
    let report = try await stores.ledger.read { try LedgerVerifier.verify($0, full: true) }
    let broken = report.rules.compactMap { rule in rule.problem.map { "\(rule.id.rawValue): \($0.detail)" } }
    try require(broken.isEmpty, "the books of \(environment) are sound; \(broken.joined(separator: "; "))")
    try require(report.counts.openHolds == 0, "no hold of \(environment) is open")
  }

  // MARK: In the hands of the command line and of hledger

  static let hledger = URL(fileURLWithPath: "/usr/bin/hledger")
  static let hasHledger = FileManager.default.isExecutableFile(atPath: hledger.path)

  /// The command, built beside the tests.
  static let landline: URL = {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    return URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent("landline")
  }()

  /// `verify --full` and the exported journal, as an operator sees them.
  static func audit(_ ledger: String, in folder: URL) async throws {
    let variables = ["LANDLINE_DATABASE": ledger, "HOME": folder.path, "LC_ALL": "C.UTF-8", "USER": "test"]
    func run(_ arguments: [String]) async throws -> String {
      let result = try await PeerProcess.run(landline, arguments, environment: variables, startedIn: folder)
      try require(result.status == 0, "landline \(arguments) on \(ledger): \(result.diagnostics) \(result.output)")
      return result.output
    }
    _ = try await run(["verify", "--full"])
    guard hasHledger else { return }
    let journal = folder.appendingPathComponent("books.journal")
    try Data(try await run(["export", "hledger"]).utf8).write(to: journal)
    for check in [["check", "-s"], ["check", "ordereddates"]] {
      let result = try await PeerProcess.run(
        hledger, ["-f", journal.path] + check, environment: variables, startedIn: folder)
      try require(result.status == 0, "hledger \(check): \(result.diagnostics)")
    }
  }
}
