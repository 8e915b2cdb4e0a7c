import CallModel
import Foundation
import LedgerCore
import LedgerSQLite
import Testing

/// Everything that can be mistyped: its own message, its exit status, and books that stay as they were.
@Suite("Bad input is refused by name and changes nothing")
struct BadInputTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var arguments: [String]
    var status: Int32
    /// What the message must say.
    var says: String
    var testDescription: String { arguments.joined(separator: " ") }

    init(_ arguments: [String], _ status: Int32, _ says: String) {
      self.arguments = arguments
      self.status = status
      self.says = says
    }

    init(_ arguments: [String], _ says: String) { self.init(arguments, 2, says) }
  }

  static let long = String(repeating: "a", count: 65)
  static let longest = String(repeating: "a", count: 64)

  static let cases: [Case] = [
    // Amounts.
    Case(["topup", "acme", "1.1234567"], "more than 6 decimals (AMOUNT, character 9)"),
    Case(["topup", "acme", "NaN"], "'N' is not part of a number (AMOUNT, character 1)"),
    Case(["topup", "acme", "1e3"], "'e' is not part of a number (AMOUNT, character 2)"),
    Case(["topup", "acme", "-1"], "a negative amount moves nothing here (-1)"),
    Case(["topup", "acme", "-0.5", "--key", "k"], "landline adjust ACCOUNT -0.5 --reason TEXT takes credit away"),
    Case(["transfer", "acme", "beta", "-3"], "a negative amount moves nothing here (-3)"),
    Case(["refund", "acme", "27", "-1"], "a negative amount moves nothing here (-1)"),
    Case(
      ["account", "create", "new", "--currency", "EUR", "--kind", "postpaid", "--credit-limit", "-5"],
      "a limit is not negative (--credit-limit)"),
    Case(["history", "acme", "--limit", "-1"], "a page has 1 to 100000 lines (--limit)"),
    Case(["history", "acme", "--after", "-1"], "a sequence number is not negative (--after)"),
    Case(["topup", "acme", "--", "-1"], "a negative amount moves nothing here (AMOUNT)"),
    Case(["topup", "acme", "0"], "zero moves nothing here (AMOUNT)"),
    Case(["topup", "acme", "0.000000"], "zero moves nothing here (AMOUNT)"),
    Case(["topup", "acme", "99999999999999999999"], "the number is too large (AMOUNT, character 19)"),
    Case(["topup", "acme", "4611686018427"], 4, "larger than the ledger can hold"),
    Case(["topup", "acme", "9000000000000"], "the amount is too large (AMOUNT)"),
    Case(["topup", "acme", "1000000000.000001"], 4, "the amount is larger than may be booked at once (acme)"),
    Case(["topup", "acme", "4611686018000"], 4, "the amount is larger than may be booked at once (acme)"),
    Case(["opening", "acme", "1000000001"], 4, "the amount is larger than may be booked at once (acme)"),
    Case(["adjust", "acme", "1000000001", "--reason", "r"], 4, "larger than may be booked at once (acme)"),
    Case(["topup", "acme", "2", "--largest", "1"], 4, "larger than may be booked at once (acme)"),
    Case(["topup", "acme", "2", "--largest", "0"], "zero moves nothing here (--largest)"),
    Case(["topup", "acme", ""], "nothing is there (AMOUNT)"),
    Case(["topup", "acme", "1,5"], "',' is not part of a number (AMOUNT, character 2)"),
    Case(["topup", "acme", "1."], "a digit is missing (AMOUNT, character 3)"),
    Case(["topup", "acme", " 1"], "a space is not part of a number (AMOUNT, character 1)"),
    Case(["topup", "acme", "१"], "a character outside ASCII is not part of a number (AMOUNT, character 1)"),
    Case(["adjust", "acme", "0", "--reason", "r"], "zero moves nothing here (AMOUNT)"),
    Case(["adjust", "acme", "-0", "--reason", "r"], "zero moves nothing here (AMOUNT)"),
    Case(["adjust", "acme", "-1.0000001", "--reason", "r"], "more than 6 decimals"),
    Case(["adjust", "acme", "1"], "Missing expected argument '--reason <reason>'"),
    Case(["adjust", "acme", "1", "--reason", ""], "a correction needs a reason (--reason)"),
    Case(["adjust", "acme", "--reason", "r"], "Missing expected argument '<amount>'"),
    Case(["adjust", "acme", "1", "--amount", "2", "--reason", "r"], "The amount is given twice"),
    Case(["refund", "acme", "0"], "not a positive whole number (SEQ)"),
    Case(["refund", "acme", "x"], "not a positive whole number (SEQ)"),
    Case(["refund", "acme", "27", "0"], "zero moves nothing here (AMOUNT)"),
    Case(["refund", "acme", "99999999999999999999"], "not a positive whole number (SEQ)"),
    // Names and keys.
    Case(["topup", longest, "1"], 3, "no account has that name (\(longest))"),
    Case(["topup", long, "1"], "more than 64 characters (ACCOUNT, character 65)"),
    Case(["topup", "", "1"], "nothing is there (ACCOUNT)"),
    Case(["topup", ".acme", "1"], "'.' cannot stand here (ACCOUNT, character 1)"),
    Case(["topup", "ac me", "1"], "a space cannot stand here (ACCOUNT, character 3)"),
    Case(["topup", "ac/me", "1"], "'/' cannot stand here (ACCOUNT, character 3)"),
    Case(["topup", "acmé", "1"], "a character outside ASCII cannot stand here (ACCOUNT, character 4)"),
    Case(["topup", "acme", "1", "--key", long], "more than 64 characters (--key, character 65)"),
    Case(["topup", "acme", "1", "--key", ""], "nothing is there (--key)"),
    Case(["topup", "acme", "1", "--key", "a b"], "a space cannot stand here (--key, character 2)"),
    Case(["topup", "acme", "1", "--method", "a:b"], "':' cannot stand here (--method, character 2)"),
    Case(["topup", "acme", "1", "--note", String(repeating: "n", count: 201)], "more than 200 bytes (--note)"),
    Case(["topup", "acme", "1", "--note", "a\nb"], "a control character (--note)"),
    Case(["account", "create", long, "--currency", "EUR"], "more than 64 characters (NAME, character 65)"),
    Case(["account", "create", "new", "--currency", "eur"], "exactly three capital letters (--currency"),
    Case(["account", "create", "new", "--currency", "EURO"], "exactly three capital letters (--currency"),
    Case(["account", "create", "new"], "Missing expected argument '--currency <currency>'"),
    Case(["account", "create", "new", "--currency", "EUR", "--kind", "revenue"], "\"revenue\" is none (--kind)"),
    Case(
      ["account", "create", "new", "--currency", "EUR", "--credit-limit", "5"],
      "a prepaid account has no credit limit (--credit-limit)"),
    Case(
      ["account", "create", "new", "--currency", "EUR", "--kind", "postpaid", "--credit-limit=-5"],
      "a limit is not negative (--credit-limit)"),
    Case(["account", "create", "new", "--currency", "EUR", "--zone", "Nowhere"], "the name is not known (--zone)"),
    Case(["account", "create", "new", "--currency", "EUR", "--plan", "a b"], "a space cannot stand here (--plan"),
    Case(["account", "create", "acme", "--currency", "EUR"], 5, "an account of that name exists already (acme)"),
    Case(["account", "set-cap", "acme", "--concurrent", "-1"], "not a whole number in range (--concurrent)"),
    Case(["account", "set-cap", "acme", "--concurrent", "1.5"], "not a whole number in range (--concurrent)"),
    Case(["account", "set-cap", "acme", "--concurrent", "1000001"], "not a whole number in range (--concurrent)"),
    Case(["account", "set-cap", "acme", "--countries", "46,x"], "\"x\" is none (--countries)"),
    Case(["account", "set-cap", "acme", "--countries", "46,"], "nothing is there (--countries)"),
    Case(["account", "set-cap", "acme", "--countries", "0046"], "\"0046\" is none (--countries)"),
    Case(["account", "set-cap", "acme", "--highest-rate", "0.0000000001"], "more than 9 decimals (--highest-rate"),
    Case(["account", "set-cap", "acme", "--highest-rate", "100001"], "rate: out of range (--highest-rate)"),
    Case(["account", "set-cap", "acme", "--credit-limit", "5"], 4, "zero, negative or larger"),
    Case(["account", "show", long], "more than 64 characters (ACCOUNT, character 65)"),
    Case(["account", "show", "nobody"], 3, "no account has that name (nobody)"),
    Case(["account", "lock", "nobody"], 3, "no account has that name (nobody)"),
    Case(["account", "close", "nobody", "--yes"], 3, "no account has that name (nobody)"),
    Case(["account", "close", "acme"], "needs a confirmation"),
    Case(["account", "set-plan", "acme", "no-such-plan"], 3, "there is no plan no-such-plan"),
    Case(["hold", "show", long], "more than 64 characters (CALL, character 65)"),
    Case(["hold", "show", longest], 3, "no hold is known for that call"),
    Case(["hold", "list", "--node", "a b"], "a space cannot stand here (--node, character 2)"),
    Case(["recover", "--node", long], "more than 64 characters (--node, character 65)"),
    Case(["transfer", "acme", "nobody", "1"], 3, "no account has that name (nobody)"),
    Case(["transfer", "nobody", "acme", "1"], 3, "no account has that name (nobody)"),
    Case(["transfer", "acme", "acme", "1"], "both accounts are the same (acme)"),
    Case(["balance", "no:such"], 3, "no account has that name (no:such)"),
    Case(["history", "acme", "--currency", "USD"], 3, "the account has no such currency (acme)"),
    // Dates and ranges.
    Case(["balance", "--at", ""], "nothing is there (--at, character 1)"),
    Case(["balance", "--at", "2026-02-30"], "there is no such day (--at)"),
    Case(["balance", "--at", "2026-11-21T24:00:00Z"], "there is no such time of day (--at, character 12)"),
    Case(["balance", "--at", "2026-11-21T10:00:00"], "the text ends too early (--at, character 20)"),
    Case(["balance", "--at", "2026-11-21T10:00:00+25:00"], "there is no such offset (--at"),
    Case(["balance", "--at", "21.11.2026"], "'.' cannot stand here (--at, character 3)"),
    Case(["balance", "--at", "0000-01-01"], "there is no such day (--at)"),
    Case(["history", "acme", "--from", "-xd"], "-Nd or -Nh takes a whole number"),
    Case(["history", "acme", "--from", "-99999999999999999999d"], "-Nd or -Nh takes a whole number"),
    Case(["history", "acme", "--from", "2026-11", "--to", "2026-11"], "the range ends before it starts"),
    Case(["history", "acme", "--limit", "100001"], "a page has 1 to 100000 lines (--limit)"),
    Case(["statement", "acme", "--month", "2026-00"], "there is no such month (--month)"),
    Case(["statement", "acme", "--month", "2026-1x"], "'x' cannot stand here (--month, character 7)"),
    Case(["export", "csv", "--month", "2026-11", "--from", "today"], "a month and a range exclude each other"),
    Case(["balance", "--tz", "+02:00x"], "the name is not known (--tz)"),
  ]

  @Test("case", arguments: cases)
  func refused(_ bad: Case) async throws {
    let process = try await LandlineProcess()
    defer { process.remove() }
    let before = try head(process)
    let result = try await process.run(bad.arguments)
    #expect(result.status == bad.status, "\(result.diagnostics)")
    #expect(result.output.isEmpty, "results on standard output: \(result.output)")
    #expect(result.diagnostics.contains(bad.says), "\(result.diagnostics)")
    #expect(result.diagnostics.contains("landline: "))
    // A refusal of the ledger itself is an answer under its key, and is recorded; nothing else is.
    let after = try head(process)
    if bad.status == 4 { #expect(after.hash == before.hash) } else { #expect(after == before) }
  }

  private func head(_ process: LandlineProcess) throws -> LedgerHead {
    try SQLiteLedgerReader.open(path: process.folder.appendingPathComponent(LedgerScenario.fileName).path)
      .read { try $0.head() }
  }

  @Test("a file that is no ledger", arguments: ["balance", "verify", "topup acme 1"])
  func foreignFile(_ command: String) async throws {
    let process = try await LandlineProcess(hasLedger: false)
    defer { process.remove() }
    let file = process.folder.appendingPathComponent(LedgerScenario.fileName)
    let content = Data(String(repeating: "this is no database\n", count: 500).utf8)
    try content.write(to: file)
    let result = try await process.run(GoldenTranscript.words(command))
    #expect(result.status == 6 || result.status == 7, "\(result.status) \(result.diagnostics)")
    #expect(try Data(contentsOf: file) == content)
  }

  @Test("broken books: verify exits 6 and names the first bad record")
  func brokenBooks() async throws {
    let process = try await LandlineProcess()
    defer { process.remove() }
    let file = process.folder.appendingPathComponent(LedgerScenario.fileName)
    // The text of a transfer's note, changed in the file itself.
    var content = try Data(contentsOf: file)
    let range = try #require(content.range(of: Data("from the old system".utf8)))
    content.replaceSubrange(range, with: Data("from the new system".utf8))
    try content.write(to: file)
    let result = try await process.run(["verify", "--full"])
    #expect(result.status == 6, "\(result.diagnostics)")
    #expect(result.output.contains("I11 chain BROKEN"))
    #expect(result.output.contains("I11 first at seq 5: "))
    let json = try await process.run(["verify", "--full", "--json"])
    #expect(json.status == 6)
    #expect(json.output.contains(#""sound":false"#))
  }

  @Test("a file that may not be read: exit 8", .enabled(if: getuid() != 0, "the superuser may read everything"))
  func notPermitted() async throws {
    let process = try await LandlineProcess()
    defer { process.remove() }
    try FileManager.default.setAttributes(
      [.posixPermissions: 0], ofItemAtPath: process.folder.appendingPathComponent(LedgerScenario.fileName).path)
    #expect(try await process.run(["balance"]).status == 8)
  }
}
