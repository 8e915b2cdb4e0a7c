import CallModel
import LedgerCore

/// Whether the books keep their rules.
enum VerifyReport {
  static func answer(_ report: VerificationReport, milliseconds: Int64) -> Answer {
    let counts = report.counts
    let checks = Listing(
      [Column("rule"), Column("title"), Column("ok"), Column("seq", .number), Column("problem")],
      rows: report.rules.map { rule in
        [
          .text(rule.id.rawValue), .text(rule.id.title), .flag(rule.problem == nil),
          .integer(optional: rule.problem?.seq), .text(optional: rule.problem?.detail),
        ]
      })
    func count(_ value: Int64) -> String { TableText.grouped(value) }
    var lines = [
      "accounts \(count(counts.accounts))  transfers \(count(counts.transfers))  entries \(count(counts.entries))  "
        + "open holds \(count(counts.openHolds))",
      report.rules.map { "\($0.id.rawValue) \($0.id.title) \($0.problem == nil ? "ok" : "BROKEN")" }
        .joined(separator: " · "),
    ]
    for rule in report.rules {
      guard let problem = rule.problem else { continue }
      let place = problem.seq > 0 ? "first at seq \(problem.seq): " : ""
      lines.append("\(rule.id.rawValue) \(place)\(problem.detail)")
    }
    let seconds = DecimalText.format((milliseconds + 50) / 100, scale: 1)
    lines.append("\(report.isSound ? "verified" : "BROKEN, checked") in \(seconds) s, head \(report.head.shortHash)")
    var answer = Answer(
      blocks: lines.map { .line($0) },
      members: [
        ("sound", .boolean(report.isSound)), ("full", .boolean(report.isFull)), ("accounts", .integer(counts.accounts)),
        ("transfers", .integer(counts.transfers)), ("entries", .integer(counts.entries)),
        ("open_holds", .integer(counts.openHolds)), ("rules", .array(checks.json)),
        ("milliseconds", .integer(milliseconds)),
        ("as_of", report.head.json),
      ], records: checks)
    answer.status = report.isSound ? .ok : .booksBroken
    return answer
  }
}
