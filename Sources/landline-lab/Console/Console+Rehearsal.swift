import CallModel
import LandlineConsole
import LedgerCore
import LedgerSQLite
import SimulationKit

extension Console {
  /// Runs overlapping calls through the ledger and the account's plan in virtual time, starting now.
  func rehearse(account: String, calls: Int, seed: UInt64, window: Int64, unanswered: Int)
    async throws -> Answer
  {
    let account = try Arguments.name(account, "--account", as: AccountName.self)
    guard (1...CallRehearsal.Options.maximumCalls).contains(calls) else {
      throw ConsoleError.usage(
        "calls.range", "calls: \(calls) is out of range", at: "--calls",
        fix: "1 to \(CallRehearsal.Options.maximumCalls)")
    }
    guard (0...100).contains(unanswered) else {
      throw ConsoleError.usage(
        "calls.unanswered", "percentage: \(unanswered) is out of range", at: "--unanswered", fix: "0 to 100")
    }
    var options = CallRehearsal.Options(account: account, start: try now())
    options.calls = calls
    options.seed = seed
    options.window = window
    options.unansweredPercent = unanswered
    let path = try databasePath()
    let rates = try SQLiteRateStore.open(path: path, writable: false)
    defer { rates.close() }
    let report: CallRehearsal.Report
    do {
      let options = options
      report = try await writing { try await CallRehearsal.run(store: $0, rates: rates, options) }
    } catch let failure as CallRehearsal.Failure {
      throw ConsoleError(.notFound, code: "rehearsal", failure.description, at: account.text)
    }
    return Console.answer(report, seed: seed)
  }

  private static func answer(_ report: CallRehearsal.Report, seed: UInt64) -> Answer {
    let refused = report.refused.sorted { $0.key.rawValue < $1.key.rawValue }
    return Answer(
      record: Listing(
        [
          Column("calls", .number), Column("most_at_once", title: "most at once", .number), Column("settled", .number),
          Column("unanswered", .number), Column("refused", .number), Column("refusals"),
          Column("extensions", .number), Column("cut_for_credit", title: "cut for credit", .number),
          Column("billed_seconds", title: "billed seconds", .number), Column("charged", .amount), Column("currency"),
          Column("seed"), Column("end"),
        ],
        rows: [
          [
            .integer(Int64(report.calls)), .integer(Int64(report.mostAtOnce)), .integer(Int64(report.settled)),
            .integer(Int64(report.unanswered)), .integer(Int64(report.refused.values.reduce(0, +))),
            .list(refused.map { "\($0.key.rawValue):\($0.value)" }), .integer(Int64(report.extensions)),
            .integer(Int64(report.cutForCredit)), .integer(report.billedSeconds), .amount(report.charged),
            .text("\(report.charged.currency)"), .text(String(seed)), .instant(report.end),
          ]
        ]))
  }
}
