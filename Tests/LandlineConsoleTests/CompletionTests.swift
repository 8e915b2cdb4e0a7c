import Foundation
import Testing

@Suite("Completion scripts")
struct CompletionTests {
  @Test("each shell gets its script", arguments: ["bash", "zsh", "fish"])
  func script(_ shell: String) async throws {
    let process = try await LandlineProcess(hasLedger: false)
    defer { process.remove() }
    let result = try await process.run(["completion", shell])
    #expect(result.status == 0)
    #expect(result.diagnostics.isEmpty)
    for word in ["statement", "set-plan", "dry-run"] { #expect(result.output.contains(word), "\(word)") }
    // The scripts ask the command itself for the names of accounts.
    #expect(result.output.contains("---completion"))
  }

  @Test("account names come from the ledger")
  func names() async throws {
    let process = try await LandlineProcess()
    defer { process.remove() }
    let request = ["---completion", "balance", "--", "positional@0", "1", "0", "landline", "balance", ""]
    let result = try await process.run(request)
    #expect(result.status == 0, "\(result.diagnostics)")
    #expect(result.output.split(separator: "\n") == ["acme", "beta", "delta-us"])
    let elsewhere = try await process.run(request, environment: ["LANDLINE_DATABASE": "none.db"])
    #expect(elsewhere.status == 0)
    #expect(elsewhere.output.trimmingCharacters(in: .whitespacesAndNewlines).isEmpty)
  }
}
