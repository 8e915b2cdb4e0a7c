import AppProtocol
import CallEngine
import CallModel
import NodeCore
import Testing

/// What is done to calls that are up. Every answer is held against the description by the kit.
@Suite struct CallOrderRouteTests {
  private static let path = "/v1/live-calls/call-1"

  private static func kit() async throws -> RESTKit {
    let kit = try await RESTKit()
    try await kit.makeAccount("acme")
    let call = CallSnapshot(
      id: CallID(unchecked: "call-1"), environment: "production", account: AccountName(unchecked: "acme"),
      application: "key", user: nil, kind: .phone, destination: "+46701234567", state: .established,
      startedAt: Instant(milliseconds: 1_795_000_000_000), currency: .eur)
    kit.operations.with { $0.live = [call] }
    return kit
  }

  @Test func keysMuteHoldAndTransferReachTheCall() async throws {
    let kit = try await Self.kit()
    let keys = #"{"side":"called","digits":"12#"}"#
    #expect(try await kit.send("POST", "\(Self.path)/keys", keys).code == "idempotency.missing")
    #expect(try await kit.send("POST", "\(Self.path)/keys", keys, key: "k-1").status == 204)
    #expect(try await kit.send("POST", "\(Self.path)/keys", keys, key: "k-1").status == 204)
    let changed = try await kit.send("PATCH", Self.path, #"{"side":"caller","muted":true,"on_hold":false}"#)
    #expect(changed.status == 200 && changed.tree["id"] == .string("call-1"), "\(changed)")
    let target = #"{"side":"caller","kind":"user","target":"bob"}"#
    #expect(try await kit.send("POST", "\(Self.path)/transfer", target, key: "k-2").status == 204)
    #expect(
      kit.operations.with { $0.callOrders } == [
        .press(.called, "12#"), .mute(.caller, true), .hold(.caller, false),
        .transfer(.caller, .init(kind: .user, target: "bob")),
      ])
    await kit.close()
  }

  @Test func whatIsWrongIsNamed() async throws {
    let kit = try await Self.kit()
    #expect(try await kit.send("PATCH", Self.path, #"{"side":"left","muted":true}"#).code == "body.member")
    #expect(
      try await kit.send("PATCH", "/v1/live-calls/call-2", #"{"side":"caller","muted":true}"#).code == "call.unknown")
    let target = #"{"side":"caller","kind":"conference","target":"weekly"}"#
    #expect(try await kit.send("POST", "\(Self.path)/transfer", target, key: "k-3").code == "body.member")
    kit.operations.with { $0.refusal = CallFailure(.transfer, phrase: "that side cannot wait now", leg: .app) }
    #expect(try await kit.send("PATCH", Self.path, #"{"side":"caller","on_hold":true}"#).code == "gw.transfer")
    await kit.close()
  }

  @Test func aCallIsEndedForACause() async throws {
    let kit = try await Self.kit()
    for cause in ["0", "128", "busy"] {
      #expect(try await kit.send("DELETE", "\(Self.path)?cause=\(cause)").code == "query.parameter")
    }
    #expect(try await kit.send("DELETE", "\(Self.path)?cause=17").status == 204)
    #expect(kit.operations.with { $0.causes } == [17])
    await kit.close()
  }
}
