import AppProtocol
import CallEngine
import CallModel
import LandlineHTTP
import LandlineNode
import NodeCore
import Testing

/// Recordings over REST. Every answer is held against the description by the kit.
@Suite struct RecordingRouteTests {
  private static let ofCall = "/v1/live-calls/call-1/recording"
  private static let ofRoom = "/v1/conferences/weekly/recording"

  private static func kit() async throws -> RESTKit {
    let kit = try await RESTKit(
      applications: [
        AppCredentials(
          name: "main", key: "key-main", secret: Redacted("c2VjcmV0"), environment: "production",
          account: AccountName(unchecked: "acme"))
      ])
    try await kit.makeAccount("acme")
    let call = CallSnapshot(
      id: CallID(unchecked: "call-1"), environment: "production", account: AccountName(unchecked: "acme"),
      application: "key", user: nil, kind: .phone, destination: "+46701234567", state: .established,
      startedAt: Instant(milliseconds: 1_795_000_000_000), currency: .eur)
    let room = RoomReport(
      key: RoomKey(environment: "production", application: "key-main", conference: try ConferenceID("weekly")),
      since: Instant(milliseconds: 1_795_000_000_000),
      participants: [
        RoomReport.Participant(
          number: 1, call: call.id, from: CallerIdentity(kind: .user, value: "alice", name: ""),
          since: Instant(milliseconds: 1_795_000_000_000))
      ])
    kit.operations.with {
      $0.live = [call]
      $0.rooms = [room]
    }
    return kit
  }

  private static func row(_ number: Int, _ account: String = "acme", _ state: Recording.State = .complete) -> Recording
  {
    var row = Recording(
      id: RecordingID(unchecked: "recording-\(number)"), subject: .call(CallID(unchecked: "call-\(number)")),
      environment: "production", account: AccountName(unchecked: account), format: .opus,
      startedAt: Instant(milliseconds: 1_795_000_000_000 + Int64(number)))
    row.state = state
    row.milliseconds = 2_000
    return row
  }

