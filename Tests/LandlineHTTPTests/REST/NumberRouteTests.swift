import CallEngine
import CallModel
import LandlineNode
import NodeCore
import Testing

/// Numbers that trunks bring calls to. Every answer is held against the description by the kit.
@Suite struct NumberRouteTests {
  private static func application(_ name: String, _ account: String) -> AppCredentials {
    AppCredentials(
      name: name, key: "key-\(name)", secret: Redacted("s"), environment: "production",
      account: AccountName(unchecked: account))
  }

  private static func kit(_ applications: [AppCredentials] = [application("phone", "acme")]) async throws -> RESTKit {
    let kit = try await RESTKit(applications: applications)
    try await kit.makeAccount("acme")
    try await kit.makeAccount("other")
    return kit
  }

  private static let path = "/v1/numbers/+46850000536"

  @Test func aNumberIsMadeReadReplacedAndRemoved() async throws {
    let kit = try await Self.kit()
    let made = try await kit.send("PUT", Self.path, #"{"targets":[{"kind":"user","target":"bob"}]}"#)
    #expect(made.status == 200)
    #expect(made.tree["account"] == .string("acme") && made.tree["application"] == .string("phone"))
    #expect(made.tree["application_key"] == .string("key-phone") && made.tree["no_answer"] == .integer(480))
    #expect(made.tree["active"] == .boolean(true) && made.tree["configured_at"] == .null)
    let target = made.tree["targets"]?.elements.first
    #expect(target?["ring_seconds"] == .integer(45))
    #expect(target?["on"]?.elements == [.string("busy"), .string("no-answer"), .string("unreachable")])

    // Again: the same row, and an escaped plus is the same number.
    let again = try await kit.send(
      "PUT", "/v1/numbers/%2B46850000536", #"{"targets":[{"kind":"user","target":"bob"}]}"#)
    #expect(again.status == 200 && again.body == made.body)

    let full = try await kit.send(
      "PUT", Self.path,
      """
      {"application":"key-phone","account":"other","active":false,"no_answer":503,"channels":10,"answer_first":true,
       "refuse_anonymous":true,"blocked":["+4670","+1"],"record":"wav","record_announced":false,
       "targets":[{"kind":"user","target":"bob","ring_seconds":20,"on":["declined"]},{"kind":"phone","target":"+46701234567","on":[]},
                  {"kind":"sip","target":"sip:front@pbx.example.com"}]}
      """)
    #expect(full.status == 200)
    let row = try #require(kit.operations.with { $0.numbers }.first?.row)
    #expect(
      row
        == InboundNumber(
          try E164Number("+46850000536"), application: "key-phone", account: AccountName(unchecked: "other"),
          isActive: false,
          targets: [
            .init(.user(try UserID("bob")), ringSeconds: 20, leadsOn: [.declined]),
            .init(.phone(try E164Number("+46701234567")), leadsOn: []),
            .init(.sip(try SIPAddress("front@pbx.example.com"))),
          ], noAnswerStatus: 503, channels: 10, answersFirst: true,
          callers: .init(refusesAnonymous: true, blocked: ["+4670", "+1"]),
          recording: RecordingOptions(.wav, isAnnounced: false)))
    #expect(try await kit.send("GET", Self.path).body == full.body)
    #expect(try await kit.send("DELETE", Self.path).status == 204)
    #expect(try await kit.send("DELETE", Self.path).code == "number.unknown")
    #expect(try await kit.send("GET", Self.path).code == "number.unknown")
    #expect(
      kit.operations.with { $0.changes } == [
        "production set +46850000536 by rest:alice", "production set +46850000536 by rest:alice",
        "production set +46850000536 by rest:alice", "production removed +46850000536 by rest:alice",
      ])
    await kit.close()
  }

