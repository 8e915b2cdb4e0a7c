import CallModel
import LandlineHTTP
import LedgerCore
import Testing

/// Accounts and their money over HTTP, on a real ledger.
@Suite struct MoneyRouteTests {
  @Test func anAccountsLife() async throws {
    let kit = try await RESTKit()
    let made = try await kit.send(
      "POST", "/v1/accounts",
      #"{"name":"post@paid+1","currency":"USD","kind":"postpaid","credit_limit":"25","zone":"Europe/Stockholm"}"#)
    #expect(made.status == 201)
    #expect(made.headers["location"] == "/v1/accounts/post@paid+1")
    let shown = try await kit.send("GET", "/v1/accounts/post%40paid%2B1")
    #expect(shown.status == 200)
    #expect(shown.tree["available"] == .string("25.000000"))
    #expect(shown.tree["credit_limit_micro"] == .integer(25_000_000))
    #expect(try await kit.send("POST", "/v1/accounts/post@paid+1/lock").status == 200)
    #expect(try await kit.send("GET", "/v1/accounts/post@paid+1").tree["status"] == .string("locked"))
    #expect(try await kit.send("POST", "/v1/accounts/post@paid+1/unlock").status == 200)
    #expect(try await kit.send("POST", "/v1/accounts/post@paid+1/close").status == 200)
    let late = try await kit.send(
      "POST", "/v1/accounts/post@paid+1/topups", #"{"amount":"1","method":"card"}"#, key: "late")
    #expect(late.status == 409)
    #expect(late.code == "ledger.accountClosed")
    let again = try await kit.send("POST", "/v1/accounts", #"{"name":"post@paid+1","currency":"USD"}"#)
    #expect(again.status == 409)
    await kit.close()
  }

  @Test func moneyMovesAndTheHistoryTellsIt() async throws {
    let kit = try await RESTKit()
    try await kit.makeAccount("acme", credit: "10.50")
    try await kit.makeAccount("other")
    let moved = try await kit.send(
      "POST", "/v1/accounts/acme/transfers", #"{"to":"other","amount":"2.25","note":"gift"}"#, key: "t1")
    #expect(moved.status == 201)
    #expect(moved.tree["balance_micro"] == .integer(8_250_000))
    let taken = try await kit.send(
      "POST", "/v1/accounts/acme/adjustments", #"{"amount":"-1","reason":"slip"}"#, key: "a1")
    #expect(taken.tree["amount"] == .string("-1.000000"))
    let history = try await kit.send("GET", "/v1/accounts/acme/history")
    #expect(history.tree["entries"]?.elements.map { $0["kind"]?.stringValue } == ["adjust", "transfer", "topup"])
    let topup = try #require(history.tree["entries"]?.elements.last?["seq"]?.integerValue)
    let back = try await kit.send(
      "POST", "/v1/accounts/acme/refunds", #"{"transfer":\#(topup),"amount":"3"}"#, key: "r1")
    #expect(back.status == 201)
    #expect(back.tree["balance"] == .string("4.250000"))
    let much = try await kit.send(
      "POST", "/v1/accounts/acme/transfers", #"{"to":"other","amount":"100"}"#, key: "t2")
    #expect(much.status == 402)
    #expect(much.code == "ledger.insufficientCredit")
    // What was refused stays refused under its key.
    let repeated = try await kit.send(
      "POST", "/v1/accounts/acme/transfers", #"{"to":"other","amount":"100"}"#, key: "t2")
    #expect(repeated.text == much.text)
    #expect(repeated.headers["idempotent-replayed"] == "true")
    for bad in [#"{"to":"acme","amount":"1"}"#, #"{"to":"other","amount":"0"}"#, #"{"to":"other","amount":1}"#] {
      #expect(
        try await kit.send(
          "POST", "/v1/accounts/acme/transfers", bad, key: "bad \(bad)".filter { $0.isLetter || $0.isNumber }
        ).status == 400)
    }
    await kit.close()
  }

  @Test func historyPagesAreStableAndComplete() async throws {
    let kit = try await RESTKit()
    try await kit.makeAccount("acme")
    // Many bookings of one millisecond: the pages must step over them one by one.
    let account = AccountName(unchecked: "acme")
    let credit = try Credits(micros: 1, .eur)
    let operations = (0..<120).map { number in
      LedgerOperation(
        .move(
          MoneyMovement(
            account: account, key: RequestKey(unchecked: "m-\(number)"), .topup(method: RequestKey(unchecked: "card")),
            amount: credit)), at: Instant(seconds: 1_795_000_000 + Int64(number / 40)), actor: "test")
    }
    for result in await kit.ledger.perform(operations) { #expect(try result.get().refusal == nil) }
    var seen: [Int64] = []
    var uri = "/v1/accounts/acme/history?limit=7"
    while true {
      let page = try await kit.send("GET", uri)
      seen += page.tree["entries"]?.elements.compactMap { $0["seq"]?.integerValue } ?? []
      // An entry that comes meanwhile is newer than the page's place.
      _ = try await kit.send(
        "POST", "/v1/accounts/acme/topups", #"{"amount":"1","method":"card"}"#, key: "meanwhile-\(seen.count)")
      guard let next = page.tree["next"]?.stringValue else {
        #expect(page.headers["link"] == nil)
        break
      }
      #expect(page.headers["link"] == "</v1/accounts/acme/history?limit=7&cursor=\(next)>; rel=\"next\"")
      uri = "/v1/accounts/acme/history?limit=7&cursor=\(next)"
    }
    #expect(seen.count == 120)
    #expect(seen == Set(seen).sorted(by: >))
    await kit.close()
  }

  @Test func accountsComeInPagesAndApplicationsSeeTheirOwn() async throws {
    let kit = try await RESTKit()
    for name in ["acme", "b", "c", "d", "e"] { try await kit.makeAccount(name, credit: name == "acme" ? "5" : nil) }
    var names: [String] = []
    var uri = "/v1/accounts?limit=2"
    while true {
      let page = try await kit.send("GET", uri)
      names += page.tree["accounts"]?.elements.compactMap { $0["account"]?.stringValue } ?? []
      guard let next = page.tree["next"]?.stringValue else { break }
      uri = "/v1/accounts?limit=2&cursor=\(next)"
    }
    #expect(names == ["acme", "b", "c", "d", "e"])
    let own = try await kit.send("GET", "/v1/accounts", as: "app")
    #expect(own.tree["accounts"]?.elements.count == 1)
    #expect(own.tree["accounts"]?.elements.first?["posted_micro"] == .integer(5_000_000))
    #expect(try await kit.send("GET", "/v1/accounts/acme/history", as: "app").status == 200)
    #expect(try await kit.send("GET", "/v1/accounts/b", as: "app").status == 404)
    #expect(try await kit.send("GET", "/v1/accounts/b/history", as: "app").status == 404)
    await kit.close()
  }

  @Test func aKeyIsGoodForOneRequest() async throws {
    let kit = try await RESTKit()
    try await kit.makeAccount("acme")
    let body = #"{"amount":"1","method":"card"}"#
    let first = try await kit.send("POST", "/v1/accounts/acme/topups", body, key: "once")
    let second = try await kit.send("POST", "/v1/accounts/acme/topups", body, key: "\"once\"")
    #expect(first.status == 201)
    #expect(first.headers["idempotent-replayed"] == nil)
    #expect(second.status == 201)
    #expect(second.body == first.body)
    #expect(second.headers["idempotent-replayed"] == "true")
    #expect(second.headers["content-type"] == "application/json")
    let other = try await kit.send("POST", "/v1/accounts/acme/topups", #"{"amount":"2","method":"card"}"#, key: "once")
    #expect(other.status == 422)
    // Keys belong to who sent them.
    let stranger = try await kit.send("POST", "/v1/accounts/acme/topups", body, key: "once", as: "second")
    #expect(stranger.status == 201)
    #expect(stranger.headers["idempotent-replayed"] == nil)
    #expect(try await kit.send("GET", "/v1/accounts/acme").tree["posted"] == .string("2.000000"))
    await kit.close()
  }

  @Test func theSameKeyAtOnceHasOneEffect() async throws {
    let kit = try await RESTKit()
    try await kit.makeAccount("acme")
    let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<16 {
        group.addTask {
          try await kit.send("POST", "/v1/accounts/acme/topups", #"{"amount":"1","method":"card"}"#, key: "race").status
        }
      }
      return try await group.reduce(into: [Int]()) { $0.append($1) }
    }
    #expect(statuses.contains(201))
    #expect(statuses.allSatisfy { $0 == 201 || $0 == 409 })
    #expect(try await kit.send("GET", "/v1/accounts/acme").tree["posted"] == .string("1.000000"))
    await kit.close()
  }

  @Test func aMovementBegunBeforeARestartIsFinishedOnce() async throws {
    let kit = try await RESTKit()
    try await kit.makeAccount("acme")
    let body = #"{"amount":"1","method":"card"}"#
    // The gateway stopped between the ledger's answer and its own.
    let digest = try #require(MoneyRouteTests.digest("POST\n/v1/accounts/acme/topups\n" + body))
    _ = try await kit.idempotency.begin(
      "crash", scope: "production/rest:alice", digest: digest, now: Instant(seconds: 1))
    let first = try await kit.send("POST", "/v1/accounts/acme/topups", body, key: "crash")
    #expect(first.status == 201)
    #expect(try await kit.send("POST", "/v1/accounts/acme/topups", body, key: "crash").body == first.body)
    #expect(try await kit.send("GET", "/v1/accounts/acme").tree["posted"] == .string("1.000000"))
    await kit.close()
  }

  static func digest(_ text: String) -> [UInt8]? { RESTService.digest(Array(text.utf8)) }

  @Test func aLedgerThatIsAwayIsSaidSoAndTheKeyStaysFree() async throws {
    let kit = try await RESTKit()
    try await kit.makeAccount("acme")
    await kit.close()
    let answer = try await kit.send(
      "POST", "/v1/accounts/acme/topups", #"{"amount":"1","method":"card"}"#, key: "away")
    #expect(answer.status == 503)
    #expect(answer.code == "store.unavailable")
    #expect(answer.tree["retryable"] == .boolean(true))
    #expect(!answer.text.contains(kit.folderPath))
    let state = try await kit.idempotency.begin(
      "away", scope: "production/rest:alice", digest: [1], now: Instant(seconds: 1))
    #expect(state == .fresh)
  }
}
