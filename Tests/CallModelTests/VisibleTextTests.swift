import CallModel
import Testing

@Suite("Text of others on a terminal")
struct VisibleTextTests {
  @Test(
    "controls and marks that turn the direction of writing become escapes",
    arguments: [
      ("", ""), ("plain", "plain"), ("å 漢 🇸🇪", "å 漢 🇸🇪"), ("a\u{202E}b", #"a\u{202E}b"#),
      ("\u{200E}\u{200F}\u{61C}", #"\u{200E}\u{200F}\u{61C}"#), ("\u{2066}x\u{2069}", #"\u{2066}x\u{2069}"#),
      ("\u{1B}[2J", #"\u{1B}[2J"#), ("\u{9B}31m", #"\u{9B}31m"#), ("a\nb\t", #"a\u{A}b\u{9}"#),
      ("\u{2028}\u{FEFF}", #"\u{2028}\u{FEFF}"#), ("\u{E0041}", #"\u{E0041}"#),
    ])
  func line(_ text: String, _ shown: String) {
    #expect(VisibleText.line(text) == shown)
    // What was shown once is not changed again.
    #expect(VisibleText.line(shown) == shown)
  }

  @Test("lines keep their ends, colours of ours stay, JSON means the same")
  func kinds() {
    #expect(VisibleText.lines("a\n\tb\u{202E}\r\u{1B}") == "a\n\tb\\u{202E}\\u{D}\\u{1B}")
    #expect(VisibleText.marks("\u{1B}[1mx\u{1B}[0m\r\n\u{202E}\u{9B}") == "\u{1B}[1mx\u{1B}[0m\r\n\\u{202E}\\u{9B}")
    #expect(VisibleText.json("{\"a\":\"\u{202E}\u{E0041}å\"}") == #"{"a":"\u202e\udb40\udc41å"}"#)
  }
}
