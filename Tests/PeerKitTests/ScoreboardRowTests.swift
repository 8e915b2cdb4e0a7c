import Foundation
import PeerKit
import Testing

@Suite("Rows of the scoreboard")
struct ScoreboardRowTests {
  private func lines(of file: URL) throws -> [[String: String]] {
    try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map { line in
      let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      return object.mapValues { "\($0)" }
    }
  }

  @Test("a row is one line; many writers at once leave every line whole")
  func appends() async throws {
    let folder = try TemporaryFolder("scoreboard")
    let file = folder.url.appendingPathComponent("rows.jsonl")
    await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        group.addTask {
          try ScoreboardRow(
            "A4", figure: "\(number)", unit: "cases\nright", target: "= 200", passed: true, detail: "\"ü\""
          ).record(to: file)
        }
      }
    }
    let rows = try lines(of: file)
    #expect(Set(rows.compactMap { $0["figure"] }) == Set((0..<200).map(String.init)))
    #expect(rows.allSatisfy { $0["unit"] == "cases\nright" && $0["detail"] == "\"ü\"" && $0["row"] == "A4" })
  }

  @Test("a script writes the same members")
  func script() async throws {
    let folder = try TemporaryFolder("scoreboard")
    let file = folder.url.appendingPathComponent("rows.jsonl")
    let scripts = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../PeerKit/Scripts").standardizedFileURL
    let call = "import scoreboard; scoreboard.row('A4', figure=7, unit='u', target='= 7', passed=True, detail='ü')"
    let result = try await PeerProcess.run(
      URL(fileURLWithPath: "/usr/bin/env"), ["python3", "-c", call],
      environment: ["LANDLINE_SCOREBOARD": file.path, "PYTHONPATH": scripts.path, "PATH": "/usr/bin:/bin"],
      startedIn: folder.url)
    #expect(result.status == 0, "\(result.diagnostics)")
    var expected = ScoreboardRow("A4", figure: "7", unit: "u", target: "= 7", passed: true, detail: "ü")
    expected.size = "ci"
    try expected.record(to: file)
    let rows = try lines(of: file)
    #expect(rows.count == 2)
    #expect(rows.first == rows.last)
  }

  @Test("the tests of the board itself")
  func board() async throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../..").standardizedFileURL
    let result = try await PeerProcess.run(
      URL(fileURLWithPath: "/usr/bin/env"), ["python3", "-m", "unittest", "discover", "-s", "Tests/Scoreboard"],
      environment: ["PATH": "/usr/bin:/bin"], startedIn: root)
    #expect(result.status == 0, "\(result.diagnostics)")
    #expect(result.diagnostics.contains("OK"))
  }

  @Test("where no scoreboard is kept, nothing is written")
  func absent() throws {
    try ScoreboardRow("A4", figure: "7", unit: "u", target: "= 7", passed: true).record(to: nil)
  }
}