  @Test(
    arguments: [
      (#"{"targets":[{"kind":"user","target":"b b"}]}"#, "body.member", "targets[0].target"),
      (
        #"{"targets":[{"kind":"user","target":"bob"},{"kind":"voicemail","target":"room"}]}"#, "body.member",
        "targets[1].kind"
      ),
      (
        #"{"targets":[{"kind":"conference","target":"room"},{"kind":"user","target":"bob"}]}"#, "body.member", "targets"
      ),
      (#"{"targets":[{"kind":"phone","target":"112"}]}"#, "body.member", "targets[0].target"),
      (#"{"targets":[{"kind":"user","target":"bob","ring_seconds":4}]}"#, "body.member", "targets[0].ring_seconds"),
      (
        #"{"targets":[{"kind":"user","target":"bob","ring_seconds":9223372036854775807}]}"#, "body.member",
        "targets[0].ring_seconds"
      ),
      (#"{"targets":[{"kind":"user","target":"bob","on":["maybe"]}]}"#, "body.member", "targets[0].on[0]"),
      (#"{"targets":[{"kind":"user","target":"bob","rings":4}]}"#, "body.unknownMember", "targets[0].rings"),
      (#"{"targets":[7]}"#, "body.member", "targets[0]"),
      (#"{"targets":{}}"#, "body.member", "targets"),
      (#"{"targets":[{},{},{},{},{},{}]}"#, "body.member", "targets"),
      (#"{"no_answer":404}"#, "body.member", "no_answer"),
      (#"{"channels":0}"#, "body.member", "channels"),
      (#"{"blocked":["4670"]}"#, "body.member", "blocked[0]"),
      (#"{"blocked":[true]}"#, "body.member", "blocked[0]"),
      (#"{"account":"nobody"}"#, "body.member", "account"),
      (#"{"application":"fone"}"#, "body.member", "application"),
      (#"{"active":"yes"}"#, "body.member", "active"),
      (#"{"nummer":1}"#, "body.unknownMember", "nummer"),
    ])
  func whatIsWrongIsNamed(body: String, code: String, member: String) async throws {
    let kit = try await Self.kit()
    let answer = try await kit.send("PUT", Self.path, body)
    #expect(answer.status == 400 && answer.code == code, "\(answer.text)")
    #expect(answer.tree["member"] == .string(member), "\(answer.text)")
    #expect(kit.operations.with { $0.numbers }.isEmpty)
    await kit.close()
  }

  @Test func aUserNeedsAnApplicationAndEveryNumberAnAccount() async throws {
    let kit = try await Self.kit([Self.application("phone", "acme"), Self.application("desk", "other")])
    let user = try await kit.send("PUT", Self.path, #"{"account":"acme","targets":[{"kind":"user","target":"bob"}]}"#)
    #expect(user.code == "body.missingMember" && user.tree["member"] == .string("application"))
    let account = try await kit.send("PUT", Self.path, #"{"targets":[{"kind":"phone","target":"+46701234567"}]}"#)
    #expect(account.code == "body.missingMember" && account.tree["member"] == .string("account"))
    let desk = try await kit.send("PUT", Self.path, #"{"application":"desk"}"#)
    #expect(desk.tree["account"] == .string("other"))
    #expect(try await kit.send("PUT", "/v1/numbers/46850000536", "{}").tree["parameter"] == .string("number"))
    #expect(try await kit.send("PUT", "/v1/numbers/+46000000404", "{}").code == "query.parameter")
    await kit.close()
  }

  @Test func whatIsNotOnesOwnStaysAsItIs() async throws {
    let kit = try await Self.kit()
    for (change, code, detail) in [
      (
        RowChange.configured(environment: "production"), "number.configured",
        "environments.production.numbers.+46850000536"
      ),
      (.taken(environment: "sandbox"), "number.taken", "sandbox"),
    ] {
      kit.operations.with { $0.change = change }
      for method in ["PUT", "DELETE"] {
        let answer = try await kit.send(method, Self.path, method == "PUT" ? "{}" : nil)
        #expect(answer.status == 409 && answer.code == code, "\(answer.text)")
        #expect(answer.tree["detail"]?.stringValue?.contains(detail) == true, "\(answer.text)")
      }
    }
    await kit.close()
  }

  @Test func ownersSeeTheirAccountsNumbersAndChangeNone() async throws {
    let kit = try await Self.kit()
    let acme = AccountName(unchecked: "acme")
    kit.operations.with { state in
      state.numbers = ["+46850000536", "+46850000537", "+46850000538"].enumerated().compactMap { index, text in
        (try? E164Number(text)).map {
          NumberReport(
            row: InboundNumber($0, account: index == 1 ? AccountName(unchecked: "other") : acme),
            isConfigured: index == 0,
            liveCalls: index)
        }
      }
    }
    func numbers(_ answer: RESTKit.Answer) -> [String] {
      answer.tree["numbers"]?.elements.compactMap { $0["number"]?.stringValue } ?? []
    }
    let all = try await kit.send("GET", "/v1/numbers")
    #expect(numbers(all) == ["+46850000536", "+46850000537", "+46850000538"] && all.tree["next"] == .null)
    let first = all.tree["numbers"]?.elements.first
    #expect(first?["configured_at"] == .string("environments.production.numbers.+46850000536"))
    #expect(all.tree["numbers"]?.elements.last?["live_calls"] == .integer(2))
    for who in ["owner", "app"] {
      #expect(numbers(try await kit.send("GET", "/v1/numbers", as: who)) == ["+46850000536", "+46850000538"])
      #expect(try await kit.send("GET", "/v1/numbers/+46850000537", as: who).code == "number.unknown")
      #expect(try await kit.send("GET", Self.path, as: who).status == 200)
      #expect(try await kit.send("PUT", Self.path, "{}", as: who).code == "auth.role")
      #expect(try await kit.send("DELETE", Self.path, as: who).code == "auth.role")
    }
    // Page by page, while numbers come and go.
    let page = try await kit.send("GET", "/v1/numbers?limit=2")
    #expect(numbers(page) == ["+46850000536", "+46850000537"])
    let next = try #require(page.tree["next"]?.stringValue)
    #expect(page.headers["link"]?.contains(next) == true)
    _ = kit.operations.with { $0.numbers.remove(at: 1) }
    #expect(numbers(try await kit.send("GET", "/v1/numbers?limit=2&cursor=\(next)")) == ["+46850000538"])
    #expect(try await kit.send("GET", "/v1/numbers?cursor=x").code == "query.cursor")
    #expect(try await kit.send("GET", "/v1/numbers", as: nil).status == 401)
    await kit.close()
  }

  @Test func theFarEndCallsANumberAndItsStepsAreLines() async throws {
    let kit = try await Self.kit()
    let number = try E164Number("+46850000536")
    var live = CallRecordFixture("c-9", "acme").record.call
    live.inboundNumber = number
    live.startedAt = kit.clock.now
    let busy = CallFailure(.busy, sipStatus: 486)
    kit.operations.with { [live] state in
      state.live = [live]
      state.inboundSteps = [
        InboundCallStep(milliseconds: 12, .progress(status: 180, phrase: "Ringing", hasSound: false)),
        InboundCallStep(milliseconds: 900, .answered), InboundCallStep(milliseconds: 950, .sound),
        InboundCallStep(milliseconds: 1000, .recorded([1, 2, 3])),
        InboundCallStep(milliseconds: 1001, .recordingEnded([.init(offset: 4, bytes: [9])])),
        InboundCallStep(milliseconds: 1002, .ended(.error, busy)),
      ]
    }
    let path = "/v1/numbers/+46850000536/test-calls"
    let answer = try await kit.send("POST", path, #"{"caller":"anonymous","duration_ms":3000,"record":true}"#)
    #expect(answer.status == 200)
    let lines = answer.text.split(separator: "\n").map(String.init)
    #expect(lines.count == 6)
    #expect(
      lines.first
        == #"{"event":"progress","at_ms":12,"call":"c-9","sip_status":180,"phrase":"Ringing","sound":false}"#)
    #expect(lines.dropFirst(3).first == #"{"event":"recorded","at_ms":1000,"call":"c-9","bytes":"AQID"}"#)
    #expect(lines.last?.contains(#""cause":"error","failure":{"code":"sip.busy""#) == true, "\(lines)")
    #expect(
      kit.operations.with { $0.inboundOrders } == [
        InboundCallOrder(number: number, caller: nil, talkMilliseconds: 3000, records: true)
      ])
    #expect(try await kit.send("POST", path, "{}").status == 200)
    #expect(kit.operations.with { $0.inboundOrders.last?.caller } == (try E164Number("+46701111111")))
    for body in [#"{"caller":"112"}"#, #"{"duration_ms":0}"#, #"{"duration_ms":600001}"#] {
      #expect(try await kit.send("POST", path, body).code == "body.member", "\(body)")
    }
    #expect(try await kit.send("POST", path, "{}", as: "owner").code == "auth.role")
    kit.operations.with { $0.inboundSteps = nil }
    #expect(try await kit.send("POST", path, "{}").code == "number.calling")
    await kit.close()
  }

  @Test func aCallThatIsRefusedAtOnceIsFoundByItsRecord() async throws {
    var refused = CallRecordFixture("c-10", "acme", failure: CallFailure(.userUnreachable))
    // Later than the test's clock.
    refused.record.call.startedAt = Instant(seconds: 4_000_000_000)
    refused.record.call.destination = "+46850000536"
    refused.record.call.from = CallerIdentity(kind: .anonymous, value: "", name: "")
    let kit = try await RESTKit(records: [refused])
    kit.operations.with {
      $0.inboundSteps = [InboundCallStep(milliseconds: 2, .ended(.noAnswer, CallFailure(.userUnreachable)))]
    }
    let answer = try await kit.send("POST", "/v1/numbers/+46850000536/test-calls", "{}")
    #expect(answer.text.contains(#""call":"c-10""#), "\(answer.text)")
    await kit.close()
  }
}
