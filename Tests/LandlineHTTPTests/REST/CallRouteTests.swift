import CallEngine
import CallModel
import NodeCore
import Testing

/// Calls, trunks and the node over HTTP.
@Suite struct CallRouteTests {
  static let order =
    #"{"account":"acme","first":{"kind":"phone","target":"+46701234567"},"second":{"kind":"sip","target":"sip:a@example.com"},"headers":{"X-Order":"7"}}"#

  @Test func recordsAreListedAndShown() async throws {
    let kit = try await RESTKit(records: [
      CallRecordFixture("one", "acme"), CallRecordFixture("two", "other", failure: CallFailure(.busy, trunk: "one")),
    ])
    let all = try await kit.send("GET", "/v1/calls?limit=1&from=2026-11-01T00:00:00Z&destination=%2B46&cause=hungUp")
    #expect(all.status == 200)
    #expect(all.tree["next"] == .string("next"))
    let own = try await kit.send("GET", "/v1/calls", as: "app")
    #expect(own.tree["calls"]?.elements.compactMap { $0["id"]?.stringValue } == ["one"])
    #expect(own.tree["calls"]?.elements.first?["destination"] == .string("+46701234567"))
    #expect(own.tree["calls"]?.elements.first?["cost"] == .string("0.012345"))
    let failed = try await kit.send("GET", "/v1/calls/two")
    #expect(failed.tree["failure"]?["code"] == .string("sip.busy"))
    #expect(failed.tree["cost_micro"] == .null)
    #expect(try await kit.send("GET", "/v1/calls/two", as: "app").status == 404)
    #expect(try await kit.send("GET", "/v1/calls?account=other", as: "app").status == 404)
    await kit.close()
  }

  @Test func liveCallsAreListedAndEnded() async throws {
    let kit = try await RESTKit()
    kit.operations.with {
      $0.live = [
        CallRecordFixture.snapshot("one", "acme"), CallRecordFixture.snapshot("two", "other"),
        CallRecordFixture.snapshot("three", "acme", environment: "sandbox"),
      ]
    }
    #expect(try await kit.send("GET", "/v1/live-calls").tree["calls"]?.elements.count == 2)
    #expect(try await kit.send("GET", "/v1/live-calls", as: "app").tree["calls"]?.elements.count == 1)
    #expect(try await kit.send("GET", "/v1/calls/one").tree["state"] == .string("established"))
    #expect(try await kit.send("GET", "/v1/calls/three").status == 404)
    #expect(try await kit.send("DELETE", "/v1/live-calls/two", as: "app").status == 404)
    #expect(try await kit.send("DELETE", "/v1/live-calls/three").status == 404)
    #expect(try await kit.send("DELETE", "/v1/live-calls/one", as: "app").status == 204)
    #expect(kit.operations.with { $0.hungUp } == [CallID(unchecked: "one")])
    #expect(try await kit.send("GET", "/v1/live-calls?watch=maybe").status == 400)
    await kit.close()
  }

