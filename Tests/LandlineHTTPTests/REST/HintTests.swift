import CallModel
import LedgerCore
import NodeCore
import Testing

/// What is said of a number while it is typed.
@Suite struct HintTests {
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
      try await kit.send("GET", "/v1/number-hints?target=+46701234567", as: "owner").tree["region"] == .string("SE"))
    let busy = try await kit.send("GET", "/v1/number-hints?target=+46000000486", as: "owner")
    #expect(busy.tree["is_test"] == .boolean(true))
    #expect(busy.tree["test"] == .string("always busy"))
    #expect(busy.tree["price"]?["per_minute"] == .string("0.000000000"))
    #expect(busy.tree["seconds_available"] == .null)
    let emergency = try await kit.send("GET", "/v1/number-hints?target=112", as: "owner")
    #expect(emergency.tree["canonical"] == .string("112"))
    #expect(emergency.tree["description"] == .string("Emergency services"))
    #expect(emergency.tree["refusal"] == .null)
    let wrong = try await kit.send("GET", "/v1/number-hints?target=070", as: "owner")
    #expect(wrong.status == 200)
    #expect(wrong.tree["canonical"] == .null)
    #expect(wrong.tree["problem"]?["position"] == .integer(0))
    let short = try await kit.send("GET", "/v1/number-hints?target=+4670123", as: "owner")
    #expect(short.tree["is_valid"] == .boolean(false))
    #expect(short.tree["description"] == .string("Sweden, too short"))
    await kit.close()
  }

  @Test func aHintTellsWhyACallWouldBeRefused() async throws {
    let kit = try await kit()
    func refusal(_ query: String, as who: String) async throws -> JSONValue? {
      try await kit.send("GET", "/v1/number-hints?\(query)", as: who).tree["refusal"]
    }
    #expect(try await refusal("target=+4780000000", as: "owner")?["code"] == .string("ledger.noRate"))
    let poor = try await refusal("target=+46701234567&account=other", as: "operator")
    #expect(poor?["code"] == .string("ledger.insufficientCredit"))
    // What is said can be read about.
    let code = try #require(poor?["code"]?.stringValue)
    #expect(try await kit.send("GET", "/errors/\(code)", as: nil).status == 200)
    #expect(try await kit.send("POST", "/v1/accounts/acme/lock").status == 200)
    #expect(try await refusal("target=+46701234567", as: "owner")?["code"] == .string("ledger.accountLocked"))
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
