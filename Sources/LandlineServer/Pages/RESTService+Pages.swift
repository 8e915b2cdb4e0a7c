extension RESTService {
  /// What a page may load and where it may connect: its own gateway and nothing else.
  static let pageHeaders = [
    (
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        + "media-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Permissions-Policy", "microphone=(self)"),
  ]

  /// The web pages and their files; nothing where they are turned off.
  var pageRoutes: [RESTRoute] {
    guard pages != .none else { return [] }
    func page(_ path: String, _ id: String, _ summary: String, _ file: String) -> RESTRoute {
      RESTRoute(method: "GET", path: path, id: id, summary: summary, access: .anyone, success: .text(200, "text/html"))
      {
        _ in try self.pageFile(file)
      }
    }
    return [
      page("/", "showPhone", "The phone", "index.html"),
      page("/account", "showAccount", "Balance and history", "account.html"),
      page("/calls", "showCalls", "Calls", "calls.html"),
      page("/calls/{id}", "showCall", "One call", "call.html"),
      page("/trunks", "showTrunks", "Trunks", "trunks.html"),
      page("/landline.js", "getLibrary", "The library for web apps", "landline.js"),
      page("/landline.d.ts", "getLibraryTypes", "Its types", "landline.d.ts"),
      RESTRoute(
        method: "GET", path: "/pages/{name}", id: "getPageFile", summary: "A file of the pages", access: .anyone,
        success: .text(200, "text/css"), problems: [.notFound]
      ) { call in try self.pageFile(call.path["name"] ?? "") },
    ]
  }

  private func pageFile(_ name: String) throws -> RESTAnswer {
    guard let type = PageFiles.mediaType(of: name), let bytes = pages.bytes(name) else {
      throw Problem(.notFound, "the pages have no such file")
    }
    return RESTAnswer(status: 200, headers: RESTService.pageHeaders, mediaType: type, body: bytes)
  }
}
