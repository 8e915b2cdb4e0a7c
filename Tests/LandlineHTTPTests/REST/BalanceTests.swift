import CallModel
import LedgerCore
import Testing

/// What was booked and held over time, as the account's page draws it.
@Suite struct BalanceTests {
  private struct Point: Hashable {
    var posted: MicroUnits
    var held: MicroUnits
    init(_ posted: MicroUnits, _ held: MicroUnits) { (self.posted, self.held) = (posted, held) }
  }

  private static func points(_ answer: RESTKit.Answer) -> [Point] {
    (answer.tree["points"]?.elements ?? []).map {
      Point(MicroUnits($0["posted_micro"]?.integerValue ?? -1), MicroUnits($0["held_micro"]?.integerValue ?? -1))
    }
  }

  @Test func aCallIsHeldAndThenCharged() async throws {
    let kit = try await RESTKit()
    try await kit.makeAccount("acme", credit: "5")
    let start = kit.clock.now
    kit.clock.advance(seconds: 60)
    // 600 s are held for the call, 90 s are charged: 1000 micro-units a second and the fee of 1.5, rounded up.
    try await kit.bookCall("one", "acme", seconds: 90, at: kit.clock.now)
    kit.clock.advance(seconds: 60)
    let whole = try await kit.send("GET", "/v1/accounts/acme/balances")
    #expect(whole.status == 200)
    #expect(whole.tree["complete"] == .boolean(true))
    #expect(whole.tree["currency"] == .string("EUR"))
    let cost: MicroUnits = 90_002
    #expect(Self.points(whole).last == Point(5_000_000 - cost, 0))
    #expect(Self.points(whole).contains(Point(5_000_000, 0)))
    let times = (whole.tree["points"]?.elements ?? []).compactMap { $0["at"]?.stringValue }
    #expect(times == times.sorted() && times.count >= 3)
    // A period that begins behind the top-up begins with what was there.
    let later = start.advanced(byMilliseconds: 30_000)
    let part = try await kit.send("GET", "/v1/accounts/acme/balances?from=\(later)")
    #expect(Self.points(part).first == Point(5_000_000, 0))
    #expect(Self.points(part).last == Point(5_000_000 - cost, 0))
    await kit.close()
  }

  @Test func whatIsHeldNowIsInIt() async throws {
    let kit = try await RESTKit()
    try await kit.makeAccount("acme", credit: "5")
    kit.clock.advance(seconds: 10)
    let node = NodeID(unchecked: "gw-1")
    _ = try await kit.ledger.registerNode(node, at: kit.clock.now)
    let epoch = try await kit.ledger.read { try $0.nodes().last?.epoch ?? 1 }
    func perform(_ phase: CallOperation.Phase) async throws {
      let operation = CallOperation(
        account: AccountName(unchecked: "acme"), call: CallID(unchecked: "up"),
        origin: .init(node: node, epoch: epoch), phase)
      _ = try await kit.ledger.perform(LedgerOperation(.call(operation), at: kit.clock.now, actor: "gw-1"))
    }
    try await perform(
      .authorise(
        .init(
          destination: "+46701234567", country: 46, rating: .rated(try RESTKit.snapshot), seconds: 60)))
    try await perform(.answer)
    kit.clock.advance(seconds: 20)
    // One minute and the fee of 1.5 micro-units, rounded up.
    #expect(Self.points(try await kit.send("GET", "/v1/accounts/acme/balances")).last == Point(5_000_000, 60_002))
    try await perform(.extend(number: 1, seconds: 60))
    kit.clock.advance(seconds: 20)
    let points = Self.points(try await kit.send("GET", "/v1/accounts/acme/balances"))
    #expect(points.contains(Point(5_000_000, 60_002)))
    #expect(points.last == Point(5_000_000, 120_002))
    await kit.close()
  }

  @Test func ofManyEntriesTheNewestAreThere() async throws {
    let kit = try await RESTKit()
    try await kit.makeAccount("acme", credit: "5")
    let name = AccountName(unchecked: "acme")
    for number in 1...501 {
      kit.clock.advance(seconds: 1)
      _ = try await kit.ledger.perform(
        LedgerOperation(
          .move(
            MoneyMovement(
              account: name, key: RequestKey(unchecked: "k\(number)"), .topup(method: RequestKey(unchecked: "card")),
              amount: try Credits(micros: 1_000_000, .eur), detail: "")), at: kit.clock.now, actor: "test"))
    }
    kit.clock.advance(seconds: 1)
    let answer = try await kit.send("GET", "/v1/accounts/acme/balances")
    #expect(answer.tree["complete"] == .boolean(false))
    let points = Self.points(answer)
    #expect(points.count <= 502)
    // 500 entries: the first of them left 7, the last 506.
    #expect(points.first == Point(7_000_000, 0))
    #expect(points.last == Point(506_000_000, 0))
    await kit.close()
  }

  @Test func ofOthersNothingIsTold() async throws {
    let kit = try await RESTKit()
    try await kit.makeAccount("acme", credit: "5")
    try await kit.makeAccount("other", credit: "5")
    #expect(try await kit.send("GET", "/v1/accounts/other/balances", as: "owner").status == 404)
    #expect(try await kit.send("GET", "/v1/accounts/nobody/balances").status == 404)
    #expect(try await kit.send("GET", "/v1/accounts/acme/balances", as: "owner").status == 200)
    #expect(try await kit.send("GET", "/v1/accounts/acme/balances?from=then", as: "owner").status == 400)
    await kit.close()
  }
}
