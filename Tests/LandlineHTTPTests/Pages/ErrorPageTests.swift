import CallModel
import LandlineHTTP
import Testing

/// A page for every code, with the words of `landline explain`.
@Suite struct ErrorPageTests {
  private static let html = [("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")]

  @Test func everyCodeHasAPageForBrowsersAndATextForOthers() async throws {
    let kit = try await RESTKit()
    let codes =
      CallFailureCode.allCases.map { $0.rawValue } + ProblemCode.all.map { $0.name }
      + ["488", "sip:603", "q850:65", "insufficientCredit"]
    for code in codes {
      let explanation = try #require(Explanation(code), "\(code)")
      let text = try await kit.send("GET", "/errors/\(code)", as: nil)
      #expect(text.status == 200, "\(code)")
      #expect(text.headers["content-type"] == "text/plain; charset=utf-8")
      #expect(text.text == explanation.lines.joined(separator: "\n") + "\n")
      let page = try await kit.send("GET", "/errors/\(code)", as: nil, fields: Self.html)
      #expect(page.headers["content-type"] == "text/html; charset=utf-8")
      #expect(page.headers["content-security-policy"] == PageFileTests.policy)
      for row in explanation.rows {
        for value in row.values { #expect(page.text.contains(Self.escaped(value)), "\(code): \(value)") }
      }
      #expect(!page.text.contains(/<style|\sstyle=|\son[a-z]+=/), "\(code)")
    }
    let page = try await kit.send("GET", "/errors/sip.busy", as: nil, fields: Self.html)
    #expect(page.text.contains("<h2>What to do</h2>"))
    #expect(page.text.contains(#"<link rel="stylesheet" href="/pages/pages.css">"#))
    #expect(page.text.contains("<code class=\"mono\">landline explain sip.busy</code>"))
    await kit.close()
  }

  /// As HTML has it in text.
  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
      .replacing("\"", with: "&quot;").replacing("'", with: "&#39;")
  }

  @Test(arguments: [
    "%3Cscript%3Ealert(1)%3C%2Fscript%3E", "made.up", "999", "%00", "q850:200", "..%2Fetc", "sip.busy%20",
    "488%3Cb%3E",
  ])
  func nothingIsMadeOutOfAnUnknownCode(_ code: String) async throws {
    let kit = try await RESTKit()
    let answer = try await kit.send("GET", "/errors/\(code)", as: nil, fields: Self.html)
    #expect(answer.status == 404)
    #expect(answer.headers["content-type"] == "text/html; charset=utf-8")
    #expect(!answer.text.contains("<script>") && !answer.text.contains("<b>"))
    let problem = try await kit.send("GET", "/errors/\(code)", as: nil)
    #expect(problem.status == 404)
    #expect(problem.headers["content-type"] == "application/problem+json")
    await kit.close()
  }
}
