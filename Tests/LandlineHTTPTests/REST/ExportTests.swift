import CallModel
import Foundation
import LandlineHTTP
import LedgerCore
import Testing

/// Histories with their postings, as files, and by the day.
@Suite struct ExportTests {
  private func kit() async throws -> RESTKit {
    let kit = try await RESTKit()
    try await kit.makeAccount("acme", credit: "10.50")
    try await kit.makeAccount("other", credit: "5")
    let note = #"{"to":"other","amount":"2.25","note":"a \"gift\", or two"}"#
    #expect(try await kit.send("POST", "/v1/accounts/acme/transfers", note, key: "t1").status == 201)
    try await kit.bookCall("call-1", "acme", seconds: 90, at: kit.clock.now)
    return kit
  }

  @Test func everyEntryHasBothSidesAndTheyAddUpToZero() async throws {
    let kit = try await kit()
    let operators = try await kit.send("GET", "/v1/accounts/acme/history")
    let entries = operators.tree["entries"]?.elements ?? []
    #expect(entries.map { $0["kind"]?.stringValue } == ["call", "transfer", "topup"])
    for entry in entries {
      let postings = entry["postings"]?.elements ?? []
      #expect(postings.count == 2)
      #expect(postings.compactMap { $0["amount_micro"]?.integerValue }.reduce(0, +) == 0)
      #expect(postings.allSatisfy { $0["balance"] != .null })
      let own = postings.first { $0["account"] == .string("acme") }
      #expect(own?["amount"] == entry["amount"])
      #expect(own?["balance"] == entry["balance"])
    }
    // Whose account it is has no business with the balances of others.
    let owners = try await kit.send("GET", "/v1/accounts/acme/history", as: "owner")
    for entry in owners.tree["entries"]?.elements ?? [] {
      for posting in entry["postings"]?.elements ?? [] {
        #expect((posting["balance"] == .null) == (posting["account"] != .string("acme")))
        #expect((posting["balance_micro"] == .null) == (posting["account"] != .string("acme")))
      }
    }
    await kit.close()
  }

