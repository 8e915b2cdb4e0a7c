import CallModel
import CallStory
import Foundation
import PeerKit
import Testing

/// Every rule against the situation it is for: one gateway, an app and carriers of others, all calls at a time, and the
/// story of each as anybody would read it.
@Suite("Calls explained, with foreign peers", .serialized, .timeLimit(.minutes(4)), .alone)
struct ExplainTests {
  private static let isReady =
    PythonPeer.isInstalled && PeerProgram.sipp.isInstalled && PeerProgram.baresip.isInstalled
    && PeerProgram.openssl.isInstalled && KamailioPeer.speaksTLS
  private static let absence =
    "\(PythonPeer.absence), or one of these is: apt-get install sip-tester baresip openssl kamailio kamailio-tls-modules"

  @Test("Each rule has a row, and each row a rule")
  func complete() {
    let rows = ExplainRow.all.map(\.rule)
    #expect(Set(rows).count == rows.count)
    #expect(Set(rows).union(ExplainRow.elsewhere) == Set(CallRule.all.map(\.id)))
    #expect(ExplainRow.elsewhere.isDisjoint(with: rows))
  }

  @Test("Each rule explains the call it is for", .enabled(if: isReady, "\(absence)"))
  func explained() async throws {
    let only = ProcessInfo.processInfo.environment["LANDLINE_EXPLAIN"]?.split(separator: ",").map(String.init)
    let rows = ExplainRow.all.filter { only?.contains($0.rule) ?? true }
    try await ExplainCarriers.run(rows) { stage in
      // The way of emergency calls is that of all phone calls, which another row makes fail.
      let first = rows.filter { $0.rule == "emergency" }
      for row in first { await perform(row, stage) }
      await withTaskGroup(of: Void.self) { group in
        for row in rows where !first.contains(where: { $0.rule == row.rule }) {
          group.addTask { await perform(row, stage) }
        }
      }
    }
  }

  /// Runs a row, reads the story, and writes what came of it into the table of results.
  private func perform(_ row: ExplainRow, _ stage: ExplainStage) async {
    var result = PeerResult(
      peer: row.peer, transport: "", name: "explained: \(row.rule)",
      expected: row.leads ? "the likeliest finding" : "among the findings", happened: "", isGood: true)
    do {
      let findings = try await stage.findings(try await row.run(stage))
      let told = findings.map { "\($0.rule) \($0.confidence)" }.joined(separator: ", ")
      result.happened = told
      guard let finding = row.leads ? findings.first : findings.first(where: { $0.rule == row.rule }),
        finding.rule == row.rule
      else { throw PeerFailure("found: \(told)") }
      try require(!finding.evidence.isEmpty && !finding.explanation.isEmpty, "evidence: \(finding)")
    } catch {
      result.isGood = false
      result.happened = String("\(error)".prefix(300))
      Issue.record("\(row.rule), \(row.peer): \(error)")
    }
    PeerResults.append(result)
  }
}
