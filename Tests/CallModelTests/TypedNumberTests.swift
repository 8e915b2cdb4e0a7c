import CallModel
import Testing

/// A telephone number as people write it.
@Suite struct TypedNumberTests {
  @Test(arguments: [
    "+46701234567", "+46 70 123 45 67", "+46 70-123 45 67", "+46 (0)70 123 45 67", "0046701234567", "00 46 70 1234567",
    "tel:+46-70-123-45-67", "TEL:+46701234567", "  +46701234567\t", "+46.70.123.45.67", "+46/70/1234567",
    "\u{FF0B}\u{FF14}\u{FF16}701234567", "+46\u{A0}70\u{2011}1234567", "\u{202A}+46701234567\u{202C}",
    "(+46) 701234567",
  ])
  func isRead(_ text: String) throws {
    #expect(TypedNumber(text) == .number(try E164Number("+46701234567")))
  }

  @Test func shortCodesAndTestNumbers() throws {
    #expect(TypedNumber("112") == .emergency(try EmergencyNumber("112")))
    #expect(TypedNumber("1 1 2") == .emergency(try EmergencyNumber("112")))
    #expect(TypedNumber("46000000000") == .number(try E164Number("+46000000000")))
    #expect(TypedNumber("+46 000 000 000") == .number(try E164Number("+46000000000")))
  }

  struct Row: Sendable {
    var text: String
    var message: String
    var position: Int?

    init(_ text: String, _ message: String, _ position: Int?) {
      (self.text, self.message, self.position) = (text, message, position)
    }
  }

  static let problems = [
    Row("", "there is no digit", nil), Row(" - ", "there is no digit", nil),
    Row("070 123 45 67", "the country code is missing: the number must begin with '+'", 0),
    Row("46701234567", "the country code is missing: the number must begin with '+'", 0),
    Row("+46 70x", "'x' is no part of a telephone number", 6),
    Row("tel:+46701234567;ext=1", "';' is no part of a telephone number", 16),
    Row("\u{1F600}+46", "a character that is not seen is no part of a telephone number", 0),
    Row("+46 \u{1F600}", "a character that is not seen is no part of a telephone number", 4),
    Row("+4\u{E9}", "'\u{E9}' is no part of a telephone number", 2),
    Row("+46 70", "only 4 digits where at least 7 are needed", 5),
    Row("+", "only 0 digits where at least 7 are needed", 0),
    Row("+46 7012 3456 7012 34567", "more than 15 digits", 20), Row("+0701234567", "no country code begins with 0", 1),
    Row("+210 1234567", "no country code begins these digits", 1),
    Row("+46+701234567", "'+' is not a digit 0 to 9", 3), Row("sip:a@b", "'s' is no part of a telephone number", 0),
    Row("+46 <script>", "'<' is no part of a telephone number", 4),
  ]

  @Test(arguments: problems) func isNoNumber(_ row: Row) {
    guard case .problem(let message, let accepted, let position) = TypedNumber(row.text) else {
      Issue.record("\(row.text) is read")
      return
    }
    #expect(message == row.message)
    #expect(position == row.position)
    #expect(accepted == "+, a country code and the number, such as +46 70 123 45 67")
  }

  @Test func anythingTypedEndsInAnAnswer() {
    var generator = SystemRandomNumberGenerator()
    let parts = ["+", "0", "(0)", "(", " ", "4", "6", "tel:", "t", "\u{202A}", "\u{FF10}", "\u{1F600}", "é", "-", ";"]
    for _ in 0..<5000 {
      let text = (0..<Int.random(in: 0...24, using: &generator)).map { _ in parts.randomElement(using: &generator) ?? ""
      }
      .joined()
      guard case .problem(_, _, let position?) = TypedNumber(text) else { continue }
      #expect((0..<max(1, text.utf16.count)).contains(position), "\(text)")
    }
  }
}