  @Test func aCallIsRecordedPausedAndNoLonger() async throws {
    let kit = try await Self.kit()
    #expect(try await kit.send("POST", Self.ofCall, "{}").code == "idempotency.missing")
    let wanted = #"{"format":"wav","announce":true}"#
    #expect(try await kit.send("POST", Self.ofCall, wanted, key: "k-1").status == 201)
    #expect(try await kit.send("POST", Self.ofCall, wanted, key: "k-1").status == 201)
    #expect(try await kit.send("PATCH", Self.ofCall, #"{"paused":true}"#).status == 200)
    #expect(try await kit.send("DELETE", Self.ofCall).status == 204)
    #expect(
      kit.operations.with { $0.callOrders } == [
        .record(.begin(RecordingOptions(.wav, isAnnounced: true))), .record(.pause(true)), .record(.end),
      ])
    await kit.close()
  }

  @Test func aConferenceIsRecordedPausedAndNoLonger() async throws {
    let kit = try await Self.kit()
    #expect(try await kit.send("PATCH", Self.ofRoom, #"{"paused":true}"#).code == "gw.recording")
    let begun = try await kit.send("POST", Self.ofRoom, "{}", key: "k-1")
    #expect(begun.status == 201 && begun.tree["recording"]?["format"] == .string("opus"), "\(begun)")
    #expect(try await kit.send("POST", Self.ofRoom, "{}", key: "k-2").code == "gw.recording")
    let paused = try await kit.send("PATCH", Self.ofRoom, #"{"paused":true}"#)
    #expect(paused.tree["recording"]?["paused"] == .boolean(true), "\(paused)")
    #expect(try await kit.send("DELETE", Self.ofRoom).status == 204)
    #expect(try await kit.send("DELETE", Self.ofRoom).code == "gw.recording")
    let acme = AccountName(unchecked: "acme")
    #expect(
      kit.operations.with { $0.roomOrders } == [
        .record(.begin(RecordingOptions(.opus)), for: acme), .record(.pause(true), for: acme),
        .record(.end, for: acme),
      ])
    await kit.close()
  }

  @Test func aToneAndTracksAreAskedFor() async throws {
    let kit = try await Self.kit()
    let wanted = #"{"tone":true,"tracks":true,"announce":true}"#
    let begun = try await kit.send("POST", Self.ofRoom, wanted, key: "k-1")
    #expect(begun.tree["recording"]?["tone"] == .boolean(true) && begun.tree["recording"]?["tracks"] == .boolean(true))
    #expect(begun.tree["recording"]?["announced"] == .boolean(true), "\(begun)")
    #expect(
      try await kit.send("POST", Self.ofCall, wanted, key: "k-2").code == "body.unknownMember", "a call has no tracks")
    await kit.close()
  }

  @Test func somebodyIsBroughtInToACallOnceForEachKey() async throws {
    let kit = try await Self.kit()
    let path = "/v1/live-calls/call-1/participants"
    let body = #"{"kind":"phone","target":"+46709999999","muted":true,"headers":{"x-order":"42"}}"#
    #expect(try await kit.send("POST", path, body).code == "idempotency.missing")
    let added = try await kit.send("POST", path, body, key: "add-1", as: "owner")
    #expect(added.status == 201 && added.tree["id"] == .string("call-1"), "\(added)")
    #expect(try await kit.send("POST", path, body, key: "add-1", as: "owner").status == 201)
    let orders = kit.operations.with { $0.orders }
    let order = try #require(orders.first)
    #expect(orders.count == 1 && order.host?.text == "call-1" && order.second == (.phone, "+46709999999"))
    #expect(order.application == "key" && order.account.text == "acme" && order.beginsMuted)
    #expect(try await kit.send("POST", path, #"{"kind":"conference","target":"x"}"#, key: "a-2").code == "body.member")
    #expect(
      try await kit.send("POST", "/v1/live-calls/call-9/participants", body, key: "a-3").code == "call.unknown")
    #expect(
      try await kit.send("POST", path, body.replacing("}}", with: #"},"account":"other"}"#), key: "a-4", as: "owner")
        .code == "ledger.unknownAccount")
    await kit.close()
  }

  @Test func whatIsWrongIsNamed() async throws {
    let kit = try await Self.kit()
    #expect(try await kit.send("POST", Self.ofCall, #"{"format":"mp3"}"#, key: "k-1").code == "body.member")
    #expect(
      try await kit.send("POST", "/v1/live-calls/call-9/recording", "{}", key: "k-2").code == "call.unknown")
    #expect(
      try await kit.send("POST", "/v1/conferences/other/recording", "{}", key: "k-3").code == "conference.unknown")
    #expect(try await kit.send("PATCH", Self.ofCall, "{}").code == "body.missingMember")
    kit.recordings.with { $0.shortage = "recordings have no room left" }
    let full = try await kit.send("POST", Self.ofCall, "{}", key: "k-4")
    #expect(full.code == "gw.recording" && full.text.contains("no room left"), "\(full)")
    #expect(kit.operations.with { $0.callOrders } == [])
    await kit.close()
  }

  @Test func recordingsAreListedByPageCallAndAccount() async throws {
    let kit = try await Self.kit()
    try await kit.makeAccount("other")
    kit.recordings.with { $0.rows = [Self.row(1), Self.row(2, "other"), Self.row(3)] }
    func ids(_ query: String, as who: String = "operator") async throws -> [String] {
      try await kit.send("GET", "/v1/recordings\(query)", as: who).tree["recordings"]?.elements
        .compactMap { $0["id"]?.stringValue } ?? []
    }
    #expect(try await ids("") == ["recording-3", "recording-2", "recording-1"])
    #expect(try await ids("?call=call-1") == ["recording-1"])
    #expect(try await ids("?account=other") == ["recording-2"])
    #expect(try await ids("", as: "owner") == ["recording-3", "recording-1"])
    let page = try await kit.send("GET", "/v1/recordings?limit=2")
    #expect(page.tree["next"] == .string("recording-2") && page.headers["link"]?.contains("cursor=recording-2") == true)
    #expect(try await ids("?limit=2&cursor=recording-2") == ["recording-1"])
    #expect(try await kit.send("GET", "/v1/recordings?account=other", as: "owner").code == "ledger.unknownAccount")
    #expect(try await kit.send("GET", "/v1/recordings/recording-3").tree["duration_ms"] == .integer(2_000))
    #expect(try await kit.send("GET", "/v1/recordings/recording-2", as: "owner").code == "recording.unknown")
    await kit.close()
  }

  @Test func soundIsHandedOutWholeAndByRange() async throws {
    let kit = try await Self.kit()
    kit.recordings.with { $0.rows = [Self.row(1), Self.row(2, "acme", .running)] }
    let path = "/v1/recordings/recording-1/sound"
    let whole = try await kit.send("GET", path)
    #expect(whole.status == 200 && whole.body.count == 1_000 && whole.headers["content-type"] == "audio/ogg")
    #expect(whole.headers["content-length"] == "1000" && whole.headers["cache-control"] == "private, no-store")
    let part = try await kit.send("GET", path, fields: [("Range", "bytes=10-19")])
    #expect(part.status == 206 && part.body == Array(10..<20))
    #expect(part.headers["content-range"] == "bytes 10-19/1000")
    let last = try await kit.send("GET", path, fields: [("Range", "bytes=-5")])
    #expect(last.headers["content-range"] == "bytes 995-999/1000")
    let beyond = try await kit.send("GET", path, fields: [("Range", "bytes=1000-")])
    #expect(beyond.status == 416 && beyond.headers["content-range"] == "bytes */1000")
    #expect(try await kit.send("GET", path, fields: [("Range", "lines=1-2")]).status == 200)
    #expect(try await kit.send("GET", "/v1/recordings/recording-2/sound").code == "recording.running")
    #expect(try await kit.send("GET", "/v1/recordings/recording-9/sound").code == "recording.unknown")
    kit.recordings.with { $0.damage = 15 }
    let damaged = try await kit.send("GET", path, fields: [("Range", "bytes=10-19")])
    #expect(damaged.code == "recording.unreadable")
    await kit.close()
  }

  @Test func aRecordingIsDeletedWhenItIsOver() async throws {
    let kit = try await Self.kit()
    kit.recordings.with { $0.rows = [Self.row(1), Self.row(2, "other"), Self.row(3, "acme", .running)] }
    #expect(try await kit.send("DELETE", "/v1/recordings/recording-3").code == "recording.running")
    #expect(try await kit.send("DELETE", "/v1/recordings/recording-2", as: "owner").code == "recording.unknown")
    #expect(try await kit.send("DELETE", "/v1/recordings/recording-1", as: "owner").status == 204)
    #expect(try await kit.send("GET", "/v1/recordings/recording-1").code == "recording.unknown")
    await kit.close()
  }

  @Test(arguments: [
    ("bytes=0-", ByteRange.bytes(first: 0, last: 99)), ("bytes=0-0", .bytes(first: 0, last: 0)),
    ("bytes=90-1000", .bytes(first: 90, last: 99)), ("bytes=-1000", .bytes(first: 0, last: 99)),
    ("bytes=100-", .beyond), ("bytes=-0", .beyond),
  ])
  func rangesAreRead(_ text: String, _ range: ByteRange) { #expect(ByteRange(text, of: 100) == range) }

  @Test(arguments: [
    "", "bytes", "bytes=", "bytes=-", "bytes=5-4", "bytes=1-2,4-5", "bytes=a-b", "bytes=0x1-", "items=1-2",
  ])
  func whatIsNoRangeIsIgnored(_ text: String) { #expect(ByteRange(text, of: 100) == nil) }
}
