import CallEngine
import CallModel
import LandlineSQLite
import LedgerCore
import RecordsSQLite
import Testing

@Suite("Gateway store: inbound numbers")
struct InboundNumberStoreTests {
  private let acme = AccountName(unchecked: "acme")

  private func row(_ number: String, to user: String = "bob") throws -> InboundNumber {
    InboundNumber(
      try E164Number(number), application: "app", account: acme, targets: [.init(.user(try UserID(user)))])
  }

  /// The rule by which a row is refused.
  private func refusal(_ store: SQLiteGatewayStore, _ row: InboundNumber) async -> String? {
    do {
      try await store.keep(row, environment: "production")
      return nil
    } catch {
      return (error as? InvalidValue)?.rule
    }
  }

  @Test("every part of a row comes back, from the next opening too")
  func whole() async throws {
    let file = try GatewayFile()
    var store = try file.open()
    let full = InboundNumber(
      try E164Number("+46850000537"), application: "app", account: acme, isActive: false,
      targets: [
        .init(.user(try UserID("bob~")), ringSeconds: 5, leadsOn: [.declined]),
        .init(.phone(try E164Number("+46701234567")), ringSeconds: 120, leadsOn: []),
        .init(.sip(try SIPAddress("sips:front@[2001:db8::1]:5071"))),
      ], noAnswerStatus: 503, channels: 10, answersFirst: true,
      callers: .init(refusesAnonymous: true, blocked: ["+4670", "+1"]),
      recording: RecordingOptions(.opus, isAnnounced: false))
    let plain = InboundNumber(try E164Number("+46850000536"), account: acme)
    try await store.keep(full, environment: "production")
    try await store.keep(plain, environment: "production")
    try await store.keep(try row("+46850000536"), environment: "sandbox")
    await store.close()
    store = try file.open()
    #expect(try await store.numbers(environment: "production") == [plain, full])
    let sandbox = try row("+46850000536")
    #expect(try await store.numbers(environment: "sandbox") == [sandbox])
    #expect(try await store.numbers(environment: "other").isEmpty)
    await store.close()
  }

  @Test("a row is replaced and removed by its number, in its own environment alone")
  func change() async throws {
    let file = try GatewayFile()
    let store = try file.open()
    let number = try E164Number("+46850000536")
    try await store.keep(try row("+46850000536"), environment: "production")
    try await store.keep(try row("+46850000536", to: "eve"), environment: "production")
    let eve = try row("+46850000536", to: "eve")
    #expect(try await store.numbers(environment: "production") == [eve])
    #expect(try await store.remove(number, environment: "sandbox") == false)
    #expect(try await store.remove(number, environment: "production"))
    #expect(try await store.remove(number, environment: "production") == false)
    #expect(try await store.numbers(environment: "production").isEmpty)
    await store.close()
  }

  @Test("a row beyond its limits is refused, and so is one too many")
  func limits() async throws {
    let file = try GatewayFile()
    let store = try file.open()
    var wrong = try row("+46850000536")
    wrong.noAnswerStatus = 404
    #expect(await refusal(store, wrong) == "inbound.status")
    wrong = try row("+46850000536")
    wrong.application = nil
    #expect(await refusal(store, wrong) == "inbound.application")
    #expect(try await store.numbers(environment: "production").isEmpty)
    try SQLiteDoor.execute(
      """
      INSERT INTO inbound_number(environment, number, account, document)
      WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < \(InboundNumber.maximumNumbers))
      SELECT 'production', 46850000000 + i, 'acme',
        '{"active":true,"targets":[],"noAnswer":480,"answersFirst":false,"refusesAnonymous":false,"blocked":[]}' FROM n
      """, path: file.path)
    #expect(try await store.numbers(environment: "production").count == InboundNumber.maximumNumbers)
    // One that is there can still be changed.
    try await store.keep(try row("+46850000536"), environment: "production")
    #expect(await refusal(store, try row("+46900000000")) == "inbound.table")
    await store.close()
  }

  @Test("a row that no version wrote is told, never taken")
  func corrupt() async throws {
    let file = try GatewayFile()
    let store = try file.open()
    for document in [
      "{}", "x",
      #"{"active":true,"targets":[{"kind":"pigeon","text":"x","ring":45,"on":[]}],"noAnswer":480,"answersFirst":false,"refusesAnonymous":false,"blocked":[]}"#,
    ] {
      try SQLiteDoor.execute(
        "INSERT OR REPLACE INTO inbound_number VALUES('production', 46850000536, 'acme', '\(document)')",
        path: file.path)
      do {
        _ = try await store.numbers(environment: "production")
        Issue.record("\(document) was taken for a row")
      } catch {
        #expect((error as? LedgerUnavailable)?.cause == .corrupt)
      }
    }
    await store.close()
  }
}
