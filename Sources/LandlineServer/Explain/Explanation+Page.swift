extension Explanation {
  /// The same as a page of HTML. It works without JavaScript and signs nobody in.
  func page(code: String) -> String {
    var body = ""
    for row in rows {
      body += "<section class=\"card stack tight\"><h2>\(Explanation.escaped(Explanation.heading(row.label)))</h2>\n"
      if row.values.count == 1 {
        body += "<p>\(Explanation.escaped(row.values[0]))</p>"
      } else {
        body += "<ul>" + row.values.map { "<li>\(Explanation.escaped($0))</li>" }.joined(separator: "\n") + "</ul>"
      }
      body += "</section>\n"
    }
    return """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <title>\(Explanation.escaped(code)) – Landline</title>
      <link rel="icon" href="/pages/icon.svg" type="image/svg+xml">
      <link rel="stylesheet" href="/pages/pages.css">
      <script src="/pages/theme.js"></script>
      </head>
      <body>
      <a class="skip" href="#main">Skip to the page</a>
      <header class="top"><div><a class="brand" href="/"><img src="/pages/icon.svg" alt="" width="28" height="28">Landline</a>
      <nav aria-label="Pages"><a href="/">Phone</a><a href="/account">Account</a><a href="/calls">Calls</a></nav></div></header>
      <main id="main" class="stack" tabindex="-1">
      <h1>\(Explanation.escaped(title))</h1>
      <p>\(Explanation.escaped(meaning))</p>
      \(body)<p class="small muted">The same on a terminal: <code class="mono">landline explain \(Explanation.escaped(code))</code></p>
      </main>
      </body>
      </html>

      """
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

  static func escaped(_ text: String) -> String {
    var out = ""
    for character in text.unicodeScalars {
      switch character {
      case "&": out += "&amp;"
      case "<": out += "&lt;"
      case ">": out += "&gt;"
      case "\"": out += "&quot;"
      case "'": out += "&#39;"
      default: out.unicodeScalars.append(character)
      }
    }
    return out
  }
}
