import CallModel
import SIPCore

/// Every code that the gateway explains, by kind.
enum CodeIndex {
  private struct Row {
    let code: String
    let title: String
  }

  private static let groups: [(title: String, rows: [Row])] = [
    (
      "How calls fail",
      CallFailureCode.allCases.map { Row(code: $0.rawValue, title: $0.details.meaning) }
    ),
    (
      "Refusals before any trunk is asked",
      CallRefusal.allCases.map { refusal in
        Row(code: refusal.rawValue, title: CodeExplanation(subject: .refusal(refusal)).meaning)
      }
    ),
    ("Problems of the HTTP interface", ProblemCode.all.map { Row(code: $0.name, title: $0.title + ".") }),
    (
      "SIP statuses",
      CauseCatalogue.statuses.map { Row(code: "\($0.number)", title: "\($0.phrase): \($0.meaning)") }
    ),
    (
      "Q.850 causes",
      CauseCatalogue.causes.map { Row(code: "q850:\($0.number)", title: "\($0.name): \($0.meaning)") }
    ),
  ]

  static let text = groups.map { group in
    "\(group.title)\n\n"
      + group.rows.map { row in
        row.code + String(repeating: " ", count: max(1, 28 - row.code.count)) + row.title + "\n"
      }.joined()
  }.joined(separator: "\n")

  static let page: PlainPage = {
    var body = "<p>What each code means, who says it, and what to do. The same on a terminal: "
    body += "<code class=\"mono\">landline explain CODE</code></p>\n"
    for group in groups {
      body += "<section class=\"card stack tight\"><h2>\(PlainPage.escaped(group.title))</h2>\n<dl class=\"codes\">\n"
      for row in group.rows {
        let code = PlainPage.escaped(row.code)
        body +=
          "<dt><a class=\"mono\" href=\"/errors/\(code)\">\(code)</a></dt><dd>\(PlainPage.escaped(row.title))</dd>\n"
      }
      body += "</dl></section>\n"
    }
    return PlainPage(title: "All codes", body: body, style: "docs.css")
  }()
}
