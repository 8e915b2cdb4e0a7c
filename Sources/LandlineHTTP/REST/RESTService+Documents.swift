import CallModel
import SIPCore

extension RESTService {
  static let markdownType = "text/markdown; charset=utf-8"

  /// The description of the apps' protocol, and the list of all codes: for everybody, with pages or without.
  var describingRoutes: [RESTRoute] {
    [
      RESTRoute(
        method: "GET", path: "/asyncapi.json", id: "getProtocol",
        summary: "The description of the apps' WebSocket messages", access: .anyone,
        success: .file(["application/json"]), problems: [.notFound]
      ) { call in
        let file = made.file("protocol") {
          Documentation.document(Documentation.protocolPath).map { PageFile($0, mediaType: "application/json") }
        }
        guard let file else { throw Problem(.notFound, "the description is not part of this executable") }
        return fileAnswer(file, call, [])
      },
      RESTRoute(
        method: "GET", path: "/errors", id: "listProblems", summary: "All codes that are explained", access: .anyone,
        success: .file(["text/plain", "text/html"]), problems: [.notFound]
      ) { call in
        try negotiated(call, "codes", "text/plain; charset=utf-8", text: { CodeIndex.text }, page: { CodeIndex.page })
      },
    ]
  }

  /// The documentation; nothing where pages are turned off.
  var documentRoutes: [RESTRoute] {
    guard pages != .none else { return [] }
    return [
      RESTRoute(
        method: "GET", path: "/docs", id: "listDocuments", summary: "What is documented", access: .anyone,
        success: .file(["text/markdown", "text/html"]), problems: [.notFound]
      ) { call in
        try negotiated(call, "list", RESTService.markdownType, text: { documentIndex }, page: { indexPage })
      },
      RESTRoute(
        method: "GET", path: "/docs/{name}", id: "showDocument",
        summary: "One document: a page for browsers; as Markdown for others, and under its name with .md",
        access: .anyone, success: .file(["text/markdown", "text/html"]), problems: [.notFound]
      ) { call in
        let asked = call.path["name"] ?? ""
        let isText = asked.hasSuffix(".md")
        let name = isText ? String(asked.dropLast(3)) : asked
        return try negotiated(
          call, "document \(name)", RESTService.markdownType, isText: isText, text: { document(name)?.text },
          page: { document(name).map(page) })
      },
      RESTRoute(
        method: "GET", path: "/llms.txt", id: "getDocumentList",
        summary: "What is documented, for programs that read (llmstxt.org)", access: .anyone,
        success: .file(["text/plain"]), problems: [.notFound]
      ) { call in
        try negotiated(
          call, "plain list", "text/plain; charset=utf-8", isText: true, text: { documentIndex }, page: { nil })
      },
    ]
  }

  static func htmlAnswer(_ page: PlainPage, status: Int = 200) -> RESTAnswer {
    var answer = RESTAnswer.text(status, page.html, mediaType: "text/html; charset=utf-8")
    answer.headers = pageHeaders + [("Vary", "Accept")]
    return answer
  }

  /// A page for browsers, a text for others; each is made once.
  private func negotiated(
    _ call: RESTCall, _ key: String, _ type: String, isText: Bool = false, text: () -> String?,
    page: () -> PlainPage?
  ) throws -> RESTAnswer {
    let isPage = !isText && PlainPage.isWanted(call.request.header("accept"))
    let file = made.file("\(isPage ? "page" : "text") \(key)") {
      isPage
        ? page().map { PageFile(Array($0.html.utf8), mediaType: "text/html; charset=utf-8") }
        : text().map { PageFile(Array($0.utf8), mediaType: type) }
    }
    guard let file else { throw Problem(.notFound, "no document has that name", fix: "/docs lists all documents") }
    return fileAnswer(file, call, isPage ? RESTService.pageHeaders : [], varies: !isText)
  }

