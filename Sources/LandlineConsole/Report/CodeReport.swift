import CallModel
import LandlineHTTP

/// A code's explanation as an answer of the command.
struct CodeReport {
  var explanation: CodeExplanation

  func answer() -> Answer {
    let record = Listing(
      [
        Column("kind"), Column("code"), Column("name"), Column("meaning"), Column("class"), Column("end_cause"),
        Column("retry"), Column("likely_causes"), Column("remedies"), Column("becomes"),
      ],
      rows: [
        [
          .text(explanation.kind), .text(explanation.identifier), .text(optional: explanation.name),
          .text(explanation.meaning), .text(explanation.failure.code.rawValue),
          .text(explanation.failure.endCause.rawValue), .text(explanation.failure.retry.rawValue),
          .text(explanation.likelyCauses.joined(separator: "; ")),
          .text(explanation.failure.remedies.joined(separator: "; ")), .text(optional: explanation.mappedNumber),
        ]
      ])
    let lines = Explanation(explanation).lines
    return Answer(blocks: lines.map { .line($0) }, members: explanation.members, records: record)
  }

  /// A problem of the HTTP interface.
  static func answer(_ problem: ProblemCode) -> Answer {
    let record = Listing(
      [
        Column("kind"), Column("code"), Column("meaning"), Column("status", .number), Column("retry"),
        Column("remedies"),
      ],
      rows: [
        [
          .text("problem"), .text(problem.name), .text(problem.title), .integer(Int64(problem.status)),
          .flag(problem.isRetryable), .text(optional: problem.fix),
        ]
      ])
    return Answer(
      blocks: Explanation(problem).lines.map { .line($0) }, members: record.rows.first.map(record.members) ?? [],
      records: record)
  }
}