  @Test func filesForOtherPrograms() async throws {
    let kit = try await kit()
    let csv = try await kit.send("GET", "/v1/accounts/acme/export", as: "owner")
    #expect(csv.headers["content-type"] == "text/csv; charset=utf-8")
    #expect(csv.headers["content-disposition"] == "attachment; filename=\"acme.csv\"")
    #expect(csv.headers["cache-control"] == "no-store")
    let lines = csv.text.components(separatedBy: "\r\n")
    #expect(lines.count == 5)
    #expect(
      lines[0]
        == "seq,time,kind,amount,balance,currency,counterpart,call,destination,duration_ms,billed_seconds,rate,reason,reverses,key,actor,detail"
    )
    #expect(lines[1].contains(",topup,10.500000,10.500000,EUR,"))
    #expect(lines[2].contains(",transfer,-2.250000,8.250000,EUR,other,"))
    #expect(lines[2].hasSuffix("\"a \"\"gift\"\", or two\""))
    #expect(
      lines[3].contains(",call,-0.090002,8.159998,EUR,revenues:calls,call-1,+46701234567,90000,90,0.060000000,hungUp,"))
    let json = try await kit.send("GET", "/v1/accounts/acme/export?format=json", as: "owner")
    #expect(json.headers["content-disposition"] == "attachment; filename=\"acme.json\"")
    let history = try await kit.send("GET", "/v1/accounts/acme/history", as: "owner")
    #expect(json.tree["entries"]?.elements.reversed() == history.tree["entries"]?.elements)
    // Only a part.
    let later = "\(kit.clock.now.advanced(byMilliseconds: 3_600_000))"
    let none = try await kit.send("GET", "/v1/accounts/acme/export?format=json&from=\(later)", as: "owner")
    #expect(none.tree["entries"]?.elements.isEmpty == true)
    let empty = try await kit.send("GET", "/v1/accounts/acme/export?to=2020-01-01T00:00:00Z", as: "owner")
    #expect(empty.text.components(separatedBy: "\r\n").count == 2)
    await kit.close()
  }

  private static let hledger = "/usr/bin/hledger"

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: hledger), "hledger is not installed"))
  func theJournalIsApproved() async throws {
    let kit = try await kit()
    for (who, query) in [
      ("owner", ""), ("operator", ""), ("owner", "&from=\(kit.clock.now.advanced(byMilliseconds: -60_000))"),
      ("owner", "&from=2020-01-01T00:00:00Z&to=2020-02-01T00:00:00Z"),
    ] {
      let journal = try await kit.send("GET", "/v1/accounts/acme/export?format=hledger\(query)", as: who)
      #expect(journal.status == 200)
      #expect(journal.headers["content-disposition"] == "attachment; filename=\"acme.journal\"")
      let file = kit.folder.appendingPathComponent("acme.journal")
      try Data(journal.body).write(to: file)
      let (status, output) = try Self.run([Self.hledger, "-f", file.path, "check", "-s"])
      #expect(status == 0, "\(output)")
      guard query.isEmpty else { continue }
      let balance = try Self.run([Self.hledger, "-f", file.path, "bal", "--flat", "-N", "liabilities:prepaid:acme"])
      #expect(balance.output.contains("EUR -8.159998"), "\(balance.output)")
    }
    await kit.close()
  }

  private static func run(_ command: [String]) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: command[0])
    process.arguments = Array(command.dropFirst())
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: data, as: UTF8.self))
  }

  @Test(arguments: [
    ("/v1/accounts/acme/export?format=pdf", "owner", 400), ("/v1/accounts/acme/export?from=x", "owner", 400),
    ("/v1/accounts/other/export", "owner", 404), ("/v1/accounts/nobody/export", "operator", 404),
    ("/v1/accounts/acme/export", nil, 401), ("/v1/accounts/other/spend", "owner", 404),
    ("/v1/accounts/acme/spend?days=0", "owner", 400), ("/v1/accounts/acme/spend?days=367", "owner", 400),
    ("/v1/accounts/acme/spend?days=x", "owner", 400), ("/v1/accounts/nobody/spend", "operator", 404),
  ])
  func isRefused(_ uri: String, _ who: String?, _ status: Int) async throws {
    let kit = try await kit()
    #expect(try await kit.send("GET", uri, as: who).status == status)
    await kit.close()
  }

  @Test func exportsAreFewAtATimeAndLeaveNothing() async throws {
    let exports = AccountExports()
    var files: [ExportFile] = []
    for _ in 0..<AccountExports.maximumFiles { files.append(try #require(try exports.begin())) }
    #expect(try exports.begin() == nil)
    try files[0].write(String(repeating: "x", count: 200_000))
    try files[0].write("end")
    try files[0].finish()
    var bytes: [UInt8] = []
    for await piece in files[0].pieces {
      #expect(piece.count <= 65536)
      bytes += piece
    }
    #expect(bytes.count == 200_003)
    files.removeAll()
    #expect(try exports.begin() != nil)
    let left = try FileManager.default.contentsOfDirectory(atPath: FileManager.default.temporaryDirectory.path)
    #expect(!left.contains { $0.hasPrefix("landline-export-") })
  }

  @Test func spendIsCountedByTheAccountsOwnDays() async throws {
    let kit = try await RESTKit()
    let made = #"{"name":"far","currency":"EUR","zone":"Pacific/Auckland"}"#
    #expect(try await kit.send("POST", "/v1/accounts", made).status == 201)
    #expect(
      try await kit.send("POST", "/v1/accounts/far/topups", #"{"amount":"9","method":"card"}"#, key: "c").status == 201)
    let now = kit.clock.now
    try await kit.bookCall("a", "far", seconds: 60, at: now)
    try await kit.bookCall("b", "far", seconds: 120, at: now)
    let spend = try await kit.send("GET", "/v1/accounts/far/spend?days=7")
    #expect(spend.tree["currency"] == .string("EUR"))
    let days = spend.tree["days"]?.elements ?? []
    #expect(days.count == 7)
    let zone = try CivilZone("Pacific/Auckland")
    #expect(days.last?["date"] == .string("\(zone.date(at: now))"))
    #expect(days.last?["calls"] == .integer(2))
    #expect(days.last?["spent"] == .string("0.180004"))
    #expect(days.dropLast().allSatisfy { $0["spent_micro"] == .integer(0) && $0["calls"] == .integer(0) })
    #expect(try await kit.send("GET", "/v1/accounts/far/spend").tree["days"]?.elements.count == 30)
    await kit.close()
  }
}
