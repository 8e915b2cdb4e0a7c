import AppProtocol
import CallEngine
import CallModel
import LandlineHTTP
import LandlineNode
import NodeCore
import Testing

/// What is said in calls and conferences over REST. Every answer is held against the description by the kit.
@Suite struct SayingRouteTests {
  private static let ofCall = "/v1/live-calls/call-1/say"
  private static let ofRoom = "/v1/conferences/weekly/say"

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

  @Test func wordsAndSoundsAreSaid() async throws {
    let kit = try await Self.kit()
    let words = #"{"text":"Hello there."}"#
    #expect(try await kit.send("POST", Self.ofCall, words).code == "idempotency.missing")
    for _ in 0..<2 {
      let said = try await kit.send("POST", Self.ofCall, words, key: "k-1")
      #expect(said.status == 200 && said.tree["duration_ms"] == .integer(1_500))
    }
    #expect(try await kit.send("POST", Self.ofRoom, #"{"sound":"jingle"}"#, key: "k-2").status == 200)
    #expect(kit.operations.with { $0.said } == [.text("Hello there."), .sound("jingle")])
    #expect(try await kit.send("DELETE", Self.ofCall).status == 204)
    #expect(try await kit.send("DELETE", Self.ofRoom).status == 204)
    #expect(kit.operations.with { $0.callOrders } == [.stopSaying([.caller, .called])])
    #expect(kit.operations.with { $0.roomOrders } == [.stopSaying])
    await kit.close()
  }

  @Test func whatIsWrongIsNamed() async throws {
    let kit = try await Self.kit()
    #expect(try await kit.send("POST", Self.ofCall, "{}", key: "k-1").code == "body.missingMember")
    let oneSide = #"{"text":"a","side":"caller","beneath":true}"#
    #expect(try await kit.send("POST", Self.ofCall, oneSide, key: "k-5").code == "body.member")
    let both = #"{"text":"a","sound":"b"}"#
    #expect(try await kit.send("POST", Self.ofCall, both, key: "k-2").code == "body.member")
    #expect(try await kit.send("POST", Self.ofCall, #"{"text":"a","side":"x"}"#, key: "k-3").code == "body.member")
    #expect(
      try await kit.send("POST", "/v1/live-calls/call-9/say", #"{"text":"a"}"#, key: "k-4").code == "call.unknown")
    let outcomes: [(SayingOutcome, String)] = [
      (.unknown, "conference.unknown"), (.refused(CallFailure(.saying, phrase: "it rings", leg: .app)), "gw.saying"),
      (.unusable(SoundProblem(.invalid, "no name of a sound", fix: "a-z")), "body.member"),
      (.unusable(SoundProblem(.missing, "there is no sound jingle", fix: "a file")), "sound.unknown"),
      (.unusable(SoundProblem(.failed, "/secret/path", fix: "again")), "sound.failed"),
    ]
    for (index, (outcome, code)) in outcomes.enumerated() {
      kit.operations.with { $0.saying = outcome }
      let answer = try await kit.send("POST", Self.ofRoom, #"{"sound":"jingle"}"#, key: "o-\(index)")
      #expect(answer.code == code && !answer.text.contains("/secret"), "\(answer)")
    }
    await kit.close()
  }
}
