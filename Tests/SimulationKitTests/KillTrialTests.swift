import Foundation
import PeerKit
import SimulationKit
import Testing

@Suite("Killed processes", .serialized)
struct KillTrialTests {
  /// The program built beside the tests: their bundle lies in the folder of the products, or in one inside it.
  static let executable: String? = {
    var folder = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
    for argument in CommandLine.arguments where argument.contains(".xctest") {
      folder = URL(fileURLWithPath: argument).resolvingSymlinksInPath().deletingLastPathComponent()
    }
    for _ in 0..<4 {
      let candidate = folder.appendingPathComponent("landline-lab").path
      var isFolder: ObjCBool = false
      if FileManager.default.fileExists(atPath: candidate, isDirectory: &isFolder), !isFolder.boolValue {
        return candidate
      }
      folder.deleteLastPathComponent()
    }
    return nil
  }()

  @Test("everything acknowledged outlives kills in mid-work")
  func manyKills() async throws {
    let kills = ScoreboardRow.isFull ? 200 : 20
    let executable = try #require(KillTrialTests.executable, "landline-lab was not built beside the tests")
    let report = try await KillTrial.parent(executable: executable, seed: 42, kills: kills)
    #expect(report.kills == kills)
    #expect(report.acknowledged >= kills)
    #expect(report.transfers > 0)
    try ScoreboardRow(
      "M2", figure: "0", unit: "units", target: "= 0", passed: true,
      detail: "ledger alone: \(report.kills) kills, \(report.acknowledged) acknowledged postings all there", gate: true
    ).record()
  }

  @Test("a program that is no worker is told apart from a broken ledger")
  func noWorker() async throws {
    await #expect(throws: KillTrial.Failure.self) {
      try await KillTrial.parent(executable: "/bin/true", seed: 1, kills: 1)
    }
    await #expect(throws: KillTrial.Failure.self) {
      try await KillTrial.parent(executable: "/nonexistent/landline", seed: 1, kills: 1)
    }
  }
}
