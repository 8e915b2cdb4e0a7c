extension RESTService {
  /// What a page may load and where it may connect: its own gateway and nothing else.
  package static let pageHeaders = [
    (
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        + "media-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), display-capture=(), geolocation=(), microphone=(self), payment=(), usb=()"),
  ]

  /// The library is for pages of other hosts as well; whether those may connect is said by `http.origins`.
  private static let libraryHeaders = [
    ("Access-Control-Allow-Origin", "*"), ("Cross-Origin-Resource-Policy", "cross-origin"),
  ]

  /// The web pages and their files; nothing where they are turned off.
  var pageRoutes: [RESTRoute] {
    guard pages != .none else { return [] }
    func route(
      _ path: String, _ id: String, _ summary: String, _ file: String? = nil, types: [String],
      headers: [(String, String)] = RESTService.pageHeaders
    ) -> RESTRoute {
      RESTRoute(
        method: "GET", path: path, id: id, summary: summary, access: .anyone, success: .file(types),
        problems: [.notFound]
      ) { call in try pageFile(file ?? call.path["name"] ?? "", call, headers) }
    }
    let html = ["text/html"]
    return [
      route("/", "showPhone", "The phone", "index.html", types: html),
      route("/account", "showAccount", "Balance and history", "account.html", types: html),
      route("/calls", "showCalls", "Calls that are up, and those that were", "calls.html", types: html),
      route("/calls/{id}", "showCall", "The story of one call", "call.html", types: html),
      route("/conferences", "showConferences", "Who is in which conference", "conferences.html", types: html),
      route("/numbers", "showNumbers", "Numbers that trunks bring calls to", "numbers.html", types: html),
      route("/trunks", "showTrunks", "How the trunks do", "trunks.html", types: html),
      route(
        "/landline.js", "getLibrary", "The library for web apps: one ES module", "landline.js",
        types: ["text/javascript"], headers: RESTService.libraryHeaders),
      route(
        "/landline.d.ts", "getLibraryTypes", "The library's types, for TypeScript", "landline.d.ts",
        types: ["text/plain"], headers: RESTService.libraryHeaders),
      route(
        "/pages/{name}", "getPageFile", "A file that the pages load",
        types: PageFile.mediaTypes.map { String($0.type.prefix { $0 != ";" }) }),
    ]
  }

  private func pageFile(_ name: String, _ call: RESTCall, _ headers: [(String, String)]) throws -> RESTAnswer {
    guard let file = pages.file(name) else { throw Problem(.notFound, "the pages have no such file") }
    return fileAnswer(file, call, headers)
  }

  /// A file as a browser wants it: compressed, or not at all where it has it already.
  /// - Parameter varies: Whether the same address gives others another type.
  func fileAnswer(
    _ file: PageFile, _ call: RESTCall, _ headers: [(String, String)], varies: Bool = false
  ) -> RESTAnswer {
    let small = PageFile.acceptsGzip(call.request.header("accept-encoding")) ? file.compressed : nil
    // Kept by browsers, and asked for again each time: a new executable's pages are seen at once.
    var headers =
      headers + [
        ("ETag", small == nil ? file.tag : file.compressedTag), ("Cache-Control", "no-cache"),
        ("Vary", varies ? "Accept, Accept-Encoding" : "Accept-Encoding"),
      ]
    if file.isNamed(in: call.request.header("if-none-match")) {
      return RESTAnswer(status: 304, headers: headers, mediaType: nil, body: [])
    }
    if small != nil { headers.append(("Content-Encoding", "gzip")) }
    return RESTAnswer(status: 200, headers: headers, mediaType: file.mediaType, body: small ?? file.bytes)
  }
}