  private func document(_ name: String) -> DocumentationPage? { documents.first { $0.name == name } }

  /// Those of the repository, and what the route table says of itself.
  private var documents: [DocumentationPage] {
    let interface = DocumentationPage(
      name: "rest", group: .operators, title: "REST",
      summary: "Every path of the HTTP interface: who may ask, with what, and what goes wrong.",
      text: RouteText.text(routes), path: nil)
    return Documentation.fixedPages + [interface]
  }

  private func page(of document: DocumentationPage) -> PlainPage {
    let made = document.page { Documentation.name(of: $0).map { "/docs/\($0)" } }
    let contents = made.headings.filter { $0.level == 2 }.map {
      "<li><a href=\"#\($0.id)\">\($0.text)</a></li>"
    }
    // The first heading is the page's own.
    let end = made.html.firstRange(of: "</h1>\n")?.upperBound ?? made.html.startIndex
    let list = contents.count > 2 ? "<ul class=\"bare\">\(contents.joined(separator: "\n"))</ul>" : ""
    return PlainPage(
      title: document.title, place: "/docs",
      body: """
        <div class="document">
        <nav class="contents small stack tight" aria-label="On this page">
        <p><a href="/docs">All documents</a> · <a href="/docs/\(document.name).md">as Markdown</a></p>
        \(list)
        </nav>
        <article class="card prose">
        \(made.html[end...])
        </article>
        </div>
        """, style: "docs.css")
  }

  private var indexPage: PlainPage {
    let documents = documents
    var body = "<div class=\"groups\">\n"
    for group in DocumentationPage.Group.allCases {
      let isWide = group == .inside ? " wide" : ""
      body += "<section class=\"card stack tight\(isWide)\"><h2>\(group.rawValue)</h2><ul class=\"bare\">\n"
      for document in documents where document.group == group {
        body += """
          <li><a href="/docs/\(document.name)">\(PlainPage.escaped(document.title))</a><br>
          <span class="small muted">\(PlainPage.escaped(document.summary))</span></li>

          """
      }
      for (path, title, summary) in RESTService.descriptions where group == RESTService.group(of: path) {
        body += """
          <li><a href="\(path)">\(title)</a><br><span class="small muted">\(summary)</span></li>

          """
      }
      body += "</ul></section>\n"
    }
    body +=
      "</div>\n<p class=\"small muted\">Each document is there as Markdown too: its address with .md behind it.</p>"
    return PlainPage(title: "Documentation", place: "/docs", body: body, style: "docs.css")
  }

  /// What describes the interfaces for programs: path, title, one sentence.
  private static let descriptions = [
    ("/openapi.json", "OpenAPI description", "The HTTP interface for programs, OpenAPI 3.1."),
    ("/asyncapi.json", "AsyncAPI description", "The apps' messages for programs, AsyncAPI 3.0."),
    ("/landline.d.ts", "Types of landline.js", "For TypeScript."),
    ("/errors", "All codes", "What each code of a failure or a problem means, and what to do."),
  ]

  private static func group(of path: String) -> DocumentationPage.Group {
    switch path {
    case "/openapi.json": .operators
    case "/errors": .failures
    default: .apps
    }
  }

  /// The list of all documents as Markdown.
  private var documentIndex: String {
    let documents = documents
    var out = """
      # Landline

      > A SIP and PSTN gateway for app calls: apps call phone numbers over WebSocket and WebRTC, the gateway dials out by \
      SIP, bills prepaid credit and explains every call. These are the documents of the version that runs here.

      """
    for group in DocumentationPage.Group.allCases {
      out += "\n## \(group.rawValue)\n\n"
      for document in documents where document.group == group {
        out += "- [\(document.title)](/docs/\(document.name).md): \(document.summary)\n"
      }
      for (path, title, summary) in RESTService.descriptions where group == RESTService.group(of: path) {
        out += "- [\(title)](\(path)): \(summary)\n"
      }
    }
    return out
  }
}
