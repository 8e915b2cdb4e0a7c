import CallModel
import LandlineServer
import LedgerCore
import Testing

/// What is said of a number while it is typed.
@Suite struct HintTests {
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

  private func kit() async throws -> RESTKit {
    let kit = try await RESTKit(applications: SignInTests.applications)
    try await kit.makeAccount("acme", credit: "1.00")
    try await kit.makeAccount("other")
    let snapshot = try RESTKit.snapshot
    let (number, busy) = (try E164Number("+46701234567"), try E164Number("+46000000486"))
    kit.operations.with {
      $0.quotes[number] = .rated(snapshot)
      $0.quotes[busy] = .sandbox(.busy)
    }
    return kit
  }

  @Test func aHintTellsPriceAndTime() async throws {
    let kit = try await kit()
    let hint = try await kit.send("GET", "/v1/number-hints?target=%2B46%2070-123%2045%2067", as: "owner")
    #expect(
      hint.text
        == #"{"target":"+46 70-123 45 67","canonical":"+46701234567","is_valid":true,"description":"Sweden, mobile","region":"SE","is_test":false,"test":null,"price":{"destination":"Sweden mobile","per_minute":"0.060000000","per_minute_nano":60000000,"fee":"0.000002","fee_micro":2,"initial_seconds":60,"increment_seconds":1,"currency":"EUR"},"available":"1.000000","available_micro":1000000,"seconds_available":999,"refusal":null,"problem":null}"#
    )
    // A plus sign stands for itself.
    #expect(
      try await kit.send("GET", "/v1/number-hints?target=+46701234567", as: "owner").tree["region"] == .text("SE"))
    let busy = try await kit.send("GET", "/v1/number-hints?target=+46000000486", as: "owner")
    #expect(busy.tree["is_test"] == .boolean(true))
    #expect(busy.tree["test"] == .text("always busy"))
    #expect(busy.tree["price"]?["per_minute"] == .text("0.000000000"))
    #expect(busy.tree["seconds_available"] == .null)
    let emergency = try await kit.send("GET", "/v1/number-hints?target=112", as: "owner")
    #expect(emergency.tree["canonical"] == .text("112"))
    #expect(emergency.tree["description"] == .text("Emergency services"))
    #expect(emergency.tree["refusal"] == .null)
    let wrong = try await kit.send("GET", "/v1/number-hints?target=070", as: "owner")
    #expect(wrong.status == 200)
    #expect(wrong.tree["canonical"] == .null)
    #expect(wrong.tree["problem"]?["position"] == .integer(0))
    let short = try await kit.send("GET", "/v1/number-hints?target=+4670123", as: "owner")
    #expect(short.tree["is_valid"] == .boolean(false))
    #expect(short.tree["description"] == .text("Sweden, too short"))
    await kit.close()
  }

  @Test func aHintTellsWhyACallWouldBeRefused() async throws {
    let kit = try await kit()
    func refusal(_ query: String, as who: String) async throws -> JSONTree? {
      try await kit.send("GET", "/v1/number-hints?\(query)", as: who).tree["refusal"]
    }
    #expect(try await refusal("target=+4780000000", as: "owner")?["code"] == .text("ledger.noRate"))
    let poor = try await refusal("target=+46701234567&account=other", as: "operator")
    #expect(poor?["code"] == .text("ledger.insufficientCredit"))
    // What is said can be read about.
    let code = try #require(poor?["code"]?.textValue)
    #expect(try await kit.send("GET", "/errors/\(code)", as: nil).status == 200)
    #expect(try await kit.send("POST", "/v1/accounts/acme/lock").status == 200)
    #expect(try await refusal("target=+46701234567", as: "owner")?["code"] == .text("ledger.accountLocked"))
    await kit.close()
  }

  @Test(arguments: [
    ("", 400, "query.parameter"), ("target=", 400, "query.parameter"), ("target=1&kind=fax", 400, "query.parameter"),
    ("target=1&kind=phone", 200, ""), ("target=1&account=other", 404, "ledger.unknownAccount"),
    ("target=1&account=%20", 404, "ledger.unknownAccount"), ("target=1&x=1", 400, "query.unknown"),
    ("target=1&target=2", 400, "query.parameter"), ("target=%zz", 400, "query.parameter"),
  ])
  func aQueryIsChecked(_ query: String, _ status: Int, _ code: String) async throws {
    let kit = try await kit()
    let answer = try await kit.send("GET", "/v1/number-hints?\(query)", as: "owner")
    #expect(answer.status == status)
    #expect(answer.code ?? "" == code)
    let long = String(repeating: "1", count: TypedNumber.maximumBytes + 1)
    #expect(try await kit.send("GET", "/v1/number-hints?target=\(long)", as: "owner").status == 400)
    #expect(try await kit.send("GET", "/v1/number-hints?target=+46701234567", as: nil).status == 401)
    await kit.close()
  }
}
