import Foundation
import Testing

/// The exported books in the hands of two independent programs.
@Suite("The journal checks with hledger and ledger-cli")
struct JournalTests {
  static let hledger = URL(fileURLWithPath: "/usr/bin/hledger")
  static let ledger = URL(fileURLWithPath: "/usr/bin/ledger")
  static let bothArePresent = [hledger, ledger].allSatisfy { FileManager.default.isExecutableFile(atPath: $0.path) }

  private func run(_ program: URL, _ arguments: [String], in folder: URL) async throws -> LandlineProcess.Result {
    try await LandlineProcess.run(program, arguments, in: folder)
  }

  private func check(_ file: String, in folder: URL) async throws {
    for arguments in [["check", "-s"], ["check", "ordereddates"]] {
      let result = try await run(Self.hledger, ["-f", file] + arguments, in: folder)
      #expect(result.status == 0, "hledger \(arguments) \(file): \(result.diagnostics)")
    }
    let result = try await run(Self.ledger, ["-f", file, "balance"], in: folder)
    #expect(result.status == 0, "ledger \(file): \(result.diagnostics)")
  }

  @Test(
    "every form of the export", .enabled(if: bothArePresent, "hledger and ledger are not installed"),
    arguments: [
      [], ["--month", "2026-10"], ["--month", "2026-11"], ["--month", "2026-12"], ["--month", "2026-09"],
      ["--account", "acme"], ["--account", "delta-us", "--month", "2026-11"], ["--tz", "Asia/Tokyo"],
      ["--tz", "America/Los_Angeles", "--month", "2026-10"], ["--account", "beta", "--month", "2026-11"],
    ])
  func exports(_ options: [String]) async throws {
    let process = try await LandlineProcess()
    defer { process.remove() }
    let result = try await process.run(["export", "hledger"] + options)
    #expect(result.status == 0)
    try Data(result.output.utf8).write(to: process.folder.appendingPathComponent("all.journal"))
    try await check("all.journal", in: process.folder)
  }

  @Test(
    "a file a month: each alone and all together",
    .enabled(if: bothArePresent, "hledger and ledger are not installed"),
    arguments: [[], ["--account", "beta"], ["--tz", "Europe/Stockholm"]])
  func months(_ options: [String]) async throws {
    let process = try await LandlineProcess()
    defer { process.remove() }
    let result = try await process.run(["export", "hledger", "--output-dir", "books"] + options)
    #expect(result.status == 0, "\(result.diagnostics)")
    let books = process.folder.appendingPathComponent("books")
    let files = try FileManager.default.contentsOfDirectory(atPath: books.path).sorted()
    #expect(files == ["2026-10.journal", "2026-11.journal", "index.journal"])
    for file in files { try await check(file, in: books) }
    // All months together end where the ledger stands: booked with -C, available without.
    let beta = ["-f", "index.journal", "bal", "--format", "%(total)", "-N", "liabilities:postpaid:beta"]
    let booked = try await run(Self.hledger, beta + ["-C"], in: books)
    #expect(booked.output.trimmingCharacters(in: .whitespacesAndNewlines) == "EUR -1.472516")
    let available = try await run(Self.hledger, beta, in: books)
    #expect(available.output.trimmingCharacters(in: .whitespacesAndNewlines) == "EUR -1.443516")
  }

  @Test("an altered amount is caught", .enabled(if: bothArePresent, "hledger and ledger are not installed"))
  func alteration() async throws {
    let process = try await LandlineProcess()
    defer { process.remove() }
    let journal = try await process.run(["export", "hledger"]).output
    // Both legs of one call, by the smallest unit there is: only the assertions can tell.
    let altered = journal.replacing("EUR 0.015467 =", with: "EUR 0.015468 =").replacing(
      "EUR -0.015467 =", with: "EUR -0.015468 =")
    #expect(altered != journal)
    try Data(altered.utf8).write(to: process.folder.appendingPathComponent("altered.journal"))
    let result = try await run(Self.hledger, ["-f", "altered.journal", "check", "-s"], in: process.folder)
    #expect(result.status != 0)
  }
}
