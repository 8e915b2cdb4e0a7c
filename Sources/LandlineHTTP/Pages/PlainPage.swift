/// A page of HTML that works without JavaScript and signs nobody in: errors, the documentation, what is not there.
struct PlainPage {
  var title: String
  /// Which part of the navigation it belongs to; empty for none.
  var place = ""
  /// HTML below the first heading.
  var body: String
  /// Name of a style sheet beside the pages' own.
  var style: String?

  private static let places = [
    ("/", "Phone"), ("/account", "Account"), ("/calls", "Calls"), ("/docs", "Docs"),
  ]

  var html: String {
    let links = PlainPage.places.map { path, word in
      "<a href=\"\(path)\"\(path == place ? " aria-current=\"page\"" : "")>\(word)</a>"
    }
    let sheet = style.map { "\n<link rel=\"stylesheet\" href=\"/pages/\($0)\">" } ?? ""
    return """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <title>\(PlainPage.escaped(title))\(title == "Landline" ? "" : " – Landline")</title>
      <link rel="icon" href="/pages/icon.svg" type="image/svg+xml">
      <link rel="stylesheet" href="/pages/pages.css">\(sheet)
      <script src="/pages/theme.js"></script>
      </head>
      <body>
      <a class="skip" href="#main">Skip to the page</a>
      <header class="top"><div><a class="brand" href="/"><img src="/pages/icon.svg" alt="" width="28" height="28">Landline</a>
      <nav aria-label="Pages">\(links.joined())</nav></div></header>
      <main id="main" class="stack" tabindex="-1">
      <h1>\(PlainPage.escaped(title))</h1>
      \(body)
      </main>
      </body>
      </html>

      """
  }

  /// A text as HTML has it, inside an element or an attribute.
  static func escaped(_ text: some StringProtocol) -> String {
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

  /// Whether whoever asks is a browser that shows a page: programs say nothing, or that they take anything.
  static func isWanted(_ accept: String?) -> Bool { accept?.lowercased().contains("text/html") ?? false }

  /// What stands where nothing is.
  static func missing(_ path: some StringProtocol, _ problem: Problem) -> PlainPage {
    PlainPage(
      title: "There is no such page",
      body: """
        <p>\(problem.code == .notFound ? "" : escaped(problem.code.title) + ". ")Nothing is kept at \
        <code class="mono break">\(escaped(path.prefix(200)))</code>.</p>
        <section class="card stack tight"><h2>What is here</h2>
        <ul>
        <li><a href="/">The phone</a>: call a number from this page</li>
        <li><a href="/calls">Calls</a>: those that are up, and the story of each that is over</li>
        <li><a href="/account">Account</a>: balance and history</li>
        <li><a href="/docs">Documentation</a>: guides, configuration, the interfaces</li>
        <li><a href="/errors">Errors</a>: what each code means</li>
        </ul></section>
        <p class="small muted">Programs get the same as application/problem+json: <a href="/errors/\(escaped(problem.code.name))">\(escaped(problem.code.name))</a>.</p>
        """)
  }
}
