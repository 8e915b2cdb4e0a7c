extension Explanation {
  /// The same as a page of HTML.
  func page(code: String) -> PlainPage {
    var body = "<p>\(PlainPage.escaped(meaning))</p>\n"
    for row in rows {
      body += "<section class=\"card stack tight\"><h2>\(PlainPage.escaped(Explanation.heading(row.label)))</h2>\n"
      if row.values.count == 1 {
        body += "<p>\(PlainPage.escaped(row.values[0]))</p>"
      } else {
        body += "<ul>" + row.values.map { "<li>\(PlainPage.escaped($0))</li>" }.joined(separator: "\n") + "</ul>"
      }
      body += "</section>\n"
    }
    body += """
      <p class="small muted">The same on a terminal: <code class="mono">landline explain \(PlainPage.escaped(code))</code></p>
      <p class="small"><a href="/errors">All codes</a></p>
      """
    return PlainPage(title: title, body: body)
  }

  /// A row's label in full.
  private static func heading(_ label: String) -> String {
    switch label {
    case "likely": "Likely causes"
    case "remedy": "What to do"
    case "retry": "Trying again"
    case "ends as": "A call ends as"
    case "class": "Counts as"
    case "or": "Or as"
    case "statuses": "SIP statuses"
    case "causes": "Q.850 causes"
    case "sent": "What is answered"
    case "reason": "Reason header"
    case "becomes": "Becomes on the other side"
    case "from": "Comes from"
    default: label
    }
  }
}
