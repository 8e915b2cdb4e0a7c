import Foundation
import PeerKit
import Testing

/// How `Deploy/test` and `.ci/run` go through their groups.
@Suite("Groups of tests and steps")
struct GroupsTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private func run(_ lines: String) async throws -> PeerProcess.Result {
    let folder = try TemporaryFolder("groups")
    let script = try folder.write(
      "set -euo pipefail\nsource \(Self.root.path)/Deploy/groups\n\(lines)\ntold_together\n", to: "script")
    return try await PeerProcess.run(
      URL(fileURLWithPath: "/bin/bash"), [script.path],
      environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TMPDIR": folder.url.path], startedIn: folder.url)
  }

  @Test("a group that fails stops no other; what failed is told together at the end, and in the status")
  func failures() async throws {
    let result = try await run(
      """
      group "first" bash -c 'echo "✘ Test a recorded an issue at A.swift:1:2: no"; echo "↳ because"; exit 3'
      group "second" echo fine
      group "third" bash -c 'echo "◇ Test b started."; echo "x: Fatal error: index"; exit 132'
      group "fourth" bash -c 'seq 100; exit 1'
      group "fifth" echo fine as well
      """)
    #expect(result.status == 1)
    #expect(result.output.contains("fine as well"), "all groups run")
    let told = try #require(result.output.components(separatedBy: "== FAILED: 3 of 5 groups\n").last)
    #expect(
      told == """

        -- first (status 3)
        ✘ Test a recorded an issue at A.swift:1:2: no
        ↳ because

        -- third (status 132)
        x: Fatal error: index
        was running: Test b

        -- fourth (status 1)
        \((81...100).map(String.init).joined(separator: "\n"))

        """)
  }

  @Test("where all groups pass, the status is 0 and repeats are counted")
  func passes() async throws {
    let result = try await run(
      """
      group "first" echo fine
      group "second" echo "↻ speech [DTLS]: repeated, missed: PESQ 2"
      """)
    #expect(result.status == 0)
    #expect(result.output.contains("== repeated, since somebody was late: 1\n↻ speech [DTLS]"))
    #expect(result.output.hasSuffix("== all 2 groups passed\n"))
  }

  @Test("Deploy/test and .ci/run end by telling all", arguments: ["Deploy/test", ".ci/run"])
  func scripts(_ name: String) throws {
    let text = try String(contentsOf: Self.root.appendingPathComponent(name), encoding: .utf8)
    #expect(text.contains("source Deploy/groups\n"))
    #expect(text.hasSuffix("\ntold_together\n"))
  }
}
