import Foundation
import LandlineHTTP
import Testing

/// The documentation, and what is answered where nothing is.
@Suite struct DocumentPageTests {
  private static let html = [("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")]

  @Test func everyDocumentOfTheListIsAPageAndMarkdown() async throws {
    let kit = try await RESTKit()
    let list = try await kit.send("GET", "/llms.txt", as: nil)
    #expect(list.headers["content-type"] == "text/plain; charset=utf-8")
    #expect(list.text.hasPrefix("# Landline\n\n> "))
    let paths = list.text.matches(of: #/\]\((/[^)]+)\): /#).map { String($0.1) }
    let documents = paths.filter { $0.hasPrefix("/docs/") }
    #expect(documents.count > 20)
    #expect(Set(documents).count == documents.count)
    for name in ["readme", "landline-js", "swift", "porting", "protocol", "messages", "configuration", "rest"] {
      #expect(documents.contains("/docs/\(name).md"), "\(name)")
    }
    var links: Set<String> = Set(paths)
    for path in documents {
      let text = try await kit.send("GET", path, as: nil)
      #expect(text.status == 200, "\(path)")
      #expect(text.headers["content-type"] == "text/markdown; charset=utf-8")
      #expect(text.text.hasPrefix("# "), "\(path)")
      let name = String(path.dropLast(3))
      #expect(try await kit.send("GET", name, as: nil).text == text.text, "\(path)")
      let page = try await kit.send("GET", name, as: nil, fields: Self.html)
      #expect(page.headers["content-type"] == "text/html; charset=utf-8")
      #expect(page.headers["content-security-policy"] == PageFileTests.policy)
      #expect(page.text.contains("<main id=\"main\""))
      // Every table is drawn, nothing is left that only a machine reads.
      #expect(!page.text.contains(/<p>\|/), "\(path)")
      #expect(!page.text.contains(/<style|\sstyle=|\son[a-z]+=/), "\(path)")
      #expect(page.text.matches(of: /<h1/).count == 1, "\(path)")
      let ids = page.text.matches(of: #/ id="([^"]*)"/#).map { String($0.1) }
      #expect(Set(ids).count == ids.count, "\(path)")
      links.formUnion(page.text.matches(of: #/href="(/[^"#]*)"/#).map { String($0.1) })
      for target in page.text.matches(of: ##/href="#([^"]*)"/##) {
        #expect(ids.contains(String(target.1)), "\(path) leads to \(target.1)")
      }
      let small = try await kit.send("GET", name, as: nil, fields: Self.html + [("Accept-Encoding", "gzip")])
      #expect(small.headers["content-encoding"] == "gzip", "\(path)")
      let known = try await kit.send(
        "GET", name, as: nil, fields: Self.html + [("If-None-Match", page.headers["etag"] ?? "")])
      #expect(known.status == 304, "\(path)")
    }
    for link in links {
      let answer = try await kit.send("GET", link, as: nil, fields: Self.html)
      #expect(answer.status == 200, "\(link)")
    }
    await kit.close()
  }

  @Test func documentsSayWhatTheRepositorySays() async throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let kit = try await RESTKit()
    func file(_ path: String) throws -> String {
      try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }
    let readme = try await kit.send("GET", "/docs/readme.md", as: nil).text
    #expect(readme.dropFirst(11) == (try file("README.md")).dropFirst(11))
    #expect(
      try await kit.send("GET", "/docs/configuration.md", as: nil).text.contains(file("Config/landline.yaml")))
    let described = try await kit.send("GET", "/asyncapi.json", as: nil)
    #expect(described.headers["content-type"] == "application/json")
    #expect(described.text == (try file("Sources/AppProtocol/API/landline.v1.asyncapi.json")))
    let messages = try await kit.send("GET", "/docs/messages.md", as: nil).text
    #expect(messages.contains("### `register`") && messages.contains("4sk2/7AD0VoGke0qc1ZiJ2BtzYA="))
    let routes = try await kit.send("GET", "/docs/rest.md", as: nil).text
    for (method, path) in kit.description.operations {
      #expect(routes.contains("### \(method) \(path)\n"), "\(method) \(path)")
    }
    // Every document that the repository has for its readers is there.
    let names = try FileManager.default.subpathsOfDirectory(atPath: root.appendingPathComponent("Sources").path)
    for name in names where name.contains(".docc/") && name.hasSuffix(".md") {
      #expect(Documentation.document("Sources/\(name)") != nil, "\(name)")
    }
    await kit.close()
  }

  @Test func everyCodeIsInTheListOfCodes() async throws {
    let kit = try await RESTKit()
    let text = try await kit.send("GET", "/errors", as: nil)
    #expect(text.headers["content-type"] == "text/plain; charset=utf-8")
    let page = try await kit.send("GET", "/errors", as: nil, fields: Self.html)
    #expect(page.headers["content-type"] == "text/html; charset=utf-8")
    let codes = page.text.matches(of: #/href="/errors/([^"]+)"/#).map { String($0.1) }
    for code in ["sip.busy", "gw.funds", "insufficientCredit", "auth.required", "486", "q850:17"] {
      #expect(codes.contains(code), "\(code)")
      #expect(text.text.contains("\n\(code) "), "\(code)")
    }
    #expect(Set(codes).count == codes.count)
    for code in codes { #expect(Explanation(code) != nil, "\(code)") }
    await kit.close()
  }

  @Test(arguments: [
    "/nothing", "/docs/nothing", "/docs/nothing.md", "/pages/none.js", "/errors/no.code", "/v1/nothing",
  ])
  func whatIsNotThereIsAPageForBrowsersAndAProblemForPrograms(_ path: String) async throws {
    let kit = try await RESTKit()
    let page = try await kit.send("GET", path, as: nil, fields: Self.html)
    #expect(page.status == 404)
    #expect(page.headers["content-type"] == "text/html; charset=utf-8")
    #expect(page.headers["content-security-policy"] == PageFileTests.policy)
    #expect(page.text.contains("There is no such page") && page.text.contains("href=\"/docs\""))
    for fields in [[], [("Accept", "*/*")], [("Accept", "application/json")]] {
      let problem = try await kit.send("GET", path, as: nil, fields: fields)
      #expect(problem.status == 404)
      #expect(problem.headers["content-type"] == "application/problem+json")
    }
    let posted = try await kit.send("POST", path, "{}", as: nil, fields: Self.html)
    #expect(posted.headers["content-type"] == "application/problem+json")
    await kit.close()
  }

  @Test func withoutPagesThereIsNoDocumentation() async throws {
    let kit = try await RESTKit(pages: PageFiles.none)
    for path in ["/docs", "/docs/readme", "/llms.txt"] {
      let answer = try await kit.send("GET", path, as: nil, fields: Self.html)
      #expect(answer.status == 404, "\(path)")
      #expect(answer.headers["content-type"] == "application/problem+json", "\(path)")
    }
    #expect(try await kit.send("GET", "/asyncapi.json", as: nil).status == 200)
    #expect(try await kit.send("GET", "/errors", as: nil).status == 200)
    await kit.close()
  }

  @Test(arguments: [
    ("a `code <b>` here", "<p>a <code>code &lt;b&gt;</code> here</p>\n"),
    ("**strong *and* more** _not_", "<p><strong>strong <em>and</em> more</strong> _not_</p>\n"),
    (
      "[words](/path) <https://x.example>",
      "<p><a href=\"/path\">words</a> <a href=\"https://x.example\">https://x.example</a></p>\n"
    ),
    ("[gone](other.md) a * b", "<p>gone a * b</p>\n"),
    ("one\ntwo\n\nthree", "<p>one\ntwo</p>\n<p>three</p>\n"),
    ("- a\n  more\n- b\n  - c", "<ul>\n<li>a\nmore</li>\n<li>b<ul>\n<li>c</li>\n</ul>\n</li>\n</ul>\n"),
    ("1. a\n2. b\n\n3. c", "<ol>\n<li>a</li>\n<li>b</li>\n<li>c</li>\n</ol>\n"),
    ("## A & b\n## A & b", "<h2 id=\"a-b\">A &amp; b</h2>\n<h2 id=\"a-b-2\">A &amp; b</h2>\n"),
    ("```js\na < b\n  c\n```", "<pre class=\"code\" tabindex=\"0\">a &lt; b\n  c</pre>\n"),
    (
      "| a | b |\n|---|---|\n| `x\\|y` | 2 |",
      "<div class=\"table\" tabindex=\"0\"><table>\n<thead><tr><th scope=\"col\">a</th><th scope=\"col\">b</th></tr></thead>\n<tbody>\n<tr><td><code>x|y</code></td><td>2</td></tr>\n</tbody></table></div>\n"
    ),
    ("> said", "<blockquote>\n<p>said</p>\n</blockquote>\n"),
    ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n"),
    ("`open", "<p>`open</p>\n"), ("[a](b", "<p>[a](b</p>\n"), ("", ""),
  ])
  func markdown(_ text: String, _ html: String) {
    let page = MarkdownPage(text) { $0.hasPrefix("/") || $0.hasPrefix("http") ? $0 : nil }
    #expect(page.html == html)
  }
}