  @Test func aCallIsPlacedOnce() async throws {
    let kit = try await RESTKit()
    let first = try await kit.send("POST", "/v1/calls", Self.order, key: "c1")
    #expect(first.status == 201)
    #expect(first.headers["location"] == "/v1/calls/call-1")
    let again = try await kit.send("POST", "/v1/calls", Self.order, key: "c1")
    #expect(again.body == first.body)
    #expect(again.headers["idempotent-replayed"] == "true")
    let orders = kit.operations.with { $0.orders }
    #expect(orders.count == 1)
    #expect(orders.first?.second.target == "sip:a@example.com")
    #expect(orders.first?.headers == ["X-Order": "7"])
    let foreign = try await kit.send(
      "POST", "/v1/calls", Self.order.replacing("acme", with: "other"), key: "c2", as: "app")
    #expect(foreign.status == 404)
    let nobody = try await kit.send(
      "POST", "/v1/calls", Self.order.replacing(#""account":"acme","#, with: ""), key: "c3")
    #expect(nobody.code == "body.missingMember")
    let own = try await kit.send(
      "POST", "/v1/calls", Self.order.replacing(#""account":"acme","#, with: ""), key: "c4", as: "app")
    #expect(own.status == 201)
    await kit.close()
  }

  @Test func aCallThatWasBegunBeforeARestartIsNotBegunAgain() async throws {
    let kit = try await RESTKit()
    let digest = try #require(MoneyRouteTests.digest("POST\n/v1/calls\n" + Self.order))
    _ = try await kit.idempotency.begin(
      "crash", scope: "production/rest:alice", digest: digest, now: Instant(seconds: 1))
    let answer = try await kit.send("POST", "/v1/calls", Self.order, key: "crash")
    #expect(answer.status == 409)
    #expect(answer.code == "idempotency.running")
    #expect(answer.headers["retry-after"] == "1")
    #expect(kit.operations.with { $0.orders }.isEmpty)
    await kit.close()
  }

  @Test(arguments: [
    (CallFailure(.insufficientCredit), 402, "gw.funds", true), (CallFailure(.concurrencyCap), 429, "gw.limit", false),
    (CallFailure(.billingUnavailable), 503, "gw.billing", false),
    (
      CallFailure(
        .number,
        invalidValue: InvalidValue(
          kind: "number", rule: "number.digit", offset: 3, problem: "a letter", accepted: "digits")), 400, "gw.number",
      true
    ),
    (CallFailure(.congestion, retryAfterSeconds: 7, correlationID: "c-9"), 503, "sip.congestion", false),
  ])
  func aRefusedCallIsAProblem(_ failure: CallFailure, _ status: Int, _ code: String, _ isKept: Bool) async throws {
    let kit = try await RESTKit()
    kit.operations.with { $0.outcome = .failure(failure) }
    let answer = try await kit.send("POST", "/v1/calls", Self.order, key: "k")
    #expect(answer.status == status)
    #expect(answer.code == code)
    #expect(answer.tree["sip_status"]?.integerValue == failure.sipStatus.map { Int64($0) })
    #expect(answer.tree["call_id"]?.stringValue == failure.correlationID)
    #expect(answer.headers["retry-after"] == failure.retryAfterSeconds.map { String($0) })
    kit.operations.with { $0.outcome = .success(CallID(unchecked: "later")) }
    // A verdict stands; what may pass is tried again.
    let again = try await kit.send("POST", "/v1/calls", Self.order, key: "k")
    #expect(again.status == (isKept ? status : 201))
    await kit.close()
  }

  @Test func trunksStatusAndHealth() async throws {
    let kit = try await RESTKit()
    kit.operations.with {
      $0.trunks = [
        TrunkReport(
          name: "one", uri: "sip:one.example", environments: ["production"], standing: "up", explanation: "",
          liveCalls: 3,
          maximumCalls: 30),
        TrunkReport(
          name: "two", uri: "sip:two.example", environments: ["sandbox"], standing: "up", explanation: "", liveCalls: 0,
          maximumCalls: nil),
      ]
      $0.status.isReady = false
      $0.status.problems = ["no trunk is up"]
    }
    #expect(try await kit.send("GET", "/v1/trunks").tree["trunks"]?.elements.count == 1)
    #expect(try await kit.send("GET", "/v1/status").tree["ready"] == .boolean(false))
    #expect(try await kit.send("GET", "/livez", as: nil).status == 200)
    #expect(try await kit.send("GET", "/startupz", as: nil).status == 503)
    let waiting = try await kit.send("GET", "/readyz", as: nil)
    #expect(waiting.status == 503)
    #expect(waiting.tree["problems"] == .array([.string("no trunk is up")]))
    kit.operations.with { $0.status.isReady = true }
    #expect(try await kit.send("GET", "/readyz", as: nil).status == 200)
    #expect(try await kit.send("GET", "/startupz", as: nil).status == 200)
    kit.operations.with {
      $0.status.isReady = false
      $0.status.isDraining = true
    }
    let draining = try await kit.send("GET", "/readyz", as: nil)
    #expect(draining.status == 503)
    #expect(draining.tree["status"] == .string("draining"))
    #expect(try await kit.send("GET", "/startupz", as: nil).status == 200)
    let metrics = try await kit.send("GET", "/metrics", as: nil)
    #expect(metrics.text.contains("landline_ready 0\n"))
    #expect(metrics.text.contains("landline_http_requests_total{method=\"GET\",route=\"/readyz\",status=\"503\"} 2\n"))
    await kit.close()
  }
}
