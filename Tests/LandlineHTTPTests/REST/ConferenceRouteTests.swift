import AppProtocol
import CallEngine
import CallModel
import LandlineNode
import NodeCore
import Testing

/// Conferences that somebody is in. Every answer is held against the description by the kit.
@Suite struct ConferenceRouteTests {
  private static let path = "/v1/conferences/weekly"

  private static func application(_ name: String) -> AppCredentials {
    AppCredentials(
      name: name, key: "key-\(name)", secret: Redacted("s"), environment: "production",
      account: AccountName(unchecked: name == "phone" ? "acme" : "other"))
  }

  private static func room(_ id: String, _ application: String = "key-phone") throws -> RoomReport {
    RoomReport(
      key: RoomKey(environment: "production", application: application, conference: try ConferenceID(id)),
      since: Instant(milliseconds: 1_795_000_000_000), leads: 2,
      participants: [
        .init(
          number: 1, call: CallID(unchecked: "call-1"),
          from: CallerIdentity(kind: .user, value: "alice", name: "Alice"),
          since: Instant(milliseconds: 1_795_000_000_000), isMuted: true),
        .init(
          number: 2, call: CallID(unchecked: "call-2"),
          from: CallerIdentity(kind: .phone, value: "+46701234567", name: ""),
          since: Instant(milliseconds: 1_795_000_001_000), isSpeaking: true,
          quality: ParticipantQuality(
            .init(meanOpinionScore: 4.2, jitter: 3, loss: 0.02, packets: 900), roundTrip: 31, level: -23)),
      ])
  }

  private static func kit(_ applications: [String] = ["phone"]) async throws -> RESTKit {
    let kit = try await RESTKit(applications: applications.map(application))
    try await kit.makeAccount("acme")
    let rooms = [try room("weekly")]
    kit.operations.with { $0.rooms = rooms }
    return kit
  }

  @Test func whoIsInThemIsListed() async throws {
    let kit = try await Self.kit()
    let list = try await kit.send("GET", "/v1/conferences")
    #expect(list.status == 200 && list.tree["conferences"]?.elements.count == 1)
    let one = try await kit.send("GET", Self.path)
    #expect(one.tree["id"] == .string("weekly") && one.tree["application"] == .string("phone"))
    #expect(one.tree["account"] == .string("acme") && one.tree["locked"] == .boolean(false))
    let people = one.tree["participants"]?.elements ?? []
    #expect(people.map { $0["from"]?["value"] } == [.string("alice"), .string("+46701234567")])
    #expect(people.map { $0["self_muted"] } == [.boolean(true), .boolean(false)])
    #expect(people.map { $0["leads"] } == [.boolean(false), .boolean(true)])
    #expect(people.map { $0["level_dbov"] } == [.null, .integer(-23)])
    #expect(people.last?["quality"]?["loss"] == .number(0.02) && people.first?["quality"] == .null)
    #expect(people.last?["round_trip_ms"] == .number(31))
    #expect(try await kit.send("GET", "/v1/conferences/Weekly").code == "conference.unknown")
    #expect(try await kit.send("GET", "/v1/conferences/\(String(repeating: "r", count: 65))").code == "query.parameter")
    await kit.close()
  }

  @Test func operatorsLockMuteDeafenTakeOutAndEnd() async throws {
    let kit = try await Self.kit()
    #expect(try await kit.send("PATCH", Self.path, #"{"locked":true}"#).tree["locked"] == .boolean(true))
    #expect(try await kit.send("PATCH", Self.path, #"{"tones":false}"#).tree["locked"] == .boolean(true))
    let muted = try await kit.send("PATCH", "\(Self.path)/2", #"{"muted":true,"deaf":true}"#)
    #expect(muted.tree["muted"] == .boolean(true) && muted.tree["deaf"] == .boolean(true), "\(muted)")
    #expect(try await kit.send("PATCH", "\(Self.path)/2", #"{"deaf":false}"#).tree["muted"] == .boolean(true))
    #expect(try await kit.send("PATCH", "\(Self.path)/9", #"{"deaf":false}"#).code == "conference.participant")
    #expect(try await kit.send("PATCH", "\(Self.path)/two", #"{"deaf":false}"#).code == "conference.participant")
    #expect(try await kit.send("DELETE", "\(Self.path)/2").status == 204)
    #expect(try await kit.send("DELETE", "\(Self.path)/2").code == "conference.participant")
    #expect(try await kit.send("DELETE", Self.path).status == 204)
    #expect(try await kit.send("DELETE", Self.path).code == "conference.unknown")
    #expect(try await kit.send("PATCH", Self.path, #"{"locked":true}"#).code == "conference.unknown")
    let orders = kit.operations.with { $0.roomOrders }
    #expect(
      orders == [
        .lock(true), .tones(false), .silence(participant: 2, true), .deafen(participant: 2, true),
        .deafen(participant: 2, false),
        .kick(participant: 2), .end,
      ])
    await kit.close()
  }

  @Test func somebodyIsAddedOnceForEachKey() async throws {
    let kit = try await Self.kit()
    let body = #"{"kind":"phone","target":"+46709999999","muted":true,"headers":{"x-order":"42"}}"#
    let path = "\(Self.path)/participants"
    #expect(try await kit.send("POST", path, body).code == "idempotency.missing")
    let added = try await kit.send("POST", path, body, key: "add-1")
    #expect(added.status == 201 && added.tree["id"] == .string("call-1"), "\(added)")
    #expect(try await kit.send("POST", path, body, key: "add-1").status == 201)
    let orders = kit.operations.with { $0.orders }
    #expect(orders.count == 1)
    let order = try #require(orders.first)
    #expect(order.first == (.conference, "weekly") && order.second == (.phone, "+46709999999"))
    #expect(order.application == "key-phone" && order.account.text == "acme" && order.beginsMuted)
    #expect(order.headers == ["x-order": "42"])
    #expect(
      try await kit.send("POST", path, #"{"kind":"conference","target":"x"}"#, key: "add-2").code == "body.member")
    kit.operations.with { $0.outcome = .failure(CallFailure(.roomFull, leg: .app)) }
    #expect(
      try await kit.send("POST", path, #"{"kind":"user","target":"bob"}"#, key: "add-3").code == "gw.roomFull")
    await kit.close()
  }

  @Test func aConferenceBelongsToItsApplication() async throws {
    let kit = try await Self.kit(["phone", "desk"])
    #expect(try await kit.send("GET", Self.path).code == "query.parameter")
    #expect(try await kit.send("GET", "\(Self.path)?application=phone").status == 200)
    #expect(try await kit.send("GET", "\(Self.path)?application=key-phone").status == 200)
    #expect(try await kit.send("GET", "\(Self.path)?application=desk").code == "conference.unknown")
    #expect(try await kit.send("GET", "\(Self.path)?application=none").code == "query.parameter")
    let rooms = [try Self.room("weekly"), try Self.room("weekly", "key-desk")]
    kit.operations.with { $0.rooms = rooms }
    // An account's owner sees its own, and needs to name no application.
    let own = try await kit.send("GET", "/v1/conferences", as: "owner")
    #expect(own.tree["conferences"]?.elements.compactMap { $0["application"] } == [.string("phone")], "\(own)")
    #expect(try await kit.send("DELETE", Self.path, as: "owner").status == 204)
    #expect(kit.operations.with { $0.rooms.map(\.key.application) } == ["key-desk"])
    await kit.close()
  }
}
