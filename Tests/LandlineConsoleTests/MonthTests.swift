import Foundation
import Testing

/// A month of an operator's business, made with the commands that anyone would use, then audited by other programs.
@Suite("A simulated month")
struct MonthTests {
  private static let days = 30
  private static let callsADay = 20

  /// The ledger of a month: a top-up and overlapping calls on each day.
  private func month() async throws -> LandlineProcess {
    let process = try await LandlineProcess(hasLedger: false)
    func run(_ arguments: [String], of program: URL = LandlineProcess.executable, day: Int = 1) async throws {
      let now = "2026-11-\(day < 10 ? "0" : "")\(day)T09:00:00Z"
      let result = try await process.run(arguments, of: program, environment: ["LANDLINE_NOW": now])
      #expect(result.status == 0, "\(arguments): \(result.diagnostics)")
    }
    var deck = "prefix,name,rate,fee,initial,increment\n"
    for (index, prefix) in [1, 33, 44, 46, 467, 4670, 49, 81, 971].enumerated() {
      deck += "\(prefix),Destination \(prefix),0.\(index + 1)31,\(index % 2 == 0 ? "0" : "0.05"),\(index % 3 * 30),1\n"
    }
    try Data(deck.utf8).write(to: process.folder.appendingPathComponent("retail.csv"))
    try await run(["deck", "import", "retail.csv", "--currency", "EUR", "--activate-from", "2026-11-01"])
    try await run(["plan", "create", "standard", "retail"])
    try await run(["account", "create", "acme", "--currency", "EUR", "--plan", "standard"])
    for day in 1...Self.days {
      try await run(["topup", "acme", "60", "--key", "day-\(day)"], day: day)
      try await run(
        [
          "simulate", "calls", "--account", "acme", "--calls", "\(Self.callsADay)", "--seed", "\(day)", "--unanswered",
          "10",
        ],
        of: LandlineProcess.lab, day: day)
    }
    return process
  }

  @Test(
    "hledger and ledger-cli approve it, and hledger catches what is done to it",
    .enabled(if: JournalTests.bothArePresent, "hledger and ledger are not installed"))
  func audit() async throws {
    let process = try await month()
    defer { process.remove() }
    let verified = try await process.run(["verify", "--full"])
    #expect(verified.status == 0, "\(verified.output)")
    let journal = try await process.run(["export", "hledger", "--month", "2026-11"]).output
    func check(_ text: String) async throws -> (hledger: Int32, ledger: Int32) {
      try Data(text.utf8).write(to: process.folder.appendingPathComponent("month.journal"))
      let hledger = try await LandlineProcess.run(
        JournalTests.hledger, ["-f", "month.journal", "check", "-s", "ordereddates"], in: process.folder)
      let ledger = try await LandlineProcess.run(
        JournalTests.ledger, ["-f", "month.journal", "balance"], in: process.folder)
      return (hledger.status, ledger.status)
    }
    #expect(try await check(journal) == (0, 0))

    // One transaction a paragraph; the top-ups, charges and nothing else start with a date.
    let paragraphs = journal.components(separatedBy: "\n\n")
    let booked = paragraphs.indices.filter { paragraphs[$0].hasPrefix("2026-11-") }
    #expect(booked.count > Self.days * Self.callsADay / 2, "\(booked.count) transactions")
    let middle = booked[booked.count / 2]
    func altered(_ change: (inout [String]) -> Void) -> String {
      var copy = paragraphs
      change(&copy)
      return copy.joined(separator: "\n\n")
    }
    let tampered: [(String, String)] = [
      ("deleted", altered { $0.remove(at: middle) }),
      ("duplicated", altered { $0.insert($0[middle], at: middle) }),
      ("swapped", altered { $0.swapAt(middle, middle + 1) }),
      ("another account", altered { $0[middle].replace("liabilities:prepaid:acme", with: "liabilities:prepaid:acne") }),
      ("one leg", altered { $0[middle].replace("EUR -", with: "EUR -1", maxReplacements: 1) }),
      ("dated earlier", altered { $0[middle].replace(#/^2026-11-\d\d/#, with: "2026-11-01") }),
    ]
    for (kind, text) in tampered {
      #expect(text != journal)
      let verdict = try await check(text)
      #expect(verdict.hledger != 0, "\(kind)")
    }
  }
}
