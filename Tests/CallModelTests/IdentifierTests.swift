import CallModel
import Testing

@Suite("User ids, conference ids, redaction")
struct IdentifierTests {
  static func text(_ count: Int) -> String { String(repeating: "x", count: count) }

  @Test("every printable ASCII character and no other byte")
  func characters() throws {
    for value in UInt8(0)...0x7F {
      let text = "a" + String(Unicode.Scalar(value)) + "b"
      let allowed = (0x21...0x7E).contains(value)
      #expect(((try? UserID(text))?.text == text) == allowed, "byte \(value)")
      #expect(((try? ConferenceID(text))?.text == text) == allowed, "byte \(value)")
    }
  }

  @Test(
    "user ids hold their limits",
    arguments: [
      ("", 40, "user.empty", 0), ("a", 40, nil, nil), (text(40), 40, nil, nil), (text(41), 40, "user.long", 40),
      (text(255), 255, nil, nil), (text(256), 255, "user.long", 255), ("a", 1, nil, nil), ("ab", 1, "user.long", 1),
      ("bj\u{F6}rn", 40, "user.character", 2), ("a b", 40, "user.character", 1), ("ab\n", 40, "user.character", 2),
      (text(100_000), 40, "user.long", 40),
    ] as [(String, Int, String?, Int?)])
  func users(_ text: String, _ limit: Int, _ rule: String?, _ offset: Int?) throws {
    let rules = try UserID.Rules(maximumLength: limit)
    guard let rule else {
      #expect(try UserID(text, rules: rules).description == text)
      return
    }
    let error = #expect(throws: InvalidValue.self) { try UserID(text, rules: rules) }
    #expect(error?.rule == rule)
    #expect(error?.offset == offset)
    #expect(error?.accepted.contains("\(limit)") == true)
  }

  @Test("rules refuse a length that cannot be", arguments: [-1, 0, 256, Int.max, Int.min])
  func rules(_ length: Int) {
    let error = #expect(throws: InvalidValue.self) { try UserID.Rules(maximumLength: length) }
    #expect(error?.rule == "user.rules")
    #expect(UserID.Rules.standard.maximumLength == 40)
  }

  @Test(
    "conference ids hold their limit",
    arguments: [
      ("", "conference.empty", 0), (text(64), nil, nil), (text(65), "conference.long", 64),
      ("a b", "conference.character", 1),
    ] as [(String, String?, Int?)])
  func conferences(_ text: String, _ rule: String?, _ offset: Int?) throws {
    guard let rule else {
      #expect(try ConferenceID(text).text == text)
      return
    }
    let error = #expect(throws: InvalidValue.self) { try ConferenceID(text) }
    #expect(error?.rule == rule)
    #expect(error?.offset == offset)
  }

  @Test("a redacted value shows in no textual form")
  func redaction() {
    let secret = Redacted("s3cret")
    var dumped = ""
    dump(secret, to: &dumped)
    let holder: [String: Redacted<String>] = ["key": secret]
    for text in [
      "\(secret)", String(describing: secret), String(reflecting: secret), dumped, "\(holder)", "\([secret])",
    ] {
      #expect(!text.contains("s3cret"))
      #expect(text.contains("redacted"))
    }
    #expect(secret.exposed == "s3cret")
    #expect(secret == Redacted("s3cret"))
    #expect(secret != Redacted("other"))
  }
}
