import CallModel

/// What a code means, from the catalogues alone: the text of `landline explain` and of the pages under `/errors`.
package struct Explanation: Sendable {
  package var title: String
  package var meaning: String
  /// What more is known: a short label, and values one under the other.
  package var rows: [(label: String, values: [String])]

  /// - Parameter text: a SIP status, a Q.850 cause, the code of a call's failure, a refusal, or the code of a problem.
  package init?(_ text: String) {
    if let subject = CodeExplanation.Subject(text) {
      self.init(CodeExplanation(subject: subject))
    } else if let problem = ProblemCode.named(text) {
      self.init(problem)
    } else {
      return nil
    }
  }

  package init(_ code: CodeExplanation) { (title, meaning, rows) = (code.title, code.meaning, code.rows) }

  package init(_ problem: ProblemCode) {
    title = "\(problem.name) (answer of the HTTP interface)"
    meaning = problem.title + "."
    rows = []
    if let fix = problem.fix { rows.append(("remedy", [fix])) }
    rows.append(("retry", [problem.isRetryable ? "The same request may succeed later." : "Not without a change."]))
    rows.append(("sent", ["HTTP status \(problem.status)"]))
  }

  /// As a terminal shows it.
  package var lines: [String] {
    [title, meaning, ""]
      + rows.flatMap { row in
        row.values.enumerated().map { index, value in
          let label = index == 0 ? row.label : ""
          return label + String(repeating: " ", count: max(1, 10 - label.count)) + value
        }
      }
  }

  package var text: String { lines.joined(separator: "\n") + "\n" }
}

extension ProblemCode {
  /// The kind with this name, in any case of letters.
  package static func named(_ name: String) -> ProblemCode? {
    all.first { $0.name == name } ?? all.first { $0.name.lowercased() == name.lowercased() }
  }
}
