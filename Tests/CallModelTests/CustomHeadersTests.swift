import CallModel
import Testing

@Suite("Custom headers")
struct CustomHeadersTests {
  static func text(_ count: Int) -> String { String(repeating: "v", count: count) }

  @Test("keeps order and spelling, finds names in any case")
  func reads() throws {
    let headers = try CustomHeaders([
      (name: "X-Order", value: "4711"), (name: "x-empty", value: ""),
      (name: "x-a.!%*_+`'~-9", value: "Bj\u{F6}rn \u{1F4DE}"),
    ])
    #expect(headers.map(\.name) == ["X-Order", "x-empty", "x-a.!%*_+`'~-9"])
    #expect(headers["x-ORDER"] == "4711")
    #expect(headers["x-empty"] == "")
    #expect(headers["x-other"] == nil)
    #expect(headers["x-a.!%*_+`'~-9"] == "Bj\u{F6}rn \u{1F4DE}")
    #expect(headers.count == 3)
    #expect(headers.byteCount == 7 + 4 + 7 + 14 + 11)
    #expect(headers.description == "[X-Order, x-empty, x-a.!%*_+`'~-9]")
    #expect(CustomHeaders().isEmpty)
  }

  @Test(
    "refuses one header by rule and place",
    arguments: [
      ("", "", "header.prefix", 0), ("order", "1", "header.prefix", 0), ("x", "1", "header.prefix", 0),
      ("xorder", "1", "header.prefix", 0), ("From", "1", "header.prefix", 0), (" x-a", "1", "header.prefix", 0),
      ("\u{FF58}-a", "1", "header.prefix", 0),
      ("x-", "1", "header.name", 2), ("x-a b", "1", "header.name", 3), ("x-a:", "1", "header.name", 3),
      ("x-a\r\nVia", "1", "header.name", 3), ("x-\u{F6}", "1", "header.name", 2), ("x-a\u{0}", "1", "header.name", 3),
      ("x-" + text(62), "1", nil, nil), ("x-" + text(63), "1", "header.nameLong", 64),
      ("x-a", "b\r\nVia: c", "header.value", 1), ("x-a", "b\n", "header.value", 1), ("x-a", "\u{0}", "header.value", 0),
      ("x-a", "b\tc", "header.value", 1), ("x-a", "b\u{7F}", "header.value", 1),
      ("x-a", "b\u{1B}[0m", "header.value", 1),
      ("x-a", "b\u{85}c", "header.value", 2), ("x-a", "b\u{9F}c", "header.value", 2), ("x-a", "b\u{A0}c", nil, nil),
      ("x-a", " b", "header.blank", 0), ("x-a", "b ", "header.blank", 1), ("x-a", " ", "header.blank", 0),
      ("x-a", "b c", nil, nil), ("x-a", text(1021), nil, nil), ("x-a", text(1022), "header.budget", nil),
      ("x-a", text(1_000_000), "header.budget", nil),
    ] as [(String, String, String?, Int?)])
  func refuses(_ name: String, _ value: String, _ rule: String?, _ offset: Int?) throws {
    var headers = CustomHeaders()
    guard let rule else {
      try headers.append(name: name, value: value)
      #expect(headers[name] == value)
      return
    }
    let error = #expect(throws: InvalidValue.self) { try headers.append(name: name, value: value) }
    #expect(error?.rule == rule)
    #expect(error?.offset == offset)
    #expect(headers.isEmpty && headers.byteCount == 0)
    // The message names the header and stays one printable line.
    let kind = try #require(error?.kind)
    #expect(kind.utf8.allSatisfy { (0x20...0x7E).contains($0) })
    #expect(kind.utf8.count < 100)
    if rule == "header.value" { #expect(kind.hasSuffix(name)) }
  }

  @Test("what is refused in a value is named as what it is: letters beyond ASCII may stand there")
  func namesControls() throws {
    var headers = CustomHeaders()
    try headers.append(name: "x-a", value: "\u{E5}\u{1F600}")
    let error = #expect(throws: InvalidValue.self) { try headers.append(name: "x-b", value: "b\u{85}") }
    #expect(error?.problem == "control character U+0085 cannot stand in a header value")
  }

  @Test("names are unique without regard to case")
  func duplicates() throws {
    var headers = try CustomHeaders([(name: "x-Order", value: "1")])
    let error = #expect(throws: InvalidValue.self) { try headers.append(name: "X-ORDER", value: "2") }
    #expect(error?.rule == "header.duplicate")
    #expect(error?.kind == "custom header X-ORDER")
    #expect(headers.count == 1)
    #expect(headers["x-order"] == "1")
  }

  @Test("the budget counts bytes of names and values together")
  func budget() throws {
    var headers = CustomHeaders()
    // 16 headers of 64 bytes fill it to the last byte; each value ends in two-byte letters.
    for index in 10..<26 {
      try headers.append(name: "x-\(index)", value: Self.text(40) + String(repeating: "\u{F6}", count: 10))
    }
    #expect(headers.byteCount == CustomHeaders.maximumBytes)
    let error = #expect(throws: InvalidValue.self) { try headers.append(name: "x-a", value: "") }
    #expect(error?.rule == "header.budget")
    #expect(headers.count == 16)
  }
}
