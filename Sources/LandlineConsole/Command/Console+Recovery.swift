import CallModel
import LedgerCore

extension Console {
  /// Takes over the calls of dead nodes.
  package func recover(node: String?, isDryRun: Bool) async throws -> Answer {
    let node = try node.map { try Arguments.name($0, "--node", as: NodeID.self) }
    let now = try now()
    let planned = try reading { reading in
      if let node, !(try reading.nodes().contains { $0.id == node }) {
        throw ConsoleError(
          .notFound, code: "unknownNode", "no node has that name", at: node.text,
          fix: Spelling.nearest(to: node.text, among: try reading.nodes().map(\.id.text)).map { "did you mean \($0)?" }
            ?? "landline node list")
      }
      return try RecoveryReport.rehearse(reading, only: node, now: now)
    }
    if isDryRun { return try RecoveryReport(recoveries: planned, isDryRun: true, now: now).answer() }
    let done = try await writing { try await $0.recover(node, at: now) }
    return try RecoveryReport(recoveries: done, isDryRun: false, now: now).answer()
  }
}
